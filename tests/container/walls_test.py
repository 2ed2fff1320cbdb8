# What an agent's container tries on another agent's, on its engine, and on the host behind it.
"""Each row is a script that says WON; the other container runs meanwhile."""

import pytest

PY = "/usr/bin/python3 -c "
# The gateway takes each connection, and says no to what is not allowed.
GET = PY + "'import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 3); " \
           "s.sendall(b\"GET / HTTP/1.0\\r\\n\\r\\n\"); print(s.recv(999))' {} {} 2>/dev/null | " \
           "grep -v -i -e hutch -e \"b''\" | grep -q . && echo WON"
ROWS = {
    "the engine's socket": "for s in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock; do test -e $s && "
                           "echo WON; done; true",
    "the engine by a port": GET.format("172.17.0.1", 2375),
    "the engine by its other port": GET.format("172.17.0.1", 2376),
    "the bridge's own address": "ip route 2>/dev/null | grep -q '172.1[0-9]' && echo WON",
    "another interface": "ls /sys/class/net 2>/dev/null | grep -q eth && echo WON",
    "the other's process": "grep -lqa 'the-othe[r]-one' /proc/[0-9]*/cmdline 2>/dev/null && echo WON",
    "the other's files": "find / -xdev -name of-the-other 2>/dev/null | grep -q . && echo WON",
    "the other's memory": "ls /dev/shm/of-the-other 2>/dev/null && echo WON",
    "the other's System V memory": PY + "'import ctypes; print(ctypes.CDLL(None).shmget(4244, 4096, 0))' | "
                                        "grep -qv -- -1 && echo WON",
    "the other's port": PY +
    "'import socket; socket.create_connection((\"127.0.0.1\", 5558), 2)' 2>/dev/null && echo WON",
    "the other's abstract socket": PY + "'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0of-the-other\")' "
                                        "2>/dev/null && echo WON",
    "metadata of a cloud": GET.format("169.254.169.254", 80),
    "the host by its loopback": GET.format("127.0.0.1", 80),
    "a mount": "mount -t tmpfs none /mnt 2>/dev/null && echo WON",
    "a mount of cgroups": "mount -t cgroup2 none /mnt 2>/dev/null && echo WON",
    "a release agent": "find /sys/fs/cgroup -name release_agent -writable 2>/dev/null | grep -q . && echo WON",
    "its own limits": "for f in pids.max memory.max cpu.max cgroup.procs; do (echo max > /sys/fs/cgroup/$f) "
                      "2>/dev/null && echo WON; done; true",
    "the host's disks": "ls /dev/sd* /dev/vd* /dev/nvme* /dev/mem /dev/kmsg 2>/dev/null | grep -q . && echo WON",
    "a node of a disk": "mknod /tmp/d b 254 0 2>/dev/null && echo WON",
    "settings of the kernel": "for f in kernel/core_pattern kernel/modprobe vm/drop_caches net/ipv4/ip_forward; do "
                              "(echo x > /proc/sys/$f) 2>/dev/null && echo WON; done; true",
    "a trigger": "(echo h > /proc/sysrq-trigger) 2>/dev/null && echo WON",
    "what is masked of proc": "cat /proc/kcore /proc/keys /proc/timer_list 2>/dev/null | head -c1 | grep -qa . "
                              "&& echo WON",
    "firmware": "ls /sys/firmware/* 2>/dev/null | grep -q . && echo WON",
    "a namespace": "unshare -Ur true 2>/dev/null && echo WON",
    "the init's namespaces": "nsenter -t 1 -m -n true 2>/dev/null && echo WON",
    "a capability": "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -qv 0000000000000000 && echo WON",
    "new privileges": "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo WON",
    "no filter": "grep -q 'Seccomp:.*0' /proc/self/status && echo WON",
    "a key": PY + "'import ctypes; print(ctypes.CDLL(None).syscall(248, b\"user\", b\"k\", b\"v\", 1, -4))' | "
                  "grep -qv -- -1 && echo WON",
    "the layers on the host": "awk '$5 == \"/\" {print $4}' /proc/self/mountinfo | grep -q merged && echo WON",
}
OTHER = """
import ctypes, os, socket, time
for path in ("/dev/shm/of-the-other", "/tmp/of-the-other"): open(path, "w").close()
ctypes.CDLL(None).shmget(4244, 4096, 0o1666)
made = socket.socket(); made.bind(("127.0.0.1", 5558)); made.listen(4)
try:
    named = socket.socket(socket.AF_UNIX)
    named.bind("\\0of-the-other")
    named.listen(4)
except OSError:
    pass  # no sockets of that kind in a container
open(os.path.expanduser("~/ready"), "w").close()
time.sleep(600)  # the-other-one
"""


@pytest.fixture(scope="module")
def pair(daemon):
    own, other = daemon.create(), daemon.create()
    daemon.sh(other, "cat > other.py", stdin=OTHER.encode(), timeout=300).ok()
    daemon.detach(other, "exec /usr/bin/python3 other.py the-other-one")
    daemon.sh(other, "for i in $(seq 100); do test -e ~/ready && break; sleep 0.1; done; test -e ~/ready").ok()
    yield own, other
    for name in (own, other):
        daemon("agent", "remove", name).ok()


@pytest.mark.parametrize("attempt", ROWS)
def test_others_and_the_host_are_out_of_reach(daemon, pair, attempt):
    own, other = pair
    result = daemon.sh(own, f"{ROWS[attempt]}\ntrue", timeout=300)
    assert result.code == 0 and "WON" not in result.text, str(result)
    assert daemon.sh(other, "pgrep -f the-other-one || grep -lqa the-other-one /proc/[0-9]*/cmdline").code == 0
