# Every tool in a real sandbox of every backend: one course of work, with exactly the fields that each result has.
import io
import json
import re
import tarfile
import zipfile

import pytest

import harness


class Agent:
    """agent(TOOL, ...) is the result of a call that has to succeed, with its fields told by the tool's own schema."""

    def __init__(self, daemon, name):
        self.daemon, self.name = daemon, name
        daemon("agent", "set", name, "autonomousExec.enabled=true", "autonomousExec.maxCommandsPerTurn=0").ok()
        self.home, self.shared, self.output = self.command("echo $HUTCH_HOME $HUTCH_SHARED $HUTCH_OUTPUT").split()

    def __call__(self, tool, **arguments):
        envelope = self.envelope(tool, **arguments)
        assert set(envelope) <= {"ok", "result", "tool", "warnings"} and envelope["ok"] is True, envelope
        assert envelope["tool"] == tool
        return envelope["result"]

    def envelope(self, tool, **arguments):
        return self.daemon.tool(self.name, tool, **arguments)

    def command(self, line):
        result = self("sandbox_exec", command=line)
        assert result["exit_code"] == 0, result
        return result["stdout"]

    def put(self, path, content):
        self.daemon.person.write(self.daemon.data / "workspace/agents" / self.name / path, content)


@pytest.fixture
def worker(daemon, any_agent):
    return Agent(daemon, any_agent)


def test_files(worker):
    home = worker.home
    before = worker("sandbox_list_directory", recursive=True)["count"]  # what a home begins with
    odd = "od d/a'b\"$(id);*?[x]..#~ é"
    assert worker("sandbox_write_file", path=odd, content="one\ntwo\nthree") == {"path": f"{home}/{odd}", "size": 13}
    read = worker("sandbox_read_file", path=odd, start_line=2, line_count=1)
    assert read == {"path": f"{home}/{odd}", "content": "two\n", "size": 4, "start_line": 2, "line_count": 1}
    assert worker("sandbox_read_file", path=odd, tail_lines=1, max_chars=2) == {
        "path": f"{home}/{odd}", "content": "th", "size": 2, "tail_lines": 1, "max_chars": 2, "truncated": True}
    edited = worker("sandbox_edit_file", path=f"{home}/{odd}", old_string="one\ntwo", new_string="2")
    assert edited == {"path": f"{home}/{odd}", "summary": "replaced 2 line(s) with 1 line(s)"}
    again = worker.envelope("sandbox_edit_file", path=odd, old_string="one", new_string="")
    assert again["message"] == "ERROR: old_string not found in file" and again["kind"] == "execution_error"
    twice = worker.envelope("sandbox_edit_file", path=odd, old_string="e", new_string="")
    assert twice["message"].startswith("ERROR: old_string matches 2 locations") and twice["retryable"] is False
    assert worker("sandbox_find_files", pattern="a'b*") == {
        "pattern": "a'b*", "path": home, "files": f"{home}/{odd}\n", "count": 1, "truncated": False}
    assert worker("sandbox_search_files", pattern="^thr", path="~") == {
        "pattern": "^thr", "path": home, "matches": f"{home}/{odd}:2:three\n", "match_count": 1, "truncated": False}
    listed = worker("sandbox_list_directory", recursive=True)
    assert set(listed) == {"path", "entries", "count", "truncated"} and listed["count"] == before + 2
    assert re.search(r"^drwx\S+ +\d+ \S+ \S+ od d/$", listed["entries"], re.MULTILINE), listed
    moved = worker("sandbox_move", source=odd, destination="new/place")
    assert moved == {"source": f"{home}/{odd}", "destination": f"{home}/new/place"}
    assert worker.command("cat new/place") == "2\nthree"
    assert worker("sandbox_delete", path="new", recursive=True) == {"deleted": f"{home}/new", "recursive": True}
    assert "od d\n" in worker.command("ls") and not worker("sandbox_find_files", pattern="place")["count"]


def test_places_for_all_and_for_the_user(worker):
    for place in (worker.shared, worker.output):
        path = f"{place}/of-{worker.name}"
        assert worker("sandbox_write_file", path=path, content="x")["path"] == path
        assert worker.command(f"cat {path}") == "x"
        worker("sandbox_delete", path=path)
    shared = worker("share_artifact", content="# report", filename="a/report.md", description="the report")
    assert set(shared) == {"text", "filename", "type", "size", "sha256", "path", "description"}
    assert (shared["filename"], shared["size"]) == ("report.md", 8) and shared["path"] == f"{worker.output}/report.md"
    # A link that lies in wait under that name is not followed out of there.
    worker.command(f"ln -s {worker.home}/kept {worker.output}/trap; echo kept > kept")
    assert "leads out" in worker.envelope("share_artifact", content="y", filename="trap")["message"]
    assert worker.command("cat kept") == "kept\n"
    for path in ("/etc/passwd", f"{worker.home}2/x", f"{worker.shared}-evil/x", "../x", "", "a\nb", "a\0b"):
        refused = worker.envelope("sandbox_read_file", path=path)
        assert (refused["kind"], refused["field"]) == ("invalid_args", "path"), refused


