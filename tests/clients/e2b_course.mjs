// What the unmodified e2b package is made to do; the answer is one JSON object.
import { Sandbox } from 'e2b'

const error = (promise) => promise.then(() => 'no error', (error) => error.name)
const text = (bytes) => new TextDecoder().decode(bytes)
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
const until = async (holds) => {
  for (let i = 0; i < 200 && !holds(); i++) await pause(50)
}

async function commands(sandbox) {
  const said = {}
  const run = (line, options) => sandbox.commands.run(line, options)
  const { exitCode, stdout, stderr } = await run('echo hi $FOO $OWN; echo err >&2', { envs: { OWN: 'own' } })
  said.run = { exitCode, stdout, stderr }
  said.failed = await run('echo part; exit 3').catch((error) => [error.name, error.exitCode, error.stdout])
  said.streamed = []
  await run('for i in 1 2 3; do echo $i; sleep 0.3; done', { onStdout: (data) => { said.streamed.push(data) } })

  const typed = await run('cat', { background: true, stdin: true })
  const listed = (await sandbox.commands.list()).find((one) => one.pid === typed.pid)
  said.listed = [listed !== undefined, listed?.args[2]]
  await sandbox.commands.sendStdin(typed.pid, 'typed\n')
  await sandbox.commands.closeStdin(typed.pid)
  said.typed = (await typed.wait()).stdout

  const long = await run('sleep 1000', { background: true })
  said.killed = [await long.kill(), await long.wait().catch((error) => error.exitCode)]
  said.killedAgain = await sandbox.commands.kill(long.pid)
  said.late = await error(run('sleep 1000', { timeoutMs: 500 }))

  const left = await run('cat > /tmp/go; echo after', { background: true, stdin: true })
  await left.disconnect()
  const again = await sandbox.commands.connect(left.pid)
  await sandbox.commands.closeStdin(left.pid)
  said.reconnected = (await again.wait()).stdout

  said.cwd = (await run('pwd', { cwd: '/tmp' })).stdout
  said.noCwd = await error(run('true', { cwd: '/nothing' }))
  said.root = await run('true', { user: 'root' }).catch((error) => [error.name, error.message])

  let shown = ''
  const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: (data) => { shown += text(data) } })
  await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 30 })
  await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; exit\n'))
  await terminal.wait().catch(() => {})
  said.terminal = shown.match(/^\d+ \d+/m)?.[0]
  said.large = (await run('head -c 3000000 /dev/zero | tr "\\0" x')).stdout.length
  return said
}

