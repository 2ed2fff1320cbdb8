# A repository whose ".git" is a symbolic link, as Google's repo makes them: git works inside as it does outside.
import harness
import pytest

WHO = "; ".join(f"export GIT_{who}_NAME=A GIT_{who}_EMAIL=a@b.example GIT_{who}_DATE=@1700000000"
                for who in ("AUTHOR", "COMMITTER"))
# (how it is made, the work tree)
LAYOUTS = {
    "a link": ("git init -q -b main .; mv .git gd; ln -s gd .git", "."),
    "an absolute link": ("git init -q -b main .; mv .git gd; ln -s $PWD/gd .git", "."),
    "a link by a link": ("git init -q -b main .; mv .git gd; ln -s gd l; ln -s l .git", "."),
    "a file": ("git init -q -b main .; mv .git gd; echo gitdir: gd > .git", "."),
    "Google's repo": (
        "git init -q -b main foo; mkdir -p .repo/projects .repo/project-objects/foo.git; cd .repo/projects; "
        "mv ../../foo/.git foo.git; cd foo.git; for part in hooks objects; do mv $part ../../project-objects/foo.git; "
        "ln -s ../../project-objects/foo.git/$part $part; done; ln -s ../.repo/projects/foo.git ../../../foo/.git",
        "foo"),
}
TASK = """
git status --porcelain; echo b > b; git add b; git commit -q -m more; git log --format=%H:%s -1
git checkout -q -b task; echo c >> b; git stash -q; git stash list; git stash pop -q; git commit -q -a -m task
git tag t; git checkout -q -; echo d > d; git add d; git commit -q -m d; git rebase -q main task; git switch -q main
git merge -q --no-ff -m merged task; git branch -d task; git reset -q --hard HEAD; git pack-refs --all
git -c gc.reflogExpire=never gc -q; git fsck; git log --graph --format=%H:%s; git status --porcelain; cat b d
"""


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


def outside(person, place, script):
    return harness.run_in(person, ["/bin/sh", "-ec", f"{WHO}; {script}"], cwd=place).ok().text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_git_works(hutch, as_user, project, layout):
    made, place = LAYOUTS[layout]
    twin = as_user.mkdir(project.parent / f"{project.name}-twin")
    first = f"cd {place}; echo a > a; echo /gd > .gitignore; echo /l >> .gitignore; git add a .gitignore; " \
            "git commit -qm first"
    for top in (project, twin):
        outside(as_user, top, f"{made}; cd {top}; {first}")
    expected = outside(as_user, twin / place, TASK)
    ran = hutch.run("/bin/sh", "-ec", f"{WHO}; cd {place}; {TASK}").ok()
    assert ran.text == expected and "refused" not in ran.errors, (ran, expected)
    assert outside(as_user, project / place, "git status --porcelain; git log --format=%H") == outside(
        as_user, twin / place, "git status --porcelain; git log --format=%H")
    assert (project / place / ".git").is_symlink() == (twin / place / ".git").is_symlink()


@pytest.mark.parametrize("made", ["ln -s .git .git", "ln -s b .git; ln -s .git b", "ln -s absent .git"])
def test_a_link_that_leads_nowhere_stops_nothing(hutch, as_user, project, made):
    harness.run_in(as_user, ["/bin/sh", "-ec", made], cwd=project).ok()
    hutch.run("sh", "-c", "echo x > a && cat a", cwd=project).ok()
