# Two agents attack each other, and what hutch itself keeps: files, processes, ports, names, the daemon.
"""On the backends that isolate. What an attack would need is really there: each test checks that too."""

import json
import os
import subprocess
import time

import pytest

import harness

SECRET = "the-secret-of-the-victim"


@pytest.fixture(params=["namespace", "bwrap"])
def pair(daemon, request):
    """Attacker and victim, whose names begin alike; the victim has a secret, and a process that has one."""
    backend = request.param
    victim = daemon.create(f"backend={backend}")
    attacker = daemon.create(f"backend={backend}", name=f"{victim}2")
    daemon.sh(
        victim, f"echo {SECRET} > ~/secret; echo {SECRET} > /output/secret; chmod 644 ~/secret; chmod 755 ~"
    ).ok()
    process = daemon.detach(victim, f"export SECRET={SECRET}; echo {SECRET}; exec sleep 1000")
    harness.wait_until(lambda: daemon("logs", victim, process).out, "it runs")
    yield attacker, victim, process
    assert daemon.processes(victim)[process]["running"] is True, "the victim's process lives"
    assert daemon.sh(victim, "cat ~/secret").ok().text == f"{SECRET}\n"
    for name in (attacker, victim):
        daemon("agent", "remove", name).ok()


def places_of(daemon, victim):
    """Where the victim's files are, as paths inside and outside."""
    return [
        f"/workspace/agents/{victim}",
        f"{daemon.data}/workspace/agents/{victim}",
        f"{daemon.data}/output/{victim}",
        f"{daemon.data}/workspace/shared/../agents/{victim}",
        f"/workspace/agents/../agents/{victim}",
        f"/workspace/shared/../agents/{victim}",
        f"/output/../{victim}",
        f"/output/../output/{victim}",
        f"/proc/1/root/workspace/agents/{victim}",
        f"/proc/self/root{daemon.data}/workspace/agents/{victim}",
        f"/proc/1/cwd/../{victim}",
    ]


def test_files_by_path(daemon, pair):
    attacker, victim, _ = pair
    assert (daemon.data / "workspace/agents" / victim / "secret").read_text() == f"{SECRET}\n"
    for place in places_of(daemon, victim):
        result = daemon.sh(
            attacker,
            f"cat {place}/secret; ls -la {place}; echo bad > {place}/secret; mkdir {place}/new; "
            f"rm -rf {place}; mv {place} /tmp/x; ln {place}/secret /tmp/l; true",
        )
        assert SECRET not in result.text + result.errors, str(result)
    found = daemon.sh(
        attacker, f"timeout 20 grep -rsl {SECRET} /workspace /output /tmp /run /dev/shm {daemon.data}; true"
    )
    assert found.text == "", str(found)


def test_files_by_a_link_in_the_shared_directory(daemon, pair):
    attacker, victim, _ = pair
    # The attacker plants links; the victim's own tools write and read through what it finds there.
    daemon.sh(victim, "ln -s ~/secret /workspace/shared/link; ln -s ~ /workspace/shared/home").ok()
    result = daemon.sh(
        attacker,
        "cat /workspace/shared/link /workspace/shared/home/secret; "
        "echo bad > /workspace/shared/link; ls /workspace/shared/home/",
    )
    assert SECRET not in result.text, str(result)
    linked = daemon.sh(victim, "ln ~/secret /workspace/shared/hard")
    if linked.code == 0:  # given away by the victim itself
        daemon.sh(victim, "rm /workspace/shared/hard").ok()
    daemon.sh(victim, "rm /workspace/shared/link /workspace/shared/home").ok()


def test_processes_and_signals(daemon, pair):
    attacker, victim, process = pair
    inside = daemon.processes(victim)[process]["pid_inside"]
    seen = daemon.sh(attacker, "ps auxeww; cat /proc/*/environ /proc/*/cmdline; kill -9 -1; true")
    assert SECRET not in seen.text, str(seen)
    host = [pid for pid, command in daemon.own_processes().items() if b"sleep\0" + b"1000" in command]
    assert host
    for pid in [inside, *host]:
        daemon.sh(attacker, f"kill -9 {pid}; cat /proc/{pid}/environ; true")
    probe = (
        "import ctypes, os, sys; c = ctypes.CDLL(None, use_errno=True)\n"
        "for pid in map(int, sys.argv[1:]):\n"
        "    print(c.syscall(434, pid, 0), c.ptrace(16, pid, 0, 0), c.kill(pid, 9))\n"
    )
    result = daemon.exec(attacker, "python3", "-c", probe, *map(str, host))
    assert all(line == "-1 -1 -1" for line in result.text.splitlines()), str(result)