async function files(sandbox) {
  const said = {}
  const { files } = sandbox
  await files.write('/tmp/x.txt', 'hello')
  said.read = await files.read('/tmp/x.txt')
  await files.write('/tmp/bytes', new Uint8Array([0, 255, 13, 10]).buffer)
  said.bytes = [...await files.read('/tmp/bytes', { format: 'bytes' })]
  await files.write('/tmp/empty', '')
  said.empty = await files.read('/tmp/empty')
  const home = (await sandbox.commands.run('mkdir tree && cd tree && pwd')).stdout.trim()
  const several = await files.write([{ path: 'tree/a/b.txt', data: '1' }, { path: 'tree/c.txt', data: '2' }])
  said.several = several.map((one) => one.path.slice(home.length + 1))
  const listed = (await files.list('tree', { depth: 2 })).map((one) => `${one.path.slice(home.length + 1)}:${one.type}`)
  said.listed = listed.sort((a, b) => a.split(':')[0] < b.split(':')[0] ? -1 : 1)
  const info = await files.getInfo('/tmp/x.txt')
  said.info = [info.name, info.type, info.size, info.permissions]
  await files.write('/tmp/large', new Blob([new Uint8Array(5_000_000)]).stream())
  said.stream = 0
  for await (const piece of await files.read('/tmp/large', { format: 'stream' })) said.stream += piece.length
  said.made = [await files.makeDir('/tmp/d/e'), await files.makeDir('/tmp/d/e')]
  said.exists = [await files.exists('/tmp/d'), await files.exists('/tmp/nothing')]
  said.renamed = (await files.rename('/tmp/x.txt', '/tmp/y.txt')).path
  await files.remove('/tmp/d')
  said.removed = await files.exists('/tmp/d')
  said.missing = [await error(files.read('/tmp/nothing')), await error(files.list('/tmp/nothing'))]

  await files.makeDir('/tmp/w/deep')
  await files.write('/tmp/w/old.txt', 'x')
  said.events = []
  said.recursive = []
  const has = (events, type, name) => events.some((one) => one[0] === type && one[1] === name)
  const watch = await files.watchDir('/tmp/w', (event) => { said.events.push([event.type, event.name]) })
  const tree = await files.watchDir('/tmp/w', (event) => { said.recursive.push([event.type, event.name]) },
                                    { recursive: true })
  await files.write('/tmp/w/n.txt', 'x')
  await until(() => has(said.events, 'create', 'n.txt'))
  await files.remove('/tmp/w/n.txt')
  await files.rename('/tmp/w/old.txt', '/tmp/w/new.txt')
  await files.write('/tmp/w/deep/er.txt', 'x')
  await until(() => has(said.events, 'remove', 'n.txt') && has(said.events, 'create', 'new.txt') &&
                    has(said.recursive, 'create', 'deep/er.txt'))
  await watch.stop()
  await tree.stop()
  return said
}

async function life(sandbox) {
  const said = {}
  const id = sandbox.sandboxId
  const info = await sandbox.getInfo()
  said.running = [await sandbox.isRunning(), info.state, info.metadata]
  said.found = (await Sandbox.list({ query: { metadata: { a: 'b c' } } }).nextItems()).length
  said.notFound = (await Sandbox.list({ query: { metadata: { a: 'x' } } }).nextItems()).length
  const others = [await Sandbox.create(), await Sandbox.create()]
  said.pages = []
  const pages = Sandbox.list({ limit: 1 })
  while (pages.hasNext) said.pages.push((await pages.nextItems()).length)
  for (const one of others) await one.kill()

  await sandbox.files.write('kept', 'kept')
  const counting = await sandbox.commands.run('while [ ! -e go ]; do sleep 0.1; done; echo counted',
                                              { background: true, timeoutMs: 60000 })
  said.paused = [await sandbox.pause(), await sandbox.pause(), (await sandbox.getInfo()).state]
  said.refused = await error(sandbox.commands.run('true'))
  const again = await Sandbox.connect(id)
  await again.files.write('go', '')
  said.resumed = (await counting.wait()).stdout
  said.kept = await again.files.read('kept')

  const before = (await sandbox.getInfo()).endAt
  await sandbox.setTimeout(3_600_000)
  const late = (await sandbox.getInfo()).endAt
  await Sandbox.connect(id, { timeoutMs: 1000 })
  said.end = [late > before, (await sandbox.getInfo()).endAt.getTime() === late.getTime()]
  const [metric] = await sandbox.getMetrics()
  said.metrics = [metric.cpuCount >= 1, metric.memTotal > 0]
  const shut = { allowInternetAccess: false }
  said.unsupported = [await error(sandbox.createSnapshot()), await error(Sandbox.create(shut))]
  said.killed = [await sandbox.kill(), await sandbox.kill(), await sandbox.isRunning()]
  said.gone = [await error(sandbox.commands.run('true')), await error(Sandbox.connect(id))]
  said.noTemplate = await error(Sandbox.create('nothing-of-this-name'))
  said.wrongKey = await error(Sandbox.create({ apiKey: 'e2b_0000000000000000' }))
  return said
}

const courses = { commands, files, life }
const sandbox = await Sandbox.create({ metadata: { a: 'b c' }, envs: { FOO: 'bar' } })
console.log(JSON.stringify(await courses[process.env.COURSE](sandbox)))
await sandbox.kill()
process.exit(0)