def test_commands(worker):
    assert worker("sandbox_exec", command="echo out; echo err >&2; exit 3", cwd=worker.output) == {
        "stdout": "out\n", "stderr": "err\n", "exit_code": 3, "cwd": worker.output}
    late = worker.envelope("sandbox_exec", command="echo part; (setsid sleep 1000 &) ; sleep 1000", timeout=1)
    assert (late["kind"], late["stdout"], late["retryable"]) == ("timeout", "part\n", True), late
    long = worker("sandbox_exec", command="head -c 3000000 /dev/zero | tr '\\0' x; echo END")["stdout"]
    assert 50_000 < len(long) < 50_200 and long.endswith("xEND\n") and "output truncated" in long
    for timeout in (0, 301):
        assert worker.envelope("sandbox_exec", command="true", timeout=timeout)["field"] == "timeout"
    for script, language in (("print(6 * 7)", "python"), ("echo 42", "bash"), ("echo 42", "sh")):
        ran = worker("sandbox_run_script", script=script, language=language)
        assert ran == {"stdout": "42\n", "stderr": "", "combined": "42\n", "exit_code": 0, "language": language,
                       "cwd": worker.home}
    worker("sandbox_write_file", path="s", content="#!/usr/bin/env python3\nprint(43)\n")
    assert worker("sandbox_run_script", path="s")["stdout"] == "43\n"
    assert worker.command("ls -A .tmp") == ""


def test_background(worker):
    begun = worker("sandbox_exec_background", command="echo a; echo b; sleep 1000")
    assert set(begun) == {"pid", "log_file", "cwd"} and isinstance(begun["pid"], str)
    harness.wait_until(lambda: worker("sandbox_process", action="poll", pid=begun["pid"])["log_tail"] == "a\nb\n",
                       "both are there")
    running = worker("sandbox_process", action="wait", pid=begun["pid"], timeout=1)
    assert (running["exited"], running["timed_out"]) == (False, True)
    assert worker("sandbox_process", action="kill", pid=begun["pid"], force=True) == {
        "pid": begun["pid"], "killed": True, "signal": "SIGKILL"}
    ended = worker("sandbox_process", action="wait", pid=begun["pid"])
    assert ended == {"pid": begun["pid"], "exited": True, "timed_out": False, "exit_code": 137,
                     "log_file": begun["log_file"], "log_tail": "a\nb\n"}
    assert worker.envelope("sandbox_process", action="poll", pid="nobody")["kind"] == "not_found"


def test_what_is_not_there_says_so(worker):
    for tool, arguments, kind in (("sandbox_plugin_register", '{"plugin_id": "x"}', "execution_error"),
                                  ("sandbox_install", '{"packages": ["hello"]}', "unavailable")):
        envelope = worker.envelope(tool, **json.loads(arguments))
        assert (envelope["ok"], envelope["kind"], envelope["retryable"]) == (False, kind, False), envelope
    assert worker.envelope("nothing")["kind"] == "tool_not_found"


# --- packages, from an index and a registry of the test's own ---


def wheel():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("probe.py", "VALUE = 42\n")
        archive.writestr("probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
        archive.writestr("probe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("probe-1.0.dist-info/RECORD", "")
    return packed.getvalue()


def tarball():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in (("package.json", b'{"name": "probe", "version": "1.0.0", "main": "i.js"}'),
                           ("i.js", b"module.exports = 43\n")):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


REGISTRY = """
import http.server, json, os
class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        version = {"name": "probe", "version": "1.0.0", "dist": {"tarball": base + "/probe.tgz"}}
        index = {"name": "probe", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        body = {"/probe": json.dumps(index).encode(), "/probe.tgz": open("probe.tgz", "rb").read()}.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
open(".npmrc", "w").write(f"registry=http://127.0.0.1:{server.server_port}/\\n")
server.serve_forever()
"""


@pytest.mark.slow
def test_pip(worker):
    if worker.envelope("sandbox_exec", command="python3 -c 'import ensurepip'")["result"]["exit_code"] != 0:
        pytest.skip("python3 has no ensurepip")
    worker.put("wheels/probe-1.0-py3-none-any.whl", wheel())
    worker.put(".config/pip/pip.conf", f"[global]\nno-index = true\nfind-links = {worker.home}/wheels\n")
    done = worker("sandbox_pip_install", packages=["probe==1.0"])
    assert set(done) == {"installed", "exit_code", "output"} and done["installed"] == ["probe==1.0"]
    ran = worker("sandbox_run_script", script="import probe, sys; print(probe.VALUE, sys.prefix)", language="python")
    assert ran["stdout"] == f"42 {worker.home}/.venv\n"
    absent = worker.envelope("sandbox_pip_install", packages=["absent"])
    assert absent["kind"] == "execution_error" and absent["message"].startswith("Install failed (exit 1)."), absent
    for name in ("-e", "a; id", "./x", "--index-url=http://x", "git+https://x/y", "a b"):
        assert worker.envelope("sandbox_pip_install", packages=[name])["field"] == "packages"


@pytest.mark.slow
def test_npm(worker):
    if worker.envelope("sandbox_exec", command="npm --version && node --version")["result"]["exit_code"] != 0:
        pytest.skip("no npm")
    worker.put("probe.tgz", tarball())
    worker.put("registry.py", REGISTRY)
    server = worker("sandbox_exec_background", command="python3 registry.py")
    harness.wait_until(lambda: worker.envelope("sandbox_read_file", path=".npmrc")["ok"], "it serves")
    done = worker("sandbox_npm_install", packages=["probe@1.0.0"])
    assert set(done) == {"installed", "exit_code", "output"} and done["exit_code"] == 0
    ran = worker("sandbox_run_script", script="console.log(require('probe'))", language="node")
    assert (ran["stdout"], ran["language"]) == ("43\n", "node")
    absent = worker.envelope("sandbox_npm_install", packages=["absent"])
    assert absent["kind"] == "execution_error" and "E404" in absent["message"], absent
    for name in ("-g", "a; id", "./x", "file:../x", "git+https://x/y"):
        assert worker.envelope("sandbox_npm_install", packages=[name])["field"] == "packages"
    worker("sandbox_process", action="kill", pid=server["pid"])
