// What LocalSandbox promises, case by case, asked of both classes in the same way; prints {case: [original's, ours]}.
import { HutchSandbox } from 'hutch-mastra'
import { LocalSandbox } from '@mastra/core/workspace'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import * as path from 'node:path'

const base = process.env.BASE
const failure = (work) => Promise.resolve().then(work).then(() => 'no error', (error) => error.constructor.name)
const lines = (text) => text.split('\n').filter(Boolean)

/** Each has a directory of its own (dir), and begins with a sandbox there that has not started (one). */
const CASES = {
  'it begins without having started': ({ one }) => [typeof one.id, one.status],
  'its id is what was given': ({ make, dir }) => make({ id: 'given', workingDirectory: dir }).id,
  'two have two ids': ({ make }) => make().id !== make().id,
  'its directory is as it was typed': ({ make, dir }) => make({ workingDirectory: dir }).workingDirectory === dir,
  'a start makes it run': async ({ one }) => { await one._start(); return [one.status, await one.isReady()] },
  'a second start changes nothing': async ({ one }) => { await one._start(); await one._start(); return one.status },
  'a stop ends it': async ({ one }) => { await one._start(); await one._stop(); return [one.status, await one.isReady()] },
  'it starts again after a stop': async ({ one, run }) => {
    await one._start()
    await run('echo kept > file')
    await one._stop()
    return [(await run('cat file')).stdout, one.status]
  },
  'an end is its end': async ({ one }) => { await one._start(); await one._destroy(); return one.status },
  'an end without a start is fine': async ({ one }) => { await one._destroy(); return one.status },
  'after its end there is no command': async ({ one }) => {
    await one._start()
    await one._destroy()
    return failure(() => one.executeCommand('true'))
  },
  'files of its directory stay after its end': async ({ one, run, dir }) => {
    await run('echo left > left')
    await one._destroy()
    return readFileSync(path.join(dir, 'left'), 'utf8')
  },
  'a directory that is not there is made': async ({ make, dir }) => {
    const made = make({ workingDirectory: path.join(dir, 'deep/er') })
    await made._start()
    const there = existsSync(path.join(dir, 'deep/er'))
    await made._destroy()
    return there
  },
  'a command starts it': async ({ one, run }) => [(await run('echo up')).stdout, one.status],
  'many commands at once start it once': async ({ one, run }) => {
    const all = await Promise.all([1, 2, 3, 4].map((number) => run(`echo ${number}`)))
    return [all.map((result) => result.stdout), one.status]
  },
  'arguments are words': async ({ one }) =>
    (await one.executeCommand('printf', ['%s|', 'a b', '$HOME', "it's", '"', '', '*', ';', '\\'])).stdout,
  'without arguments it is a line': async ({ run }) => (await run('echo a; echo b | tr b c && false || echo d')).stdout,
  'a result has these': async ({ run }) => {
    const result = await run('echo out; echo err >&2')
    return [result.success, result.exitCode, result.stdout, result.stderr, result.executionTimeMs > 0,
      result.timedOut, result.killed]
  },
  'exit codes are the command\'s': async ({ run }) => {
    const codes = []
    for (const line of ['exit 0', 'exit 1', 'exit 77', 'exit 255', 'no-such-command-of-anybody']) {
      codes.push((await run(line)).exitCode)
    }
    return codes
  },
  'a failure is a result': async ({ one }) => {
    const result = await one.executeCommand('ls', ['nothing-of-that-name'])
    return [result.success, result.exitCode !== 0, result.stderr.includes('nothing-of-that-name')]
  },
  'a large output is whole': async ({ run }) => (await run('head -c 3000000 /dev/zero | tr "\\0" x')).stdout.length,
  'bytes that are no text do not end it': async ({ run }) => (await run('printf "a\\377b"; echo; echo c')).stdout.length,
  'characters are whole where they come in pieces': async ({ run }) => {
    let heard = ''
    const result = await run("printf '\\303'; sleep 0.1; printf '\\251'", { onStdout: (text) => { heard += text } })
    return [result.stdout, heard]
  },
  'output is heard as it comes': async ({ run }) => {
    const heard = [[], []]
    const options = { onStdout: (text) => heard[0].push(text), onStderr: (text) => heard[1].push(text) }
    const result = await run('echo 1; echo 2; echo 3 >&2', options)
    return [heard[0].join(''), heard[1].join(''), result.stdout, result.stderr]
  },
  'it works in its directory': async ({ run, dir }) => {
    writeFileSync(path.join(dir, 'given'), 'given')
    return [(await run('pwd')).stdout.trim() === dir, (await run('cat given; echo made > made')).stdout,
      readFileSync(path.join(dir, 'made'), 'utf8')]
  },
  'a command\'s own directory is below it': async ({ run, dir }) => {
    mkdirSync(path.join(dir, 'below'))
    return [(await run('pwd', { cwd: path.join(dir, 'below') })).stdout.trim() === path.join(dir, 'below')]
  },
  'a directory that is not there is an error or a failure': async ({ run, dir }) => {
    const result = await run('echo ran', { cwd: path.join(dir, 'nowhere') }).catch(() => ({ stdout: '', success: false }))
    return [result.stdout, result.success]
  },
  'variables are the sandbox\'s, then the command\'s': async ({ make, dir }) => {
    const made = make({ workingDirectory: dir, env: { PATH: process.env.PATH, A: 'of the sandbox', B: 'b' } })
    const result = await made.executeCommand('echo "$A|$B|$C"', [], { env: { A: 'of the command', C: 'c d' } })
    const after = await made.executeCommand('echo "$A|$B|$C"')
    await made._destroy()
    return [result.stdout, after.stdout]
  },
  'variables of this process are not the command\'s': async ({ run }) => {
    process.env.OF_THE_CALLER = 'x'
    const result = await run('echo "[$OF_THE_CALLER]"')
    delete process.env.OF_THE_CALLER
    return result.stdout
  },
  'unless they are given': async ({ make, dir }) => {
    process.env.OF_THE_CALLER = 'x'
    const made = make({ workingDirectory: dir, env: { ...process.env } })
    const result = await made.executeCommand('echo "[$OF_THE_CALLER]"')
    await made._destroy()
    delete process.env.OF_THE_CALLER
    return result.stdout
  },
  'PATH is there': async ({ run }) => (await run('[ -n "$PATH" ] && ls / > /dev/null && echo there')).stdout,
  'its time limit holds': async ({ run }) => {
    const result = await run('echo before; sleep 30', { timeout: 500 })
    return [result.success, result.timedOut, result.stdout]
  },
  'the sandbox\'s time limit holds': async ({ make, dir }) => {
    const made = make({ workingDirectory: dir, timeout: 500 })
    const result = await made.executeCommand('sleep 30')
    await made._destroy()
    return [result.success, result.timedOut]
  },
  'what its time limit ended is over': async ({ run, dir }) => {
    await run('(sleep 2; echo late > late) & wait', { timeout: 300 })
    await new Promise((go) => setTimeout(go, 2500))
    return existsSync(path.join(dir, 'late'))
  },
  'an abort ends it': async ({ run }) => {
    const control = new AbortController()
    const running = run('echo begun; sleep 30', { abortSignal: control.signal, onStdout: () => control.abort() })
    const result = await running.catch((error) => ({ success: false, threw: error.name }))
    return result.success
  },
  'a process in the background': async ({ one }) => {
    const child = await one.processes.spawn('echo begun; read line; echo "got $line"; exit 4')
    await child.sendStdin('it\n')
    const result = await child.wait()
    return [result.exitCode, result.success, lines(result.stdout)]
  },
  'processes are listed, found and killed': async ({ one }) => {
    const child = await one.processes.spawn('sleep 60')
    const listed = (await one.processes.list()).filter((other) => other.running).length
    const found = (await one.processes.get(child.pid)) !== undefined
    const killed = await child.kill()
    const result = await child.wait()
    return [listed, found, killed, result.success, result.killed]
  },
  'an unknown process is none': async ({ one }) => { await one._start(); return (await one.processes.get('4444444')) ?? 'none' },
  'a stop ends processes': async ({ one }) => {
    const child = await one.processes.spawn('sleep 60')
    await one._stop()
    return (await child.wait()).success
  },
  'information': async ({ one }) => {
    await one._start()
    const info = await one.getInfo()
    return [info.id === one.id, info.name === one.name, info.provider === one.provider, info.status,
      info.createdAt instanceof Date]
  },
  'instructions name the directory': ({ one, dir }) => [typeof one.getInstructions(), one.getInstructions().includes(dir)],
  'instructions can be others': ({ make, dir }) => [make({ workingDirectory: dir, instructions: 'mine' }).getInstructions(),
    make({ workingDirectory: dir, instructions: ({ defaultInstructions }) => `${typeof defaultInstructions}!` }).getInstructions()],
  'detection says what isolates': ({ Class }) => {
    const found = Class.detectIsolation()
    return [typeof found.backend, found.available, typeof found.message]
  },
  'an isolation that is not here is refused at once': ({ make, dir }) =>
    failure(() => make({ workingDirectory: dir, isolation: 'seatbelt' })),
  'isolated: its directory can be written': async ({ isolated, dir }) => {
    const one = isolated()
    const result = await one.executeCommand('echo x > inside')
    await one._destroy()
    return [result.success, existsSync(path.join(dir, 'inside'))]
  },
  'isolated: nothing beside it': async ({ isolated }) => {
    const one = isolated()
    const place = path.join(base, `beside-${one.provider}`)
    await one.executeCommand(`echo x > ${place}`)
    await one._destroy()
    return existsSync(place)
  },
  'isolated: what is said can be written': async ({ isolated, Class }) => {
    const place = path.join(base, `open-${Class.name}`)
    mkdirSync(place)
    const one = isolated({ readWritePaths: [place] })
    await one.executeCommand(`echo x > ${place}/file`)
    await one._destroy()
    return existsSync(path.join(place, 'file'))
  },
  'isolated: what is said can be read, and not written': async ({ isolated, Class }) => {
    const place = path.join(base, `shown-${Class.name}`)
    mkdirSync(place)
    writeFileSync(path.join(place, 'file'), 'shown')
    const one = isolated({ readOnlyPaths: [place] })
    const result = await one.executeCommand(`cat ${place}/file; echo x > ${place}/new`)
    await one._destroy()
    return [result.stdout, existsSync(path.join(place, 'new'))]
  },
  'isolated: no network': async ({ isolated }) => {
    const one = isolated()
    const result = await one.executeCommand('grep -c : /proc/net/dev; (exec 3<> /dev/tcp/192.0.2.1/80) 2> /dev/null || echo none')
    await one._destroy()
    return lines(result.stdout).at(-1)
  },
  'isolated: no process of the host': async ({ isolated }) => {
    const one = isolated()
    const result = await one.executeCommand(`kill -0 ${process.pid} 2> /dev/null && echo there || echo none`)
    await one._destroy()
    return result.stdout
  },
  'isolated: the system can be read': async ({ isolated }) => {
    const one = isolated()
    const result = await one.executeCommand('ls /usr/bin > /dev/null && echo read')
    await one._destroy()
    return result.stdout
  },
}

const CLASSES = [LocalSandbox, HutchSandbox]
const said = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]))
for (const [name, work] of Object.entries(CASES)) {
  for (const Class of CLASSES) {
    const dir = mkdtempSync(path.join(base, 'case-'))
    const make = (options = { workingDirectory: dir }) => new Class(options)
    const isolated = (nativeSandbox = {}) => make({ workingDirectory: dir, isolation: 'bwrap', nativeSandbox })
    const one = make()
    const run = (line, options) => one.executeCommand(line, [], options)
    const value = await Promise.resolve().then(() => work({ Class, make, isolated, one, run, dir }))
      .catch((error) => `threw ${error.message}`)
    said[name].push(value === undefined ? null : value)
    await one._destroy().catch(() => undefined)
    rmSync(dir, { recursive: true, force: true })
  }
}
console.log(JSON.stringify(said))
process.exit(0)
