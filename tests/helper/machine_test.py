# hutch network and hutch service, on a machine with a network of its own.
import pathlib
import shutil
import socket
import subprocess
import threading

import pytest

import harness
import people

REACH = """
import socket, sys
kind, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
family = socket.AF_INET6 if ':' in address else socket.AF_INET
to = socket.socket(family, socket.SOCK_STREAM if kind == 'tcp' else socket.SOCK_DGRAM)
to.settimeout(2)
try:
    to.connect((address, port))
    to.send(b'x')
    print('sent')
except OSError as error:
    print('held', error)
"""


@pytest.fixture(scope="module")
def island(base):
    """A machine in a network namespace of its own, with somebody else's rules in it."""
    why = people.missing()
    if why:
        pytest.skip(why)
    made = people.Machine(base, base.unused("island"), ("--mount", "--net"))
    try:
        made.root("ip", "link", "set", "lo", "up")
        for address in ("192.0.2.1/32", "2001:db8::1/128"):
            made.root("ip", "addr", "add", address, "dev", "lo", *["nodad"] * (":" in address))
        made.init()
        made.init("--for", "carol")
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def services(island):
    """Something listens at these ports, of TCP and UDP, on every address of the island."""
    script = ("import socket, time\nkept = []\nfor port in (5432, 8080):\n  for kind in (1, 2):\n"
              "    s = socket.socket(socket.AF_INET6, kind); s.bind(('::', port)); kept.append(s)\n"
              "    kind == 1 and s.listen()\nprint('ready', flush=True); time.sleep(600)")
    with subprocess.Popen([*island.enter(), "python3", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def number_of(island, name):
    return next(int(line.split(":")[2]) for line in island.file("/etc/passwd").read_text().splitlines()
                if line.startswith(f"{name}:"))


def reaches(island, uid, kind, address, port):
    person = harness.Person("somebody", uid, island.directory / "carol")
    done = harness.run_in(person, ["/usr/bin/python3", "-c", REACH, kind, address, str(port)], outer=island.enter())
    return done.ok().text.startswith("sent")


PLACES = [("tcp", "127.0.0.1", 8080), ("tcp", "::1", 8080), ("tcp", "192.0.2.1", 8080), ("tcp", "2001:db8::1", 8080),
          ("udp", "127.0.0.1", 8080), ("udp", "192.0.2.1", 53), ("udp", "2001:db8::1", 53)]


def test_agents_users_have_no_network_outside_of_sandboxes(island, services):
    hutch = island.base.bin / "hutch"
    names = ["hutch", "hutch-carol"]
    everybody = [number_of(island, name) for name in names] + [people.PEOPLE["carol"], 0]
    for uid in everybody:
        assert all(reaches(island, uid, *place) for place in PLACES), "else what follows shows nothing"
    planned = island.root(hutch, "network", "init", "--port", "5432", "--dry-run")
    assert "systemctl enable hutch-network.service" in planned
    assert reaches(island, everybody[0], *PLACES[0])
    island.root(hutch, "network", "init", "--port", "5432")
    try:
        for name, uid in zip(names, everybody):
            assert [place for place in PLACES if reaches(island, uid, *place)] == [], name
            assert reaches(island, uid, "tcp", "127.0.0.1", 5432) and reaches(island, uid, "tcp", "::1", 5432)
            assert not reaches(island, uid, "udp", "127.0.0.1", 5432), "ports are of TCP"
            assert not reaches(island, uid, "tcp", "2001:db8:ffff::1", 5432)
        for uid in everybody[2:]:
            assert all(reaches(island, uid, *place) for place in PLACES), "others have what they had"
        # Who comes later has none either.
        island.root(hutch, "init", "--for", "carol", "--agent", "late")
        late = next(line.split(":")[0] for line in island.file("/etc/passwd").read_text().splitlines()
                    if line.startswith("hutch-carol-late-"))
        assert not reaches(island, number_of(island, late), *PLACES[0])
        # Who is no more neither: a file of such a number that runs as its owner may be left.
        gone = number_of(island, late)
        island.root(hutch, "deinit", "--for", "carol", "--agent", "late")
        assert not reaches(island, gone, *PLACES[0])
        # Twice is fine, and what the unit does at the start of the machine is the same.
        unit = island.file("/etc/systemd/system/hutch-network.service").read_text()
        start = next(line.split("=", 1)[1] for line in unit.splitlines() if line.startswith("ExecStart="))
        island.root(*start.split())
        assert not reaches(island, everybody[0], *PLACES[0])
    finally:
        island.root(hutch, "network", "deinit")
    for uid in everybody:
        assert all(reaches(island, uid, *place) for place in PLACES)
    assert not island.file("/etc/systemd/system/hutch-network.service").exists()
    assert not island.file("/etc/hutch-helper/network").exists()


def test_a_sandbox_has_what_its_policy_says_with_the_rules_on(island, services):
    hutch = island.base.bin / "hutch"
    island.root(hutch, "network", "init")
    try:
        code = REACH.replace("print('sent')", "print('sent', to.recv(1))")
        run = [hutch, "run", "--backend", "user", "--cwd", "/"]
        reach = ["--", "python3", "-c", code, "tcp", "127.0.0.1", "8080"]
        for options, told in ((["--allow-host-port", "8080"], "timed out"), ([], "refused")):
            # It is connected, and the service says nothing.
            said = subprocess.run([*island.enter(), *map(str, run), *options, *reach], capture_output=True, text=True,
                                  check=False)
            assert told in said.stdout, said
    finally:
        island.root(hutch, "network", "deinit")


@pytest.mark.parametrize("path", ["/run/nscd/socket", "/run/dbus/system_bus_socket",
                                  "/run/systemd/resolve/io.systemd.Resolve"])
def test_who_resolves_for_others_is_closed_to_them(island, path):
    hutch = island.base.bin / "hutch"
    island.root("mkdir", "-p", str(pathlib.Path(path).parent))
    place = island.file(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        place.chmod(0o666)
        threading.Thread(target=hang_up, args=(listener,), daemon=True).start()
        try:
            assert connects(island, "hutch", path)
            island.root(hutch, "network", "init")
            assert not connects(island, "hutch", path) and not connects(island, "hutch-carol", path)
            assert connects(island, "carol", path)
            island.root(hutch, "network", "deinit")
            assert connects(island, "hutch", path) and place.stat().st_mode & 0o777 == 0o666
        finally:
            place.unlink()
            listener.shutdown(socket.SHUT_RDWR)


def hang_up(listener):
    """On everybody: programs of this machine ask nscd too, and would wait for its answer."""
    try:
        while True:
            listener.accept()[0].close()
    except OSError:
        return


def connects(island, name, path):
    person = harness.Person(name, number_of(island, name), pathlib.Path("/"))
    code = (f"import socket\ntry: socket.socket(socket.AF_UNIX).connect('{path}')\n"
            "except PermissionError: raise SystemExit(9)")
    ended = harness.run_in(person, ["/usr/bin/python3", "-c", code], outer=island.enter())
    assert ended.code in (0, 9), str(ended)
    return ended.code == 0


def test_it_takes_root(island):
    person = island.person("carol")
    for words in (["network", "init"], ["network", "deinit"], ["service", "init", "--for", "carol"]):
        refused = harness.run_in(person, [island.base.bin / "hutch", *words], outer=island.enter())
        assert refused.code == 125 and f"sudo hutch {' '.join(words)}" in refused.errors, str(refused)
    assert harness.run_in(person, [island.base.bin / "hutch", "network", "apply"], outer=island.enter()).code == 125


def test_the_daemon_as_that_user(island):
    hutch = island.base.bin / "hutch"
    island.root(hutch, "service", "init", "--for", "carol")
    unit = island.file("/etc/systemd/system/hutch-daemon-hutch-carol.service").read_text()
    assert "User=hutch-carol\n" in unit and f"ExecStart={hutch} serve --idle never\n" in unit
    assert "enable --now hutch-daemon-hutch-carol.service" in island.file("/run/systemctl.log").read_text()
    # As the unit would start it.
    settings = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and not line.startswith("#"))
    runtime = f"/run/{settings['RuntimeDirectory']}"
    island.root("install", "-d", "-m", "0700", "-o", settings["User"], runtime)
    start = ["setpriv", "--reuid", settings["User"], "--regid", settings["User"], "--init-groups", "env", "-i",
             settings["Environment"], "HOME=/var/lib/hutch-people/hutch-carol", "PATH=/usr/bin:/bin"]
    daemon = subprocess.Popen([*island.enter(), *start, *settings["ExecStart"].split()])
    try:
        status = [*island.enter(), *start, str(hutch), "daemon", "status", "--json"]
        def serves():
            return subprocess.run(status, capture_output=True, check=False).returncode == 0

        harness.wait_until(serves, "it serves")
    finally:
        daemon.terminate()
        daemon.wait(20)
    island.root(hutch, "service", "deinit", "--for", "carol")
    assert not island.file("/etc/systemd/system/hutch-daemon-hutch-carol.service").exists()


@pytest.mark.parametrize("name, mode, says", [("with space", 0o755, "plain path"), ("open", 0o777, "root's alone")])
def test_a_helper_that_root_should_not_start(island, name, mode, says):
    place = island.directory / name
    place.mkdir()
    for program in ("hutch", "hutch-guest", "hutch-helper"):
        shutil.copy(island.base.bin / program, place / program)
    place.chmod(mode)
    before = island.file("/etc/passwd").read_text()
    tried = subprocess.run([*island.enter(), str(place / "hutch"), "init", "--for", "dave"], capture_output=True,
                           text=True, check=False)
    assert tried.returncode == 125 and says in tried.stderr, tried
    assert island.file("/etc/passwd").read_text() == before
