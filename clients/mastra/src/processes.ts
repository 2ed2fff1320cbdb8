// Processes of the sandbox as Mastra has them: each is one of the daemon's, which goes on when this program ends.
import { StringDecoder } from 'node:string_decoder'

import { ProcessHandle, SandboxProcessManager } from '@mastra/core/workspace'
import type { CommandOptions, CommandResult, ProcessInfo, SpawnProcessOptions } from '@mastra/core/workspace'
import { HutchError, type Agent, type End, type Process } from 'hutch-sdk'

import type { HutchSandbox } from './sandbox.js'

export const variables = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** How a command ended, beside its output. */
export function ending(end: End, timeout: number | undefined, startedAt: number) {
  return {
    success: end.exitCode === 0,
    exitCode: end.exitCode ?? 1,
    executionTimeMs: Date.now() - startedAt,
    timedOut: end.timedOut ?? false,
    killed: (end.timedOut ?? false) || (end.killed ?? false) || (end.signal ?? 0) > 0,
    note: end.timedOut ? `\nProcess timed out after ${timeout}ms` : end.reason ? `\n${end.reason}` : '',
  }
}

/** An agent that is not there has no processes, and is as stopped, and as removed, as it can be. */
export function ofNone(error: unknown): void {
  if (!(error instanceof HutchError && error.status === 404)) throw error
}

/** What a command has written: as much of it as is to be kept, and how much was not. */
export class Heard extends ProcessHandle {
  readonly pid = ''
  readonly exitCode = undefined

  constructor(options: CommandOptions) {
    super({ ...options, maxRetainedBytes: options.maxRetainedBytes ?? Infinity })
  }

  texts() {
    return {
      stdout: this.stdout, stderr: this.stderr, stdoutTruncated: this.stdoutTruncated,
      stderrTruncated: this.stderrTruncated, stdoutDroppedBytes: this.stdoutDroppedBytes,
      stderrDroppedBytes: this.stderrDroppedBytes,
    }
  }

  override kill(): Promise<boolean> {
    return Promise.resolve(false)
  }

  override sendStdin(): Promise<void> {
    return Promise.reject(new Error('a command has no input; processes.spawn gives one'))
  }
}

class HutchProcessHandle extends ProcessHandle {
  readonly pid: string
  exitCode: number | undefined
  private readonly ended: Promise<End>
  private readonly startedAt = Date.now()

  constructor(private readonly agent: Agent, process: Process, private readonly options: SpawnProcessOptions = {}) {
    super(options)
    this.pid = String(process.id)
    this.command = (process.arguments ?? []).at(-1)
    this.ended = this.follow()
    // Whoever does not wait does not hear of it here.
    this.ended.catch(() => {})
    options.abortSignal?.addEventListener('abort', () => void this.kill().catch(() => {}), { once: true })
    if (options.abortSignal?.aborted) void this.kill().catch(() => {})
  }

  private async follow(): Promise<End> {
    const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
    const tell = (stream: 'stdout' | 'stderr', text: string) => {
      if (text) stream === 'stdout' ? this.emitStdout(text) : this.emitStderr(text)
    }
    for await (const event of this.agent.output(this.pid)) {
      if (event.type === 'stdout' || event.type === 'stderr') tell(event.type, decoders[event.type].write(event.bytes))
      if (event.type !== 'exit') continue
      for (const stream of ['stdout', 'stderr'] as const) tell(stream, decoders[stream].end())
      this.exitCode = event.end.exitCode ?? 1
      return event.end
    }
    throw new Error(`process ${this.pid}: its end is not known`)
  }

  override async wait(options: Parameters<ProcessHandle['wait']>[0] = {}): Promise<CommandResult> {
    options.abortSignal?.addEventListener('abort', () => void this.kill().catch(() => {}), { once: true })
    if (options.abortSignal?.aborted) void this.kill().catch(() => {})
    const { note, ...result } = ending(await this.ended, this.options.timeout, this.startedAt)
    return { ...result, stdout: this.stdout, stderr: this.stderr + note, command: this.command }
  }

  async kill(): Promise<boolean> {
    if (this.exitCode !== undefined) return false
    try {
      return (await this.agent.kill(this.pid, 9) as { killed?: boolean }).killed ?? false
    } catch (error) {
      if (error instanceof HutchError && error.status === 404) return false
      throw error
    }
  }

  private check(): void {
    if (this.exitCode !== undefined) throw new Error(`Process ${this.pid} has already exited with code ${this.exitCode}`)
    if (this.options.stdinMode === 'ignore') throw new Error(`Process ${this.pid} does not have stdin available`)
  }

  async sendStdin(data: string): Promise<void> {
    this.check()
    await this.agent.write(this.pid, data)
  }

  override async closeStdin(): Promise<void> {
    this.check()
    await this.agent.write(this.pid, '', { close: true })
  }
}

export class HutchProcessManager extends SandboxProcessManager<HutchSandbox> {
  override async spawn(command: string, options: SpawnProcessOptions = {}): Promise<ProcessHandle> {
    const agent = this.sandbox.agent
    const process = await this.sandbox.inside(() => agent.spawn(this.sandbox.lineOf(command, options.env), {
      cwd: this.sandbox.cwdOf(options.cwd),
      env: variables({ ...this.sandbox.usualEnv, ...this.env, ...options.env }),
      timeoutMs: options.timeout,
      input: options.stdinMode !== 'ignore',
    }))
    const handle = new HutchProcessHandle(agent, process, options)
    handle.command = command
    this._tracked.set(handle.pid, handle)
    return handle
  }

  override async list(): Promise<ProcessInfo[]> {
    if (!this.sandbox.hasBegun) return []
    const all = await this.sandbox.agent.processes().catch(ofNone)
    return (all ?? []).map((one) => ({
      pid: String(one.id),
      command: (one.arguments ?? []).at(-1),
      running: one.running ?? false,
      ...(one.end ? { exitCode: one.end.exitCode } : {}),
    }))
  }

  /** Those of earlier programs too. */
  override async get(pid: string): Promise<ProcessHandle | undefined> {
    const tracked = this._tracked.get(pid)
    if (tracked) return tracked
    try {
      const handle = new HutchProcessHandle(this.sandbox.agent, await this.sandbox.agent.process(pid))
      this._tracked.set(pid, handle)
      return handle
    } catch (error) {
      if (error instanceof HutchError && error.status === 404) return undefined
      throw error
    }
  }
}

