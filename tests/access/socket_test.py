# Unix sockets: a sandbox has its own, and of the host's those that are named or granted.
"""Every connect(2) and bind(2) is made by the supervisor; what programs see of it is what they see outside."""

import contextlib
import json
import os
import pathlib
import socket

import pytest

import caller
import harness
from greeters import CONNECT

RACE = pathlib.Path(__file__).parent / "socket_race.c"
MILLISECONDS = "60000" if os.environ.get("HUTCH_TEST_ALL") == "1" else "500"
ECHO = pathlib.Path(__file__).parent / "sockets.py"


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def hidden(as_user, project, service):
    """A server below the home, which the sandbox does not see."""
    return service(as_user.mkdir(as_user.home / f"s{project.name.split('-')[0]}") / "agent.sock")


def connect(hutch, path, *options, **kw):
    return hutch.run("python3", "-c", CONNECT, str(path), options=options, **kw)


@pytest.mark.parametrize("kind", ["address", "link", "descriptor", "name"])
@pytest.mark.parametrize("walls", ["none", "namespace", "bwrap"])
def test_race(hutch, project, service, compile_c, walls, kind):
    there = service(project / "service.sock")
    program = compile_c(RACE.read_text(encoding="utf-8"), name="socket_race", flags=("-pthread",))
    for _ in range(100 if walls == "none" else 1):
        result = hutch.run(program, kind, "300" if walls == "none" else MILLISECONDS, backend=walls, timeout=120)
        assert result.code == 0 and b"tried" in result.out, str(result)
        if there.count > 0:
            break
    assert (there.count > 0) == (walls == "none"), f"{there.count} {result}"


def test_as_outside(hutch, as_user, project, backend):
    """The same program says the same, in a directory that is supervised and in one that is not."""
    as_user.write(project / "sockets.py", ECHO.read_text(encoding="utf-8"))
    outside = harness.run_in(as_user, ["/usr/bin/python3", "-B", "../sockets.py"], cwd=as_user.mkdir(project / "o"))
    for place in ("mkdir -p w && cd w", "cp sockets.py /tmp && mkdir /tmp/w && cd /tmp/w"):
        inside = hutch.sh(f"{place} && exec python3 -B ../sockets.py")
        assert inside.code == 0, str(inside)
        assert inside.text.splitlines() == outside.ok().text.splitlines(), str(inside)


def test_names_as_they_were_given(hutch, project, backend):
    code = """
import os, socket
for name in ["a.sock", "./b.sock", "/tmp/c.sock"]:
    made = socket.socket(socket.AF_UNIX); made.bind(name); made.listen()
    other = socket.socket(socket.AF_UNIX); other.connect(name)
    print(made.getsockname(), other.getpeername(), oct(os.stat(name).st_mode))
"""
    assert hutch.sh(f"umask 027; python3 -c '{code}'").ok().text.splitlines() == [
        "a.sock a.sock 0o140750",
        "b.sock b.sock 0o140750",
        "/tmp/c.sock /tmp/c.sock 0o140750",
    ]
    assert (project / "a.sock").is_socket(), "it is the host's file too"


def test_a_socket_under_a_name_rule(hutch, project, backend):
    code = "import socket; socket.socket(socket.AF_UNIX).bind('.mcp.json')"
    result = hutch.run("python3", "-c", code)
    assert result.code != 0 and "PermissionError" in result.errors and ".mcp.json was refused" in result.errors
    assert not (project / ".mcp.json").exists()


def test_what_nothing_names_is_refused_and_told(hutch, hidden, backend):
    result = connect(hutch, hidden.path)
    assert result.text == "ENOENT\n", str(result)
    assert f"connecting to the socket {hidden.path} was refused: no entry of network.allowUnixSockets" in result.errors
    assert f"--allow-socket {hidden.path} allows it" in result.errors
    assert hidden.count == 0


