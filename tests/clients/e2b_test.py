# The unmodified e2b package from npm: a course of work with each thing that it offers.
import json
import os
import pathlib

import harness

PACKAGE = "e2b@2.51.0"
SCRIPT = pathlib.Path(__file__).with_name("e2b_course.mjs")


def run_course(api, place, course, key=None):
    (place / "course.mjs").write_text(SCRIPT.read_text())
    server = f"http://127.0.0.1:{api.port}"
    environment = {**api.environment(), "PATH": os.environ["PATH"], "E2B_API_URL": server, "E2B_SANDBOX_URL": server,
                   "E2B_API_KEY": key or api.token, "E2B_VALIDATE_API_KEY": "false", "COURSE": course}
    done = harness.run_in(api.person, ["node", place / "course.mjs"], cwd=place, env=environment, timeout=300)
    assert done.code == 0, str(done)
    return json.loads(done.text)


def test_commands(api, npm):
    said = run_course(api, npm(PACKAGE), "commands")
    assert said["run"] == {"exitCode": 0, "stdout": "hi bar own\n", "stderr": "err\n"}
    assert said["failed"] == ["CommandExitError", 3, "part\n"]
    assert said["streamed"] == ["1\n", "2\n", "3\n"]
    assert said["typed"] == "typed\n" and said["listed"] == [True, "cat"]
    assert said["killed"] == [True, 137] and said["killedAgain"] is False
    assert said["late"] == "TimeoutError"
    assert said["reconnected"] == "after\n"
    assert said["cwd"] == "/tmp\n" and said["noCwd"] == "InvalidArgumentError"
    assert said["root"][0] == "SandboxError" and "user root" in said["root"][1]
    assert said["terminal"] == "30 100"
    assert said["large"] == 3_000_000


def test_files(api, npm):
    said = run_course(api, npm(PACKAGE), "files")
    assert said["read"] == "hello" and said["bytes"] == [0, 255, 13, 10] and said["empty"] == ""
    assert said["several"] == ["a/b.txt", "c.txt"] and said["listed"] == ["a:dir", "a/b.txt:file", "c.txt:file"]
    assert said["info"] == ["x.txt", "file", 5, "-rw-r--r--"] and said["stream"] == 5_000_000
    assert said["made"] == [True, False] and said["exists"] == [True, False]
    assert said["renamed"] == "/tmp/y.txt" and said["removed"] is False
    assert said["missing"] == ["FileNotFoundError", "FileNotFoundError"]
    assert ["create", "n.txt"] in said["events"] and ["remove", "n.txt"] in said["events"]
    assert ["rename", "old.txt"] in said["events"] and ["create", "new.txt"] in said["events"]
    assert ["create", "deep/er.txt"] in said["recursive"]


def test_life(api, npm):
    said = run_course(api, npm(PACKAGE), "life")
    assert said["running"] == [True, "running", {"a": "b c"}]
    assert said["found"] == 1 and said["notFound"] == 0 and said["pages"] == [1, 1, 1]
    # Its memory is there after a pause: the very process goes on.
    assert said["paused"] == [True, False, "paused"] and said["refused"] == "SandboxNotFoundError"
    assert said["resumed"] == "counted\n" and said["kept"] == "kept"
    assert said["end"] == [True, True]
    assert said["metrics"] == [True, True]
    assert said["unsupported"] == ["SandboxError", "SandboxError"]
    assert said["killed"] == [True, False, False]
    assert said["gone"] == ["SandboxNotFoundError", "SandboxNotFoundError"]
    assert said["noTemplate"] == "SandboxError"
    assert said["wrongKey"] == "AuthenticationError"
    assert [one["name"] for one in api.get("/v1/agents").ok()["agents"]] == []


INTERPRETER = """
import { Sandbox } from '@e2b/code-interpreter'

const said = {}
const failure = async (work) => work().then(() => 'no error', (error) => [error.name, error.message])
const sandbox = await Sandbox.create({ timeoutMs: 60_000 })
said.template = (await sandbox.getInfo()).templateId
said.run = (await sandbox.commands.run('echo $((6 * 7))')).stdout
await sandbox.files.write('/tmp/cell.py', 'print(6 * 7)')
said.file = await sandbox.files.read('/tmp/cell.py')
said.code = await failure(() => sandbox.runCode('6 * 7'))
said.context = await failure(() => sandbox.createCodeContext())
said.contexts = await failure(() => sandbox.listCodeContexts())
said.killed = await sandbox.kill()
console.log(JSON.stringify(said))
process.exit(0)  // a timer of the package's own goes on for a minute
"""


def test_the_code_interpreter_as_far_as_it_goes(api, npm):
    """Without the kernel server of E2B's own images: sandboxes, commands, files; the rest says what is missing."""
    place = npm("@e2b/code-interpreter@2.8.0")
    (place / "interpreter.mjs").write_text(INTERPRETER)
    server = f"http://127.0.0.1:{api.port}"
    environment = {**api.environment(), "PATH": os.environ["PATH"], "E2B_API_URL": server, "E2B_SANDBOX_URL": server,
                   "E2B_API_KEY": api.token, "E2B_VALIDATE_API_KEY": "false"}
    done = harness.run_in(api.person, ["node", place / "interpreter.mjs"], cwd=place, env=environment, timeout=120)
    assert done.code == 0, str(done)
    said = json.loads(done.text)
    assert said["template"] == "code-interpreter-v1" and said["run"] == "42\n" and said["file"] == "print(6 * 7)"
    for call in ("code", "context", "contexts"):
        name, message = said[call]
        assert name == "NotFoundError" and "kernel server" in message and "python3" in message, said[call]
    assert said["killed"] is True and api.get("/v1/agents").ok()["agents"] == []
