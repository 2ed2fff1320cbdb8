// A sandbox of the pool: commands in it, and its end.
import { HutchError, type Hutch } from 'hutch-sdk'

import type { Container, ContainerOpts, ContainerStatus, ExecOpts, ExecResult } from './types.js'

const EXIT_OF_TIMEOUT = 124

/** What is gone by now is as ended as it can be. */
function ofGone(error: unknown): void {
  if (!(error instanceof HutchError && error.status === 404)) throw error
}

export class DockerContainer implements Container {
  private running = 0
  private ending: Promise<void> | undefined

  constructor(private readonly hutch: Hutch, readonly id: string, private readonly opts: ContainerOpts) {}

  get status(): ContainerStatus {
    return this.ending ? 'stopped' : this.running > 0 ? 'busy' : 'idle'
  }

  /** A shell reads it. A limit of time ends all that it started, and is an error, as Augure has it. */
  async exec(command: string, opts: ExecOpts = {}): Promise<ExecResult> {
    if (this.ending) throw new Error(`the container ${this.id} is stopped`)
    const seconds = opts.timeout || this.opts.timeout
    this.running += 1
    try {
      const end = await this.hutch.transport.call('POST /v1/pool/sandboxes/{id}/exec', { id: this.id }, {
        body: { command, cwd: opts.cwd, env: opts.env, timeoutMs: seconds > 0 ? Math.ceil(seconds * 1000) : undefined },
      })
      if (end.timedOut || (end.endedBy === 'timeout' && end.exitCode === EXIT_OF_TIMEOUT)) {
        throw new Error(`Exec timed out after ${seconds}s`)
      }
      return { exitCode: end.exitCode ?? 1, stdout: end.stdout ?? '', stderr: end.stderr ?? '' }
    } finally {
      this.running -= 1
    }
  }

  /** It is gone when this is done; again is fine. */
  stop(): Promise<void> {
    return this.end('DELETE /v1/pool/sandboxes/{id}')
  }

  /** A new one takes its place in the pool: a sandbox is used once. */
  giveBack(): Promise<void> {
    return this.end('POST /v1/pool/sandboxes/{id}/release')
  }

  private end(call: 'DELETE /v1/pool/sandboxes/{id}' | 'POST /v1/pool/sandboxes/{id}/release'): Promise<void> {
    this.ending ??= this.hutch.transport.call(call, { id: this.id }).then(() => {}, ofGone)
    return this.ending
  }
}
