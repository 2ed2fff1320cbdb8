# The tools of agents as `hutch tool call` calls them: what they answer about real files.
import json


def test_a_file_that_cannot_be_read_is_a_warning(daemon, any_agent):
    """A search that went through everything else found nothing: that is an answer."""
    daemon.sh(any_agent, "echo hello >a; echo x >b; mkdir closed; echo y >closed/c; chmod 0 b closed").ok()
    try:
        for pattern, count in (("nothing-here", 0), ("hello", 1)):
            answer = daemon.tool(any_agent, "sandbox_search_files", pattern=pattern)
            assert answer["ok"] and answer["result"]["match_count"] == count, answer
            if daemon.sh(any_agent, "cat b").code != 0:
                assert "Not all could be read: " in answer["warnings"][0], answer
                assert "Permission denied" in answer["warnings"][0], answer
                alone = daemon.tool(any_agent, "sandbox_search_files", pattern=pattern, path="b")
                assert not alone["ok"] and alone["kind"] == "execution_error", alone
                found = daemon.tool(any_agent, "sandbox_find_files", pattern="*")
                assert "1 directory is closed" in found["warnings"][0], found
        for arguments, field in (({"pattern": "("}, "pattern"), ({"pattern": "x", "include": "{a"}, "include")):
            answer = daemon.tool(any_agent, "sandbox_search_files", **arguments)
            assert answer["kind"] == "invalid_args" and answer["field"] == field, answer
        absent = daemon.tool(any_agent, "sandbox_search_files", pattern="x", path="nope")
        assert not absent["ok"] and "`nope`" in absent["message"], absent
    finally:
        daemon.sh(any_agent, "chmod 700 b closed").ok()


def test_links_within_the_home(daemon, any_agent):
    """An absolute one is followed as any other; a loop is told as one, and no way out."""
    daemon.sh(any_agent, 'mkdir d; echo text >d/f; ln -s "$PWD/d" whole; ln -s "$PWD/d/f" file; ln -s loop loop').ok()
    for path in ("file", "whole/f"):
        answer = daemon.tool(any_agent, "sandbox_read_file", path=path)
        assert answer["ok"] and "text" in json.dumps(answer["result"]), answer
    answer = daemon.tool(any_agent, "sandbox_read_file", path="loop")
    assert "too many levels of symbolic links" in answer["message"], answer
    daemon.sh(any_agent, "ln -s /etc out").ok()
    answer = daemon.tool(any_agent, "sandbox_read_file", path="out/passwd")
    assert "leads out" in answer["message"], answer


def test_a_secret_is_not_given_on_the_command_line(daemon, any_agent):
    arguments = json.dumps({"key": "K", "description": "d", "instructions": "i", "value": "s3cret"})
    refused = daemon("tool", "call", any_agent, "sandbox_secret_set", arguments)
    assert refused.code == 125 and "standard input: `-`" in refused.errors, str(refused)
    assert "s3cret" not in refused.errors
    piped = daemon("tool", "call", any_agent, "sandbox_secret_set", "-", stdin=arguments.encode())
    assert json.loads(piped.out)["tool"] == "sandbox_secret_set", str(piped)


def test_registrations_in_a_minute_are_limited(daemon):
    first, second = daemon.create("autonomousExec.enabled=true"), daemon.create("autonomousExec.enabled=true")
    kinds = [daemon.tool(first, "sandbox_plugin_register", plugin_id="x")["kind"] for _ in range(120)]
    assert set(kinds) == {"execution_error"}
    refused = daemon.tool(first, "sandbox_plugin_register", plugin_id="x")
    assert refused["kind"] == "rejected" and refused["retryable"], refused
    assert refused["message"] == "Plugin registration rate limit exceeded for this agent."
    assert daemon.tool(second, "sandbox_plugin_register", plugin_id="x")["kind"] == "execution_error"
    for name in (first, second):
        daemon("agent", "remove", name).ok()


def test_arguments_from_a_pipe_may_be_as_large_as_what_they_write(daemon, any_agent):
    daemon("agent", "set", any_agent, "autonomousExec.enabled=true").ok()
    write = lambda size: daemon("tool", "call", any_agent, "sandbox_write_file", "-",
                                stdin=json.dumps({"path": "f", "content": "x" * size}).encode())
    assert json.loads(write(4 << 20).out)["result"]["size"] == 4 << 20
    beyond = json.loads(write((4 << 20) + 1).out)
    assert beyond["kind"] == "invalid_args" and beyond["field"] == "content", beyond
    assert write(9 << 20).code == 125
