# Mastra's, Augure's and pi's own texts from the install to the result; the packages are `hutch clients install`'s.
"""In the code one import differs from the text. With a model: tests/clients."""

import json
import os
import shutil

import pytest

import harness
import mastra

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mastra")]  # its packages take a minute to come

# Where this machine's npm has its packages from.
NPM = {"npm_config_userconfig": os.path.expanduser("~/.npmrc"), "npm_config_cache": os.path.expanduser("~/.npm")}

MASTRA = """
import { Workspace, LocalFilesystem } from '@mastra/core/workspace'
import { HutchSandbox as LocalSandbox } from 'hutch-mastra'

const workspace = new Workspace({
  filesystem: new LocalFilesystem({ basePath: './workspace' }),
  sandbox: new LocalSandbox({ workingDirectory: './workspace', env: { NODE_ENV: 'development' } }),
})
await workspace.init()
const { sandbox } = workspace
const said = { status: sandbox.status }
await workspace.filesystem.writeFile('hello.txt', 'hello')
said.listed = (await sandbox.executeCommand('ls', ['-la'])).stdout.includes('hello.txt')
const heard = []
const options = { timeout: 60000, env: { NODE_ENV: 'test' }, cwd: './workspace', onStdout: (data) => heard.push(data) }
said.result = (({ success, stdout, stderr, exitCode }) => [success, stdout, stderr, exitCode])(
  await sandbox.executeCommand('sh', ['-c', 'cat hello.txt; echo " $NODE_ENV"'], options))
said.heard = heard.join('')
said.info = (await sandbox.getInfo()).status
said.told = sandbox.getInstructions().length > 0
said.detected = LocalSandbox.detectIsolation().available
said.secret = (await sandbox.executeCommand('echo "[$A_SECRET]"')).stdout
const narrow = new LocalSandbox({ workingDirectory: './workspace', isolation: 'bwrap',
  nativeSandbox: { allowNetwork: false, readWritePaths: [process.env.EXTRA] } })
await narrow.start()
const both = `echo x > ${process.env.EXTRA}/new; echo x > ../outside`
said.written = (await narrow.executeCommand('sh', ['-c', both])).success
await narrow.destroy()
await sandbox.stop()
await workspace.destroy()
console.log(JSON.stringify(said))
process.exit(0)
"""

AUGURE = """
import { DockerContainerPool } from 'hutch-augure'

const pool = new DockerContainerPool({}, { maxTotal: 3 })
const opts = { trust: 'sandboxed', timeout: 300, memory: '512m', cpu: '1.0' }
const container = await pool.acquire(opts)
const said = { status: container.status }
said.result = await container.exec('echo $A; pwd', { env: { A: 'a' }, timeout: 30 })
said.empty = (await container.exec('ls -A /workspace')).stdout
said.network = (await container.exec('exec 3<>/dev/tcp/192.0.2.1/80')).exitCode !== 0
await pool.release(container)
const mounts = [{ host: process.env.REPO, container: '/workspace', readonly: false }]
const trusted = await pool.acquire({ ...opts, trust: 'trusted', memory: '1g', mounts })
said.mounted = (await trusted.exec('cat README; echo made > made')).stdout
await pool.destroy(trusted)
await pool.destroyAll()
said.stats = pool.stats()
console.log(JSON.stringify(said))
process.exit(0)
"""


@pytest.fixture(scope="module")
def installation(base, packed):
    """As the Debian package lays it out."""
    prefix = base.unused("installation")
    for place in ("bin", "lib/hutch", "share/hutch/clients"):
        (prefix / place).mkdir(parents=True)
    shutil.copy2(base.bin / "hutch", prefix / "bin")
    for name in ("hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"):
        shutil.copy2(base.bin / name, prefix / "lib/hutch")
    for file in packed.values():
        shutil.copy2(file, prefix / "share/hutch/clients")
    return prefix


@pytest.fixture
def account(base, installation, request):
    """A fresh one: account(PROGRAM, ...) runs it there, with hutch in its PATH and nothing of hutch set."""
    person = base.person(harness.PEOPLE[0])
    home = person.mkdir(person.home / request.node.name.replace("_", "-"))
    path = f"{installation}/bin:{os.environ['PATH']}"

    def run(*words, cwd=home, **environment):
        environment = {"HOME": str(home), "PATH": path, "HUTCH_STATE": str(home / "state"), "A_SECRET": "x",
                       **NPM, **environment}
        return harness.run_in(person, words, cwd=cwd, env=environment, timeout=300)

    run.home, run.person = home, person
    yield run
    run("hutch", "daemon", "stop")


def code(account, place, script, **environment):
    (place / "index.mjs").write_text(script)
    return json.loads(account("node", "index.mjs", cwd=place, **environment).ok().text.splitlines()[-1])


def test_mastra(account, npm):
    project = npm(mastra.CORE)
    account("hutch", "clients", "install", "mastra", cwd=project).ok()
    extra = account.person.mkdir(account.home / "extra")
    said = code(account, project, MASTRA, EXTRA=str(extra))
    assert said["status"] == "running" and said["listed"] and said["result"] == [True, "hello test\n", "", 0]
    assert said["heard"] == "hello test\n" and said["info"] == "running" and said["told"] and said["detected"]
    assert said["secret"] == "[]\n", "only what is given"
    assert said["written"] is False and (extra / "new").exists() and not (project / "outside").exists()


def test_augure(account):
    project = account.person.mkdir(account.home / "project")
    repository = account.person.mkdir(account.home / "repository")
    account.person.write(repository / "README", "read me\n")
    account("hutch", "clients", "install", "augure", cwd=project).ok()
    said = code(account, project, AUGURE, REPO=str(repository))
    assert said["status"] == "idle" and said["result"] == {"exitCode": 0, "stdout": "a\n/workspace\n", "stderr": ""}
    assert said["empty"] == "" and said["network"] is True
    assert said["mounted"] == "read me\n" and (repository / "made").read_text() == "made\n"
    assert said["stats"] == {"idle": 0, "busy": 0, "total": 0, "maxTotal": 3}


def test_pi(account):
    """The extension is where pi looks, whole, and says what is missing rather than run anything unsandboxed."""
    account("hutch", "clients", "install", "pi").ok()
    place = account.home / ".pi/agent/extensions/hutch-pi"
    manifest = json.loads((place / "package.json").read_text())
    assert all((place / one).exists() for one in manifest["pi"]["extensions"]) and (place / "dist/index.js").exists()
    old = {"filesystem": {"denyRead": ["/Users", "/home"], "allowRead": [".", "~/.pi"], "allowWrite": ["."],
                          "denyWrite": []}, "network": {"allowedDomains": [], "deniedDomains": []}, "enabled": True}
    project = account.person.mkdir(account.home / "projects/foo")
    file = account.person.write(account.home / ".pi/agent/sandbox/projects.json", json.dumps({str(project): old}))
    account("hutch", "config", "import", file, cwd=project).ok()
    shown = account("hutch", "config", "show", cwd=project).ok().text
    assert "🔒 Sandbox: 0 domains, 1 write path" in shown and str(project) in shown
    done = account("hutch", "run", "--", "sh", "-c", f"echo x > in; cat {account.home}/.pi/agent/auth.json; "
                   f"echo x > {account.home}/out", cwd=project)
    assert (project / "in").exists() and not (account.home / "out").exists() and done.code != 0
