# What may not be written under a name cannot be, by whatever way it is tried; nobody can stop the supervisor.
"""The host's side looks at what came of it. Each attack works where nothing protects."""

import os
import pathlib
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "escape" / "suite"))
from names import MOVES, PUT, RULES, make_places  # noqa: E402

MILLISECONDS = "60000" if os.environ.get("HUTCH_TEST_ALL") == "1" else "300"


@pytest.mark.parametrize("way", MOVES)
def test_what_holds_the_place_of_a_new_rule_is_not_moved(hutch, project, backend, as_user, way):
    """The rules come while the command runs; those of its start are a case of the suite (tests/escape)."""
    make_places(as_user, project)
    script, path = MOVES[way]
    with hutch.popen("sh", "-c", f"echo up; read line; {script}") as process:
        assert process.stdout.readline() == b"up\n"
        for name in RULES:
            hutch("config", "add", "filesystem.denyWrite", f"{project}/{name}").ok()
        process.communicate(b"\n", timeout=60)
    text = (project / path).read_text(encoding="utf-8") if (project / path).exists() else ""
    assert ("evil" in text) == (backend == "none"), text


PUTTING = PUT + """
def seen(name): return open(name).read(), oct(os.stat(name).st_mode & 0o7777), sorted(os.listdir())
def error(*given, **more): return os.strerror(-put(*given, **more))
os.umask(0o077)
print(put("new", b"first") == os.stat("new").st_ino, *seen("new"))
os.link("new", "second")
print(put("new", b"then", 0o755) == os.stat("new").st_ino, *seen("new"), open("second").read())
print(put("empty", b"") == os.stat("empty").st_ino, *seen("empty"))
os.mkdir("dir"); os.symlink("new", "link"); os.mkfifo("fifo"); had = sorted(os.listdir())
print(*(error(name, b"x") for name in ("dir", "link", "fifo", ".", "no/such", "new/x")))
print(*(error("new", b"x", **wrong) for wrong in
        ({"mode": 0o4755}, {"size": (64 << 10) + 1}, {"size": 4, "address": 16}, {"path": b"content!"})))
print(*(error(name, b"x") for name in ("/tmp/elsewhere", "/etc/hostname", "/proc/self/comm")))
os.mkdir("closed", 0o555)
print(error("closed/x", b"x"), sorted(os.listdir()) == sorted(had + ["closed"]), open("new").read())
"""


def test_one_call_puts_a_file(hutch, backend):
    said = hutch.run("python3", "-c", PUTTING)
    if backend == "none":
        assert b"FileNotFoundError" in said.err, "no kernel knows of it"
        return
    invalid, stale = "Invalid argument", "Stale file handle"
    assert said.ok().text.splitlines() == [
        "True first 0o644 ['new']",
        "True then 0o755 ['new', 'second'] first",
        "True  0o644 ['empty', 'new', 'second']",
        f"{stale} {stale} {stale} {invalid} No such file or directory Not a directory",
        f"{invalid} {invalid} {invalid} {invalid}",
        f"{invalid} {invalid} {invalid}",
        "Permission denied True then",
    ]


def test_what_is_above_a_mount_is_moved_and_rules_hold(hutch, backend, as_user):
    """Below the private /tmp the directories above the project are the sandbox's own."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        os.chmod(as_user.own(top), 0o755)
        place = as_user.mkdir(pathlib.Path(top) / "u" / "proj")
        as_user.write(place / "there", "as it was\n")
        script = (
            f"cd /; mv {top}/u {top}/m; echo evil > {top}/m/proj/absent; echo evil > {top}/m/proj/there; "
            f"echo evil > {top}/m/proj/.mcp.json; echo fine > {top}/m/proj/plain; mv {top}/m {top}/u; ls {place}"
        )
        words = ["--allow-read", str(place), "--allow-write", str(place), "--deny-write", f"{place}/absent",
                 "--deny-write", f"{place}/there"]
        result = hutch.run("sh", "-c", script, options=words, cwd=place)
        names = {path.name: path.read_text(encoding="utf-8") for path in place.iterdir()}
    kept = {"there": "as it was\n", "plain": "fine\n"}
    none = {"there": "evil\n", "plain": "fine\n", "absent": "evil\n", ".mcp.json": "evil\n"}
    assert names == (none if backend == "none" else kept), str(result)


# It goes by another name for moments, in which the file is written there.
TO_AND_FRO = """
import os, sys, threading, time
top, end = sys.argv[1], time.monotonic() + float(sys.argv[2]) / 1000
def move():
    while time.monotonic() < end:
        os.rename(f"{top}/u", f"{top}/m")
        os.rename(f"{top}/m", f"{top}/u")
thread = threading.Thread(target=move)
thread.start()
while time.monotonic() < end:
    for name in ("u", "m"):
        for file in (f"{top}/{name}/proj/absent", f"{top}/{name}/proj/.mcp.json"):
            try:
                os.close(os.open(file, os.O_WRONLY | os.O_CREAT))
            except OSError:
                pass
