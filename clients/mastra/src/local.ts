// What settings of LocalSandbox mean in hutch: arguments of bubblewrap, and the PATH of this program.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'

export function withHome(given: string): string {
  return given === '~' || given.startsWith('~/') ? path.join(os.homedir(), given.slice(1)) : given
}

export const absolute = (given: string): string => path.resolve(withHome(given))

export function isWithin(file: string, directory: string): boolean {
  const from = path.relative(directory, file)
  return from === '' || (from !== '..' && !from.startsWith('../') && !path.isAbsolute(from))
}

// --- arguments of bubblewrap ---

export interface BwrapMeaning {
  allowNetwork?: boolean
  readOnlyPaths: string[]
  readWritePaths: string[]
  env: Record<string, string>
}

/** What each sandbox of hutch has anyway, with the number of their arguments. */
const ALWAYS = new Map([
  ['--unshare-user', 0], ['--unshare-user-try', 0], ['--unshare-ipc', 0], ['--unshare-pid', 0], ['--unshare-uts', 0],
  ['--unshare-cgroup', 0], ['--unshare-cgroup-try', 0], ['--die-with-parent', 0], ['--new-session', 0], ['--clearenv', 0],
  ['--cap-drop', 1], ['--unsetenv', 1],
])
/** Places that hutch makes by itself, there and nowhere else. */
const MADE = new Map([['--proc', '/proc'], ['--dev', '/dev'], ['--tmpfs', '/tmp']])
const BINDS = new Set(['--bind', '--bind-try', '--ro-bind', '--ro-bind-try'])

const wrong = (word: string, why: string): Error =>
  new Error(`nativeSandbox.bwrapArgs: ${word}: ${why}; leave it out, or say what is meant in a policy file (policy)`)

/** Added to the other settings, as Mastra's documentation has it. What has no meaning in hutch is an error. */
export function meaningOf(words: string[], workingDirectory: string): BwrapMeaning {
  const meaning: BwrapMeaning = { readOnlyPaths: [], readWritePaths: [], env: {} }
  for (let i = 0; i < words.length;) {
    const word = words[i++]!
    const next = (): string => {
      if (i >= words.length) throw wrong(word, 'an argument of it is missing')
      return words[i++]!
    }
    if (ALWAYS.has(word)) {
      for (let left = ALWAYS.get(word)!; left > 0; left--) next()
    } else if (MADE.has(word)) {
      const place = next()
      if (place !== MADE.get(word)) throw wrong(`${word} ${place}`, `hutch has it at ${MADE.get(word)} only`)
    } else if (BINDS.has(word)) {
      bind(meaning, word, next(), next())
    } else if (word === '--setenv') {
      const name = next()
      meaning.env[name] = next()
    } else if (word === '--chdir') {
      const place = next()
      if (path.resolve(place) !== workingDirectory) throw wrong(`${word} ${place}`, 'commands start in workingDirectory')
    } else if (word === '--share-net') {
      meaning.allowNetwork = true
    } else if (word === '--unshare-net' || word === '--unshare-all') {
      meaning.allowNetwork = false
    } else {
      throw wrong(word, 'hutch has nothing of that meaning')
    }
  }
  return meaning
}

function bind(meaning: BwrapMeaning, word: string, from: string, to: string): void {
  if (path.resolve(from) !== path.resolve(to)) throw wrong(`${word} ${from} ${to}`, 'files of this machine have their own path')
  if (path.resolve(from) === '/') {
    throw wrong(`${word} / /`, 'the system is readable already, and homes are opened by naming their directories')
  }
  if (word.endsWith('-try') && !fs.existsSync(from)) return
  (word.startsWith('--ro-') ? meaning.readOnlyPaths : meaning.readWritePaths).push(path.resolve(from))
}

// --- the PATH of this program ---

/** What a home's policy hides. */
const HIDDEN = ['/home', '/root']
/** A name with these would be a pattern. */
const PATTERN = /[*?[\]{}\\]/
const OF_PACKAGES = /[/\\]node_modules[/\\]\.bin[/\\]*$/

export interface Search {
  /** Absolute directories, those that are there. */
  directories: string[]
  /** What has to be readable for the programs of those that lie in a home. */
  readable: string[]
  env: Record<string, string>
}

/**
 * A tool's whole directory: programs in `bin` and `shims` have their libraries beside it. In a project others lie there, so
 * that it is one of a hidden directory of the home, or of conda.
 */
function toolOf(real: string, home: string): string {
  const above = path.dirname(real)
  const isTools = ['bin', 'sbin', 'shims'].includes(path.basename(real)) && isWithin(above, home) && above !== home
  const isHidden = path.relative(home, above).startsWith('.') && above !== path.join(home, '.local')
  return isTools && (isHidden || fs.existsSync(path.join(above, 'conda-meta'))) ? above : real
}

/** Links that a sandbox may have made, where somebody's files are, are not followed: it would choose what it may read. */
function resolved(directory: string, homes: string[]): string | undefined {
  let real = '/'
  for (const part of directory.split('/').filter(Boolean)) {
    const next = path.join(real, part)
    const isLink = fs.lstatSync(next).isSymbolicLink()
    // Those of /home itself are the administrator's: homes that lie elsewhere.
    if (isLink && real !== '/home' && homes.some((one) => isWithin(real, one))) return undefined
    real = isLink ? fs.realpathSync(next) : next
  }
  return real
}

/** Of `writable`, which the sandbox sees anyway, nothing else is opened. */
export function searchOf(search: string, home: string, writable: string[]): Search {
  const found: Search = { directories: [], readable: [], env: {} }
  const homes = [home, ...HIDDEN, ...writable]
  for (const directory of search.split(path.delimiter)) {
    if (!path.isAbsolute(directory) || OF_PACKAGES.test(directory)) continue
    let real: string | undefined
    try {
      real = resolved(path.resolve(directory), homes)
    } catch {
      continue
    }
    const isHidden = real !== undefined && [home, ...HIDDEN].some((one) => isWithin(real, one))
    // By a link in a directory that is hidden nothing would be found.
    const seen = isHidden ? real! : directory
    if (!found.directories.includes(seen)) found.directories.push(seen)
    if (!isHidden || writable.some((one) => isWithin(real!, one))) continue
    const tool = toolOf(real!, home)
    if (tool === home || PATTERN.test(tool) || writable.some((one) => isWithin(one, tool))) continue
    if (!found.readable.includes(tool)) found.readable.push(tool)
    // asdf looks for its data in HOME, which is the sandbox's own.
    const isAsdf = path.basename(real!) === 'shims' && fs.existsSync(path.join(tool, 'plugins'))
    if (isAsdf && path.basename(tool).includes('asdf')) found.env.ASDF_DATA_DIR = tool
  }
  return found
}