def test_ids_and_logs(daemon, pair):
    attacker, _, process = pair
    for words in (["logs"], ["kill"], ["wait"], ["attach"]):
        result = daemon(*words, attacker, process)
        assert result.code == 125 and SECRET not in result.text, str(result)
    daemon("agent", "set", attacker, "autonomousExec.enabled=true").ok()
    daemon("agent", "stop", attacker).ok()
    for action in ("poll", "wait", "kill"):
        envelope = daemon.tool(attacker, "sandbox_process", action=action, pid=process)
        assert envelope["ok"] is False and SECRET not in json.dumps(envelope)


SERVER = """
import os, socket, sys, time
tcp = socket.socket(); tcp.bind(("0.0.0.0", 7777)); tcp.listen()
six = socket.socket(socket.AF_INET6); six.setsockopt(41, 26, 1); six.bind(("::", 7777)); six.listen()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("0.0.0.0", 7778))
print("ready", flush=True)
time.sleep(1000)
"""
CLIENT = """
import socket, sys
found = []
def attempt(what, family, kind, address):
    try:
        end = socket.socket(family, kind); end.settimeout(2); end.connect(address); found.append(what)
    except OSError as error:
        pass
hosts = ["127.0.0.1", "127.0.0.2", "0.0.0.0", *sys.argv[1:]]
for host in hosts:
    attempt(host, socket.AF_INET, socket.SOCK_STREAM, (host, 7777))
attempt("::1", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 7777))
for name in ("\\0hutch-victim",):
    attempt("abstract", socket.AF_UNIX, socket.SOCK_STREAM, name)
print("found", found)
"""


def addresses(daemon, name):
    text = daemon.sh(name, "hostname -I 2>/dev/null; cat /proc/net/fib_trie").text
    return sorted({word for word in text.split() if word.count(".") == 3 and "/" not in word})


def test_ports(daemon, pair):
    attacker, victim, _ = pair
    server = daemon("exec", "-d", victim, "--", "python3", "-c", SERVER).ok().text.strip()
    harness.wait_until(lambda: daemon("logs", victim, server).out == b"ready\n", "the victim listens")
    own = daemon.exec(victim, "python3", "-c", CLIENT).ok()
    assert "127.0.0.1" in own.text, str(own)
    found = daemon.exec(attacker, "python3", "-c", CLIENT, *addresses(daemon, victim)).ok()
    assert found.text == "found []\n", str(found)


def test_memory_and_message_queues(daemon, pair):
    attacker, victim, _ = pair
    daemon.sh(victim, f"echo {SECRET} > /dev/shm/secret; echo {SECRET} > /tmp/secret; ipcmk -Q -p 0666").ok()
    result = daemon.sh(attacker, "cat /dev/shm/secret /tmp/secret; ls /dev/shm /dev/mqueue; ipcs -q | grep 0x; true")
    assert SECRET not in result.text and "0x" not in result.text, str(result)


def test_what_hutch_keeps(daemon, pair):
    attacker, victim, _ = pair
    assert (daemon.data / "hutch.db").exists() and daemon.socket.exists()
    for path in (
        daemon.data / "hutch.db",
        daemon.data / "hutch.db-wal",
        daemon.data / "daemon.log",
        daemon.socket,
        daemon.data / "spool.jsonl",
        daemon.state / "config",
        daemon.state / "run/daemon.lock",
    ):
        result = daemon.sh(
            attacker,
            f"head -c 100 {path}; echo bad >> {path}; mv {path} {path}.moved; "
            f"rm -f {path}; test -r {path} && echo readable; true",
        )
        assert result.text == "", str(result)
    program = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('%s')\nprint('connected')" % daemon.socket
    result = daemon.exec(attacker, "python3", "-c", program)
    assert "connected" not in result.text, str(result)
    # hutch itself, run inside, reaches no daemon of the host and starts none that could do more.
    result = daemon.sh(
        attacker,
        f"{daemon.program} agent list; {daemon.program} exec {victim} -- cat secret; true",
        options=["--env", f"HUTCH_STATE={daemon.state}"],
        timeout=120,
    )
    assert SECRET not in result.text and victim not in result.text, str(result)


