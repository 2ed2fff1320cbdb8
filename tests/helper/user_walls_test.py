# What a sandbox that is an OS user tries on the machine, on the person, and on other sandboxes that are the same user.
"""Each row is a script that says WON. Another sandbox of carol's, and one of dave's, run meanwhile."""

import contextlib
import os
import pathlib

import pytest

import harness

PY = "/usr/bin/python3 -c "
ROWS = {
    "processes of the machine": "test $(ls -d /proc/[0-9]* | wc -l) -gt 12 && echo WON",
    "the other sandbox's process": "grep -lqa 'the-othe[r]-one' /proc/[0-9]*/cmdline 2>/dev/null && echo WON",
    "its environment": "cat /proc/[0-9]*/environ 2>/dev/null | grep -qa 'the-othe[r]-environment' && echo WON",
    "its number": "kill -0 {other} 2>/dev/null && grep -qa 'the-othe[r]-one' /proc/{other}/cmdline && echo WON",
    "all that is that user": "trap '' TERM; kill -TERM -1 2>/dev/null; true",
    "its temporary files": "ls /tmp/of-the-other 2>/dev/null && echo WON",
    "its shared memory": "ls /dev/shm/of-the-other 2>/dev/null && echo WON",
    "its System V memory": PY +
    "'import ctypes; print(ctypes.CDLL(None).shmget(4243, 4096, 0))' | grep -qv -- -1 && echo WON",
    "its message queue": PY +
    "'import ctypes; print(ctypes.CDLL(None).mq_open(b\"/of-the-other\", 2))' | grep -qv -- -1 && echo WON",
    "its port": PY + "'import socket; socket.create_connection((\"127.0.0.1\", 5557), 3)' 2>/dev/null && echo WON",
    "a socket by a path": PY + "'import socket; socket.socket(socket.AF_UNIX).connect(\"/run/hutch-helper/socket\")' "
                               "2>/dev/null && echo WON",
    "an abstract socket": PY +
    "'import socket; socket.socket(socket.AF_UNIX).bind(\"\\0mine\")' 2>/dev/null && echo WON",
    "a key of the user's": PY +
    "'import ctypes; print(ctypes.CDLL(None).syscall(248, b\"user\", b\"k\", b\"v\", 1, -4))' | "
                                "grep -qv -- -1 && echo WON",
    "a namespace": "unshare -Ur true 2>/dev/null && echo WON",
    "a namespace of another": "nsenter -t 1 -m true 2>/dev/null && echo WON",
    "a mount": "mount -t tmpfs none /mnt 2>/dev/null && echo WON",
    "a device": "mknod ~/d b 8 0 2>/dev/null && echo WON",
    "the kernel's memory": "head -c1 /dev/mem /dev/kmem /proc/kcore 2>/dev/null | grep -q . && echo WON",
    "settings of the kernel": "for f in kernel/core_pattern kernel/hostname vm/drop_caches net/ipv4/ip_forward; do "
                              "(echo x > /proc/sys/$f) 2>/dev/null && echo WON; done; true",
    "a trigger": "(echo h > /proc/sysrq-trigger) 2>/dev/null && echo WON",
    "the init's memory": "(cat /proc/1/environ; ls /proc/1/fd; readlink /proc/1/exe /proc/1/cwd) 2>/dev/null | "
                         "grep -qa . "
                         "&& echo WON",
    "the init's root": "ls /proc/1/root/ 2>/dev/null | grep -q . && echo WON",
    "the init": "kill -9 1 2>/dev/null; kill -STOP 1 2>/dev/null; echo still | grep -q still || echo WON",
    "tracing": PY + "'import ctypes, os, time; p = os.fork(); p or time.sleep(9); "
                    "print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))' 2>/dev/null | grep -qx 0 && echo WON",
    "root's group": "id -G | tr ' ' '\\n' | grep -qx 0 && echo WON",
    "a capability": "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv 0000000000000000 && echo WON",
    "su": "su -c true < /dev/null 2>/dev/null && echo WON",
    "sudo": "sudo -n true 2>/dev/null && echo WON",
    "a job for later": "(echo true | at now || crontab -l) 2>/dev/null && echo WON",
    "another person's home": "ls /var/lib/hutch-people/hutch-dave 2>/dev/null | grep -q . && echo WON",
    "the person's home": "cat {home}/private 2>/dev/null | grep -q . && echo WON",
    "who may be whom": "(touch /etc/hutch-helper/people/61401/hutch-dave) 2>/dev/null && echo WON",
    "the helper's locks": "ls /run/hutch-helper/slots 2>/dev/null | grep -q . && echo WON",
    "logs of the machine": PY +
    "'import ctypes; print(ctypes.CDLL(None).syscall(103, 10, 0, 0))' | grep -qv -- -1 && echo WON",
    "limits that are raised": "ulimit -Hn 99999999 2>/dev/null && echo WON",
    "a better priority": "test $(nice -n -5 nice 2>/dev/null) -lt 0 && echo WON",
    "a descriptor of the helper's": "readlink /proc/self/fd/* | grep -q -e hutch -e slots -e socket && echo WON",
}
OTHER = """
import ctypes, os, socket, time
open("/tmp/of-the-other", "w").close(); open("/dev/shm/of-the-other", "w").close()
ctypes.CDLL(None).shmget(4243, 4096, 0o1666)
made = socket.socket(); made.bind(("127.0.0.1", 5557)); made.listen(4)
print("ready", flush=True)
time.sleep(600)  # the-other-one
"""


@pytest.fixture(scope="module")
def others(machine):
    """A sandbox of carol's and one of dave's, at the same time; the number of the first one's process."""
    with contextlib.ExitStack() as closing:
        runs = []
        for name in ("carol", "dave"):
            hutch = machine.hutch(name)
            options = ["--env", "SOME=the-other-environment"]
            run = closing.enter_context(hutch.popen("/usr/bin/python3", "-c", OTHER, options=options))
            closing.callback(run.kill)
            assert run.stdout.readline() == b"ready\n"
            runs.append(run)
        private = pathlib.Path(machine.person("carol").home / "private")
        private.write_text("carol's own")
        private.chmod(0o600)
        os.chown(private, 61401, 61401)
        [number, *_] = [pid for pid in harness.processes_with("the-other-one")]
        yield number, runs


@pytest.mark.parametrize("attempt", ROWS)
def test_the_machine_and_others_are_out_of_reach(machine, carol, others, attempt):
    number, runs = others
    script = ROWS[attempt].replace("{other}", str(number)).replace("{home}", str(carol.person.home))
    result = carol.sh(f"{script}\ntrue")
    assert result.code == 0 and "WON" not in result.text, str(result)
    assert all(run.poll() is None for run in runs), "the others run still"
