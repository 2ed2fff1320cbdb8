# The turns that the supervisors of two sandboxes take at names that git knows.
"""Where a call of the kernel has to take long, strace makes it so: the race is then won each time, or never."""

import contextlib
import fcntl
import os
import pathlib
import signal
import struct

import harness
import pytest
from supervisors import is_in, slow, supervisor_of

RENAMEAT, MKDIRAT = 264, 258
PARTS = "mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD"
EVIL = "[core]\n\tfsmonitor = ./evil\n"

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def turns(as_user):
    """The file of the turns, as a supervisor opens it."""
    state = as_user.environment().get("HUTCH_STATE")
    data = pathlib.Path(state) / "data" if state else as_user.home / ".local/share/hutch"
    return data / "turns"


def lock(kind):
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 2, 0)


@contextlib.contextmanager
def turn_held(hutch, turns):
    """Another supervisor has the turn, and does not give it back."""
    hutch.run("true").ok()
    with turns.open("r+b") as file:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock(fcntl.F_WRLCK))
        yield lambda: fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock(fcntl.F_UNLCK))


def is_free(turns):
    with turns.open("r+b") as file:
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock(fcntl.F_WRLCK))
        except OSError:
            return False
        return True


def somebody_waits(turns):
    """proc(5), /proc/locks: a line with "->" is a process that waits."""
    inode = f":{turns.stat().st_ino} "
    return any("->" in line and inode in line for line in pathlib.Path("/proc/locks").read_text().splitlines())


CALLS = {
    "mkdir": "mkdir hooks",
    "create": "echo ref > HEAD",
    "by a link": "ln -s HEAD l; echo ready; read go; echo ref > l",
    "in hooks": "cd hooks.d/hooks; echo ready; read go; touch post-commit",
    "rename": "mkdir d; echo ready; read go; mv d refs",
    "link": "touch f; echo ready; read go; ln f config",
    "symlink": "ln -s f commondir",
    "mknod": "mkfifo HEAD",
    "bind": "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('objects')\"",
    "open": "echo ready; read go; echo '[a]' > there/config",
    "a .git file": "mkdir -p sub; echo ready; read go; echo 'gitdir: ../.git/modules/sub' > sub/.git; touch plain",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_name_that_git_knows_waits_for_the_turn(hutch, as_user, project, turns, call):
    as_user.mkdir(project / "hooks.d/hooks")
    as_user.write(project / "there/config", "[b]\n")
    script = CALLS[call] if "read go" in CALLS[call] else f"echo ready; read go; {CALLS[call]}"
    with turn_held(hutch, turns) as give_back, hutch.popen("sh", "-c", f"{script}; echo done") as run:
        assert run.stdout.readline() == b"ready\n"
        run.stdin.write(b"go\n")
        run.stdin.flush()
        harness.wait_until(lambda: somebody_waits(turns), "a call that waits", seconds=4)
        give_back()
        out, err = run.communicate(timeout=harness.PATIENCE)
        assert (out, run.returncode) == (b"done\n", 0), err
    assert is_free(turns)


def test_other_names_take_no_turn(hutch, as_user, project, turns):
    for name in ("modules", "config"):
        as_user.mkdir(project / "src" / name)
    with turn_held(hutch, turns):
        hutch.sh("mkdir plain; echo x > src/modules/a.c; mv src/modules/a.c src/config/b.c; "
                 "ln src/config/b.c c; chmod 600 c; rm c; cd src/config; echo y >> b.c").ok()
    assert (project / "src/config/b.c").read_text() == "x\ny\n"


def test_a_turn_that_does_not_come_is_told(hutch, project, turns):
    with turn_held(hutch, turns):
        said = hutch.sh("mkdir hooks; mkdir plain; echo 'gitdir: ../.git/modules/sub' > plain/.git")
    assert b"Device or resource busy" in said.err, said
    assert b"another sandbox did not end its turn" in said.err, said
    assert b"plain/.git was refused" in said.err, said
    assert (project / "plain").exists() and not (project / "hooks").exists()


def test_turns_that_do_not_come_hold_a_sandbox_up_once(hutch, project, turns):
    """Three seconds for each would be longer than a run may take."""
    script = "for i in $(seq 30); do mkdir hooks; done; touch tried; read go; mkdir hooks"
    with turn_held(hutch, turns) as give_back, hutch.popen("sh", "-c", script) as run:
        harness.wait_until((project / "tried").exists, "thirty calls", harness.PATIENCE)
        assert not (project / "hooks").exists()
        give_back()
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
        assert run.returncode == 0, err
    assert (project / "hooks").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="strace has to trace what cannot be dumped")
