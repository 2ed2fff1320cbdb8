// The session of the daemon's that pi's tools work in: begun when it is needed, gone with pi, never gone around.
import { Hutch, HutchError, type Question, type Session, type SessionState } from 'hutch-sdk'

import { firstPolicy } from './policy.js'

/** Who is asked what the sandbox asks. The signal says that somebody else has answered. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<string>

export type State = { kind: 'off' } | { kind: 'running'; session: SessionState } | { kind: 'failed'; reason: string }

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The daemon, or the session, is not there any more: what a request came to is not known. */
function isGone(error: unknown): boolean {
  if (error instanceof HutchError) return error.status === 0 || error.message === 'there is no such session'
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  return syscall === 'connect' || ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code ?? '')
}

export class Sandbox {
  private readonly hutch = new Hutch()
  private session: Session | undefined
  private opening: Promise<Session> | undefined
  private reason: string | undefined

  constructor(readonly directory: string, private readonly ask: Ask, private readonly changed: (state: State) => void) {}

  get state(): State {
    if (this.session) return { kind: 'running', session: this.session.state }
    return this.reason === undefined ? { kind: 'off' } : { kind: 'failed', reason: this.reason }
  }

  /** One that runs, begun where none does. Whoever gets an error runs nothing. */
  async open(): Promise<Session> {
    if (this.session) return this.session
    this.opening ??= this.begin().finally(() => { this.opening = undefined })
    return this.opening
  }

  private async begin(): Promise<Session> {
    const wish = { dir: this.directory, firstPolicy: firstPolicy() as Record<string, unknown> }
    try {
      await this.hutch.checkVersion()
      const session = await this.hutch.open(wish)
      this.session = session
      this.reason = undefined
      void this.listen(session)
      this.changed(this.state)
      return session
    } catch (error) {
      this.reason = messageOf(error)
      this.changed(this.state)
      throw new Error(`hutch: no sandbox, and nothing is run without one: ${this.reason}`)
    }
  }

  /** Until its end, whoever it is that ends it. */
  private async listen(session: Session): Promise<void> {
    const asking = new Map<string, AbortController>()
    let reason = 'the sandbox has ended'
    try {
      for await (const { type, question } of session.questions()) {
        if (type === 'answered') {
          asking.get(question.id)?.abort()
          asking.delete(question.id)
          continue
        }
        const over = new AbortController()
        asking.set(question.id, over)
        void this.answer(session, question as Question, over.signal)
      }
    } catch (error) {
      reason = `the daemon has gone: ${messageOf(error)}`
    }
    for (const over of asking.values()) over.abort()
    if (this.session === session) this.lose(reason)
  }

  private async answer(session: Session, question: Question, over: AbortSignal): Promise<void> {
    let choice = 'no'
    try {
      choice = await this.ask(question, over)
    } catch {
      // No answer is a no.
    }
    if (over.aborted) return
    // Somebody, or the clock, may have been faster.
    await session.answer(question.id, choice).catch(() => {})
  }

  private lose(reason: string): void {
    this.session = undefined
    this.reason = reason
    this.changed(this.state)
  }

  /** What `work` does in the sandbox. Where that goes meanwhile, so does the work, and nothing is done again. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.open()
    try {
      return await work(session)
    } catch (error) {
      if (!isGone(error)) throw error
      if (this.session === session) this.lose(messageOf(error))
      void session.end().catch(() => {})
      throw new Error(`hutch: the sandbox has ended, and what ran in it with it: ${messageOf(error)}`)
    }
  }

  async refresh(): Promise<State> {
    if (!this.session) return this.state
    const running = this.session
    Object.assign(running.state, await this.use((session) => session.show()))
    return this.state
  }

  async close(): Promise<void> {
    await this.opening?.catch(() => {})
    const session = this.session
    this.session = undefined
    this.reason = undefined
    await session?.end().catch(() => {})
    this.hutch.close()
  }
}
