# Every refusal of a change is told: what was to change, why not, and what allows it; in the line, the JSON and `why`.
import json

import harness
import pytest

# Each as a user's program makes it; P is the path, which is a file with a directory "D" beside it, and N a new name.
WAYS = {
    "open to write": "os.open(P, os.O_WRONLY)",
    "open to read and write": "os.open(P, os.O_RDWR)",
    "open to append": "os.open(P, os.O_WRONLY | os.O_APPEND)",
    "cut off": "os.open(P, os.O_RDONLY | os.O_TRUNC)",
    "truncate": "os.truncate(P, 0)",
    "remove": "os.unlink(P)",
    "rename": "os.rename(P, 'elsewhere')",
    "rename onto": "open('own', 'w').close(); os.rename('own', P)",
    "mode": "os.chmod(P, 0o600)",
    "times": "os.utime(P)",
    "attribute": "os.setxattr(P, 'user.x', b'x')",
}
NEW = {
    "make": "os.open(N, os.O_WRONLY | os.O_CREAT, 0o644)",
    "make, only new": "os.open(N, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)",
    "directory": "os.mkdir(N)",
    "pipe": "os.mkfifo(N)",
    "symbolic link": "os.symlink('x', N)",
    "link": "open('own', 'w').close(); os.link('own', N)",
    "moved there": "open('own', 'w').close(); os.rename('own', N)",
}
TRY = "import os, sys\nP, N = sys.argv[1:]\ntry:\n    {}\nexcept OSError as e:\n    sys.exit(3)\n"
MAKE = """
git init -q .; git config user.name A; git config user.email a@b.example; git commit -q --allow-empty -m first
git worktree add -q w; printf '#!/bin/sh\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit
echo x > .envrc; echo k > kept; mkdir keep; echo k > keep/file
"""


def outside_of(project, name):
    return project.parent / f"{project.name}-shown" / name


REMEDY = "; --allow-write {path} allows it, filesystem.allowWrite for good"
# What allows a new name where a mount has to be put on it; nothing else is for a mount.
NEW_REMEDIES = {
    "make": "; `touch {path}` outside, and then --allow-write {path}, allow it",
    "make, only new": "; `touch {path}` outside, and then --allow-write {path}, allow it",
    "directory": "; --allow-write {path}/ makes a directory of that name",
}
# The file, a new name, the options, and what each line says after the path; None: the new name is allowed there.
PLACES = {
    "shown": lambda project: (
        outside_of(project, "file"), outside_of(project, "new"), ["--allow-read", str(outside_of(project, "."))],
        "no entry of filesystem.allowWrite names it{remedy}"),
    "denied file": lambda project: (project / "kept", None, ["--deny-write", "kept"], '--deny-write "kept" denies it'),
    "denied directory": lambda project: (project / "keep/file", project / "keep/new", ["--deny-write", "keep"],
                                         '--deny-write "keep" denies it'),
    "hook": lambda project: (project / ".git/hooks/pre-commit", project / ".git/hooks/post-commit", [],
                             "programs outside act on what is written there{remedy}"),
    "obeyed": lambda project: (project / ".envrc", None, [], "direnv runs it; --allow-write {path} allows it"),
    "link to a repository": lambda project: (project / "w/.git", None, [], "--allow-write {path} allows it"),
    "link of a worktree": lambda project: (project / ".git/worktrees/w/commondir", None, [],
                                           "--allow-write {path} allows it"),
}


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def made(as_user, project):
    harness.run_in(as_user, ["/bin/sh", "-ec", MAKE], cwd=project).ok()
    as_user.write(outside_of(project, "file"), "shown\n")
    return project


def tried(hutch, call, path, new, options):
    return hutch.run("/usr/bin/python3", "-c", TRY.format(call), path, new or "", options=["--json", *options])