def test_what_a_command_makes_up_is_told_within_bounds(hutch, hidden, backend):
    """Names of sockets that nobody bound, and one socket by many processes."""
    code = """
import os, socket, stat, sys
def tried(path):
    try: socket.socket(socket.AF_UNIX).connect(path)
    except OSError: pass
for i in range(1100):
    os.mknod(f"made-up-{i}", stat.S_IFSOCK | 0o600)
    tried(f"made-up-{i}")
for _ in range(30):
    if os.fork() == 0:
        tried(sys.argv[1])
        os._exit(0)
    os.wait()
sys.exit(1)
"""
    result = hutch.run("python3", "-c", code, str(hidden.path), timeout=120)
    assert result.code == 1 and result.errors.count("was refused") <= 1000, result.errors[-500:]
    again = hutch.run("python3", "-c", code.replace("range(1100)", "range(0)"), str(hidden.path), timeout=120)
    assert again.errors.count(f"{hidden.path} was refused") == 1, str(again)


def test_one_that_is_seen_is_no_more_reachable(hutch, service, project, backend):
    there = service(project / "s.sock")
    result = connect(hutch, "s.sock")
    assert result.text == "EACCES\n" and "--allow-socket" in result.errors, str(result)
    assert there.count == 0


def test_what_is_not_there_is_no_refusal(hutch, backend):
    result = connect(hutch, "/run/none/such.sock")
    assert result.text == "ENOENT\n" and result.errors == "", str(result)
    assert hutch.sh(f"touch f; exec python3 -c '{CONNECT}' f").text == "ECONNREFUSED\n"
    assert connect(hutch, "/etc/passwd/x").text == "ENOTDIR\n"


def test_an_option_opens_it(hutch, hidden, backend):
    assert connect(hutch, hidden.path, "--allow-socket", str(hidden.path)).ok().text == "hello from the host\n"
    pattern = hidden.path.parent / "*.sock"
    assert connect(hutch, hidden.path, "--allow-socket", str(pattern)).ok().text == "hello from the host\n"
    assert connect(hutch, hidden.path, "--allow-socket", str(hidden.path.parent)).text == "ENOENT\n"
    assert hidden.count == 2


def test_a_policy_opens_it(hutch, as_user, project, hidden, backend):
    for entry in (str(hidden.path), "~/" + str(hidden.path.relative_to(as_user.home))):
        text = json.dumps({"network": {"allowUnixSockets": [entry]}})
        policy = as_user.write(project / "p.json", text)
        assert connect(hutch, hidden.path, "--policy", str(policy)).ok().text == "hello from the host\n"
    without = as_user.write(project / "q.json", json.dumps({"network": "none"}))
    assert connect(hutch, hidden.path, "--policy", str(without)).text == "EACCES\n", "it is seen there"
    assert connect(hutch, hidden.path, "--policy", str(without), "--allow-socket", str(hidden.path)).ok()


def test_its_directory_may_be_a_link(hutch, as_user, hidden, backend):
    """What an entry names is the socket itself, by the way that the entry takes to it."""
    link = hidden.path.parent.with_name(hidden.path.parent.name + "-link")
    link.symlink_to(hidden.path.parent.name)
    assert connect(hutch, hidden.path, "--allow-socket", str(link / "agent.sock")).ok().text == "hello from the host\n"
    assert connect(hutch, link / "agent.sock", "--allow-socket", str(hidden.path)).ok().text == "hello from the host\n"


def test_a_link_in_the_project_leads_nowhere_else(hutch, hidden, project, backend):
    """The entry names a place that the command itself can write."""
    (project / "s.sock").symlink_to(hidden.path)
    result = connect(hutch, "s.sock", "--allow-socket", "s.sock")
    assert result.text == "ENOENT\n" and hidden.count == 0, str(result)
    assert f"--allow-socket {hidden.path} allows it" in result.errors


def test_engines_are_opened_by_their_name_alone(hutch, as_user, project, service, backend):
    engine = service(as_user.mkdir(as_user.home / f"e{project.name.split('-')[0]}") / "docker.sock")
    result = connect(hutch, engine.path, "--allow-socket", str(engine.path.parent / "*"))
    assert result.text == "ENOENT\n" and "docker starts programs outside of the sandbox" in result.errors, str(result)
    assert "--allow-socket" not in result.errors
    assert connect(hutch, engine.path, "--allow-socket", str(engine.path)).ok().text == "hello from the host\n"


