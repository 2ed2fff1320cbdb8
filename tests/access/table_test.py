# Accesses under rules by name: whatever made the file be there, the answer is one on both backends, and foretold.
"""Each row makes a situation inside, by what a command can do there, and tries an access; `hutch check` then says of
the same path what was seen. What is denied by name is denied however the name came to be."""

import harness
import pytest

# What is made inside first, and the path that is accessed then; {0} is a name that a rule denies, or an ordinary one.
SITUATIONS = {
    "exists": ("", "there/{0}"),
    "absent": ("", "{0}"),
    "made later": ("mkdir -p later/on", "later/on/{0}"),
    "deep": ("mkdir -p a/b/c/d/e/f/g/h/i/j/k/l", "a/b/c/d/e/f/g/h/i/j/k/l/{0}"),
    "by way of a link": ("mkdir -p real; ln -s real way", "way/{0}"),
    "by way of a link made before": ("", "old-way/{0}"),
    "a link of another name": ('mkdir -p "$(dirname {0})"; ln -s {0} other-name', "other-name"),
    "a link to one that is there": ("ln -s there/{0} at-it", "at-it"),
    "a renamed ancestor": ("mkdir -p before/in; mv before after", "after/in/{0}"),
    "a renamed ancestor of one": ("mv there moved", "moved/{0}"),
    "two names exchanged": ("mkdir -p x/in y; mv x z; mv y x; mv z y", "y/in/{0}"),
    "a nested repository": ("git init -q nested", "nested/{0}"),
    "a worktree": ("cd made && git worktree add -q ../worktree", "worktree/{0}"),
    "dots": ("mkdir -p dots", "dots/../dots/./{0}"),
    "an odd name above": ("mkdir -p 'an odd\tname*'", "an odd\tname*/{0}"),
}
NAMES = {
    "denied": [".mcp.json", ".bashrc", ".vscode/settings.json", ".git/hooks/pre-commit", "k.pem", "kept/by/pattern"],
    "allowed": ["plain.txt", "mcp.json", ".bashrc2", ".vscode2/settings.json", "git/hooks/pre-commit", "k.pem2"],
}
OPTIONS = ["--deny-write", "**/*.pem", "--deny-write", "**/kept/**"]
WRITE = 'mkdir -p "$(dirname "$1")" && echo x >> "$1"'
READ = 'cat "$1" > /dev/null'


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


@pytest.fixture
def place(as_user, project):
    """A project with the names of each kind in a directory, and a link, all made outside."""
    for verdict, names in NAMES.items():
        for name in names:
            as_user.write(project / verdict / name, "content\n")
    as_user.mkdir(project / "old")
    (project / "old-way").symlink_to("old")
    return project


OUTSIDE = """set -e
mkdir row{0} && cp -a {1} row{0}/there && cp -a old old-way row{0}/ && cd row{0} && git init -q -b main made && cd made
git commit -q --allow-empty -m one && git commit -q --allow-empty -m two
"""
IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("verdict", NAMES)
def test_write(hutch, as_user, place, backend, situation, verdict):
    for number, name in enumerate(NAMES[verdict]):
        prepare, path = (text.format(name) for text in SITUATIONS[situation])
        # A row's own directory, made outside: what one leaves is nothing to the next.
        harness.run_in(as_user, ["/bin/sh", "-c", OUTSIDE.format(number, verdict)], cwd=place, env=IDENTITY).ok()
        script = f"cd row{number} && ({prepare or ':'}) && {WRITE}"
        result = hutch.run("/bin/sh", "-c", script, "sh", path, options=OPTIONS)
        there = place / f"row{number}" / path
        wrote = result.code == 0
        assert wrote == (verdict == "allowed"), f"{situation}, {name}: {result}"
        assert wrote == (there.exists() and there.read_text(encoding="utf-8").endswith("x\n")), str(result)
        checked = hutch("check", "--backend", backend, *OPTIONS, "write", f"row{number}/{path}")
        assert checked.code == (0 if wrote else 1), f"{situation}, {name}: {checked}"


HIDDEN = ["--deny-read", "denied/k.pem", "--deny-read", "denied/.vscode"]


@pytest.mark.parametrize("path,readable", [
    ("denied/k.pem", False), ("allowed/k.pem2", True), ("denied/.vscode/settings.json", False), ("old-way/k", True),
    ("to-it", False), ("denied/../denied/k.pem", False), ("allowed/.vscode2/settings.json", True), ("none", False),
])
def test_read(hutch, as_user, place, backend, path, readable):
    as_user.write(place / "old/k", "content\n")
    (place / "to-it").symlink_to("denied/k.pem")
    result = hutch.run("/bin/sh", "-c", READ, "sh", path, options=HIDDEN)
    assert (result.code == 0) == readable, str(result)
    checked = hutch("check", "--backend", backend, *HIDDEN, "read", path)
    # What is not there may be read: nothing stands in the way of whoever makes it.
    assert checked.code == (0 if readable or path == "none" else 1), str(checked)
