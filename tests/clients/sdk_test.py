# The TypeScript client of the repository, installed from its file and used on the Unix socket and by TCP.
import json
import os

import pytest

import harness
import pi as rig

pytestmark = pytest.mark.xdist_group("sdk")

COURSE = """
import { Hutch, HutchError } from 'hutch-sdk'

const hutch = new Hutch(JSON.parse(process.env.WHERE))
const said = { health: (await hutch.health()).status }
const agent = await hutch.ensure('sdk', { limits: { pids: '200' } })
said.again = (await hutch.ensure('sdk')).name
said.list = (await hutch.list()).map((one) => one.name)
const done = await agent.exec('echo out; echo err >&2; exit 3', { env: { A: 'b' } })
said.exec = [done.exitCode, done.stdout, done.stderr]
said.late = (await agent.exec(['sleep', '100'], { timeoutMs: 300 })).timedOut
said.stream = []
for await (const event of agent.stream('for i in 1 2; do echo $i; sleep 0.2; done; head -c 300000 /dev/zero')) {
  if (event.type === 'stdout') said.stream.push(event.bytes.length)
  else said.stream.push(event.type)
}
const cat = await agent.spawn(['cat'], { input: true })
await agent.write(cat.id, 'typed')
await agent.write(cat.id, Buffer.from('!'), { close: true })
said.output = ''
for await (const event of agent.output(cat.id)) if (event.type === 'stdout') said.output += event.bytes
said.waited = (await agent.wait(cat.id)).end.exitCode
const long = await agent.spawn('sleep 1000')
said.killed = (await agent.kill(long.id)).killed
for await (const event of agent.stream('sleep 2000')) if (event.type === 'started') break
const running = async () => (await agent.processes()).filter((one) => one.running).length
for (let i = 0; i < 100 && await running() > 0; i++) await new Promise((go) => setTimeout(go, 50))
said.left = await running()
const bytes = new Uint8Array(100000).map((_, i) => i)
said.written = (await agent.writeFile('d/bytes', bytes, { mode: 0o600 })).size
said.same = Buffer.compare(await agent.readFile('d/bytes'), Buffer.from(bytes))
said.stat = [(await agent.stat('d/bytes')).mode, (await agent.list('d')).entries.map((one) => one.name)]
await agent.removeFile('d', { recursive: true })
said.missing = await agent.readFile('d').catch((error) => [error instanceof HutchError, error.status, error.code])
said.wrong = await agent.exec('').catch((error) => error.code)
said.tool = (await agent.callTool('sandbox_exec', { command: 'true' })).ok
await agent.remove()
said.gone = await agent.show().catch((error) => error.status)
const stopped = new AbortController()
setTimeout(() => stopped.abort(), 300)
const first = async () => { for await (const one of hutch.questions(undefined, stopped.signal)) return one }
said.questions = await first().catch((error) => error.name)
hutch.close()
console.log(JSON.stringify(said))
"""


@pytest.fixture(scope="session")
def sdk(npm, packed):
    """A directory that was empty, with the package in its node_modules, and a compiler."""
    return npm("typescript@5.6", "@types/node@20", packed["hutch-sdk"])


@pytest.mark.parametrize("how", ["socket", "state", "tcp"])
def test_the_client_works(api, sdk, how):
    (sdk / "course.mjs").write_text(COURSE)
    where = {"socket": {"socketPath": str(api.socket_path)}, "state": {},
             "tcp": {"url": f"http://127.0.0.1:{api.port}", "token": api.token}}[how]
    environment = {**api.environment(), "PATH": os.environ["PATH"], "WHERE": json.dumps(where)}
    expect_course(harness.run_in(api.person, ["node", sdk / "course.mjs"], cwd=sdk, env=environment, timeout=120))


def expect_course(done):
    assert done.code == 0, str(done)
    said = json.loads(done.text)
    assert said["health"] == "ok" and said["again"] == "sdk" and said["list"] == ["sdk"]
    assert said["exec"] == [3, "out\n", "err\n"] and said["late"] is True
    assert said["stream"][0] == "started" and said["stream"][-1] == "exit"
    assert sum(one for one in said["stream"] if isinstance(one, int)) == 300_004
    assert said["output"] == "typed!" and said["waited"] == 0 and said["killed"] is True and said["left"] == 0
    assert said["written"] == 100_000 and said["same"] == 0 and said["stat"] == [0o600, ["bytes"]]
    assert said["missing"] == [True, 404, "not_found"] and said["wrong"] == "invalid_argument"
    assert said["gone"] == 404 and said["questions"] == "AbortError"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["18", "22", "24"])
