// Requests to the daemon, on its Unix socket or by TCP, and streams of server-sent events.
import * as fs from 'node:fs'
import * as http from 'node:http'
import * as os from 'node:os'
import * as path from 'node:path'

import { VERSION, type Operations } from './api.js'
import { startDaemon } from './program.js'

export interface Connection {
  /** The daemon's Unix socket. Without this and `url`: where the daemon of this user has it. */
  socketPath?: string
  /** "http://127.0.0.1:8642", of `hutch serve --listen`. */
  url?: string
  /** What the token file holds; by TCP alone. */
  token?: string
  /** Whether the daemon is started where it does not run: yes, where it is this user's own, on its usual socket. */
  start?: boolean
  /** The program hutch, absolute, by which it is started; else HUTCH_PROGRAM, else the one of PATH. */
  program?: string
  /** Directories that sandboxes may write, in which no program is looked for. Default: where this program was started. */
  projects?: string[]
}

/** What the daemon refused, or could not do. */
export class HutchError extends Error {
  constructor(readonly status: number, readonly code: string, message: string) {
    super(message)
    this.name = 'HutchError'
  }
}

/** A request has not reached the daemon at all, and can be made again. */
function isUnreached(error: unknown): error is NodeJS.ErrnoException {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  return syscall === 'connect' && ['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(code ?? '')
}

/** What breaks off in the middle: nobody knows what it came to. */
function brokenOff(error: unknown): unknown {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  if (code !== 'ECONNRESET' && code !== 'EPIPE') return error
  return new HutchError(0, 'broken_off', 'hutch\'s daemon has ended in the middle of it, and what ran in its sandboxes ' +
    'with it; the next call starts it again')
}

/** The parts of a version as numbers: "0.10.2" is later than "0.9". */
function isOlder(one: string, other: string): boolean {
  const numbers = (version: string) => version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0)
  const [left, right] = [numbers(one), numbers(other)]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    if ((left[i] ?? 0) !== (right[i] ?? 0)) return (left[i] ?? 0) < (right[i] ?? 0)
  }
  return false
}

export interface ServerEvent {
  event: string
  data: unknown
}

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Where `hutch paths` says that the socket is. */
export function defaultSocket(env: NodeJS.ProcessEnv = process.env): string {
  const absolute = (value: string | undefined) => (value?.startsWith('/') ? value : undefined)
  const state = absolute(env.HUTCH_STATE)
  if (state) return path.join(state, 'run', 'hutch.sock')
  if (process.getuid?.() === 0) return '/run/hutch/hutch.sock'
  const login = `/run/user/${process.getuid?.()}`
  const runtime = absolute(env.XDG_RUNTIME_DIR) ?? login
  if (runtime !== login || fs.existsSync(login)) return path.join(runtime, 'hutch', 'hutch.sock')
  const data = absolute(env.XDG_DATA_HOME) ?? path.join(os.homedir(), '.local', 'share')
  return path.join(data, 'hutch', 'run', 'hutch.sock')
}

/** Where the user's policies and settings are. */
export function configDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env.HUTCH_STATE?.startsWith('/')) return path.join(env.HUTCH_STATE, 'config')
  if (process.getuid?.() === 0) return '/etc/hutch'
  const config = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : path.join(os.homedir(), '.config')
  return path.join(config, 'hutch')
}

function errorOf(status: number, body: Buffer): HutchError {
  try {
    const { error } = JSON.parse(body.toString()) as { error: { code: string; message: string } }
    return new HutchError(status, error.code, error.message)
  } catch {
    return new HutchError(status, 'unknown', body.toString() || `status ${status}`)
  }
}

async function whole(answer: http.IncomingMessage, bytesMax = Infinity): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of answer) {
    pieces.push(piece as Buffer)
    bytes += (piece as Buffer).length
    if (bytes > bytesMax) throw new HutchError(413, 'too_large', `it is larger than ${bytesMax} bytes`)
  }
  return Buffer.concat(pieces)
}

export class Transport {
  private readonly agent: http.Agent

  /**
   * A connection of the Unix socket is for one request: of one that was kept nobody could tell whether a daemon that went
   * meanwhile had read the next.
   */
  constructor(private readonly connection: Connection = {}) {
    this.agent = new http.Agent({ keepAlive: connection.url !== undefined })
  }

  /** The connections that are kept open end; requests that are under way go on. */
  close(): void {
    this.agent.destroy()
  }

  /** An operation by its name in the description, with the parts of its path: the answer's JSON. */
  async call<Name extends keyof Operations>(
    name: Name, parts: Operations[Name]['path'],
    options: Omit<RequestOptions, 'query' | 'body'> & Partial<Pick<Operations[Name], 'query' | 'body'>> = {},
  ): Promise<Operations[Name]['answer']> {
    const [method, pattern] = name.split(' ') as [string, string]
    const answer = await this.open(method, filled(pattern, parts), options as RequestOptions)
    const body = await whole(answer)
    return (body.length === 0 ? undefined : JSON.parse(body.toString())) as Operations[Name]['answer']
  }

  /** The bytes of an answer, and what they are; an error where there are more than so many. */
  async content(method: string, target: string, options: RequestOptions & { bytesMax?: number } = {}):
      Promise<{ type: string; bytes: Buffer }> {
    const answer = await this.open(method, target, options)
    return { type: answer.headers['content-type'] ?? '', bytes: await whole(answer, options.bytesMax) }
  }

