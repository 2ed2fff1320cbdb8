// Keys as pi's terminal sends them, and lines that fit its width.

/** What pi hands a component besides: which keys mean what, by its user's own settings. */
export interface Keybindings {
  matches(data: string, name: 'tui.select.up' | 'tui.select.down' | 'tui.select.confirm' | 'tui.select.cancel'): boolean
}

export type Key = 'up' | 'down' | 'confirm' | 'cancel' | 'backspace' | { text: string }

/** With the Kitty protocol a letter may come as its number, and shift beside it. */
const BY_NUMBER = /^\x1b\[(\d+)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u$/

function letterOf(data: string): string | undefined {
  const found = BY_NUMBER.exec(data)
  if (!found) return undefined
  const [, code, shifted, modifiers = '1', event = '1'] = found
  const held = (Number(modifiers || '1') - 1) & ~(64 | 128) // without the locks
  if (event === '3' || (held & ~1) !== 0) return undefined // released; or with more than shift
  const plain = String.fromCodePoint(Number(code))
  if (!(held & 1)) return plain
  return shifted ? String.fromCodePoint(Number(shifted)) : plain.toUpperCase()
}

export function keyOf(data: string, keys: Keybindings): Key | undefined {
  // Before the letters: somebody may have bound one.
  if (keys.matches(data, 'tui.select.cancel')) return 'cancel'
  if (keys.matches(data, 'tui.select.confirm')) return 'confirm'
  if (keys.matches(data, 'tui.select.up')) return 'up'
  if (keys.matches(data, 'tui.select.down')) return 'down'
  if (data === '\x7f' || data === '\b') return 'backspace'
  const letter = letterOf(data)
  if (letter === '\x7f') return 'backspace'
  const text = letter ?? data.replace(/^\x1b\[200~/, '').replace(/\x1b\[201~$/, '')
  // eslint-disable-next-line no-control-regex
  return text === '' || /[\u0000-\u001f\u007f]/.test(text) ? undefined : { text }
}

/** pi does not draw a line that is too wide. Wide characters take two places. */
export function fit(text: string, width: number): string {
  let used = 0
  let shown = ''
  for (const one of text) {
    used += one.codePointAt(0)! >= 0x1100 ? 2 : 1
    if (used > width) return `${shown.slice(0, -1)}…`
    shown += one
  }
  return shown
}
