// The client itself: agents by name, and what is done in their sandboxes.
import type {
  AgentSettings, Agent as AgentState, Command, Directory, End, ExecResult, File, Process, Question, Session as SessionState,
  SessionWish, Task,
} from './api.js'
import { HutchError, Transport, type Connection, type ServerEvent } from './transport.js'

export interface ExecOptions extends Omit<Command, 'command' | 'arguments'> {
  signal?: AbortSignal
}

export interface SpawnOptions extends ExecOptions {
  /** Its input is written later, by `write`. */
  input?: boolean
}

/** What a command does while it runs; `bytes` are as it wrote them. */
export type ExecEvent =
  | { type: 'started'; process: Process }
  | { type: 'stdout' | 'stderr'; bytes: Buffer; skippedBytes: number }
  | { type: 'exit'; end: End }

export type QuestionEvent = { type: 'question' | 'answered'; question: Question & Record<string, unknown> }

/** A line, which a shell reads, or a program with its arguments, which none does. */
export type Line = string | string[]

function commandOf(line: Line, options: SpawnOptions): Command & { input?: boolean } {
  const { signal: _, ...rest } = options
  return typeof line === 'string' ? { ...rest, command: line } : { ...rest, arguments: line }
}

function execEvent(event: string, data: unknown): ExecEvent | undefined {
  switch (event) {
    case 'started': return { type: 'started', process: data as Process }
    case 'exit': return { type: 'exit', end: data as End }
    case 'stdout':
    case 'stderr': {
      const { base64, skippedBytes } = data as { base64: string; skippedBytes?: number }
      return { type: event, bytes: Buffer.from(base64, 'base64'), skippedBytes: skippedBytes ?? 0 }
    }
    default: return undefined
  }
}

export class Hutch {
  readonly transport: Transport

  constructor(connection: Connection = {}) {
    this.transport = new Transport(connection)
  }

  close(): void {
    this.transport.close()
  }

  health() {
    return this.transport.call('GET /v1/health', {})
  }

  /** An error where the daemon is older than this package. */
  checkVersion(): Promise<void> {
    return this.transport.checkVersion()
  }

  agent(name: string): Agent {
    return new Agent(this.transport, name)
  }

  async list(): Promise<AgentState[]> {
    return (await this.transport.call('GET /v1/agents', {})).agents ?? []
  }

  async create(name: string, settings: AgentSettings = {}): Promise<Agent> {
    await this.transport.call('POST /v1/agents', {}, { body: { ...settings, name } })
    return this.agent(name)
  }

  /** The agent of that name, made where there is none. */
  async ensure(name: string, settings: AgentSettings = {}): Promise<Agent> {
    try {
      return await this.create(name, settings)
    } catch (error) {
      if (error instanceof HutchError && error.status === 409) return this.agent(name)
      throw error
    }
  }

  /** What is asked, as it comes. Whoever listens is one who answers. */
  async *questions(agent?: string, signal?: AbortSignal): AsyncGenerator<QuestionEvent> {
    for await (const { event, data } of this.transport.events('GET', '/v1/questions', { query: { agent }, signal })) {
      if (event !== 'question' && event !== 'answered') continue
      yield { type: event, question: data as QuestionEvent['question'] }
    }
  }

  answer(id: string, choice: string, minutes?: number) {
    return this.transport.call('POST /v1/questions/{id}', { id }, { body: { choice, minutes } as never })
  }

  /** A sandbox of one's own, which runs when this is done; it ends with `end`, and with this process. */
  async open(wish: SessionWish): Promise<Session> {
    const stopped = new AbortController()
    const events = this.transport.events('POST', '/v1/sessions', { body: wish, signal: stopped.signal })
    const first = await events.next()
    if (first.done || first.value.event !== 'session') throw new HutchError(0, 'broken_off', 'the session did not begin')
    return new Session(this.transport, first.value.data as SessionState, events, stopped)
  }
}

/** Commands and files of a sandbox, by where the daemon has them. */
class Place {
  constructor(protected readonly transport: Transport, private readonly base: string) {}

  // --- commands ---

  /** What it does while it runs, nothing left out. Whoever leaves the loop ends the command. */
  async *stream(line: Line, options: ExecOptions = {}): AsyncGenerator<ExecEvent> {
    yield* this.follow('POST', '/exec', { body: commandOf(line, options), signal: options.signal })
  }

  // --- files ---

  /** The bytes of a file; of a directory `bytes` is the JSON of its listing. */
  async read(path: string, options: { bytesMax?: number } = {}): Promise<{ isDirectory: boolean; bytes: Buffer }> {
    const { type, bytes } = await this.transport.content('GET', this.place('/files'), { query: { path }, ...options })
    return { isDirectory: type.startsWith('application/json'), bytes }
  }

  readFile(path: string): Promise<Buffer> {
    return this.transport.bytes('GET', this.place('/files'), { query: { path } })
  }

  async writeFile(path: string, bytes: string | Uint8Array, options: { mode?: number } = {}): Promise<File> {
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    const query = { path, mode: options.mode }
    const answer = await this.transport.bytes('PUT', this.place('/files'), { body, query })
    return JSON.parse(answer.toString()) as File
  }

  async list(path: string): Promise<Directory> {
    return JSON.parse((await this.readFile(path)).toString()) as Directory
  }