def test_a_supervisor_that_is_killed_in_its_turn_gives_it_back(hutch, project, turns):
    script = "touch first; read go; mkdir {}"
    with (hutch.popen("sh", "-c", script.format("hooks")) as one,
          hutch.popen("sh", "-c", script.format("refs")) as two):
        dying = supervisor_of(one)
        supervisor_of(two)
        with slow(dying, "mkdirat", 60) as tracer:
            one.stdin.write(b"go\n")
            one.stdin.flush()
            harness.wait_until(lambda: is_in(dying, MKDIRAT) and not is_free(turns), "a turn")
            two.stdin.write(b"go\n")
            two.stdin.flush()
            harness.wait_until(lambda: somebody_waits(turns), "a call that waits", seconds=4)
            os.kill(dying, signal.SIGKILL)
            tracer.kill()  # a process that is traced ends only once its tracer lets it
            said = two.communicate(timeout=harness.PATIENCE)
            assert two.returncode == 0, said
        one.communicate()
    assert (project / "refs").exists() and not (project / "hooks").exists()
    assert is_free(turns)


@pytest.mark.skipif(os.geteuid() != 0, reason="strace has to trace what cannot be dumped")
def test_a_part_that_is_removed_meanwhile(hutch, as_user, project):
    """The one replaces HEAD of a harmless repository. Before it does so, the other removes HEAD and makes the
    configuration, which is none of a repository then."""
    as_user.write(project / "evil", EVIL)
    rename = "import os; os.mkdir('first'); input(); os.rename('h', 'HEAD')"
    other = f"echo '[core]' > config; {PARTS}; cp HEAD h; echo ready; read go; rm HEAD; mv -f evil config"
    with hutch.popen("python3", "-c", rename) as one, hutch.popen("sh", "-c", other) as two:
        supervisor = supervisor_of(one)
        assert two.stdout.readline() == b"ready\n"
        with slow(supervisor, "renameat", 2):
            one.stdin.write(b"go\n")
            one.stdin.flush()
            harness.wait_until(lambda: is_in(supervisor, RENAMEAT), "a rename that takes long")
            two.communicate(b"go\n", timeout=harness.PATIENCE)
            one.communicate(timeout=harness.PATIENCE)
    assert (project / "HEAD").exists() and one.returncode == 0
    assert (project / "config").read_text() == "[core]\n"


def test_without_the_file_a_run_says_so(hutch, as_user, project):
    """As where the data directory cannot be written."""
    if as_user.is_root:
        pytest.skip("root may write every directory")
    closed = as_user.home / f"closed-{project.name}"
    closed.mkdir(mode=0o555)
    said = hutch.sh("mkdir hooks; touch HEAD", env={"XDG_DATA_HOME": str(closed)}).ok()
    assert b"take no turns" in said.err and str(closed).encode() in said.err, said
    assert (project / "hooks").exists()


def test_two_sandboxes_work_on_one_repository(hutch, as_user, project, run_outside):
    """Everyday git in a worktree each: nobody is told that something is busy."""
    commit = "git -c user.name=a -c user.email=a@b commit -q"
    hutch.sh(f"git init -q -b main && {commit} --allow-empty -m first").ok()
    work = (f"git worktree add -q -b $0 $0 && cd $0 && for i in $(seq 15); do echo $i > $0-$i && git add . && "
            f"{commit} -m $i && git branch b-$0-$i && git tag t-$0-$i || exit 1; done; git gc -q; git status --short")
    with hutch.popen("sh", "-c", work, "one") as one, hutch.popen("sh", "-c", work, "two") as two:
        said = [run.communicate(timeout=2 * harness.PATIENCE) for run in (one, two)]
    assert (one.returncode, two.returncode) == (0, 0), said
    assert not any(b"busy" in err or b"turn" in err for _, err in said), said
    assert run_outside("git", "-C", project, "rev-list", "--count", "--all").ok().text.strip() == "31"