@pytest.mark.parametrize("entry,complaint", [("", "needs a value"), ("/run/[a", "a [ is not closed")])
def test_entries_that_cannot_be(hutch, entry, complaint, backend):
    result = hutch.run("true", options=["--allow-socket", entry])
    assert result.code == 125 and complaint in result.errors, str(result)


def ask(hutch, path, choice, times=1, **more):
    code = CONNECT.replace("made = ", f"for _ in range({times}):\n made = ").replace("\ntry", "\n try")
    code = code.replace("\nexcept", "\n except").replace("\nelse", "\n else")
    script = f"python3 -c '{code}' {path}"
    with caller.running(hutch, script) as (outside, process):
        question = outside.line("question")
        outside.say(type="answer", id=question["id"], choice=choice, **more)
        outside.line("done")
        return question, process.stdout.read().decode()


def test_it_is_asked_and_waits(hutch, hidden, backend):
    question, heard = ask(hutch, hidden.path, "once")
    assert (question["kind"], question["path"]) == ("socket", str(hidden.path))
    assert "python3" in question["exe"] and question["pid"] > 0 and "once" in question["choices"]
    assert heard == "hello from the host\n"


def test_no_is_no(hutch, hidden, backend):
    _, heard = ask(hutch, hidden.path, "no")
    assert heard == "ENOENT\n" and hidden.count == 0


def test_for_the_session_is_asked_once(hutch, hidden, backend):
    _, heard = ask(hutch, hidden.path, "session", times=3)
    assert heard == "hello from the host\n" * 3


def test_an_answer_that_is_saved(hutch, as_user, project, hidden, backend):
    _, heard = ask(hutch, hidden.path, "project")
    assert heard == "hello from the host\n"
    assert connect(hutch, hidden.path).ok().text == "hello from the host\n"
    assert hutch("check", "socket", str(hidden.path)).ok().text.startswith("allowed: socket")
    revoked = hutch("revoke", str(hidden.path)).ok().text
    assert f"{hidden.path} is no longer in " in revoked
    assert connect(hutch, hidden.path).text == "ENOENT\n"


def test_check_says_what_would_be(hutch, hidden, backend):
    asked = hutch("check", "--backend", backend, "socket", str(hidden.path))
    assert asked.code == 1 and asked.text.startswith(f"ask: socket {hidden.path}: default: "), str(asked)
    options = ["--backend", backend, "--allow-socket", str(hidden.path)]
    allowed = hutch("check", *options, "socket", str(hidden.path)).ok()
    assert allowed.text.startswith(f'allowed: socket {hidden.path}: --allow-socket "{hidden.path}"')
    denied = hutch("check", "--backend", backend, "--json", "socket", "/run/docker.sock")
    assert denied.code == 1 and json.loads(denied.text)["verdict"] == "denied"
    assert str(hidden.path) in hutch("explain", *options).ok().text


def test_waiting_for_a_full_queue(hutch, as_user, project, backend):
    """A connect(2) that waits is interrupted, ends with its process, and goes on when there is room."""
    code = """
import os, signal, socket, threading, time
made = socket.socket(socket.AF_UNIX); made.bind("full.sock"); made.listen(0)
held = socket.socket(socket.AF_UNIX); held.connect("full.sock")
late = socket.socket(socket.AF_UNIX); late.settimeout(None)
late.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bytes(8) + (200000).to_bytes(8, "little"))
began = time.monotonic()
try: late.connect("full.sock")
except OSError as error: print("timed out", error.errno == 11, time.monotonic() - began > 0.15)
threading.Timer(0.3, made.accept).start()
other = socket.socket(socket.AF_UNIX); other.connect("full.sock"); print("room")
child = os.fork()
if child == 0:
    made.accept()
    for _ in range(2): socket.socket(socket.AF_UNIX).connect("full.sock")
    socket.socket(socket.AF_UNIX).connect("full.sock")
    os._exit(0)
time.sleep(0.3); os.kill(child, signal.SIGKILL); print("ended", os.waitpid(child, 0)[1])
none = socket.socket(socket.AF_UNIX); none.setblocking(False)
try: none.connect("full.sock")
except BlockingIOError: print("at once")
"""
    as_user.write(project / "full.py", code)
    result = hutch.run("python3", "full.py")
    assert result.ok().text.splitlines() == ["timed out True True", "room", "ended 9", "at once"], str(result)


