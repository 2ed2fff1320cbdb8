# A machine whose root is hostile: what it does to the directories that it shares with the host, and what it says.
import os
import pathlib
import shutil
import stat
import time

import daemons
import harness
import machines
import pytest

SOURCE = (pathlib.Path(__file__).parent / "hostile_guest.c").read_text(encoding="utf-8")
RAW = (pathlib.Path(__file__).parent / "raw_guest.c").read_text(encoding="utf-8")
# What the machine's user may do; ".." of the served root is that itself. The number of nodes guessed is 0 too.
ALLOWED = {"0", "1", "2", "..", "mine", "log", "guessed"}
PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]


@pytest.fixture(scope="module", params=PEOPLE)
def person(request, base):
    return base.person(request.param)


@pytest.fixture(scope="module")
def provisioned(base, person, root_archive, shared):
    """A state in which a machine is provisioned, by hutch's own guest."""
    made = daemons.Daemon(base, person)
    machines.provision(made, person, made.data, root_archive, shared)
    yield made
    made.stop()


def programs(base, compiler, person, name, *flags, source=SOURCE):
    """hutch, with another guest in the machine."""
    place = person.mkdir(person.home / f"hostile-{name}")
    for program in base.bin.iterdir():
        if program.is_file() and program.name != "hutch-guest":
            shutil.copy(program, place / program.name)
    compiler.install(source, place, person, "hutch-guest", [f'-DREAL="{base.bin}/hutch-guest"', *flags])
    return place


def entries(top):
    return [pathlib.Path(above) / name for above, below, names in os.walk(top) for name in [*below, *names]]


def rights(place):
    """What of it gives somebody something on this machine."""
    found = []
    for path in entries(place):
        status = path.lstat()
        if stat.S_ISBLK(status.st_mode) or stat.S_ISCHR(status.st_mode):
            found.append(f"{path.name}: a device")
        if stat.S_ISREG(status.st_mode) and status.st_mode & 0o6000:
            found.append(f"{path.name}: set-user-ID")
        if stat.S_ISREG(status.st_mode) and "security.capability" in os.listxattr(path):
            found.append(f"{path.name}: capabilities")
    return found


def test_root_of_a_machine_makes_nothing_of_worth_on_the_host(base, compiler, person, provisioned):
    hostile = programs(base, compiler, person, "shares")
    daemon = daemons.Daemon(base, person, hostile / "hutch")
    daemon.state, daemon.data = provisioned.state, provisioned.data
    home = daemon.data / "workspace/agents/mallory"
    daemon.create("backend=vm", name="mallory")
    refused = daemon.sh("mallory", "true", timeout=180)
    assert refused.code == 125 and "machine" in refused.errors, str(refused)
    assert (home / "log").exists(), "it was not even tried"
    places = [home, daemon.data / "workspace/shared", daemon.data / "output/mallory"]
    assert all((place / "log").exists() for place in places)
    for place in places:
        assert rights(place) == [], (place / "log").read_text()
        for path in entries(place):
            assert path.lstat().st_uid == person.uid, path
    assert not [path for path in entries(daemon.data) if path.name in ("new", "top", "moved")]
    # The machine's links are the machine's: the host's tools lead nowhere by them.
    assert os.readlink(home / "out") == "/etc/hostname"
    # And it is known to be an attack.
    if person.uid == 0:
        bare = person.mkdir(person.home / "bare")
        harness.run_in(person, [hostile / "hutch-guest", "here", bare]).ok()
        assert {"made: set-user-ID", "mine: capabilities"} <= set(rights(bare)), rights(bare)
    daemon("agent", "remove", "mallory").ok()
    daemon.stop()


def test_requests_that_no_kernel_makes_reach_nothing(base, compiler, person, provisioned):
    """By the device itself: names that climb, guessed nodes, rights, special files, broken rings."""
    hostile = programs(base, compiler, person, "raw", source=RAW)
    daemon = daemons.Daemon(base, person, hostile / "hutch")
    daemon.state, daemon.data = provisioned.state, provisioned.data
    daemon.create("backend=vm", name="rawley")
    refused = daemon.sh("rawley", "true", timeout=180)
    assert refused.code == 125 and "machine" in refused.errors, str(refused)
    said = (daemon.data / "output/rawley/log").read_text(encoding="utf-8")
    answers = [(line.rpartition(" ")[0], int(line.rpartition(" ")[2])) for line in said.splitlines()]
    assert len(answers) > 30 and ("mine", 0) in answers, said
    assert not [what for what, error in answers if error == 0 and what not in ALLOWED], said
    assert ("guessed", 0) in answers, said
    home = daemon.data / "workspace/agents/rawley"
    assert sorted(path.name for path in entries(home)) == ["mine"] and rights(home) == [], said
    assert not [path for path in entries(daemon.data) if path.name in ("new", "hard", "moved", "whiteout", "node")]
    daemon("agent", "remove", "rawley").ok()
    daemon.stop()


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_what_a_machine_says_is_not_believed(base, compiler, person, provisioned, kind):
    """Noise, frames of four gigabytes, frames of every kind that nobody waits for."""
    hostile = programs(base, compiler, person, f"flood{kind}", f"-DFLOOD={kind}")
    began = time.monotonic()
    with harness.start_in(person, [hostile / "hutch", "run", "--backend", "vm", "--", "true"],
                          env={"HUTCH_STATE": str(provisioned.state)}) as process:
        peak = 0
        while process.poll() is None and time.monotonic() < began + 120:
            peak = max(peak, sum(resident(pid) for pid in ours(process.pid)))
            time.sleep(0.05)
        assert process.poll() is not None, "it goes on for ever"
        error = process.stderr.read().decode()
    assert process.returncode == 125 and error.startswith("hutch: "), error
    assert peak < 64 << 20, peak
    left = [name for name in (provisioned.data / "vm/runs").iterdir()]
    assert left == []


def ours(pid):
    """hutch and the relay."""
    return [pid] + [child for child in daemons.children(pid) if b"--relay" in command_line(child)]


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resident(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096
    except (OSError, IndexError):
        return 0
