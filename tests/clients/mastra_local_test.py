# LocalSandbox's own options and answers, as HutchSandbox has them; the original runs beside it where it can.
import os

import pytest

from mastra import run_node

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mastra")]  # its packages take a minute to come

OPTIONS_COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { LocalSandbox } from '@mastra/core/workspace'

const base = process.env.BASE
process.chdir(base)
const said = { detected: HutchSandbox.detectIsolation() }
const reason = (work) => { try { return work() && 'no error' } catch (error) { return error.message } }
const run = async (sandbox, line, more) => (await sandbox.executeCommand(line, [], more))

// The PATH of this process, and no variable of the system's profile.
const plain = new HutchSandbox({ workingDirectory: './plain' })
said.tools = (await run(plain, 'tool; other; command -v tool')).stdout
said.ownTool = (await run(plain, 'mkdir -p ~/.local/bin; hutch-host --help > /dev/null; echo $?')).stdout
said.hidden = (await run(plain, `cat ${process.env.HOME}/hidden`)).success
// Beside a project's bin lies what is nobody's business; a link that the sandbox made opens nothing at the next start.
const home_ = process.env.HOME
const look = `cat ${home_}/project/.env ${home_}/private/note; ${home_}/project/bin/own`
said.beside = (await run(plain, look)).stdout
await run(plain, `mkdir -p .venv; ln -s ${home_}/private .venv/bin`)
await plain._stop()
said.beside += (await run(plain, look)).stdout
said.names = (await run(plain, 'env')).stdout.split('\\n').map((line) => line.split('=')[0])
said.given = (await run(plain, 'echo $PATH', { env: { PATH: '/usr/bin:/bin' } })).stdout
said.relative = [plain.workingDirectory, (await run(plain, 'pwd')).stdout]
await run(plain, 'mkdir -p src')
said.cwd = [(await run(plain, 'pwd', { cwd: 'src' })).stdout, (await run(plain, 'pwd', { cwd: './plain/src' })).stdout]
const home = new HutchSandbox({ workingDirectory: '~/of-home' })
said.tilde = [home.workingDirectory, (await run(home, 'pwd')).stdout]
await home._destroy()

// What a result has, beside the original's.
const beside = new LocalSandbox({ workingDirectory: `${base}/beside` })
said.fields = []
for (const sandbox of [plain, beside]) {
  const result = await run(sandbox, 'echo 12345; exit 3', { maxRetainedBytes: 4 })
  const child = await sandbox.processes.spawn('echo 12345; exit 3', { maxRetainedBytes: 4 })
  const waited = await child.wait()
  const late = await run(sandbox, 'sleep 30', { timeout: 300 })
  const all = [result, waited, late]
  const heard = []
  await run(sandbox, 'sleep 30', { timeout: 300, onStderr: (text) => heard.push(text) })
  said.fields.push([...all.map((one) => Object.keys(one).filter((key) => !['command', 'args'].includes(key)).sort()),
    [result.timedOut, result.killed, result.stdout, result.stdoutTruncated, result.stdoutDroppedBytes],
    [waited.timedOut, waited.killed, waited.stdoutTruncated, waited.stdoutDroppedBytes],
    [late.exitCode, late.timedOut, late.killed, late.stdoutTruncated], heard])
}
said.wrongBytes = await run(plain, 'true', { maxRetainedBytes: -1 }).then(() => 'no error', (error) => error.message)
await beside._destroy()

// Arguments of bubblewrap.
const extra = `${process.env.HOME}/extra`
const bwrapArgs = ['--unshare-pid', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--ro-bind', extra, extra,
  '--bind', `${extra}/open`, `${extra}/open`, '--ro-bind-try', '/nowhere', '/nowhere', '--setenv', 'OF_ARGS', 'yes',
  '--die-with-parent']
const told = []
const argued = new HutchSandbox({ workingDirectory: './argued', isolation: 'bwrap',
  nativeSandbox: { bwrapArgs, seatbeltProfilePath: `${base}/none.sb` } })
