# A call that fails outside as well is no refusal: the same error, and no word about it.
import json

import harness
import pytest

pytestmark = pytest.mark.usefixtures("backend")

MAKE = """
git init -q .; git config user.name A; git config user.email a@b.example
echo x > file; mkdir empty full; echo x > full/x; echo x > .envrc; mkdir .vscode; echo x > .vscode/settings.json
printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; echo x > closed; chmod 400 closed
git add file; git commit -q -m first; ln -s file link; mkdir shut; chmod 555 shut
echo x > .mcp.json; chmod 400 .mcp.json
"""
# The same for root, or not.
CALLS = {
    "rmdir of what is not empty": "os.rmdir('.git')",
    "rmdir of a protected directory": "os.rmdir('.git/hooks')",
    "rmdir of a directory with a name of the list": "os.rmdir('.vscode')",
    "rmdir of a file": "os.rmdir('.envrc')",
    "rmdir of nothing": "os.rmdir('.idea')",
    "unlink of a directory": "os.unlink('.git')",
    "unlink of a protected directory": "os.unlink('.git/hooks')",
    "unlink of nothing": "os.unlink('.npmrc')",
    "unlink of an absent hook": "os.unlink('.git/hooks/post-commit')",
    "mkdir of what is there": "os.mkdir('.git/hooks')",
    "mkdir of a protected file": "os.mkdir('.envrc')",
    "open of what is there, only new": "os.open('.envrc', os.O_WRONLY | os.O_CREAT | os.O_EXCL)",
    "open of a hook, only new": "os.open('.git/hooks/pre-commit', os.O_WRONLY | os.O_CREAT | os.O_EXCL)",
    "open of a directory": "os.open('.git/hooks', os.O_WRONLY)",
    "open of nothing": "os.open('.npmrc', os.O_WRONLY)",
    "open below nothing": "os.open('.idea/x', os.O_WRONLY | os.O_CREAT)",
    "open below a file": "os.open('.envrc/x', os.O_WRONLY | os.O_CREAT)",
    "link onto what is there": "os.link('file', '.envrc')",
    "symbolic link onto what is there": "os.symlink('file', '.envrc')",
    "pipe onto what is there": "os.mkfifo('.envrc')",
    "rename of nothing": "os.rename('.npmrc', 'x')",
    "rename onto a full directory": "os.rename('empty', '.git')",
    "rename onto a full protected directory": "os.rename('empty', '.git/hooks')",
    "rename of a file onto a directory": "os.rename('file', '.git/hooks')",
    "rename of a directory onto a file": "os.rename('empty', '.envrc')",
    "truncate of a directory": "os.truncate('.git/hooks', 0)",
    "truncate of nothing": "os.truncate('.npmrc', 0)",
    "mode of nothing": "os.chmod('.npmrc', 0o644)",
}
# Root may do these outside.
OF_PEOPLE = {
    "open of a file that may not be written": "os.open('.mcp.json', os.O_WRONLY)",
    "a new name in a directory that may not be written": "os.open('shut/.envrc', os.O_WRONLY | os.O_CREAT)",
    "a directory there": "os.mkdir('shut/.vscode')",
}
TRY = ("import os, errno\ntry:\n    {}\n    print('done')\nexcept OSError as e:\n    print(errno.errorcode[e.errno])\n"
       "raise SystemExit(3)\n")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def made(as_user, project):
    harness.run_in(as_user, ["/bin/sh", "-ec", MAKE], cwd=project).ok()
    return project


# A mount lies on these, and the kernel looks at that first: EBUSY, EROFS.
MOUNTED = {"EBUSY", "EROFS"}


def test_it_is_told_nowhere(hutch, made, as_user, run_outside):
    wrong = []
    for name, call in {**CALLS, **({} if as_user.is_root else OF_PEOPLE)}.items():
        expected = run_outside("python3", "-c", TRY.format(call)).text.strip()
        ran = hutch.run("python3", "-c", TRY.format(call), options=["--json"])
        outcome = json.loads(ran.out)
        got = outcome["stdout"].strip()
        text = hutch.run("python3", "-c", TRY.format(call))
        why = hutch("why").text
        if outcome["refusals"] or "refused" in text.errors or str(made) in why:
            wrong.append(f"{name}: {expected}: {outcome['refusals']} {text.errors} {why}")
        if got != expected and got not in MOUNTED or expected == "done":
            wrong.append(f"{name}: {got}, and outside {expected}")
    assert not wrong, "\n".join(wrong)


REFUSED = {
    "rmdir of an empty protected directory": ("rm -f .git/hooks/*", "os.rmdir('.git/hooks')"),
    "rename onto an empty protected directory": ("rm -f .git/hooks/*", "os.rename('empty', '.git/hooks')"),
    "unlink": ("", "os.unlink('.envrc')"),
    "rename onto a file": ("", "os.rename('file', '.envrc')"),
    "open": ("", "os.open('.envrc', os.O_WRONLY | os.O_CREAT)"),
    "a new hook": ("", "os.open('.git/hooks/post-commit', os.O_WRONLY | os.O_CREAT | os.O_EXCL)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_work_outside_is_told(hutch, made, run_outside, name):
    before, call = REFUSED[name]
    run_outside("/bin/sh", "-c", before)
    ran = hutch.run("python3", "-c", TRY.format(call))
    assert "done" not in ran.text and "was refused" in ran.errors, ran


@pytest.mark.parametrize("script", ["git stash; git stash pop", "git stash -u; git stash pop", "git clean -fdxn",
                                    "git switch -q -c other; git switch -q -",
                                    "mkdir -p .git/hooks; rmdir -p .git/hooks"])
def test_git_hears_nothing_of_its_tries(hutch, made, script, run_outside):
    run_outside("/bin/sh", "-c", "rm -rf shut .mcp.json .envrc .vscode; echo y >> file")
    ran = hutch.sh(f"{script}; false")
    assert "refused" not in ran.errors, ran
    assert str(made) not in hutch("why").text