@pytest.mark.parametrize("place", PLACES)
def test_each_way_is_told(hutch, backend, made, place):
    path, new, options, reason = PLACES[place](made)
    wrong = []
    for way, call in {**WAYS, **(NEW if new else {})}.items():
        target = new if way in NEW else path
        ran = tried(hutch, call, path, new, options)
        assert ran.code == 3, (way, ran)
        refusals = json.loads(ran.out)["refusals"]
        remedy = NEW_REMEDIES.get(way, "") if way in NEW and place == "shown" else REMEDY
        expected = reason.format(path=target, remedy=remedy.format(path=target))
        told = [target, *([made / "keep"] if place == "denied directory" else [])]
        fits = [one for one in refusals if one["what"].startswith(tuple(f"writing {one} was refused: " for one in told))
                and expected in one["what"] and one["rule"]]
        if len(fits) != 1 or len(refusals) != 1:
            wrong.append(f"{way}: {refusals}")
            continue
        why = hutch("why").ok().text
        if fits[0]["what"] not in why or fits[0]["rule"] not in why:
            wrong.append(f"{way}: why says {why}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("place", [place for place in PLACES if not place.startswith("denied")])
def test_what_it_says_helps(hutch, backend, made, place):
    path, new, options, reason = PLACES[place](made)
    refused = tried(hutch, WAYS["open to write"], path, new, options)
    assert f"; --allow-write {path} allows it" in json.loads(refused.out)["refusals"][0]["what"], refused
    ran = tried(hutch, WAYS["open to write"], path, new, [*options, "--allow-write", str(path)])
    assert ran.code == 0 and json.loads(ran.out)["refusals"] == [], ran


QUIET = {
    "it succeeded": ("os.open(P, os.O_RDONLY)", 0),
    "it asked whether it may": ("sys.exit(3 if not os.access(P, os.W_OK) else 0)", 3),
    "nothing is there": ("os.unlink(P + '-absent')", 3),
    "it is there already": ("os.mkdir(os.path.dirname(P))", 3),
    "a device": ("os.open('/dev/null', os.O_WRONLY); sys.exit(3)", 3),
    "a terminal": ("os.open('/dev/tty', os.O_RDWR)", 3),
    "the kernel's": ("os.open('/proc/sys/kernel/hostname', os.O_WRONLY)", 3),
    "a cache of Python's": ("os.mkdir(os.path.dirname(P) + '/__pycache__')", 3),
    "it is in the sandbox's own": ("os.open('/tmp/new', os.O_WRONLY | os.O_CREAT); sys.exit(3)", 3),
}


@pytest.mark.parametrize("what", QUIET)
def test_what_is_no_refusal_is_not_told(hutch, backend, made, what):
    path, new, options, _ = PLACES["shown"](made)
    call, code = QUIET[what]
    ran = tried(hutch, call, path, new, options)
    assert ran.code == code and json.loads(ran.out)["refusals"] == [], ran


def test_a_file_that_one_may_not_write_anyway(hutch, backend, made, as_user):
    ran = tried(hutch, "os.open(P, os.O_WRONLY)", "/etc/passwd", None, [])
    told = [one["what"] for one in json.loads(ran.out)["refusals"]]
    expected = [] if as_user.uid else ["writing /etc/passwd was refused: no entry of filesystem.allowWrite names it; "
                                       "--allow-write /etc/passwd allows it, filesystem.allowWrite for good"]
    assert ran.code == 3 and told == expected, ran


def test_nobody_is_led_to_allow_everything(hutch, backend, made):
    """Nor what a sandbox names anew. Whether the user could write "/" is a matter of the backend."""
    ran = tried(hutch, "os.mkdir('/new')", "", None, [])
    told = [one["what"] for one in json.loads(ran.out)["refusals"]]
    assert ran.code == 3 and told in ([], ["writing /new was refused: no entry of filesystem.allowWrite names it"]), ran


def test_who_succeeds_hears_nothing(hutch, backend, made):
    path, _, options, _ = PLACES["shown"](made)
    ran = hutch.run("/bin/sh", "-c", f"echo x > {path}; true", options=options)
    assert ran.code == 0 and "was refused" not in ran.errors, ran


def test_five_lines_and_a_count(hutch, backend, made):
    path, _, options, _ = PLACES["shown"](made)
    ran = hutch.run("/bin/sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do mkdir {path.parent}/$i; done; false",
                    options=options)
    lines = [line for line in ran.errors.splitlines() if line.startswith("hutch: ") and "was refused" in line]
    assert len(lines) == 5 and "hutch: 3 more changes were refused" in ran.errors, ran