  async stat(path: string): Promise<File> {
    const answer = await this.transport.bytes('GET', this.place('/files'), { query: { path, stat: true } })
    return JSON.parse(answer.toString()) as File
  }

  async makeDirectory(path: string): Promise<void> {
    await this.transport.bytes('PUT', this.place('/files'), { query: { path, directory: true } })
  }

  async removeFile(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    await this.transport.bytes('DELETE', this.place('/files'), { query: { path, recursive: options.recursive } })
  }

  protected place(rest: string): string {
    return `${this.base}${rest}`
  }

  protected async *follow(method: string, rest: string, options: { body?: unknown; signal?: AbortSignal }) {
    for await (const { event, data } of this.transport.events(method, this.place(rest), options)) {
      const told = execEvent(event, data)
      if (told) yield told
      if (told?.type === 'exit') return
    }
    throw new HutchError(0, 'broken_off', 'the stream ended before the command did')
  }
}

export class Session extends Place {
  constructor(transport: Transport, readonly state: SessionState, private readonly events: AsyncGenerator<ServerEvent>,
              private readonly stopped: AbortController) {
    super(transport, `/v1/sessions/${encodeURIComponent(state.id)}`)
  }

  /** What it asks, until its end; to be read, once, by whoever opened it. */
  async *questions(): AsyncGenerator<QuestionEvent> {
    for await (const { event, data } of this.events) {
      if (event !== 'question' && event !== 'answered') continue
      yield { type: event, question: data as QuestionEvent['question'] }
    }
  }

  show(): Promise<SessionState> {
    return this.transport.call('GET /v1/sessions/{session}', { session: this.state.id })
  }

  answer(id: string, choice: string, minutes?: number) {
    const parts = { session: this.state.id, id }
    return this.transport.call('POST /v1/sessions/{session}/questions/{id}', parts, { body: { choice, minutes } as never })
  }

  /** Everything that runs in it has ended, and its own files are gone, when this is done. */
  async end(): Promise<void> {
    try {
      await this.transport.call('DELETE /v1/sessions/{session}', { session: this.state.id })
    } catch (error) {
      if (!(error instanceof HutchError && error.status === 404)) throw error
    } finally {
      this.stopped.abort()
    }
  }
}

export class Agent extends Place {
  constructor(transport: Transport, readonly name: string) {
    super(transport, `/v1/agents/${encodeURIComponent(name)}`)
  }

  show(): Promise<AgentState> {
    return this.transport.call('GET /v1/agents/{name}', { name: this.name })
  }

  set(settings: AgentSettings): Promise<AgentState> {
    return this.transport.call('PATCH /v1/agents/{name}', { name: this.name }, { body: settings })
  }

  start() {
    return this.transport.call('POST /v1/agents/{name}/start', { name: this.name })
  }

  stop() {
    return this.transport.call('POST /v1/agents/{name}/stop', { name: this.name })
  }

  remove() {
    return this.transport.call('DELETE /v1/agents/{name}', { name: this.name })
  }

  // --- commands ---

  /** To its end; a failure of its own is in the result, and never thrown. */
  exec(line: Line, options: ExecOptions = {}): Promise<ExecResult> {
    const body = commandOf(line, options)
    return this.transport.call('POST /v1/agents/{name}/exec', { name: this.name }, { body, signal: options.signal })
  }

  spawn(line: Line, options: SpawnOptions = {}): Promise<Process> {
    const body = commandOf(line, options)
    return this.transport.call('POST /v1/agents/{name}/processes', { name: this.name }, { body })
  }

  async processes(): Promise<Process[]> {
    return (await this.transport.call('GET /v1/agents/{name}/processes', { name: this.name })).processes ?? []
  }

  process(id: string): Promise<Process> {
    return this.transport.call('GET /v1/agents/{name}/processes/{id}', { name: this.name, id })
  }

  /** What is kept of its output, then what it writes, until its end. Whoever leaves the loop leaves the process be. */
  async *output(id: string, signal?: AbortSignal): AsyncGenerator<ExecEvent> {
    yield* this.follow('GET', `/processes/${encodeURIComponent(id)}/output`, { signal })
  }

  async write(id: string, bytes: string | Uint8Array, options: { close?: boolean } = {}): Promise<void> {
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    await this.transport.bytes('POST', this.place(`/processes/${encodeURIComponent(id)}/stdin`),
                               { body, query: { close: options.close } })
  }

  /** A signal and no other, or, without one, the end of it and of all that it started. */
  kill(id: string, signal?: number) {
    return this.transport.call('POST /v1/agents/{name}/processes/{id}/kill', { name: this.name, id },
                               { body: signal === undefined ? {} : { signal } })
  }

  wait(id: string, timeoutMs?: number): Promise<Process> {
    return this.transport.call('POST /v1/agents/{name}/processes/{id}/wait', { name: this.name, id },
                               { query: { timeoutMs } })
  }

  // --- tools and tasks ---

  callTool(tool: string, args: Record<string, unknown>) {
    const parts = { name: this.name, tool }
    return this.transport.call('POST /v1/agents/{name}/tools/{tool}', parts, { body: args as never })
  }

  task(text: string, timeoutMs?: number): Promise<Task> {
    const body = { text, timeoutMs } as never
    return this.transport.call('POST /v1/agents/{name}/tasks', { name: this.name }, { body })
  }
}