argued.__setLogger({ debug() {}, info() {}, error() {}, warn: (line) => told.push(line) })
const line = `cat ${extra}/file; echo x > ${extra}/open/new && echo written; echo x > ${extra}/no; echo $OF_ARGS`
said.argued = (await run(argued, line)).stdout
said.told = told
await argued._destroy()
said.wrong = [['--hostname', 'x'], ['--bind', '/a', '/b'], ['--tmpfs', '/srv'], ['--ro-bind', '/', '/'],
  ['--setenv', 'A'], ['--chdir', '/']]
said.wrong = said.wrong.map((words) => reason(() => new HutchSandbox({ nativeSandbox: { bwrapArgs: words } })))

const bare = new HutchSandbox({ workingDirectory: './bare', nativeSandbox: { allowSystemBinaries: false } })
const seen = 'tool || echo no tool; ls /opt 2> /dev/null | wc -l; cat --version | head -1 | cut -c1-3'
said.bare = (await run(bare, seen)).stdout
await bare._destroy()
const none = new HutchSandbox({ workingDirectory: './none', isolation: 'none' })
said.none = await none._start().then(() => 'no error', (error) => error.message)
await none._destroy()
await plain._destroy()
console.log(JSON.stringify(said))
process.exit(0)
"""


def planted(person, name):
    """A home in which programs of pyenv and nvm lie, and something that nobody shows."""
    home = person.mkdir(person.home / name)
    tool = f"#!/bin/sh\ncat {home}/.nvm/versions/node/v0/lib/word\n"
    person.write(home / ".nvm/versions/node/v0/bin/tool", tool, mode=0o755)
    person.write(home / ".nvm/versions/node/v0/lib/word", "of nvm\n")
    person.write(home / ".pyenv/shims/other", f"#!/bin/sh\nexec {home}/.pyenv/libexec/other\n", mode=0o755)
    person.write(home / ".pyenv/libexec/other", "#!/bin/sh\necho of pyenv\n", mode=0o755)
    person.write(home / "hidden", "hidden")
    person.write(home / "project/bin/own", "#!/bin/sh\necho of the project\n", mode=0o755)
    person.write(home / "project/.env", "secret\n")
    person.write(home / "private/note", "private\n")
    person.write(home / "extra/file", "of extra\n")
    person.mkdir(home / "extra/open")
    return home


def test_the_options_of_localsandbox(api, provider):
    home = planted(api.person, "mastra-local")
    base = api.person.mkdir(home / "service")
    search = f"{home}/.nvm/versions/node/v0/bin:{home}/.pyenv/shims:{home}/bin:{home}/project/bin"
    search += f":{base}/plain/.venv/bin:{os.environ['PATH']}"
    said = run_node(api, provider, OPTIONS_COURSE, BASE=str(base), HOME=str(home), PATH=search,
                    HUTCH_PROGRAM=str(api.program))
    assert said["detected"]["backend"] in ("namespace", "bwrap") and said["detected"]["available"], said["detected"]
    assert said["tools"] == f"of nvm\nof pyenv\n{home}/.nvm/versions/node/v0/bin/tool\n"
    assert said["ownTool"] == "0\n" and said["hidden"] is False
    assert said["beside"] == "of the project\n" * 2
    assert "CUDA_HOME" not in said["names"] and "LIBRARY_PATH" not in said["names"], said["names"]
    assert said["given"] == "/usr/bin:/bin\n"
    assert said["relative"] == ["./plain", f"{base}/plain\n"]
    assert said["cwd"] == [f"{base}/plain/src\n"] * 2
    assert said["tilde"] == [f"{home}/of-home"] + [f"{home}/of-home\n"]
    ours, original = said["fields"]
    assert ours == original, (ours, original)
    assert ours[3] == [False, False, "345\n", True, 2] and ours[6] == ["\nProcess timed out after 300ms"]
    assert "maxRetainedBytes" in said["wrongBytes"] or "etained" in said["wrongBytes"], said["wrongBytes"]
    assert said["argued"] == "of extra\nwritten\nyes\n"
    assert len(said["told"]) == 1 and "seatbeltProfilePath has no meaning on Linux" in said["told"][0], said["told"]
    assert all(one.startswith("nativeSandbox.bwrapArgs: ") and "policy" in one for one in said["wrong"]), said["wrong"]
    assert said["bare"].startswith("no tool\n0\ncat"), said["bare"]
    assert "hutch settings set security.sandboxOnly false" in said["none"], said["none"]


MOUNT_COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { LocalFilesystem, Workspace } from '@mastra/core/workspace'
import { existsSync, lstatSync, readFileSync } from 'node:fs'

const base = process.env.BASE
const of = (name, readOnly) => new LocalFilesystem({ basePath: `${base}/${name}`, readOnly })
const sandbox = new HutchSandbox({ workingDirectory: `${base}/work`, nativeSandbox: {} })
const run = async (line) => (await sandbox.executeCommand(line)).stdout
const workspace = new Workspace({ sandbox, mounts: { '/data': of('data'), '/docs': of('docs', true) } })
await workspace.init()
const said = { states: [...sandbox.mounts.entries].map(([place, { state }]) => [place, state]) }
said.read = await run('cat data/file docs/file; echo new > data/new; echo no > docs/new 2> /dev/null || echo closed')
said.written = readFileSync(`${base}/data/new`, 'utf8')
said.info = (await sandbox.getInfo()).mounts
said.later = await sandbox.mount(of('later'), '/deep/later')
said.readLater = await run('cat deep/later/file; cat data/file')
const child = await sandbox.processes.spawn('sleep 6565')
said.running = (await sandbox.mount(of('other'), '/other')).error
await child.kill()
said.full = []
await run('mkdir -p full; touch full/x file; ln -s /etc own; ln -s / away')
for (const place of ['/full', '/file', '/own', '/away/etc/hutch-mount-escape']) {
  said.full.push((await sandbox.mount(of('data'), place)).error ?? 'no error')
}
said.escaped = existsSync("/etc/hutch-mount-escape")
said.bad = await sandbox.mount(of('data'), '/../x').then(() => 'no error', (error) => error.message)
said.store = (await sandbox.mount({ id: 's3', provider: 's3', getMountConfig: () => ({ type: 's3' }) }, '/s3')).error
await sandbox.unmount('/data')
said.unmounted = [existsSync(`${base}/work/data`), existsSync(`${base}/data/new`)]
await sandbox._stop()
said.kept = await run('cat docs/file')
await sandbox._destroy()
said.destroyed = [existsSync(`${base}/work/docs`), existsSync(`${base}/docs/file`)]
console.log(JSON.stringify(said))
process.exit(0)
"""


def test_mounts_that_are_directories(api, provider):
    base = api.person.mkdir(api.person.home / "mastra-mounts")
    for name in ("data", "docs", "later", "other"):
        api.person.write(base / name / "file", f"of {name}\n")
    said = run_node(api, provider, MOUNT_COURSE, BASE=str(base), HUTCH_PROGRAM=str(api.program))
    assert said["states"] == [["/data", "mounted"], ["/docs", "mounted"]]
    assert said["read"] == "of data\nof docs\nclosed\n" and said["written"] == "new\n"
    assert said["info"] == [{"path": "/data", "filesystem": "local"}, {"path": "/docs", "filesystem": "local"}]
    assert said["later"] == {"success": True, "mountPath": "/deep/later"} and said["readLater"] == "of later\nof data\n"
    assert "would have to be started anew" in said["running"]
    assert "not empty" in said["full"][0] and "regular file" in said["full"][1] and "occupied" in said["full"][2]
    assert said["full"][3].startswith("Cannot mount") and said["escaped"] is False
    assert "Invalid mount path" in said["bad"] and "Unsupported mount type: s3" in said["store"]
    assert said["unmounted"] == [False, True] and said["kept"] == "of docs\n" and said["destroyed"] == [False, True]
