# A denyRead that comes while a sandbox runs hides its place there at once, wherever the sandbox sees it.
"""`hutch config add` has told every run, and each has done it, when it ends. Each script shows first that it could."""

import os
import pathlib
import tempfile

import caller
import harness
import pytest


pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


class Running:
    """A script that stops at `read line`, and what it says."""

    def __init__(self, process):
        self.process = process

    def says(self, *lines):
        for line in lines:
            harness.wait_until(lambda: self.process.stdout.readline() == f"{line}\n".encode(), f"it says {line}")

    def go_on(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def finish(self):
        out, err = self.process.communicate(timeout=harness.PATIENCE)
        return out.decode(), err.decode(), self.process.returncode


@pytest.fixture
def starts(hutch):
    def start(script, *options):
        return Running(hutch.popen("sh", "-c", script, options=options))

    return start


@pytest.fixture
def denies(hutch):
    """Adds a rule, and says what `hutch config` does of it."""
    return lambda path, key="denyRead": str(hutch("config", "add", f"filesystem.{key}", str(path)).ok())


@pytest.fixture
def tree(as_user, project):
    """Of the project, which the sandbox may write."""
    for name in ("secret", "d/inner", "d/deep/f", "d/keep/f", "open"):
        as_user.write(project / name, "words")
    return project


@pytest.fixture
def shown(as_user, project):
    """One that is read-only inside."""
    made = as_user.mkdir(as_user.home / f"shown-{project.name}")
    as_user.write(made / "secret", "words")
    as_user.write(made / "d/f", "words")
    return made


def test_files_and_directories(starts, denies, tree, shown):
    looks = f"cat secret d/inner {shown}/secret {shown}/d/f; ls {shown}/d; ls d/keep; cat open; echo"
    run = starts(f"{looks}; read line; {looks}", "--allow-read", str(shown))
    run.says("words" * 4 + "f", "f", "words")
    for path in (tree / "secret", tree / "d", shown / "secret", shown / "d"):
        denies(path)
    run.go_on()
    out, err, _ = run.finish()
    assert out == "words\n", (out, err)
    assert err.count("No such file") + err.count("Permission denied") == 6, err


def test_a_pattern(starts, denies, tree, as_user):
    for name in ("a.key", "d/deep/b.key"):
        as_user.write(tree / name, "words")
    run = starts("cat a.key d/deep/b.key; echo; read line; cat a.key; cat d/deep/b.key; cat d/deep/f")
    run.says("wordswords")
    denies("**/*.key")
    run.go_on()
    out, err, _ = run.finish()
    assert (out, err.count("denied")) == ("words", 2), (out, err)


def test_what_is_allowed_in_it_stays(starts, denies, tree):
    """As it was: what is open goes on, and it can be written."""
    script = (
        "cd d/keep && echo more > g && echo up; read line; cat f; echo; cat g; echo new > h && echo again >> g; "
        f"cat {tree}/d/keep/h; cat {tree}/d/inner || echo no; ls -A {tree}/d || echo no"
    )
    run = starts(script)
    run.says("up")
    denies("./d/keep", key="allowRead")
    denies("./d")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "words\nmore\nnew\nno\nno\n", (out, err)
    assert (tree / "d/keep/g").read_text() == "more\nagain\n"


def test_it_is_not_written_or_moved_either(starts, denies, tree):
    script = (
        "ln secret second && rm second && echo up; read line; "
        "echo x > secret || echo no; (exec 3<> secret) || echo no; mv secret other || echo no; ln secret l || echo no; "
        "rm -f secret || echo no; mv d/deep e || echo no; mv d e || echo no; echo x > d/deep/new || echo no; "
        "chmod 600 secret || echo no; cat e l other d/deep/f"
    )
    run = starts(script)
    run.says("up")
    denies(tree / "secret")
    denies(tree / "d/deep")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "no\n" * 9, (out, err)
    assert (tree / "secret").read_text() == "words" and (tree / "d/deep/f").read_text() == "words"
    assert not (tree / "d/deep/new").exists()


def test_nothing_is_made_there(starts, denies, tree):
    tries = "echo x > later || echo no; mkdir -p some/dir || echo no; echo x > open && echo yes"
    run = starts(f"echo up; read line; {tries}")
    run.says("up")
    denies(tree / "later")
    denies(tree / "some/dir")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "no\nno\nyes\n", (out, err)
    assert not (tree / "later").exists() and not (tree / "some/dir").exists()


def test_links_to_it(starts, denies, tree):
    """Through one from elsewhere, and a rule that names one."""
    (tree / "to-secret").symlink_to("secret")
    (tree / "to-d").symlink_to(tree / "d")
    run = starts("cat to-secret to-d/inner; echo; read line; cat to-secret; cat to-d/inner; cat d/inner; cat secret")
    run.says("wordswords")
    denies(tree / "secret")
    denies(tree / "to-d")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "" and err.count("cat: ") == 4, (out, err)


def test_other_ways_to_it(starts, denies, tree):
    roots = f"cat /proc/self/root{tree}/secret; cat /proc/1/root{tree}/secret"
    ways = f"cat /proc/self/cwd/secret; {roots}; cat ./d/../secret"
    run = starts(f"{ways}; echo up; read line; {ways}; true")
    harness.wait_until(lambda: b"up" in run.process.stdout.readline(), "it is up")
    denies(tree / "secret")
    run.go_on()
    out, err, _ = run.finish()
    assert "words" not in out, (out, err)


def test_what_is_open_stays_open(starts, denies, tree):
    """As the manual says."""
    run = starts("exec 3< secret; cd d; echo up; read line; cat <&3; echo; cat inner; echo; cat ../d/inner || echo no")
    run.says("up")
    denies(tree / "secret")
    denies(tree / "d")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "words\nwords\nno\n", (out, err)


def test_a_rule_that_goes_shows_it_again(starts, denies, hutch, tree):
    script = "cat secret d/inner; echo; read line; cat secret || cat d/inner || echo no; read line; cat secret d/inner"
    run = starts(script)
    run.says("wordswords")
    denies(tree / "secret")
    denies(tree / "d")
    run.go_on()
    run.says("no")
    hutch("config", "remove", "filesystem.denyRead", str(tree / "d")).ok()
    hutch("config", "remove", "filesystem.denyRead", str(tree / "secret")).ok()
    run.go_on()
    out, err, _ = run.finish()
    assert out == "wordswords", (out, err)


def test_of_one_in_another(starts, denies, hutch, tree):
    script = "cat d/deep/f d/inner; echo; read line; cat d/inner; read line; cat d/deep/f || cat d/inner || echo no"
    run = starts(f"{script}; read line; cat d/inner; echo; cat d/deep/f || echo no")
    run.says("wordswords")
    denies(tree / "d/deep")
    run.go_on()
    denies(tree / "d")
    run.go_on()
    harness.wait_until(lambda: b"no" in run.process.stdout.readline(), "all of it is hidden")
    hutch("config", "remove", "filesystem.denyRead", str(tree / "d")).ok()
    run.go_on()
    out, err, _ = run.finish()
    assert out == "words\nno\n", (out, err)


def test_it_is_asked_about(hutch, denies, tree):
    """Where somebody may answer, as at the start."""
    script = "cat secret; echo; read line; cat secret; echo; cat d/inner || echo no"
    with caller.running(hutch, script) as (outside, process):
        run = Running(process)
        run.says("words")
        denies(tree / "secret")
        denies(tree / "d")
        run.go_on()
        for path, choice in ((tree / "secret", "session"), (tree / "d/inner", "no")):
            question = outside.line("question")
            assert (question["kind"], question["path"]) == ("read", str(path)), question
            outside.say(type="answer", id=question["id"], choice=choice)
        out, err, _ = run.finish()
    assert out == "words\nno\n", (out, err)


def test_a_file_that_is_replaced_outside_ends_the_sandbox(starts, denies, tree, as_user):
    run = starts("echo up; read line; sleep 1000")
    run.says("up")
    denies(tree / "secret")
    run.go_on()
    as_user.write(tree / "other", "other words").rename(tree / "secret")
    out, err, code = run.finish()
    assert code == 125 and "was replaced" in err, (out, err)


# Renames a directory of the sandbox's own, to a new name each time, that a mount of the host's lies in. After a line of
# input it says how often the secret was read there by what began since, and what can be read in the end.
MOVES = r"""
import os, sys, threading, time
at, count, stop, read, since = sys.argv[1], 0, threading.Event(), [0, 0], 0

def words(where):
    try:
        return open(f"{where}/dir/secret").read()
    except OSError:
        return ""

def move():
    global at, count
    while not stop.is_set():
        count += 1
        new = f"{sys.argv[1]}-{count % 100000}"
        os.rename(at, new)
        at = new
        now = since
        was_read = words(at) == "words"
        read[now] += was_read

mover = threading.Thread(target=move)
mover.start()
while not read[0]:
    time.sleep(0.01)
print("up", flush=True)
sys.stdin.readline()
since = 1
before = count
while count < before + 200:
    time.sleep(0.01)
stop.set()
mover.join()
print(read[1], words(at) or "gone", flush=True)
"""


@pytest.fixture
def below_tmp(as_user):
    """A directory of the host's in /tmp, which is the sandbox's own in there."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        os.chmod(made, 0o755)
        as_user.own(made)
        directory = as_user.mkdir(pathlib.Path(made) / "dir")
        as_user.write(directory / "secret", "words")
        yield directory


def test_what_is_moved_about_all_the_time(starts, denies, below_tmp):
    """The path of the rule leads nowhere in there: the file is found in its mount."""
    run = starts(f"exec python3 -c '{MOVES}' {below_tmp.parent}", "--allow-read", str(below_tmp))
    run.says("up")
    told = denies(below_tmp / "secret")
    assert "can still be read" not in told
    run.go_on()
    out, err, code = run.finish()
    assert out == "0 gone\n", (out, err, told)


SWAPS = r"""
import os, sys, threading, time
stop, moved = threading.Event(), [0]

def swap():
    while not stop.is_set():
        for a, b in (("d", "e"), ("e", "d")):
            try:
                os.rename(a, b)
                moved[0] += 1
            except OSError:
                pass

def words(name):
    try:
        return open(name + "/inner").read()
    except OSError:
        return ""

movers = [threading.Thread(target=swap) for _ in range(2)]
for mover in movers:
    mover.start()
while moved[0] < 100 or not words("d"):
    time.sleep(0.001)
print("up", flush=True)
sys.stdin.readline()
seen = sum(words("d") == "words" for _ in range(2000))
stop.set()
for mover in movers:
    mover.join()
print(seen, flush=True)
"""


@pytest.mark.parametrize("rule", ["d", "d/inner"])
def test_a_directory_of_the_project_that_is_swapped_all_the_time(starts, denies, tree, rule):
    """Where it is when the rule comes it stays, and at the rule's path it is not read."""
    run = starts(f"exec python3 -c '{SWAPS}'")
    run.says("up")
    denies(tree / rule)
    run.go_on()
    out, err, _ = run.finish()
    assert out == "0\n", (out, err)


def test_a_mount_of_its_own(starts, denies, tree):
    """What is bound once more, above it or itself, is seen in that mount."""
    options = ["--deny-write", str(tree / "d/deep/f"), "--deny-write", str(tree / "secret")]
    run = starts("cat secret d/deep/f; echo; read line; cat secret; cat d/deep/f; cat d/inner", *options)
    run.says("wordswords")
    denies(tree / "secret")
    denies(tree / "d/deep/f")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "words" and err.count("cat: ") == 2, (out, err)


def test_many(starts, denies, tree, as_user):
    for number in range(150):
        as_user.write(tree / "many" / f"{number}.key", "words")
    run = starts("cat many/*.key | wc -c; read line; cat many/*.key | wc -c")
    run.says("750")
    denies("many/*.key")
    run.go_on()
    out, err, _ = run.finish()
    assert out == "0\n", (out, err)
