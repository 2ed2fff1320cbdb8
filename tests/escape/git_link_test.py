# A repository whose ".git" is a symbolic link: what git obeys in it cannot be written, by the link or by its own name.
"""Each case bites where nothing protects, and nowhere else."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
from git_ways import as_person, commit_first  # noqa: E402

LAYOUTS = {
    "a link": ("mv .git gd; ln -s gd .git", ["gd"]),
    "a link by a link": ("mv .git gd; ln -s gd l; ln -s l .git", ["gd", "l"]),
    "a link to a deep directory": ("mkdir -p .repo/a/b/c; mv .git .repo/a/b/c/x.git; ln -s .repo/a/b/c/x.git .git",
                                   [".repo/a/b/c/x.git"]),
    "a link, its hooks too": (
        "mv .git gd; mkdir objects; mv gd/hooks objects; ln -s ../objects/hooks gd/hooks; ln -s gd .git",
        ["gd", "objects/../gd"]),
    "a link, hooks absent": ("mv .git gd; rm -r gd/hooks; ln -s gd .git", ["gd"]),
}
HOOK = "mkdir -p {0}/hooks; printf '#!/bin/sh\\necho > went\\n' > {0}/hooks/{1}; chmod +x {0}/hooks/{1}"
# `{0}` is the directory of git, by one of its names.
ATTACKS = {
    "a hook": HOOK.format("{0}", "pre-commit"),
    "a new directory of hooks": "mv {0}/hooks old; " + HOOK.format("{0}", "pre-commit"),
    "a setting": "printf '[core]\\n\\tfsmonitor = echo > went;\\n' >> {0}/config",
    "another configuration": "printf '[core]\\n\\tfsmonitor = echo > went;\\n' > c; mv c {0}/config",
    "by git": "git config core.fsmonitor 'echo > went;'",
    "a common directory": "cp -r {0} c; printf '[core]\\n\\tfsmonitor = echo > went;\\n' >> c/config; echo $PWD/c > "
                          "{0}/commondir",
    "another link": "cp -rL {0} c; printf '[core]\\n\\tfsmonitor = echo > went;\\n' >> c/config; rm .git; ln -s c .git",
    "another link by a move": "cp -rL {0} c; printf '[core]\\n\\tfsmonitor = echo > went;\\n' >> c/config; ln -s c n; "
                              "mv -T n .git",
    "another directory by its name": "cp -rL {0} c; printf '[core]\\n\\tfsmonitor = echo > went;\\n' >> c/config; "
                                     "mv {0} d; mv c {0}",
    "another link on the way": "test -L {0} && {{ cp -rL {0} c; printf '[core]\\n\\tfsmonitor = echo > went;\\n' >> "
                               "c/config; rm {0}; ln -s c {0}; }}",
    "a rebase": "mkdir {0}/rebase-merge; git rev-parse HEAD > {0}/rebase-merge/onto; cp {0}/rebase-merge/onto "
                "{0}/rebase-merge/orig-head; echo refs/heads/main > {0}/rebase-merge/head-name; : > "
                "{0}/rebase-merge/interactive; echo 'exec echo > went' > {0}/rebase-merge/git-rebase-todo; "
                "git checkout -q --detach",
}


@pytest.fixture
def repository(as_user, project):
    return commit_first(as_user, project)


@pytest.fixture(params=["namespace", "bwrap", "none"])
def backend(request):
    return request.param


@pytest.mark.parametrize("way", ATTACKS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_linked_repository(hutch, repository, as_user, backend, layout, way):
    made, names = LAYOUTS[layout]
    as_person(as_user, ["sh", "-c", made], repository)
    result = [hutch.sh(ATTACKS[way].format(name)) for name in [".git", *names]]
    for command in (["status"], ["commit", "-q", "--allow-empty", "-m", "x"], ["rebase", "--continue"]):
        as_person(as_user, ["git", *command], repository, ok=False)
    on_none = backend == "none" and (way != "another link on the way" or "l" in names)
    assert (repository / "went").exists() or not on_none, str(result)
    assert backend == "none" or not (repository / "went").exists(), str(result)
    if backend != "none":
        assert (repository / ".git").is_symlink() and (repository / ".git").resolve() == repository / names[0]


# With a commit afterwards: git writes all that it has to.
@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_works(hutch, repository, as_user, backend, layout):
    as_person(as_user, ["sh", "-c", LAYOUTS[layout][0]], repository)
    hutch.sh("echo b > b; git add b; git -c user.name=A -c user.email=a@b.example commit -qm more").ok()
    assert "more" in as_person(as_user, ["git", "log", "-1", "--format=%s"], repository).text
