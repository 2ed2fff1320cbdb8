// What the sandbox asks, put to pi's user: one dialog at a time, in every mode that has dialogs.
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Question } from 'hutch-sdk'

import { printable } from './policy.js'

/** In the order in which they are offered; what else hutch may offer is not for a dialog. */
const WORDS: [choice: string, words: string][] = [
  ['no', 'No'],
  ['once', 'Yes, once'],
  ['session', 'Yes, for this session'],
  ['project', 'Yes, for this project'],
  ['new', 'Yes, for this project (new entry for this directory)'],
  ['everywhere', 'Yes, for all projects'],
]

export function titleOf(question: Question): string {
  const what = question.path ? `${question.kind} ${printable(question.path)}`
    : `${question.kind} ${printable(question.host ?? '')}${question.port ? `:${question.port}` : ''}`
  const who = question.exe ? ` by ${printable(question.exe, 120)}${question.pid ? `[${question.pid}]` : ''}` : ''
  return `Sandbox: ${what}${who}?`
}

export class Questions {
  private last: Promise<unknown> = Promise.resolve()

  /** The choice; nobody to ask, or nothing chosen, is a no. */
  ask(ctx: ExtensionContext | undefined, question: Question, over: AbortSignal): Promise<string> {
    const answer = this.last.then(() => this.put(ctx, question, over))
    this.last = answer.catch(() => {})
    return answer
  }

  private async put(ctx: ExtensionContext | undefined, question: Question, over: AbortSignal): Promise<string> {
    if (!ctx?.hasUI || over.aborted) return 'no'
    const offered = WORDS.filter(([choice]) => question.choices.includes(choice))
    const chosen = await ctx.ui.select(titleOf(question), offered.map(([, words]) => words), { signal: over })
    return offered.find(([, words]) => words === chosen)?.[0] ?? 'no'
  }
}
