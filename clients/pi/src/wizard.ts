// /sandbox in pi's terminal: what holds, the switch, and the editor of policies, in one dialog.
import { fit, keyOf, type Key, type Keybindings } from './keys.js'
import { printable, type Policy } from './policy.js'

export interface Wizards<Scope> {
  summary: string[]
  toggle: string
  scopes: [words: string, scope: Scope][]
  /** Lists that have a line each; what else a policy has is behind "?". */
  lists: readonly string[]
  load(scope: Scope): Promise<{ title: string; policy: Policy }>
  /** What to say about it; an error is shown, and nothing is saved. */
  save(scope: Scope, policy: Policy): Promise<string>
  messageOf(error: unknown): string
}

export type Outcome = 'toggle' | 'saved' | undefined

interface Draft<Scope> {
  scope: Scope
  title: string
  policy: Policy
}

interface Typing {
  label: string
  text: string
  take(text: string): void
}

const section = (policy: Policy, key: string): [Record<string, unknown>, string] => {
  const [first, name] = key.split('.') as [string, string | undefined]
  if (name === undefined) return [policy, first]
  const held = policy[first]
  return [typeof held === 'object' && held !== null ? (held as Record<string, unknown>) : {}, name]
}

export function valueAt(policy: Policy, key: string): unknown {
  const [held, name] = section(policy, key)
  return held[name]
}

export function withValue(policy: Policy, key: string, value: unknown): Policy {
  const [held, name] = section(policy, key)
  if (held === policy) return { ...policy, [name]: value }
  return { ...policy, [key.split('.')[0]!]: { ...held, [name]: value } }
}

/** Keys that have no line of their own: of sections each by itself. */
function othersOf(policy: Policy, lists: readonly string[]): string[] {
  const known = new Set(['enabled', ...lists])
  const keys = Object.entries(policy).flatMap(([name, value]) => (typeof value === 'object' && value !== null &&
    !Array.isArray(value) && lists.some((one) => one.startsWith(`${name}.`))
    ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name]))
  return keys.filter((key) => !known.has(key))
}

const worded = (item: unknown): string => printable(typeof item === 'string' ? item : JSON.stringify(item) ?? '')

export class Wizard<Scope> {
  private marked = 0
  private draft: Draft<Scope> | undefined
  private list: string | undefined
  private typing: Typing | undefined
  private more = false
  private said = ''
  private saved = false
  private isBusy = false

  constructor(private readonly wizards: Wizards<Scope>, private readonly keys: Keybindings,
              private readonly done: (outcome: Outcome) => void, private readonly changed: () => void) {}

  handleInput(data: string): void {
    const key = keyOf(data, this.keys)
    if (key === undefined || this.isBusy) return
    this.said = ''
    if (this.typing) this.type(this.typing, key)
    else if (key === 'up' || key === 'down') this.move(key === 'up' ? -1 : 1)
    else if (this.list !== undefined) this.pressInList(this.list, key)
    else if (this.draft) this.pressInFields(this.draft, key)
    else this.pressInMenu(key)
    this.changed()
  }

  private move(by: number): void {
    this.marked = Math.max(0, Math.min(this.rows().length - 1, this.marked + by))
  }

  private rows(): string[] {
    if (this.draft && this.list !== undefined) return this.items(this.draft, this.list).map(worded)
    if (!this.draft) return [this.wizards.toggle, ...this.wizards.scopes.map(([words]) => words)]
    const { policy } = this.draft
    return this.fields(policy).map((key) => {
      const value = valueAt(policy, key)
      if (key === 'enabled') return `enabled: ${policy.enabled ?? true}`
      return this.wizards.lists.includes(key) ? `${key} (${Array.isArray(value) ? value.length : 0})` : `${key}: ${worded(value)}`
    })
  }

  private fields(policy: Policy): string[] {
    return ['enabled', ...this.wizards.lists, ...(this.more ? othersOf(policy, this.wizards.lists) : [])]
  }

  private items(draft: Draft<Scope>, key: string): unknown[] {
    const held = valueAt(draft.policy, key)
    return Array.isArray(held) ? held : []
  }

  // --- what holds, the switch, the scopes ---

