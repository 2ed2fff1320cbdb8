# Ordinary work under the supervisor gives what it gives outside: git, npm, configure and make.
"""The same script runs outside and inside, in directories beside each other; what it left is compared file by file."""

import os
import shutil
import stat
import subprocess

import debian_source
import harness
import pytest

GIT = """
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null
set -e
git init -q -b main one && cd one
for i in 1 2 3; do echo line $i >> f; mkdir -p d$i; echo $i > d$i/g; git add -A; git commit -q -m "commit $i"; done
ln -s f link; chmod +x f; git add -A; git commit -q -m "a link and a mode"
git branch side HEAD~2; git tag -a -m t v1
cd .. && git clone -q one two && cd two
git checkout -q side; echo side > s; git add s; git commit -q -m side
git rebase -q main; git log --format='%H %s'
git worktree add -q -b third ../three origin/main~1
(cd ../three; echo w > w; git add w; git commit -q -m 'in a worktree')
git mv f moved; git stash -q; git stash pop -q; git reset -q --hard; git merge -q -m m third
git gc -q; git fsck --no-progress; git status --porcelain; git worktree list | wc -l
git rm -q -r d1; git commit -q -m removed; git log --format='%H %s' | head -3
"""
NPM = "npm install --offline --no-audit --no-fund --silent --cache ./cache {package} && npm ls --all"
BUILD = "./configure -q > log 2>&1 && make -s -j2 >> log 2>&1 && make -s check >> log 2>&1; ./hello && grep '^# ' log"

needs = {name: pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name} here") for name in ("git", "npm")}


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    """Those that have a supervisor."""
    return request.param


def left_in(directory, passed_over=()):
    """Every file by its path: its kind and mode, and what it says, without the name of the directory itself."""
    name, found = str(directory).encode(), {}
    for path in sorted(directory.rglob("*")):
        relative = str(path.relative_to(directory))
        if any(path.match(pattern) for pattern in passed_over):
            continue
        status = path.lstat()
        says = os.readlink(path) if path.is_symlink() else b""
        if stat.S_ISREG(status.st_mode):
            says = path.read_bytes().replace(name, b"HERE")
            # hutch ends such a file with two line ends, and git reads over them.
            says = says.rstrip(b"\n") if path.name in (".git", "commondir") else says
        found[relative] = (oct(status.st_mode), says)
    return found


def compare(hutch, as_user, project, script, prepare=None, passed_over=()):
    outside, inside = (as_user.mkdir(project / name) for name in ("a", "b"))
    for directory in (outside, inside):
        if prepare:
            prepare(directory)
    expected = harness.run_in(as_user, ["/bin/sh", "-c", script], cwd=outside, timeout=600).ok()
    done = hutch("run", "--backend", hutch.backend, "--", "/bin/sh", "-c", script, cwd=inside, timeout=600).ok()
    assert done.text.replace(str(inside), "HERE") == expected.text.replace(str(outside), "HERE")
    there, here = left_in(outside, passed_over), left_in(inside, passed_over)
    assert set(there) == set(here)
    different = [f"{path}\n  {there[path]}\n  {here[path]}"[:400] for path in there if there[path] != here[path]]
    assert not different, "\n".join(different[:10])
    return expected


@needs["git"]
def test_git(hutch, as_user, project, backend):
    # These two hold times and numbers of files.
    compare(hutch, as_user, project, GIT, passed_over=["index", ".git/logs/*"])


@pytest.fixture(scope="session")
def package_cache(base):
    """A cache of npm's with a package of some dozens of others in it, by the machine's own npm."""
    folder = base.unused("npm")
    folder.mkdir(mode=0o755)
    words = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--cache", folder / "cache", "express@4"]
    work = folder / "work"
    work.mkdir()
    try:
        done = subprocess.run(words, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, timeout=180, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm's registry does not answer")
    if done.returncode != 0:
        pytest.skip("npm's registry cannot be reached")
    asked = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, check=True)
    return folder / "cache", asked.stdout.strip()


@needs["npm"]
def test_npm_install(hutch, as_user, project, package_cache, backend):
    cache, registry = package_cache

    def prepare(directory):
        shutil.copytree(cache, directory / "cache")
        for path in [directory / "cache", *(directory / "cache").rglob("*")]:
            as_user.own(path)
        as_user.write(directory / "package.json", '{"name": "work", "version": "1.0.0", "private": true}\n')

    script = NPM.format(package=f"--registry {registry} express@4")
    compare(hutch, as_user, project, script, prepare, passed_over=["cache", "cache/**", "_logs/*", "_cacache/**"])
    assert len(list((project / "b/node_modules").iterdir())) > 20


@pytest.fixture(scope="session")
def hello(base):
    found = debian_source.archive("hello", base.unused("source"))
    if found is None:
        pytest.skip("no source archive of Debian's can be had here")
    return found


@pytest.mark.slow
def test_configure_and_make(hutch, as_user, project, hello, backend):
    def prepare(directory):
        harness.run_in(as_user, ["tar", "-xf", str(hello), "--strip-components=1"], cwd=directory).ok()

    # What is compiled with debugging information knows where it was, compressed; the rest is compared.
    done = compare(hutch, as_user, project, BUILD, prepare, passed_over=["*.o", "*.a", "hello", "log", "*.log", "*.trs",
                                                                        "config.*", "stamp-h1"])
    assert done.text.startswith("Hello, world!\n") and "# FAIL:  0" in done.text