def test_it_works_on_each_node(api, npm, packed, version):
    place = npm(packed["hutch-sdk"], packed["hutch-augure"], f"{rig.NODE}@{version}")
    (place / "course.mjs").write_text(COURSE)
    (place / "required.cjs").write_text("""
const { Hutch } = require('hutch-sdk')
const { DockerContainerPool } = require('hutch-augure')
console.log(process.version, typeof Hutch, typeof DockerContainerPool)
""")
    environment = {**api.environment(), "PATH": os.environ["PATH"], "WHERE": "{}"}
    run = lambda script: harness.run_in(api.person, [rig.node(place), place / script], cwd=place, env=environment,
                                        timeout=120)
    expect_course(run("course.mjs"))
    assert run("required.cjs").ok().text.startswith(f"v{version}.")
    assert run("required.cjs").ok().text.endswith(" function function\n")


def test_its_types_hold(sdk):
    """What the description does not have is an error of the compiler's."""
    right = "import { Hutch } from 'hutch-sdk'\nconst h = new Hutch()\n"
    cases = {
        "await h.transport.call('GET /v1/agents/{name}', { name: 'a' })": True,
        "await h.transport.call('GET /v1/agents/{name}', {})": False,
        "await h.transport.call('GET /v1/nothing', {})": False,
        "await h.create('a', { limits: { memory: '1G' } })": True,
        "await h.create('a', { limits: { memry: '1G' } })": False,
        "const code: number | undefined = (await h.agent('a').exec('true')).exitCode": True,
        "const code: string = (await h.agent('a').exec('true')).exitCode": False,
    }
    for number, (line, holds) in enumerate(cases.items()):
        (sdk / "probe.ts").write_text(f"{right}{line}\nexport {{}}\n")
        tsc = ["node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--module", "nodenext", "--target",
               "es2022", "--skipLibCheck", "--types", "node", "probe.ts"]
        done = harness.subprocess.run(tsc, cwd=sdk, capture_output=True, timeout=300, check=False)
        assert (done.returncode == 0) is holds, (number, line, done.stdout.decode())


LIFE = """
import { Hutch } from 'hutch-sdk'
import { execFileSync } from 'node:child_process'
import { readFileSync, existsSync } from 'node:fs'

const reason = (promise) => promise.then(() => 'no error', (error) => `${error.status} ${error.code}: ${error.message}`)
const stop = () => execFileSync(process.env.HUTCH_PROGRAM, ['daemon', 'stop'])
const said = {}
const unstarted = new Hutch({ start: false })
said.unstarted = await reason(unstarted.health())
said.elsewhere = await reason(new Hutch({ socketPath: process.env.HOME + '/other.sock' }).health())
said.url = await reason(new Hutch({ url: 'http://127.0.0.1:9' }).health())
said.missing = await reason(new Hutch({ program: '/nowhere/hutch' }).health())
said.relative = await reason(new Hutch({ program: 'bin/hutch' }).health())

const hutch = new Hutch()
await Promise.all([hutch.checkVersion(), new Hutch().health(), hutch.list()])
const agent = await hutch.ensure('life')
await agent.exec('echo kept > ~/kept')
stop()
said.again = (await agent.exec('cat ~/kept')).stdout
const cut = reason(agent.exec(`touch ${process.env.HOME}/begun; sleep 30`))
const pid = (await hutch.health()).pid
for (let i = 0; i < 200 && !existsSync(process.env.HOME + '/begun'); i++) await new Promise((go) => setTimeout(go, 50))
process.kill(pid, 'SIGKILL')
said.cut = await cut
// Its listening socket takes connections until the kernel has closed it too, and nobody answers those.
while (!(await reason(unstarted.health())).startsWith('0 unavailable')) await new Promise((go) => setTimeout(go, 10))
said.after = (await agent.exec('cat ~/kept')).stdout
await agent.remove()
stop()
console.log(JSON.stringify(said))
process.exit(0)
"""


def test_the_daemon_is_started_and_started_again(base, sdk, person):
    """What has reached no daemon is asked again; what broke off is told, and never done twice."""
    home = person.mkdir(person.home / "sdk-life")
    (sdk / "life.mjs").write_text(LIFE)
    environment = {"HOME": str(home), "HUTCH_STATE": str(home / "state"), "PATH": os.environ["PATH"],
                   "HUTCH_PROGRAM": str(base.bin / "hutch")}
    said = json.loads(harness.run_in(person, ["node", sdk / "life.mjs"], cwd=home, env=environment,
                                     timeout=120).ok().text)
    assert said["again"] == said["after"] == "kept\n"
    assert said["unstarted"].startswith("0 unavailable: ") and "start one by `hutch serve`" in said["unstarted"]
    assert said["elsewhere"].startswith("0 unavailable: ") and "other.sock" in said["elsewhere"]
    assert "no hutch answers at http://127.0.0.1:9" in said["url"] and "hutch serve --listen" in said["url"]
    assert "could not be started: /nowhere/hutch" in said["missing"] and "HUTCH_PROGRAM" in said["missing"]
    assert "absolute path" in said["relative"]
    assert said["cut"].startswith("0 broken_off: ") and "the next call starts it again" in said["cut"]
