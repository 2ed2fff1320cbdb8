// Which program is hutch, and starting it. It runs outside as the user, so it is never one that a sandbox may have put
// there.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'

function isWithin(file: string, directory: string): boolean {
  const from = path.relative(directory, file)
  return from === '' || (from !== '..' && !from.startsWith(`..${path.sep}`) && !path.isAbsolute(from))
}

/** npm puts the project's own into PATH, and those of the directories above it, before everything else. */
const isOfPackages = (directory: string): boolean => /[/\\]node_modules[/\\]\.bin[/\\]*$/.test(directory)

function realOf(file: string): string | undefined {
  try {
    return fs.realpathSync(file)
  } catch {
    return undefined
  }
}

/** Within / is everything, and that is no project: it is where services and containers are started. */
function placesOf(projects: string[]): string[] {
  return projects.flatMap((one) => [path.resolve(one), realOf(one) ?? path.resolve(one)])
    .filter((one) => one !== path.parse(one).root)
}

/** What is left of a PATH without directories that whoever works in the projects may write. */
export function safeSearch(search: string, projects: string[]): string[] {
  const inside = placesOf(projects)
  return search.split(path.delimiter).filter((directory) => {
    if (!path.isAbsolute(directory) || isOfPackages(directory)) return false
    const real = realOf(directory) ?? directory
    return !isOfPackages(real) && !inside.some((top) => isWithin(directory, top) || isWithin(real, top))
  })
}

/** By its real path: a link is not followed anew at each start. */
export function findHutch(search: string, projects: string[]): string | undefined {
  const inside = placesOf(projects)
  for (const directory of safeSearch(search, projects)) {
    const real = realOf(path.join(directory, 'hutch'))
    if (real === undefined || inside.some((top) => isWithin(real, top))) continue
    try {
      fs.accessSync(real, fs.constants.X_OK)
    } catch {
      continue
    }
    if (fs.statSync(real).isFile()) return real
  }
  return undefined
}

/** The one that HUTCH_PROGRAM names, which is the user's word, else the one of PATH; an error where it is neither. */
export function chooseHutch(environment: NodeJS.ProcessEnv, project: string | string[]): string {
  const named = environment.HUTCH_PROGRAM
  if (named) {
    if (!path.isAbsolute(named)) throw new Error(`HUTCH_PROGRAM has to be an absolute path, not ${named}`)
    return realOf(named) ?? named
  }
  const found = findHutch(environment.PATH ?? '', [project].flat())
  if (found) return found
  throw new Error('there is no hutch in PATH outside of the project and of node_modules/.bin, where a sandbox may have ' +
    'put one; install hutch, or say where it is: HUTCH_PROGRAM=/absolute/path/hutch')
}

const PATIENCE_MS = 60_000
/** The project, where none is named, is where this program was started: it may go elsewhere later. */
const AT_LOAD = process.cwd()

export interface RunOptions {
  cwd?: string
  program?: string
  projects?: string[]
}

/** The program, and an environment in which what it starts by name is as far from the project as itself. */
function chosen(options: RunOptions): { program: string; env: NodeJS.ProcessEnv } {
  const projects = options.projects ?? [AT_LOAD]
  const program = chooseHutch(options.program ? { HUTCH_PROGRAM: options.program } : process.env, projects)
  const search = safeSearch(process.env.PATH ?? '', projects).join(path.delimiter)
  return { program, env: { ...process.env, PATH: search || '/usr/local/bin:/usr/bin:/bin' } }
}

const missing = (program: string, error: Error): Error =>
  new Error(`${program} cannot be started: ${error.message}; install hutch, or name another by HUTCH_PROGRAM`)

/** As runHutch, for whoever cannot wait for a promise. */
export function runHutchSync(args: string[], options: RunOptions = {}): string {
  const { program, env } = chosen(options)
  const done = spawnSync(program, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS,
                                          encoding: 'utf8' })
  if (done.error) throw missing(program, done.error)
  if (done.status === 0) return done.stdout
  throw new Error((done.stderr || done.stdout).trim() || `${program} ${args.join(' ')} ended with ${done.status ?? done.signal}`)
}

/** Runs hutch, whose output is told where it fails; `program` is the user's word, as HUTCH_PROGRAM is. */
export async function runHutch(args: string[], options: RunOptions = {}): Promise<string> {
  const { program, env } = chosen(options)
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
    child.stderr.setEncoding('utf8').on('data', (text: string) => { err += text })
    child.on('error', (error) => reject(missing(program, error)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out)
      else reject(new Error((err || out).trim() || `${program} ${args.join(' ')} ended with ${code ?? signal}`))
    })
  })
}

const starting = new Map<string, Promise<void>>()

/** Any word to hutch starts its daemon, and comes back when that answers. Several who want it have it started once. */
export function startDaemon(options: Pick<RunOptions, 'program' | 'projects'> = {}): Promise<void> {
  const key = JSON.stringify([options.program, options.projects])
  const begun = starting.get(key)
  if (begun) return begun
  const { program, projects } = options
  const started = runHutch(['agent', 'list', '--json'], { program, projects }).then(() => {})
    .finally(() => { starting.delete(key) })
  starting.set(key, started)
  return started
}