def test_a_number_that_is_used_again(hutch, project, backend):
    """A file system may give a new socket of the host's the number of one of the sandbox's that has just gone."""
    code = """
import contextlib, os, pathlib, socket
print("begun", flush=True)
while not pathlib.Path("stop").exists():
    made = socket.socket(socket.AF_UNIX); made.bind("mine"); os.unlink("mine"); made.close()
    with contextlib.suppress(OSError): socket.socket(socket.AF_UNIX).connect("theirs")
"""
    heard = 0
    with hutch.popen("python3", "-c", code) as process:
        assert process.stdout.readline() == b"begun\n"
        for _ in range(60):
            listener = socket.socket(socket.AF_UNIX)
            listener.settimeout(0.03)
            directory = os.open(project, os.O_PATH)
            listener.bind(f"/proc/self/fd/{directory}/theirs")
            os.close(directory)
            (project / "theirs").chmod(0o777)
            listener.listen()
            with contextlib.suppress(TimeoutError):
                listener.accept()
                heard += 1
            listener.close()
            (project / "theirs").unlink()
        (project / "stop").touch()
        process.communicate(timeout=30)
    assert process.returncode == 0 and heard == 0


BLOCKING = """
import fcntl
made = socket.socket(socket.AF_UNIX); made.bind("full.sock"); made.listen(0)
held = socket.socket(socket.AF_UNIX); held.connect("full.sock")
late = socket.socket(socket.AF_UNIX)
def clear():
    while True: fcntl.fcntl(late.fileno(), fcntl.F_SETFL, os.O_RDWR)
def connect(): late.connect("full.sock")
for call in (clear, clear, connect): threading.Thread(target=call, daemon=True).start()
"""
LINGER = """
import struct
listener = socket.create_server(("127.0.0.1", 0))
def lingering():
    late = socket.create_connection(listener.getsockname())
    late.setblocking(False)
    try:
        while True: late.send(bytes(65536))
    except BlockingIOError: pass
    late.setblocking(True)
    late.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
    return late
def connect(descriptor):
    port, loopback = listener.getsockname()[1], bytes([127, 0, 0, 1])
    address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, loopback)
    for _ in range(2000): ctypes.CDLL(None).connect(descriptor, address, 16)
def close():
    late, null = lingering(), os.open("/dev/null", os.O_RDONLY)
    threading.Thread(target=connect, args=(late.fileno(),), daemon=True).start()
    time.sleep(0.05)
    os.dup2(null, late.fileno())
for _ in range(8): threading.Thread(target=close, daemon=True).start()
"""


@pytest.mark.parametrize("kind", ["blocking", "linger"])
def test_a_socket_holds_up_nobody_else(hutch, as_user, project, kind, backend):
    """What a thread does to the socket while its call is made: none of it has the supervisor wait."""
    begin = "import ctypes, os, pathlib, socket, threading, time\n"
    end = """
until, longest = time.monotonic() + 3, 0
while time.monotonic() < until:
    began = time.monotonic(); pathlib.Path("file").write_text("x"); longest = max(longest, time.monotonic() - began)
print(longest < 2, flush=True)
os._exit(0)
"""
    as_user.write(project / "held.py", begin + (BLOCKING if kind == "blocking" else LINGER) + end)
    assert hutch.run("python3", "held.py", timeout=30, options=["--timeout", "20s"]).ok().text == "True\n"
