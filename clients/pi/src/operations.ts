// What pi's own tools are made of, done by the sandbox: its commands, and files by its own file server.
import * as path from 'node:path'

import type {
  BashOperations, EditOperations, LsOperations, ReadOperations, WriteOperations,
} from '@earendil-works/pi-coding-agent'
import { HutchError, type Session } from 'hutch-sdk'

import { imageTypeOf } from './images.js'
import { wholeOutput } from './outputs.js'
import type { Sandbox } from './sandbox.js'

/** The session that a command belongs to; nothing else of pi's own environment is anybody's inside. */
const TOLD = ['PI_SESSION_ID', 'PI_SESSION_FILE', 'PI_PROVIDER', 'PI_MODEL', 'PI_REASONING_LEVEL']

function toldOf(env: NodeJS.ProcessEnv | undefined): Record<string, string> {
  const told: Record<string, string> = {}
  for (const name of TOLD) {
    const value = env?.[name]
    if (value !== undefined) told[name] = value
  }
  return told
}

/** With the code that pi's users know from Node's own errors. */
function fileError(error: unknown, file: string): unknown {
  if (!(error instanceof HutchError)) return error
  const code = error.status === 404 ? 'ENOENT' : error.status === 403 ? 'EACCES' : undefined
  return code ? Object.assign(new Error(`${code}: ${error.message}`), { code, path: file }) : error
}

/** What goes into one request, whose body has at most 8 MiB. */
const PIECE_BYTES = 4 << 20

/** A file without end, or one that is all hole, would be held in memory whole. */
const FILE_BYTES_MAX = 256 << 20

/** Of what a command of the sandbox said; an error of it is `failed`. */
async function run(session: Session, script: string, file: string, stdin?: Buffer): Promise<void> {
  let errors = ''
  const stdinBase64 = stdin?.toString('base64')
  for await (const event of session.stream(['/bin/sh', '-c', script, 'sh', file], { stdinBase64 })) {
    if (event.type === 'stderr' && errors.length < 4096) errors += event.bytes.toString()
    if (event.type !== 'exit' || event.end.exitCode === 0) continue
    // "sh: 1: cannot create NAME: Permission denied"
    const words = errors.trim().split('\n').at(-1)?.split(': ') ?? []
    const code = { 'Permission denied': 'EACCES', 'No such file or directory': 'ENOENT', 'Is a directory': 'EISDIR',
                   'Directory nonexistent': 'ENOENT', 'Read-only file system': 'EROFS' }[words.at(-1) ?? '']
    throw Object.assign(new Error(`${code ?? 'EIO'}: ${words.at(-1) || 'it failed'}, ${file}`), { code, path: file })
  }
}

/**
 * By the sandbox's file server, which nobody is asked about: to it, what is hidden is not there. So then a command looks,
 * and where somebody says yes it is there.
 */
async function shown<T>(session: Session, file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof HutchError && [403, 404].includes(error.status))) throw error
    await run(session, 'exec 3<"$1"', file).catch(() => { throw error })
    return read()
  }
}

export async function readBytes(session: Session, file: string): Promise<Buffer> {
  try {
    const found = await shown(session, file, () => session.read(file, { bytesMax: FILE_BYTES_MAX }))
    if (found.isDirectory) throw Object.assign(new Error(`EISDIR: ${file} is a directory`), { code: 'EISDIR' })
    return found.bytes
  } catch (error) {
    throw fileError(error, file)
  }
}

export async function isThere(session: Session, file: string): Promise<boolean> {
  try {
    await shown(session, file, () => session.stat(file))
    return true
  } catch (error) {
    if (error instanceof HutchError && [403, 404].includes(error.status)) return false
    throw error
  }
}

/** Of a link: what it leads to. */
export async function isDirectory(session: Session, file: string): Promise<boolean> {
  const stat = await session.stat(file)
  if (stat.kind !== 'symlink') return stat.kind === 'directory'
  try {
    return (await session.read(file)).isDirectory
  } catch {
    return false
  }
}

/** bash, as the tool is called; an image that has none has a shell. */
const SHELL = 'command -v bash >/dev/null 2>&1 && exec bash -c "$1"; exec sh -c "$1"'

export function bashOperations(sandbox: Sandbox): BashOperations {
  return {
    async exec(command, cwd, { onData, signal, timeout, env }) {
      if (signal?.aborted) throw new Error('aborted')
      const timeoutMs = timeout && timeout > 0 ? Math.ceil(timeout * 1000) : undefined
      try {
        return await sandbox.use(async (session) => {
          const events = session.stream(['/bin/sh', '-c', SHELL, 'sh', command], { cwd, env: toldOf(env), timeoutMs, signal })
          for await (const event of events) {
            if (event.type === 'stdout' || event.type === 'stderr') onData(event.bytes)
            if (event.type !== 'exit') continue
            if (event.end.timedOut) throw new Error(`timeout:${timeout}`)
            if (event.end.endedBy === 'sandbox') throw new HutchError(0, 'gone', event.end.reason ?? 'it ended')
            return { exitCode: event.end.exitCode ?? null }
          }
          throw new HutchError(0, 'broken_off', 'its end is not known')
        })
      } catch (error) {
        if (signal?.aborted) throw new Error('aborted')
        throw error
      }
    },
  }
}

/** For one call of read: its file is asked for once. */
export function readOperations(sandbox: Sandbox): ReadOperations {
  let bytes: Promise<Buffer> | undefined
  const read = (file: string): Promise<Buffer> => {
    bytes ??= sandbox.use(async (session) => (await wholeOutput(file)) ?? readBytes(session, file))
    return bytes
  }
  return {
    readFile: read,
    access: async (file) => void (await read(file)),
    detectImageMimeType: async (file) => imageTypeOf(await read(file)),
  }
}

export function writeOperations(sandbox: Sandbox): WriteOperations {
  return {
    // As pi itself writes: into the very file, by its own name, which is what somebody may be asked about.
    writeFile: (file, content) => sandbox.use(async (session) => {
      const bytes = Buffer.from(content)
      await run(session, 'exec cat >"$1"', file, bytes.subarray(0, PIECE_BYTES))
      for (let at = PIECE_BYTES; at < bytes.length; at += PIECE_BYTES) {
        await run(session, 'exec cat >>"$1"', file, bytes.subarray(at, at + PIECE_BYTES))
      }
    }),
    mkdir: (directory) => sandbox.use(async (session) => {
      try {
        await session.makeDirectory(directory)
      } catch (error) {
        throw fileError(error, directory)
      }
    }),
  }
}

export function editOperations(sandbox: Sandbox): EditOperations {
  const { readFile, access } = readOperations(sandbox)
  return { readFile, access, writeFile: writeOperations(sandbox).writeFile }
}

/** The kinds of what was listed are known from the listing; a link is looked at. */
export function lsOperations(sandbox: Sandbox): LsOperations {
  const kinds = new Map<string, string>()
  return {
    exists: (file) => sandbox.use((session) => isThere(session, file)),
    async stat(file) {
      const known = kinds.get(file)
      const directory = known === undefined || known === 'symlink'
        ? await sandbox.use((session) => isDirectory(session, file)) : known === 'directory'
      return { isDirectory: () => directory }
    },
    async readdir(directory) {
      const listed = await sandbox.use((session) => session.list(directory))
      const names = (listed.entries ?? []).map((entry) => entry.name ?? '')
      listed.entries?.forEach((entry, i) => kinds.set(path.join(directory, names[i] ?? ''), entry.kind ?? 'other'))
      return names
    },
  }
}
