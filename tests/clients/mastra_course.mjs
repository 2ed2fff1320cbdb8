// What Mastra is made to do with the provider of this repository; the answer is one JSON object.
import { HutchSandbox, hutchSandboxProvider } from 'hutch-mastra'
import { createWorkspaceTools, LocalFilesystem, Workspace } from '@mastra/core/workspace'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const error = (promise) => promise.then(() => 'no error', (error) => error.code ?? error.message)
const base = process.env.BASE
const extra = `${base}/extra`
mkdirSync(extra)
writeFileSync(`${base}/outside`, 'outside')
const hooks = []
const options = {
  id: 'course', workingDirectory: `${base}/work`, env: { FOO: 'bar' }, timeout: 20_000,
  nativeSandbox: { readWritePaths: [extra] },
  onStart: ({ outcome }) => { hooks.push(`start ${outcome}`) },
  onStop: () => { hooks.push('stop') }, onDestroy: () => { hooks.push('destroy') },
}
const sandbox = new HutchSandbox(options)
const said = { before: sandbox.status }
await Promise.all([sandbox._start(), sandbox._start(), sandbox._start()])
said.started = [sandbox.status, sandbox.isReady(), hooks.length]

const run = (command, args, more) => sandbox.executeCommand(command, args, more)
const first = await run('echo', ['a b', '$FOO'])
said.words = [first.success, first.stdout]
const failed = await run('echo $FOO; pwd; echo err >&2; exit 3')
said.line = [failed.success, failed.exitCode, failed.stdout, failed.stderr]
const streamed = []
await run('echo 1; sleep 0.3; echo 2', [], { onStdout: (data) => streamed.push(data) })
said.streamed = streamed
const late = await run('echo part; setsid sleep 4545; echo no', [], { timeout: 400 })
said.late = [late.exitCode, late.timedOut, late.killed, late.stdout, late.stderr]
said.left = (await run('pgrep -fc "^sleep 4545"')).stdout.trim()
const stop = new AbortController()
setTimeout(() => stop.abort(), 300)
const aborted = await run('echo part; sleep 5454', [], { abortSignal: stop.signal })
said.aborted = [aborted.success, aborted.killed, aborted.stdout]
said.abortedBefore = (await run('touch never', [], { abortSignal: stop.signal })).success
said.tmp = [(await run('echo kept > /tmp/kept; pwd', [], { cwd: '/tmp' })).stdout, (await run('cat /tmp/kept; ls')).stdout]
said.split = (await run(`printf '\\303'; sleep 0.2; printf '\\251'`)).stdout
said.large = (await run('head -c 3000000 /dev/zero | tr "\\0" x')).stdout.length
said.environment = (await run('env | grep -c ^COURSE_SECRET=')).stdout.trim()
said.node = (await run('command -v node > /dev/null && echo yes')).stdout.trim()

// What the policy of nativeSandbox holds.
said.outside = (await run(`echo x > ${base}/outside`)).success
said.extra = (await run(`echo x > ${extra}/file`)).success && readFileSync(`${extra}/file`, 'utf8')
said.network = (await run('exec 3<>/dev/tcp/192.0.2.1/80')).success

const typed = await sandbox.processes.spawn('echo begun; read x; echo "got $x"; exit 4')
await typed.sendStdin('it\n')
const waited = await typed.wait()
said.process = [waited.exitCode, waited.stdout, await error(typed.sendStdin('x'))]
const cat = await sandbox.processes.spawn('cat')
await cat.sendStdin('typed')
await cat.closeStdin()
said.closed = (await cat.wait()).stdout
const long = await sandbox.processes.spawn('sleep 6464')
said.listed = (await sandbox.processes.list()).some((one) => one.pid === long.pid && one.running)
const other = new HutchSandbox({ ...options, onStart: undefined })
await other._start()
said.found = (await other.processes.get(long.pid))?.pid === long.pid
said.killed = [await sandbox.processes.kill(long.pid), (await long.wait()).exitCode, await long.kill()]
said.unknown = (await sandbox.processes.get('999999')) === undefined

await sandbox.writeFiles([{ path: 'd/run.sh', content: '#!/bin/sh\necho ran\n', mode: 0o755 }])
said.file = (await run('./d/run.sh')).stdout
said.mode = await error(sandbox.writeFiles([{ path: 'x', content: '', mode: 0 }]))
const info = await sandbox.getInfo()
said.info = [info.status, info.resources.cpuCores > 0, info.metadata.isolation]
said.told = sandbox.getInstructions().includes(`${base}/work`)

// An agent's tools, called without a model.
const workspace = new Workspace({ sandbox, filesystem: new LocalFilesystem({ basePath: `${base}/work` }) })
await workspace.init()
const tools = await createWorkspaceTools(workspace)
const call = (name, input) => tools[`mastra_workspace_${name}`].execute(input, { workspace })
said.tool = [await call('execute_command', { command: 'echo from a tool; exit 5' })]
const background = await call('execute_command', { command: 'echo behind; sleep 7474', background: true })
const pid = /PID: (\S+)\)/.exec(background)[1]
await new Promise((done) => setTimeout(done, 500))
said.tool.push(await call('get_process_output', { pid }), await call('kill_process', { pid }))

said.refused = [new HutchSandbox({ policy: '/nothing' }), new HutchSandbox({ isolation: 'none' })]
said.refused = await Promise.all(said.refused.map(async (one) => [await error(one._start()), await error(one._destroy())]))
said.wrong = []
for (const wrong of [{ isolation: 'seatbelt' }, { nativeSandbox: { bwrapArgs: ['x'] } }, { policy: 'x', nativeSandbox: {} },
  { nativeSandbox: { unknown: true } }]) {
  try {
    said.wrong.push(new HutchSandbox(wrong).id)
  } catch (error) {
    said.wrong.push(error.code ?? 'refused')
  }
}
const closed = new HutchSandbox({ workingDirectory: `${base}/work`, nativeSandbox: { readOnly: true } })
said.readOnly = (await closed.executeCommand('head -1 d/run.sh; touch new 2>/dev/null || echo closed')).stdout
await closed._destroy()
const provided = await hutchSandboxProvider.createSandbox({ id: 'provided', workingDirectory: `${base}/work` })
said.provided = [(await provided.executeCommand('echo', ['provided'])).stdout, provided.provider]
await provided._destroy()

await run('mkdir /tmp/d; echo deep > /tmp/d/deep; chmod 700 /tmp/d/deep; ln -s deep /tmp/d/link')
await sandbox._stop()
said.stopped = sandbox.status
said.keptTmp = (await run('cat /tmp/kept /tmp/d/link; stat -c %a /tmp/d/deep; ls -A ~ | grep -c tmp; rm -r /tmp/d /tmp/kept')).stdout
await sandbox._stop()
said.emptyTmp = (await run('ls -A /tmp')).stdout
said.again = (await run('cat d/run.sh | head -1')).stdout
await sandbox._destroy()
said.destroyed = [sandbox.status, await error(run('true')), readFileSync(`${base}/work/d/run.sh`, 'utf8').length > 0]
said.hooks = hooks
console.log(JSON.stringify(said))
process.exit(0)