def test_an_endless_output_and_a_crowd_stall_nobody(daemon, pair):
    attacker, victim, _ = pair
    noisy = [daemon.detach(attacker, "yes & yes >&2") for _ in range(4)]
    daemon.detach(
        attacker,
        'python3 -c "import socket\nwhile True:\n try: socket.socket(socket.AF_UNIX)\n ' 'except OSError: pass"',
    )
    daemon.detach(attacker, "for i in $(seq 300); do getent hosts host$i.example.org; done")
    before = daemon.data.joinpath("daemon.log").stat().st_size
    for _ in range(10):
        assert daemon.sh(victim, "echo well").ok().text == "well\n"
    for process in noisy:
        daemon("kill", attacker, process).ok()
    daemon("agent", "stop", attacker).ok()
    assert daemon.data.joinpath("daemon.log").stat().st_size - before < 200_000


# --- the tools ---

SWAP = """
import os, sys
home, target = sys.argv[1:3]
os.chdir(home)
os.makedirs("real", exist_ok=True)
open("real/passwd", "w").write("own\\n")
open("real/file", "w").write("own\\n")
while True:
    for kind in ("link", "dir"):
        try:
            os.symlink(target if kind == "link" else "real", "next")
            os.rename("next", "swapped")
        except OSError:
            pass
"""


def swapping(daemon, name, target):
    home = f"/workspace/agents/{name}"
    process = daemon("exec", "-d", name, "--", "python3", "-c", SWAP, home, target).ok().text.strip()
    link = daemon.data / "workspace/agents" / name / "swapped"
    harness.wait_until(link.is_symlink, "it swaps")
    return process


@pytest.fixture(params=["namespace", "bwrap", "none"])
def tooled(daemon, request):
    name = daemon.create(
        f"backend={request.param}", "autonomousExec.enabled=true", "autonomousExec.maxCommandsPerTurn=0"
    )
    yield name
    daemon("agent", "remove", name).ok()


def test_a_directory_that_becomes_a_link_meanwhile(daemon, tooled):
    """No tool reads or writes outside of the agent's places, whichever way the link points at that moment."""
    outside = daemon.person.mkdir(daemon.state / f"outside-{tooled}", 0o777)
    daemon.person.write(outside / "passwd", f"root:{SECRET}\n", 0o666)
    daemon.person.write(outside / "file", f"{SECRET}\n", 0o666)
    before = {path.name: path.read_text() for path in outside.iterdir()}
    backend = daemon.json("agent", "show", tooled)["backend"]
    home = daemon.data / "workspace/agents" / tooled
    if backend == "none":
        script = SWAP.replace("sys.argv[1:3]", repr((str(home), str(outside))))
        process = daemon("exec", "-d", tooled, "--", "python3", "-c", script).ok().text.strip()
        harness.wait_until((home / "swapped").is_symlink, "it swaps")
    else:
        process = swapping(daemon, tooled, str(outside))
    until = time.monotonic() + (20 if os.environ.get("HUTCH_TEST_ALL") == "1" else 2)
    kinds = set()
    while time.monotonic() < until:
        for tool, arguments in (
            ("sandbox_read_file", {"path": "swapped/file"}),
            ("sandbox_read_file", {"path": "swapped/passwd"}),
            ("sandbox_list_directory", {"path": "swapped"}),
            ("sandbox_search_files", {"pattern": SECRET, "path": "swapped"}),
            ("sandbox_write_file", {"path": "swapped/file", "content": "by the tool\n"}),
            ("sandbox_write_file", {"path": "swapped/new", "content": "by the tool\n"}),
            ("sandbox_edit_file", {"path": "swapped/passwd", "old_string": "root", "new_string": "toor"}),
            ("sandbox_move", {"source": "swapped/file", "destination": "real/file"}),
            ("sandbox_delete", {"path": "swapped/file"}),
            ("share_artifact", {"path": "swapped/passwd"}),
        ):
            envelope = daemon.tool(tooled, tool, **arguments)
            assert SECRET not in json.dumps(envelope.get("result")), (tool, envelope)
            kinds.add((tool, envelope["ok"]))
    assert {path.name: path.read_text() for path in outside.iterdir()} == before
    assert len(kinds) > 8, kinds
    daemon("kill", tooled, process).ok()


