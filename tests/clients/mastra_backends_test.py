# Mastra with the provider of this repository on every backend.
import dataclasses
import json
import os
import pathlib
import shutil
import tempfile

import pytest

import api as client
import engines
import harness
import host_image
import machines
import people
from mastra import run_node

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.xdist_group("mastra")]

IMAGE = "hutch-tests:latest"
COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { existsSync, readFileSync } from 'node:fs'

const options = JSON.parse(process.env.OPTIONS)
const sandbox = new HutchSandbox({ id: 'one', ...options })
await sandbox._start()
const said = { status: sandbox.status, directory: sandbox.workingDirectory }
said.words = (await sandbox.executeCommand('echo', ['hi there', '$HOME'])).stdout
said.failed = (await sandbox.executeCommand('pwd; echo made > made; exit 3'))
said.failed = [said.failed.exitCode, said.failed.stdout]
said.file = (await sandbox.executeCommand('cat made')).stdout
await sandbox.executeCommand(`echo x > ${process.env.BASE}/outside`)
const child = await sandbox.processes.spawn('echo begun; read x; echo "got $x"')
await child.sendStdin('it\\n')
said.process = (await child.wait()).stdout
await sandbox.executeCommand('echo kept > /tmp/kept')
await sandbox._stop()
await sandbox._start()
said.kept = (await sandbox.executeCommand('cat /tmp/kept made')).stdout
const seen = options.workingDirectory && `${options.workingDirectory}/made`
await sandbox._destroy()
said.left = seen ? existsSync(seen) && readFileSync(seen, 'utf8') : null
console.log(JSON.stringify(said))
process.exit(0)
"""


def course(api, provider, base, **options):
    said = run_node(api, provider, COURSE, BASE=str(base), OPTIONS=json.dumps(options))
    directory = options.get("workingDirectory") or said["directory"]
    assert said == {"status": "running", "directory": directory, "words": "hi there $HOME\n",
                    "failed": [3, f"{directory}\n"], "file": "made\n", "process": "begun\ngot it\n",
                    "kept": "kept\nmade\n", "left": "made\n" if "workingDirectory" in options else None}, said
    assert (base / "outside").exists() == (options["isolation"] == "none")
    assert api.get("/v1/agents").ok()["agents"] == []


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "none"])
def test_with_the_hosts_files(api, provider, backend):
    base = api.person.mkdir(api.person.home / f"mastra-{backend}")
    if backend == "none":
        api("settings", "set", "security.sandboxOnly", "false").ok()
    course(api, provider, base, isolation=backend, workingDirectory=f"{base}/work")


HOSTILE_COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const workingDirectory = `${process.env.BASE}/a b\\\\c/work`
const sandbox = new HutchSandbox({ id: 'tmp', workingDirectory })
const run = async (line) => (await sandbox.executeCommand(line)).stdout
await sandbox._start()
await run('echo 1 > code; echo old > gone; echo kept > /tmp/kept; mkdir "/tmp/a b"; echo odd > "/tmp/a b/-x"')
await sandbox._stop()
writeFileSync(`${workingDirectory}/code`, '2')
rmSync(`${workingDirectory}/gone`)
await sandbox._start()
const said = { code: readFileSync(`${workingDirectory}/code`, 'utf8'), files: await run('ls'), tmp: [] }
said.tmp.push(await run('cat /tmp/kept "/tmp/a b/-x"'))
await run('mkdir -m 000 /tmp/closed; cd /tmp; i=0; while [ $i -lt 20000 ]; do : > many-$i; i=$((i+1)); done')
await run('mkdir -p ~/.tmp.tar ~/.tmp.kept; truncate -s 100G /tmp/sparse')
const began = Date.now()
await sandbox._stop()
said.status = sandbox.status
await sandbox._start()
said.quick = Date.now() - began < 60_000
said.tmp.push(await run('cat /tmp/kept; ls /tmp | grep -c ^many'))
await run('rm -rf /tmp/*; echo junk > ~/.tmp.tar')
await sandbox._stop()
await run('true')
said.again = sandbox.status
await sandbox._destroy()
console.log(JSON.stringify(said))
process.exit(0)
"""


def test_what_is_mounted_below_tmp_stays_the_persons(api, provider):
    base = api.person.mkdir(pathlib.Path(tempfile.mkdtemp(prefix="hutch-mastra-")) / "own")
    base.parent.chmod(0o755)
    try:
        said = run_node(api, provider, HOSTILE_COURSE, BASE=str(base))
    finally:
        shutil.rmtree(base.parent)
    assert said == {"code": "2", "files": "code\n", "tmp": ["kept\nodd\n", "kept\n20000\n"], "status": "stopped",
                    "quick": True, "again": "running"}, said


class EngineApi(client.Api):
    """Whose agents' containers are that engine's."""

    def __init__(self, base, person, engine):
        self.engine = engine
        super().__init__(base, person)

    def environment(self):
        return {**super().environment(), "DOCKER_HOST": self.engine.host}


@pytest.mark.parametrize("kind", sorted(engines.PROGRAMS))
def test_in_a_container(base, provider, kind):
    try:
        with engines.running(kind) as engine:
            engine.load(host_image.archive(base.path / f"mastra-{kind}.tar"), IMAGE)
            engine.check_starts(IMAGE)
            api = EngineApi(base, base.person("root"), engine)
            place = api.person.mkdir(api.person.home / f"mastra-{kind}")
            course(api, provider, place, isolation="container", image=IMAGE, workingDirectory=f"{place}/work")
            api.stop()
    except engines.NotHere as why:
        pytest.skip(str(why))


@dataclasses.dataclass(frozen=True)
class RootThere(harness.Person):
    """Root of a machine of the tests' own, who may make users on it."""

    machine: people.Machine = None

    def command(self, argv):
        return [*self.machine.enter(), *super().command(argv)]


def test_as_another_user(base, provider, machine):
    root = base.person("root")
    api = client.Api(base, RootThere(root.name, root.uid, root.home, machine))
    place = base.path / "mastra-user"
    place.mkdir()
    course(api, provider, place, isolation="user")
    api.stop()


def test_in_a_machine(base, provider):
    if not shutil.which("qemu-system-x86_64") or not shutil.which("tar2sqfs"):
        pytest.skip("virtual machines take qemu-system-x86 and squashfs-tools-ng")
    person = base.person("root" if os.geteuid() == 0 else "user")
    api = client.Api(base, person)
    archive = machines.busybox_archive(base.path / "mastra-root.tar")
    api("vm", "provision", "--root", str(archive), timeout=300).ok()
    place = person.mkdir(person.home / "mastra-vm")
    course(api, provider, place, isolation="vm")
    wrong = """
import { HutchSandbox } from 'hutch-mastra'
const said = []
for (const options of [{ workingDirectory: process.env.BASE }, { nativeSandbox: { readOnly: true } }]) {
  try {
    const sandbox = new HutchSandbox({ id: 'two', isolation: 'vm', ...options })
    await sandbox._start().catch(async (error) => { await sandbox._destroy(); throw error })
    said.push('no error')
  } catch (error) { said.push(error.message) }
}
console.log(JSON.stringify(said))
process.exit(0)
"""
    said = run_node(api, provider, wrong, BASE=str(place))
    assert "its own directories alone" in said[0] and "nativeSandbox.readOnly" in said[1], said
    api.stop()