  private pressInMenu(key: Key): void {
    if (key === 'cancel' || (typeof key === 'object' && key.text === 'q')) return this.done(this.saved ? 'saved' : undefined)
    if (key !== 'confirm') return
    if (this.marked === 0) return this.done('toggle')
    const [, scope] = this.wizards.scopes[this.marked - 1]!
    this.wait(async () => {
      this.draft = { scope, ...(await this.wizards.load(scope)) }
      this.marked = 0
    })
  }

  // --- a policy's fields ---

  private pressInFields(draft: Draft<Scope>, key: Key): void {
    if (key === 'cancel' || (typeof key === 'object' && key.text === 'q')) {
      this.draft = undefined
      this.marked = 0
    } else if (key === 'confirm') {
      this.open(draft, this.fields(draft.policy)[this.marked]!)
    } else if (typeof key === 'object' && key.text === '?') {
      this.more = !this.more
      this.marked = Math.min(this.marked, this.rows().length - 1)
    } else if (typeof key === 'object' && key.text === 's') {
      this.wait(async () => {
        this.said = await this.wizards.save(draft.scope, draft.policy)
        this.saved = true
      })
    }
  }

  private open(draft: Draft<Scope>, key: string): void {
    if (key === 'enabled') {
      draft.policy = { ...draft.policy, enabled: draft.policy.enabled === false }
    } else if (this.wizards.lists.includes(key)) {
      this.list = key
      this.marked = 0
    } else {
      const text = JSON.stringify(valueAt(draft.policy, key))
      this.typing = { label: `${key}, as JSON`, text, take: (typed) => {
        try {
          draft.policy = withValue(draft.policy, key, JSON.parse(typed))
        } catch (error) {
          this.said = `Not JSON: ${this.wizards.messageOf(error)}`
        }
      } }
    }
  }

  // --- one list ---

  private pressInList(key: string, pressed: Key): void {
    const draft = this.draft!
    const letter = typeof pressed === 'object' ? pressed.text : ''
    if (pressed === 'cancel' || letter === 'b') {
      this.list = undefined
      this.marked = this.fields(draft.policy).indexOf(key)
    } else if (letter === 'a') {
      this.typing = { label: `Add to ${key}`, text: '', take: (typed) => {
        if (typed.trim()) draft.policy = withValue(draft.policy, key, [...this.items(draft, key), typed.trim()])
      } }
    } else if (letter === 'd' || pressed === 'backspace') {
      draft.policy = withValue(draft.policy, key, this.items(draft, key).filter((_, i) => i !== this.marked))
      this.marked = Math.max(0, Math.min(this.marked, this.items(draft, key).length - 1))
    }
  }

  private type(typing: Typing, key: Key): void {
    if (key === 'cancel') this.typing = undefined
    else if (key === 'backspace') typing.text = [...typing.text].slice(0, -1).join('')
    else if (typeof key === 'object') typing.text += key.text
    else if (key === 'confirm') {
      this.typing = undefined
      typing.take(typing.text)
    }
  }

  private wait(work: () => Promise<void>): void {
    this.isBusy = true
    work().catch((error: unknown) => { this.said = this.wizards.messageOf(error) }).finally(() => {
      this.isBusy = false
      this.changed()
    })
  }

  // --- what is shown ---

  private head(): string[] {
    if (!this.draft) return this.wizards.summary
    return [`Policy of ${this.draft.title}${this.list === undefined ? '' : `: ${this.list}`}`]
  }

  private hint(): string {
    if (this.list !== undefined) return '↑↓ move  a add  d delete  esc back'
    return this.draft ? `↑↓ move  enter change  s save  ? ${this.more ? 'fewer' : 'more'}  esc back` : '↑↓ move  enter choose  esc close'
  }

  render(width: number): string[] {
    const rows = this.typing ? [`${this.typing.label}: ${printable(this.typing.text, 1000)}█`]
      : this.rows().map((row, i) => `${i === this.marked ? '>' : ' '} ${row}`)
    const hint = this.typing ? 'enter take  esc leave it' : this.hint()
    const said = this.isBusy ? ['...'] : this.said ? this.said.split('\n').map((line) => printable(line)) : []
    return [...this.head(), '', ...rows, ...said, hint].map((line) => fit(line, width))
  }

  invalidate(): void {}
}
