# --allow-write of what is absent, in what the command may write anyway: the supervisor lets that one name be made.
import json
import os
import re

import harness
import pytest

pytestmark = pytest.mark.usefixtures("backend")

MAKE = """
git init -q .; git config core.hooksPath .husky; mkdir .husky
for f in .git/hooks/pre-push .husky/pre-commit; do printf '#!/bin/sh\\n' > $f; chmod 755 $f; done
"""
# The entry, what makes it, and what stays as it is.
ENTRIES = {
    ".git/hooks/pre-commit": ("printf x > {}", [".git/hooks/pre-push", ".git/hooks/post-commit", ".husky/pre-commit"]),
    ".git/hooks/commit-msg": ("printf x > new; mv new {}", [".git/hooks/pre-push", ".git/hooks/pre-commit"]),
    ".git/hooks/post-merge": ("printf x > new; cp new {}; chmod 755 {}; rm {}; printf x > {}", [".git/hooks/pre-push"]),
    ".husky/pre-push": ("printf x > {}", [".husky/pre-commit", ".husky/post-commit", ".git/hooks/pre-push"]),
    ".envrc": ("printf x > {}", [".mcp.json"]),
    ".vscode/settings.json": ("mkdir -p .vscode; printf x > {}", [".vscode/tasks.json", ".envrc"]),
    "plain": ("printf x > {}", [".envrc"]),
    "plain.d/x": ("mkdir plain.d; printf x > {}", [".envrc"]),
}


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def made(as_user, project):
    harness.run_in(as_user, ["/bin/sh", "-ec", MAKE], cwd=project).ok()
    return project


def below(directory):
    return sorted(os.path.join(above, name) for above, names, files in os.walk(directory) for name in names + files
                  if "/.git/hooks/" not in f"{above}/" or not name.endswith(".sample"))


@pytest.mark.parametrize("form", ["relative", "absolute"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_is_made_and_nothing_is_noted(hutch, made, entry, form):
    before = below(made)
    typed = entry if form == "relative" else str(made / entry)
    ran = hutch.run("true", options=["--allow-write", typed]).ok()
    assert below(made) == before and ran.errors == "", ran


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_command_makes_it(hutch, made, entry, as_user):
    script, _ = ENTRIES[entry]
    ran = hutch.sh(script.format(*[entry] * 4), options=["--json", "--allow-write", entry])
    assert ran.code == 0 and json.loads(ran.out)["refusals"] == [], ran
    assert (made / entry).read_text() == "x" and (made / entry).stat().st_uid == as_user.uid


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_others_stay_protected(hutch, made, entry):
    _, others = ENTRIES[entry]
    wrong = []
    for other in others:
        for way in ["echo evil > {0}", "mkdir -p $(dirname {0}); echo evil > {0}", "echo evil > new; mv new {0}",
                    "rm -f {0}; echo evil > {0}", "ln -s /etc/passwd {0}", "echo evil > new; ln -f new {0}",
                    "mv $(dirname {0}) away && echo evil > away/$(basename {0})",
                    "mkdir other; echo evil > other/$(basename {0}); mv -T other $(dirname {0})",
                    "chmod 777 {0}; echo evil >> {0}", "mv .git away; cp -r away .git; echo evil > {0}"]:
            before = (made / other).read_text() if (made / other).exists() else None
            ran = hutch.sh(way.format(other), options=["--allow-write", entry])
            after = (made / other).read_text() if (made / other).exists() else None
            if before != after or not (made / ".git/hooks/pre-push").exists():
                wrong.append(f"{other}, {way}: {before!r} {after!r} {ran}")
    assert not wrong, "\n".join(wrong)


def test_a_hook_that_is_refused_says_what_allows_it(hutch, made):
    hook = made / ".git/hooks/pre-commit"
    ran = hutch.sh("echo x > .git/hooks/pre-commit")
    assert f"; --allow-write {hook} allows it, filesystem.allowWrite for good" in ran.errors, ran


# Whoever moves or removes a repository of the user's: one line, which says what is to be typed.
CLONES = "for r in one pk/x pk/y; do git init -q $r; done; git -C one worktree prune; mkdir one/.vscode; " \
         "echo '{}' > one/.vscode/settings.json"
MOVES = {
    "rm -rf one": 1,
    "mv one two": 1,
    "mv pk pk2": 1,
    "mv pk/x pk/z": 1,
    "mv one/.git one/git": 1,
    "rm -rf pk/x/.git": 1,
    "rm -rf pk": 2,
}


@pytest.mark.parametrize("script", MOVES)
def test_a_repository_is_one_line(hutch, made, script, run_outside):
    run_outside("/bin/sh", "-ec", CLONES).ok()
    ran = hutch.sh(script)
    told = [line for line in ran.errors.splitlines() if "was refused" in line]
    assert ran.code != 0 and len(told) == MOVES[script] and "more changes" not in ran.errors, ran
    for line in told:
        assert ": programs outside obey " in line and " allow" in line, line
    options = [word for line in told for word in re.split(" allows? it", line.split("in it; ")[1])[0].split()]
    ran = hutch.sh(script, options=options)
    assert ran.code == 0 and "was refused" not in ran.errors, (options, ran)
