# The packages for npm with pi and Mastra of the versions before the newest, down to the oldest that they say they take;
# and with the newest on the newest Node. Those of hutch-sdk: sdk_test.py.
import json
import os
import re

import pytest

import desks
import mastra
import pi as rig
import sources

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PI = ["1.5.2"]
MASTRA = ["1.70.0"]


def oldest(client, host):
    manifest = json.loads((sources.ROOT / "clients" / client / "package.json").read_text())
    return re.match(r">=(\S+)", manifest["peerDependencies"][host]).group(1)


@pytest.mark.xdist_group("pi")
@pytest.mark.parametrize("version, node", [*[(one, 22) for one in (*PI, oldest("pi", rig.PACKAGE))], (rig.VERSION, 24)])
def test_pi(base, npm, packed, version, node):
    place = npm(f"{rig.PACKAGE}@{version}", f"{rig.NODE}@{node}", packed["hutch-pi"])
    desk = desks.Desk(base, base.person("user"), place)
    rig.install(place, desk.person, desk.extensions)
    with desk.model:
        try:
            pi = desk.pi()
            assert pi.status["hutch"].startswith("🔒 Sandbox: 0 domains"), (pi.status, pi.notes, pi.said())
            wrote, ran, read, hidden = pi.tools(
                ("write", {"path": "one.txt", "content": "first\n"}),
                ("bash", {"command": f"cat one.txt; echo $HUTCH_AGENT; cat {desk.home}/secret"}),
                ("read", {"path": "one.txt"}),
                ("read", {"path": f"{desk.home}/secret"}))
            wrote.ok()
            assert read.ok() == "first\n" and hidden.failed and "theirs" not in hidden.text
            assert "first" in ran.text and "session-" in ran.text and "theirs" not in ran.text
            pi.close()
        finally:
            desk.end()


COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { Workspace } from '@mastra/core/workspace'

process.chdir(process.env.BASE)
const workspace = new Workspace({ sandbox: new HutchSandbox({ workingDirectory: './work' }) })
await workspace.init()
const { sandbox } = workspace
const said = { node: process.versions.node.split('.')[0], status: sandbox.status }
said.ran = (({ exitCode, stdout }) => [exitCode, stdout])(await sandbox.executeCommand('sh', ['-c', 'echo hi; exit 3']))
said.hidden = (await sandbox.executeCommand(`cat ${process.env.HIDDEN}`)).stdout
await workspace.destroy()
said.end = sandbox.status
console.log(JSON.stringify(said))
process.exit(0)
"""


@pytest.mark.xdist_group("mastra")
@pytest.mark.parametrize("version, node", [*[(one, 22) for one in (*MASTRA, oldest("mastra", "@mastra/core"))],
                                           (mastra.CORE.rpartition("@")[2], 24)])
def test_mastra(api, npm, packed, version, node):
    place = npm(f"@mastra/core@{version}", f"{rig.NODE}@{node}", packed["hutch-mastra"], packed["hutch-sdk"])
    base = api.person.mkdir(api.person.home / f"mastra-{version}")
    hidden = api.person.write(api.person.home / "of-mastra", "theirs")
    path = f"{rig.node(place).parent}:{os.environ['PATH']}"
    said = mastra.run_node(api, place, COURSE, BASE=str(base), HIDDEN=str(hidden), PATH=path)
    assert said.pop("node") == str(node)
    assert said == {"status": "running", "ran": [3, "hi\n"], "hidden": "", "end": "destroyed"}
