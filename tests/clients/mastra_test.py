# Mastra with the provider of this repository: its life, commands, processes, and an agent's tools without a model.
import pathlib

import pytest

from mastra import CORE, run_node

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mastra")]  # its packages take a minute to come

OF_E2B = "@mastra/e2b@0.8.0"


def test_the_provider_works(api, provider):
    work = api.person.mkdir(api.person.home / "mastra")
    script = pathlib.Path(__file__).with_name("mastra_course.mjs").read_text()
    said = run_node(api, provider, script, BASE=str(work), COURSE_SECRET="x")
    assert said["before"] == "pending" and said["started"] == ["running", True, 1]
    assert said["words"] == [True, "a b $FOO\n"]
    assert said["line"] == [False, 3, f"bar\n{work}/work\n", "err\n"]
    assert said["streamed"] == ["1\n", "2\n"]
    assert said["late"] == [124, True, True, "part\n", "\nProcess timed out after 400ms"] and said["left"] == "0"
    assert said["aborted"] == [False, True, "part\n"] and said["abortedBefore"] is False
    assert said["tmp"] == ["/tmp\n", "kept\n"] and said["split"] == "é" and said["large"] == 3_000_000
    assert said["environment"] == "0" and said["node"] == "yes"
    assert said["outside"] is False and said["extra"] == "x\n" and said["network"] is False
    assert (work / "outside").read_text() == "outside"
    assert said["process"][:2] == [4, "begun\ngot it\n"] and "has already exited with code 4" in said["process"][2]
    assert said["closed"] == "typed" and said["listed"] and said["found"] and said["unknown"]
    assert said["killed"] == [True, 137, False]
    assert said["file"] == "ran\n" and said["mode"] == "INVALID_ARGUMENT"
    assert said["info"] == ["running", True, "namespace"] and said["told"]
    assert said["tool"][0].startswith("from a tool") and said["tool"][0].endswith("Exit code: 5")
    assert "behind" in said["tool"][1] and "has been killed" in said["tool"][2]
    assert all(started != "no error" and ended == "no error" for started, ended in said["refused"]), said["refused"]
    assert said["wrong"] == ["ISOLATION_UNAVAILABLE", "refused", "refused", "refused"]
    assert said["readOnly"] == "#!/bin/sh\nclosed\n"
    assert said["provided"] == ["provided\n", "hutch"]
    assert said["keptTmp"] == "kept\ndeep\n700\n0\n" and said["emptyTmp"] == ""
    assert said["stopped"] == "stopped" and said["again"] == "#!/bin/sh\n"
    assert said["destroyed"] == ["destroyed", "NOT_READY", True]
    assert said["hooks"] == ["start created", "stop", "start connected", "stop", "start connected", "destroy"]
    assert api.get("/v1/agents").ok()["agents"] == []
    assert not list((api.state / "config" / "mastra").iterdir())


E2B_COURSE = """
import { E2BSandbox } from '@mastra/e2b'

const options = { id: 'mine', timeout: 60000, template: 'base', env: { A: 'b' } }
const sandbox = new E2BSandbox(options)
await sandbox._start()
const said = { status: sandbox.status }
said.words = (await sandbox.executeCommand('echo', ['hi there', '$A'])).stdout
said.failed = (await sandbox.executeCommand('exit 3')).exitCode
const process_ = await sandbox.processes.spawn('echo begun; read x; echo "got $x"')
await process_.sendStdin('it\\n')
said.process = (await process_.wait()).stdout
said.listed = (await sandbox.processes.list()).length
const again = new E2BSandbox(options)
await again._start()
said.same = again.e2b.sandboxId === sandbox.e2b.sandboxId
await sandbox.executeCommand('echo kept > file')
await sandbox._stop()
said.stopped = sandbox.status
await sandbox._start()
said.kept = (await sandbox.executeCommand('cat file')).stdout
await sandbox._destroy()
said.destroyed = sandbox.status
console.log(JSON.stringify(said))
process.exit(0)
"""


def test_the_provider_of_e2b_works_unmodified(api, npm):
    server = f"http://127.0.0.1:{api.port}"
    said = run_node(api, npm(CORE, OF_E2B), E2B_COURSE, E2B_API_URL=server, E2B_SANDBOX_URL=server,
                    E2B_API_KEY=api.token, E2B_VALIDATE_API_KEY="false")
    assert said == {"status": "running", "words": "hi there $A\n", "failed": 3, "process": "begun\ngot it\n",
                    "listed": 0, "same": True, "stopped": "stopped", "kept": "kept\n", "destroyed": "destroyed"}
    assert api.get("/v1/agents").ok()["agents"] == []