thread.join()
"""


def test_what_is_moved_to_and_fro_is_not_lost_sight_of(hutch, backend, as_user):
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        os.chmod(as_user.own(top), 0o755)
        place = as_user.mkdir(pathlib.Path(top) / "u" / "proj")
        words = ["--allow-read", str(place), "--allow-write", str(place), "--deny-write", f"{place}/absent"]
        hutch.run("python3", "-c", TO_AND_FRO, top, MILLISECONDS, options=words, cwd=place, timeout=120).ok()
        names = sorted(path.name for path in place.iterdir())
    assert names == ([".mcp.json", "absent"] if backend == "none" else []), names


def test_no_program_is_left_that_gives_away_rights(hutch, project, backend, as_user):
    script = (
        "cp /bin/true a; chmod 4755 a; chmod 2755 a; python3 -c 'import os; os.close(os.open(\"b\", os.O_CREAT | "
        "os.O_WRONLY, 0o6755))'; python3 -c 'import os; os.mknod(\"c\", 0o6755)'; cp a e; python3 -c 'import os; "
        "os.fchmod(os.open(\"e\", os.O_RDONLY), 0o6755)'; mkdir d && chmod 2755 d"
    )
    hutch.sh(script).ok()
    there = [project / name for name in "abce" if (project / name).exists()]
    modes = {path.name: path.stat().st_mode & 0o6000 for path in there}
    assert any(modes.values()) == (backend == "none") and {"a", "e"} <= set(modes), modes
    assert (project / "d").stat().st_mode & 0o2000, "a directory has its group's"


# openat2(2) of a size by which the filter takes it for a look: the kernel makes it, to which nothing is writable.
CALLS_IT_A_LOOK = """
import ctypes, errno, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
O_TMPFILE = 0o20000000 | os.O_DIRECTORY
def look(path, flags):
    how = struct.pack("QQQ", flags, 0o644 if flags & (os.O_CREAT | O_TMPFILE) else 0, 0).ljust(64, b"\\0")
    number = libc.syscall(437, -100, path.encode(), how, ctypes.c_size_t(len(how)))
    return errno.errorcode[ctypes.get_errno()] if number < 0 else os.close(number) or "opened"
open("there", "w").close()
print(*(look(path, flags) for path, flags in (
    ("there", os.O_RDONLY), ("there", os.O_WRONLY), ("there", os.O_RDONLY | os.O_TRUNC),
    ("new", os.O_CREAT | os.O_RDWR), (".mcp.json", os.O_CREAT | os.O_WRONLY), (".", O_TMPFILE | os.O_RDWR))))
"""


def test_a_change_that_looks_like_a_look(hutch, project, backend, as_user):
    result = hutch.run("python3", "-c", CALLS_IT_A_LOOK).ok()
    wanted = ["opened"] * 6 if backend == "none" else ["opened"] + ["EROFS"] * 5
    assert result.text.split() == wanted, str(result)
    assert (project / ".mcp.json").exists() == (project / "new").exists() == (backend == "none")


@pytest.mark.parametrize("kind", ["buffer", "parent", "descriptor", "current", "ancestors"])
def test_race(hutch, project, backend, as_user, compile_c, kind):
    as_user.mkdir(project / "plain")
    as_user.mkdir(project / "repo")
    as_user.mkdir(project / "repo/.git")
    as_user.mkdir(project / "repo/.git/hooks")
    program = compile_c((HERE / "race.c").read_text(encoding="utf-8"), name="race", flags=("-pthread",))
    result = hutch.run(program, kind, "700" if backend == "none" else MILLISECONDS, timeout=120)
    assert result.code == 0 and b"tried" in result.out, str(result)
    won = [
        str(path) for path in project.rglob("*") if path.name == ".mcp.json" or path.match(".git/hooks/pre-commit")
    ]
    assert bool(won) == (backend == "none" and kind != "ancestors") or kind == "ancestors" and backend == "none", won


# Two sandboxes of one project: what one is about to have named .git/config, the other tries to have open by then.
NAMES_IT = """
import os, sys, time
TEXT, end = b"[core]\\n\\tbare = false\\n", time.monotonic() + float(sys.argv[1])
os.makedirs("repo/.git")
os.chdir("repo/.git")
while time.monotonic() < end and not os.path.exists("../won"):
    with open("config.lock", "wb") as lock:
        lock.write(TEXT)
    try:
        os.rename("config.lock", "config")
    except FileNotFoundError:
        pass
"""
HAS_IT_OPEN = """
import os, sys, time
print("ready", flush=True)
while not os.path.exists("repo/.git/config"):
    time.sleep(0.01)
os.chdir("repo/.git")
end, met = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < end and not os.path.exists("../won"):
    for name in sys.argv[2:]:
        try:
            file = os.open(name, os.O_RDWR)
            met += 1
            time.sleep(0.0005)
            if os.fstat(file).st_ino == os.stat("config").st_ino and os.pwrite(file, b"evil", 0):
                os.close(os.open("../won", os.O_CREAT))
            os.close(file)
        except PermissionError:  # the file was there
            met += 1
        except OSError:
            pass
print("met" if met else "met none")
"""


@pytest.fixture(name="walls", params=["bwrap", "namespace"])
def _walls(request):
    return request.param


def test_what_becomes_the_configuration_is_open_in_no_other_sandbox(hutch, project, walls, as_user):
    seconds = "20" if os.environ.get("HUTCH_TEST_ALL") == "1" else "3"
    names = ["config.lock", ".hutch-own-judged"]
    with hutch.popen("python3", "-c", HAS_IT_OPEN, seconds, *names, backend=walls) as other:
        assert other.stdout.readline() == b"ready\n"
        hutch.run("python3", "-c", NAMES_IT, seconds, backend=walls, timeout=60).ok()
        assert other.stdout.read() == b"met\n"
    assert not (project / "repo/won").exists()
    assert (project / "repo/.git/config").read_text(encoding="utf-8").startswith("[core]")
    assert not (project / "repo/.git/.hutch-own-judged").exists()
