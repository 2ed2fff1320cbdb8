// A question in pi's terminal, with the letters of hutch's own prompt: a small one is confirmed, a capital one is said.
import { fit, keyOf, type Key, type Keybindings } from './keys.js'

export interface Choice {
  choice: string
  /** '': only by the line; Escape, which says no, has none. */
  key: string
  words: string
}

const COMMITS_AT_ONCE = 's'

export class Prompt {
  private marked = 0
  private pending = false

  constructor(private readonly title: string, private readonly choices: Choice[], private readonly keys: Keybindings,
              private readonly done: (choice: string) => void, private readonly changed: () => void = () => {}) {}

  handleInput(data: string): void {
    const key = keyOf(data, this.keys)
    if (key !== undefined) this.press(key)
    this.changed()
  }

  private press(key: Key): void {
    if (key === 'cancel') this.done('no')
    else if (key === 'confirm') this.done(this.choices[this.marked]!.choice)
    else if (key === 'up' || key === 'down') this.move(key === 'up' ? -1 : 1)
    else if (key === 'backspace') this.pending = false
    else this.pressLetter(key.text)
  }

  private move(by: number): void {
    this.pending = false
    this.marked = Math.max(0, Math.min(this.choices.length - 1, this.marked + by))
  }

  private pressLetter(letter: string): void {
    const at = this.choices.findIndex((one) => one.key !== '' && one.key.toLowerCase() === letter.toLowerCase())
    if (at < 0) return
    this.marked = at
    const { key, choice } = this.choices[at]!
    if (letter === key || key === COMMITS_AT_ONCE) this.done(choice)
    else this.pending = true
  }

  render(width: number): string[] {
    const lines = this.choices.map(({ key, words }, i) =>
      `${i === this.marked ? '>' : ' '} ${`[${key || 'esc'}]`.padEnd(6)} ${words}`)
    const hint = this.pending ? `press Enter to confirm: ${this.choices[this.marked]!.words}` : ''
    return [this.title, '', ...lines, hint].map((line) => fit(line, width))
  }

  invalidate(): void {}
}
