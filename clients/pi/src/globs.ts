// Glob patterns as pi's find and grep have them.

/** One component, or several: `**` alone in a component stands for any number of them. */
function source(pattern: string): string {
  let out = ''
  let depth = 0
  for (let i = 0; i < pattern.length; i++) {
    const one = pattern[i] as string
    if (one === '*' && pattern[i + 1] === '*') {
      const whole = (i === 0 || pattern[i - 1] === '/') && (i + 2 >= pattern.length || pattern[i + 2] === '/')
      if (!whole) {
        out += '[^/]*'
        i += 1
      } else if (pattern[i + 2] === '/') {
        out += '(?:[^/]+/)*'
        i += 2
      } else {
        out += '.*'
        i += 1
      }
    } else if (one === '*') out += '[^/]*'
    else if (one === '?') out += '[^/]'
    else if (one === '{') {
      out += '(?:'
      depth += 1
    } else if (one === '}' && depth > 0) {
      out += ')'
      depth -= 1
    } else if (one === ',' && depth > 0) out += '|'
    else if (one === '[') {
      const end = pattern.indexOf(']', i + 2)
      if (end < 0) out += '\\['
      else {
        const set = pattern.slice(i + 1, end).replace(/^!/, '^').replace(/[\\[]/g, '\\$&')
        out += `(?!/)[${set}]`
        i = end
      }
    } else if (one === '\\' && i + 1 < pattern.length) {
      i += 1
      out += (pattern[i] as string).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    } else out += one.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  }
  return out + ')'.repeat(depth)
}

/** Whether a path, relative to where the search begins, is meant: a pattern without a slash is about the last name. */
export function globMatcher(pattern: string): (relative: string) => boolean {
  const anywhere = !pattern.startsWith('/') && !pattern.startsWith('**/')
  const whole = pattern.includes('/') ? (anywhere ? `**/${pattern}` : pattern.replace(/^\//, '')) : pattern
  const expression = new RegExp(`^(?:${source(whole)})$`, 's')
  if (pattern.includes('/')) return (relative) => expression.test(relative)
  return (relative) => expression.test(relative.slice(relative.lastIndexOf('/') + 1))
}
