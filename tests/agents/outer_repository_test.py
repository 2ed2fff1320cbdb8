# Agents in a linked worktree, in a submodule and in a part of a repository: what of the repository they have.
import harness
import pytest

from mcp_stdio import Client

GIT = "git -c user.name=A -c user.email=a@b.example"
MADE = f"""
{GIT} init -q -b main m; {GIT} -C m commit -q --allow-empty -m module
{GIT} init -q -b main r; cd r; mkdir -p packages/a; echo a > packages/a/a; git add .; {GIT} commit -q -m first
git worktree add -q ../w -b side; {GIT} -c protocol.file.allow=always submodule --quiet add ../m s
"""
TASK = f"git status --porcelain; {GIT} commit -q --allow-empty -m more; git log --format=%s -1"


@pytest.fixture(scope="module")
def places(daemon):
    place = daemon.person.mkdir(daemon.person.home / "outer")
    harness.run_in(daemon.person, ["/bin/sh", "-ec", MADE], cwd=place).ok()
    return place


@pytest.fixture(params=["namespace", "bwrap"])
def started(daemon, places, request):
    names = []

    def start(place):
        names.append(daemon.create(f"backend={request.param}", "autonomousExec.enabled=true", f"dir={places / place}"))
        return names[-1]

    yield start
    for name in names:
        daemon("agent", "remove", name).ok()


@pytest.mark.parametrize("place, git", [("w", "r/.git"), ("r/s", "r/.git/modules/s")])
def test_git_works(daemon, places, started, place, git):
    name = started(place)
    assert daemon.sh(name, TASK).ok().text.endswith("more\n")
    for write in ("git config core.fsmonitor evil", f"echo x > {places / git}/hooks/pre-commit"):
        assert daemon.sh(name, write).code != 0
    assert "fsmonitor" not in (places / git / "config").read_text()
    assert not (places / git / "hooks/pre-commit").exists()


def test_the_main_work_tree_stays(daemon, places, started):
    name, git = started("w"), places / "r/.git"
    before = (git / "HEAD").read_bytes(), (git / "index").read_bytes()
    for path in ("HEAD", "index", "logs/HEAD", "new", "worktrees/x", "objects/info/alternates"):
        assert daemon.sh(name, f"echo evil >> {git}/{path}").code != 0, path
    assert ((git / "HEAD").read_bytes(), (git / "index").read_bytes()) == before


def test_what_a_command_prepares_is_gone_at_its_end(daemon, places, started):
    name, steps = started("w"), places / "r/.git/worktrees/w/rebase-merge"
    daemon.sh(name, f"mkdir {steps}; echo 'exec ./evil' > {steps}/git-rebase-todo").ok()
    assert not steps.exists()


def test_mcp(daemon, places):
    """Its agent is the working directory. Where git has no repository, the answer says why."""
    for place, works in [("w", True), ("r/packages/a", False)]:
        client = Client(daemon, cwd=places / place)
        who = {"name": "t", "version": "1"}
        client.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=who)
        answer = client.ask("tools/call", name="sandbox_exec", arguments={"command": "git log --format=%s -1"})[0]
        answer = answer["structuredContent"]
        client.close()
        assert (answer["result"]["exit_code"] == 0) == works, answer
        told = [line for line in answer.get("warnings", []) if "start hutch there, with --cwd packages/a" in line]
        assert (not told) == works, answer