PATHS = [
    "/etc/passwd",
    "../../../etc/passwd",
    "..",
    "../..",
    "/workspace/agents",
    "/workspace/agents/../..",
    "/proc/1/root",
    "/proc/self/environ",
    "/dev/sda",
    "~/../..",
    "real/../../..",
    "a/./../../x",
    "/",
    ".//..//..",
    "/workspace/shared/..",
]


@pytest.mark.parametrize("path", PATHS)
def test_paths_that_lead_out(daemon, tooled, path):
    for tool, arguments in (
        ("sandbox_read_file", {"path": path}),
        ("sandbox_write_file", {"path": f"{path}/hutch-was-here", "content": "x"}),
        ("sandbox_list_directory", {"path": path}),
        ("sandbox_delete", {"path": path}),
        ("sandbox_exec", {"command": "true", "cwd": path}),
        ("share_artifact", {"path": path}),
    ):
        envelope = daemon.tool(tooled, tool, **arguments)
        assert envelope["ok"] is False, (tool, envelope)
    assert not os.path.exists("/hutch-was-here") and not os.path.exists("/etc/hutch-was-here")


def test_links_that_are_there_before(daemon, tooled):
    outside = daemon.person.mkdir(daemon.state / f"linked-{tooled}")
    secret = daemon.person.write(outside / "secret", SECRET)
    home = daemon.data / "workspace/agents" / tooled
    for name, target in (
        ("file", secret),
        ("dir", outside),
        ("up", "../../../.."),
        ("loop", "loop"),
        ("etc", "/etc"),
    ):
        os.symlink(target, home / name)
    for path in ("file", "dir/secret", f"up{secret}", "loop", "etc/passwd"):
        for tool, arguments in (
            ("sandbox_read_file", {"path": path}),
            ("sandbox_write_file", {"path": path, "content": "x"}),
            ("sandbox_edit_file", {"path": path, "old_string": SECRET, "new_string": "x"}),
            ("share_artifact", {"path": path}),
        ):
            envelope = daemon.tool(tooled, tool, **arguments)
            assert SECRET not in json.dumps(envelope.get("result")), (tool, envelope)
    assert secret.read_text() == SECRET
    # A link itself may be deleted; what it points at stays.
    assert daemon.tool(tooled, "sandbox_delete", path="dir")["ok"] is True
    assert secret.read_text() == SECRET and not (home / "dir").is_symlink()


def test_special_files_hold_up_no_tool(daemon, tooled):
    home = daemon.data / "workspace/agents" / tooled
    os.mkfifo(home / "fifo", 0o666)
    daemon.person.own(home / "fifo")
    for tool, arguments in (
        ("sandbox_read_file", {"path": "fifo"}),
        ("share_artifact", {"path": "fifo"}),
        ("sandbox_edit_file", {"path": "fifo", "old_string": "a", "new_string": "b"}),
        ("sandbox_search_files", {"pattern": "x"}),
    ):
        envelope = daemon.tool(tooled, tool, **arguments)
        assert envelope["ok"] is False or tool == "sandbox_search_files", (tool, envelope)


def test_removal_of_an_agent_follows_no_link(daemon):
    name = daemon.create()
    outside = daemon.person.mkdir(daemon.state / f"kept-{name}")
    daemon.person.write(outside / "file", "kept")
    os.symlink(outside, daemon.data / "workspace/agents" / name / "link")
    os.symlink(outside, daemon.data / "output" / name / "link")
    busy = daemon.popen(
        "exec",
        name,
        "--",
        "sh",
        "-c",
        f"while :; do mkdir -p ~/d; ln -sfn {outside} ~/d/l; " "rm -rf ~/d; done",
        stdout=subprocess.DEVNULL,
    )
    daemon("agent", "remove", name).ok()
    busy.communicate(timeout=harness.PATIENCE)
    assert (outside / "file").read_text() == "kept"
