# Mastra's provider when its daemon, its sandbox or hutch itself is not there.
import json
import os

import pytest

import harness

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mastra")]  # its packages take a minute to come

COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const reason = (promise) => promise.then(() => 'no error', (error) => error.message)
const home = process.env.HOME
const hutch = (...words) => execFileSync(process.env.HUTCH_PROGRAM, words)
const directory = `${home}/project`
const options = { id: 'life', workingDirectory: directory }
const sandbox = new HutchSandbox(options)
const told = []
sandbox.__setLogger({ debug() {}, info() {}, error() {}, warn: (line) => told.push(line) })
const run = async (line) => (await sandbox.executeCommand(line)).stdout

const said = { first: await run('echo kept > ~/kept; echo $HUTCH_AGENT') }
hutch('daemon', 'stop')
said.stopped = [sandbox.status, await run('cat ~/kept; echo $HUTCH_AGENT')]
const cut = reason(sandbox.executeCommand('touch begun; sleep 30'))
for (let i = 0; i < 200 && !existsSync(`${directory}/begun`); i++) await new Promise((go) => setTimeout(go, 50))
process.kill(JSON.parse(hutch('daemon', 'status', '--json')).pid, 'SIGKILL')
said.cut = await cut
const child = await sandbox.processes.spawn('cat ~/kept')
said.killed = (await child.wait()).stdout
said.toldBefore = told.length
hutch('agent', 'remove', sandbox.agent.name)
said.removed = await run('ls ~/kept; echo $HUTCH_AGENT; ls begun')
said.told = told
hutch('agent', 'remove', sandbox.agent.name)
await sandbox._destroy()
said.destroyed = sandbox.status

// Destroyed while a call of it finds that it was removed: before it is made anew, and in the middle of that.
const before = new HutchSandbox({ ...options, id: 'before' })
await before._start()
said.raced = [await reason(before.inside(async () => {
  await before._destroy()
  return before.agent.show()
}))]
const amid = new HutchSandbox({ ...options, id: 'amid' })
await amid._start()
let over
amid.__setLogger({ debug() {}, info() {}, error() {}, warn: () => setImmediate(() => { over ??= amid._destroy() }) })
hutch('agent', 'remove', amid.agent.name)
said.raced.push(await reason(amid.executeCommand('true')))
await over
said.left = JSON.parse(hutch('agent', 'list', '--json'))

// The hutch of PATH, though everything is below the directory in which this was started.
const named = process.env.HUTCH_PROGRAM
delete process.env.HUTCH_PROGRAM
process.env.PATH = `${process.env.BIN}:${process.env.PATH}`
execFileSync(named, ['daemon', 'stop'])
const found = new HutchSandbox({ ...options, id: 'found' })
said.found = (await found.executeCommand('echo found')).stdout
await found._destroy()
process.env.HUTCH_PROGRAM = named

process.env.HUTCH_PROGRAM = '/nowhere/hutch'
execFileSync(process.env.REAL, ['daemon', 'stop'])
const without = new HutchSandbox({ workingDirectory: `${home}/project` })
said.without = await reason(without.executeCommand(`touch ${home}/victim`))
said.withoutDestroyed = [await reason(without._destroy()), without.status]
said.victim = existsSync(`${home}/victim`)
console.log(JSON.stringify(said))
process.exit(0)
"""

IDLE = """
import { HutchSandbox } from 'hutch-mastra'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

const words = ['serve', '--idle', '1s', '--ready-fd', '3']
const server = spawn(process.env.HUTCH_PROGRAM, words, { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
const ended = once(server, 'exit')
await once(server.stdio[3].resume(), 'end')
const sandbox = new HutchSandbox({ id: 'idle', workingDirectory: `${process.env.HOME}/project` })
const run = async (line) => (await sandbox.executeCommand(line)).stdout
const said = { first: await run('echo $HUTCH_AGENT; echo kept > ~/kept') }
said.ended = await ended
said.status = sandbox.status
said.second = await run('echo $HUTCH_AGENT; cat ~/kept').catch((error) => error.message)
await sandbox._destroy().catch((error) => { said.destroyed = error.message })
execFileSync(process.env.HUTCH_PROGRAM, ['daemon', 'stop'])
console.log(JSON.stringify(said))
process.exit(0)
"""


def said_by(course, base, provider, person, name):
    home = person.mkdir(person.home / name)
    (provider / f"{name}.mjs").write_text(course)
    environment = {"HOME": str(home), "HUTCH_STATE": str(home / "state"), "PATH": os.environ["PATH"],
                   "HUTCH_PROGRAM": str(base.bin / "hutch"), "REAL": str(base.bin / "hutch"), "BIN": str(base.bin)}
    done = harness.run_in(person, ["node", provider / f"{name}.mjs"], cwd="/", env=environment, timeout=180)
    return json.loads(done.ok().text.splitlines()[-1])


def test_a_daemon_that_left_because_it_was_idle_is_started_again(base, provider, person):
    said = said_by(IDLE, base, provider, person, "mastra-idle")
    assert said["first"].startswith("mastra-") and said["ended"] == [0, None] and said["status"] == "running"
    assert said["second"] == f"{said['first']}kept\n" and "destroyed" not in said, said


def test_it_goes_on_or_says_what_to_do(base, provider, person):
    said = said_by(COURSE, base, provider, person, "mastra-life")
    name = said["first"]
    assert name.startswith("mastra-") and said["stopped"] == ["running", f"kept\n{name}"]
    assert "has ended in the middle" in said["cut"] and "starts it again" in said["cut"]
    assert said["killed"] == "kept\n" and said["toldBefore"] == 0
    assert said["removed"] == f"{name}begun\n" and len(said["told"]) == 1 and "made anew" in said["told"][0]
    assert said["destroyed"] == "destroyed"
    assert all("not ready" in one for one in said["raced"]) and said["left"] == [], said["raced"]
    assert said["found"] == "found\n"
    assert "could not be started: /nowhere/hutch" in said["without"] and "HUTCH_PROGRAM" in said["without"]
    assert said["withoutDestroyed"] == ["no error", "destroyed"] and said["victim"] is False
