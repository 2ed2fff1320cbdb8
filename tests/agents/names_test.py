# Rules by name in the directory that an agent works in: they hold for what is made later, by a command and by a tool.
import time

import pytest

PROTECTED = [".mcp.json", "later/.git/hooks/pre-commit", "later/.vscode/settings.json", "later/deep/.git/config"]


@pytest.fixture(params=["bwrap", "namespace"])
def worker(daemon, request):
    folder = daemon.person.mkdir(daemon.state / f"work-{time.monotonic_ns()}")
    name = daemon.create(f"backend={request.param}", f"dir={folder}", "autonomousExec.enabled=true")
    daemon.sh(name, "mkdir -p later/.git/hooks later/deep/.git").ok()
    yield name, folder
    daemon("agent", "remove", name).ok()


@pytest.mark.parametrize("path", PROTECTED)
def test_a_protected_name_is_held_for_commands(daemon, worker, path):
    agent, folder = worker
    result = daemon.sh(agent, f"mkdir -p $(dirname {path}); echo evil > {path}")
    # The text of a repository's configuration is judged when it has been written.
    assert (result.code != 0 or path.endswith("/config")) and not (folder / path).exists(), str(result)
    assert f"/{path} was refused" in result.errors


@pytest.mark.parametrize("path", PROTECTED)
def test_a_protected_name_is_held_for_tools(daemon, worker, path):
    agent, folder = worker
    answer = daemon.tool(agent, "sandbox_write_file", path=path, content="evil")
    assert not answer["ok"] and not (folder / path).exists(), answer


def test_other_files_are_the_agents_to_change_by_both(daemon, worker):
    agent, folder = worker
    assert daemon.tool(agent, "sandbox_write_file", path="src/a.txt", content="one\n")["ok"]
    daemon.sh(agent, "cat src/a.txt > src/b.txt; mv src/b.txt src/c.txt; ln src/c.txt src/d.txt").ok()
    assert daemon.tool(agent, "sandbox_edit_file", path="src/c.txt", old_string="one", new_string="two")["ok"]
    assert daemon.tool(agent, "sandbox_move", source="src/c.txt", destination="src/e.txt")["ok"]
    assert daemon.tool(agent, "sandbox_delete", path="src/d.txt")["ok"]
    assert (folder / "src" / "e.txt").read_text() == "two\n"
    assert sorted(path.name for path in (folder / "src").iterdir()) == ["a.txt", "e.txt"]


def test_a_file_that_nobody_may_read_is_written_all_the_same(daemon, worker):
    """A process that made itself unreadable has its calls made for it as well."""
    agent, folder = worker
    program = "import ctypes, os; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); d = os.open('later', os.O_PATH)\n"
    program += "os.close(os.open('made', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=d)); print('ok')"
    assert daemon.exec(agent, "/usr/bin/python3", "-c", program).ok().text == "ok\n"
    assert (folder / "later" / "made").exists()
