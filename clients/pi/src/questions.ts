// What the sandbox asks, put to pi's user: one dialog at a time, in every mode that has dialogs.
import type { ExtensionContext } from '@earendil-works/pi-coding-agent'
import type { Question } from 'hutch-sdk'

import { printable } from './policy.js'
import { Prompt, type Choice } from './prompt.js'

/** In the order in which they are offered, with the letters of hutch's own prompt; what else hutch may offer is not for a dialog. */
const CHOICES: (Choice & { select: string })[] = [
  { choice: 'no', key: '', words: 'Abort', select: 'No' },
  { choice: 'session', key: 's', words: 'Allow for this session only', select: 'Yes, for this session' },
  { choice: 'project', key: 'P', words: 'Allow for this project', select: 'Yes, for this project' },
  { choice: 'new', key: 'N', words: 'Allow for this project (new config for this directory)',
    select: 'Yes, for this project (new entry for this directory)' },
  { choice: 'everywhere', key: 'A', words: 'Allow for all projects', select: 'Yes, for all projects' },
  { choice: 'once', key: 'O', words: 'Allow once', select: 'Yes, once' },
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
    return this.choose(ctx, titleOf(question), question.choices, over)
  }

  /** The same of what is asked here; where `stillAsked` says no once it is its turn, the choice is "known". */
  choose(ctx: ExtensionContext | undefined, title: string, choices: readonly string[], over: AbortSignal,
         stillAsked: () => Promise<boolean> = () => Promise.resolve(true)): Promise<string> {
    const answer = this.last.then(async () => (await stillAsked()) ? this.put(ctx, title, choices, over) : 'known')
    this.last = answer.catch(() => {})
    return answer
  }

  private async put(ctx: ExtensionContext | undefined, title: string, choices: readonly string[],
                    over: AbortSignal): Promise<string> {
    if (!ctx?.hasUI || over.aborted) return 'no'
    const offered = CHOICES.filter(({ choice }) => choices.includes(choice))
    if (ctx.mode === 'tui') return this.draw(ctx, title, offered, over)
    const chosen = await ctx.ui.select(title, offered.map(({ select }) => select), { signal: over })
    return offered.find(({ select }) => select === chosen)?.choice ?? 'no'
  }

  private draw(ctx: ExtensionContext, title: string, offered: Choice[], over: AbortSignal): Promise<string> {
    return ctx.ui.custom<string>((tui, _theme, keys, done) => {
      over.addEventListener('abort', () => done('no'), { once: true })
      return new Prompt(title, offered, keys, done, () => tui.requestRender())
    }, { blocked: { kind: 'permission', message: title } })
  }
}