  /** The bytes of an answer. */
  async bytes(method: string, target: string, options: RequestOptions = {}): Promise<Buffer> {
    return whole(await this.open(method, target, options))
  }

  /** The events of an answer, as they come. Whoever leaves the loop closes the connection. */
  async *events(method: string, target: string, options: RequestOptions = {}): AsyncGenerator<ServerEvent> {
    const headers = { ...options.headers, Accept: 'text/event-stream' }
    const answer = await this.open(method, target, { ...options, headers })
    answer.setEncoding('utf8')
    let rest = ''
    try {
      for await (const piece of answer) {
        rest += piece as string
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          const event = eventOf(rest.slice(0, end))
          rest = rest.slice(end + 2)
          if (event) yield event
        }
      }
    } catch (error) {
      // The connection that was ended says only that it was.
      throw options.signal?.aborted ? options.signal.reason : brokenOff(error)
    } finally {
      answer.destroy()
    }
  }

  /** An error where the daemon is older than this package, whose calls it may not know, or know otherwise. */
  async checkVersion(): Promise<void> {
    const { version = '0' } = await this.call('GET /v1/health', {})
    if (!isOlder(version, VERSION)) return
    throw new HutchError(0, 'too_old', `hutch is ${version}, older than this package, which is of ${VERSION}: install ` +
      'hutch anew, then end the old daemon by `hutch daemon stop`; or `hutch clients install` puts the package that fits')
  }

  /**
   * The answer's head has come when this is done; an answer that is an error is thrown. The daemon is started where it
   * does not run; only what has not reached it is asked twice.
   */
  async open(method: string, target: string, options: RequestOptions = {}): Promise<http.IncomingMessage> {
    try {
      return await this.request(method, target, options)
    } catch (error) {
      if (!isUnreached(error)) throw this.told(error)
      if (!this.mayStart) throw this.told(error)
      try {
        await startDaemon(this.connection)
      } catch (failed) {
        const reason = failed instanceof Error ? failed.message : String(failed)
        throw new HutchError(0, 'unavailable', `hutch's daemon does not run, and could not be started: ${reason}`)
      }
      options.signal?.throwIfAborted()
      return await this.request(method, target, options).catch((again: unknown) => { throw this.told(again) })
    }
  }

  /** That of another user, or of another machine, is not this one's to start. */
  private get mayStart(): boolean {
    const { url, socketPath, start } = this.connection
    return !url && (start ?? (socketPath === undefined || socketPath === defaultSocket()))
  }

  /** With what can be done about it, in place of the system's words alone. */
  private told(error: unknown): unknown {
    const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
    if (syscall !== 'connect') return brokenOff(error)
    const { url, socketPath } = this.connection
    if (url) {
      return new HutchError(0, 'unavailable', `no hutch answers at ${url} (${code}): start one there by ` +
        '`hutch serve --listen ADDRESS:PORT --token-file FILE`')
    }
    const file = socketPath ?? defaultSocket()
    if (isUnreached(error)) {
      const again = this.mayStart ? '; one that has lost its socket is ended by `hutch daemon stop`' : ''
      return new HutchError(0, 'unavailable', `no hutch answers on ${file} (${code}): start one by \`hutch serve\`${again}`)
    }
    return new HutchError(0, 'unavailable', `the socket ${file} cannot be used (${code}): it has to be this user's own, ` +
      'which `hutch paths` names')
  }

  private request(method: string, target: string, options: RequestOptions): Promise<http.IncomingMessage> {
    const { headers, payload } = contentOf(options)
    if (this.connection.url && this.connection.token) headers.Authorization = `Bearer ${this.connection.token}`
    return new Promise((resolve, reject) => {
      const request = http.request({ ...this.place(target, options), method, headers, agent: this.agent,
                                     signal: options.signal })
      request.on('error', reject)
      request.on('response', (answer) => {
        if ((answer.statusCode ?? 500) < 300) return resolve(answer)
        whole(answer).then((body) => reject(errorOf(answer.statusCode ?? 500, body)), reject)
      })
      request.end(payload)
    })
  }

  private place(target: string, options: RequestOptions): http.RequestOptions {
    const asked = Object.entries(options.query ?? {}).filter(([, value]) => value !== undefined)
    const query = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, String(value)])).toString()
    const whole = query ? `${target}?${query}` : target
    if (!this.connection.url) return { socketPath: this.connection.socketPath ?? defaultSocket(), path: whole }
    const url = new URL(this.connection.url)
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port, path: whole }
  }
}

function filled(pattern: string, parts: Record<string, unknown>): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parts[name])))
}

function eventOf(text: string): ServerEvent | undefined {
  let event = ''
  let data = ''
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice('event: '.length)
    if (line.startsWith('data: ')) data += line.slice('data: '.length)
  }
  return event ? { event, data: JSON.parse(data) as unknown } : undefined
}

function contentOf(options: RequestOptions): { headers: Record<string, string>; payload?: Buffer } {
  const headers = { ...options.headers }
  if (options.body === undefined) return { headers }
  if (options.body instanceof Uint8Array) {
    headers['Content-Type'] ??= 'application/octet-stream'
    headers['Content-Length'] = String(options.body.length)
    return { headers, payload: Buffer.from(options.body) }
  }
  const payload = Buffer.from(JSON.stringify(options.body))
  headers['Content-Type'] = 'application/json'
  headers['Content-Length'] = String(payload.length)
  return { headers, payload }
}
