// find and grep: the files are listed, and read, by programs of the sandbox; patterns of names are matched here.
import * as os from 'node:os'
import * as path from 'node:path'

import {
  type FindOperations, type GrepToolDetails, type GrepToolInput, formatSize, truncateHead,
} from '@earendil-works/pi-coding-agent'
import type { Session } from 'hutch-sdk'

import { globMatcher } from './globs.js'
import { isDirectory, isThere, readBytes } from './operations.js'
import type { Sandbox } from './sandbox.js'

const MATCHES = 100
const LINE_MAX = 500
const BYTES_MAX = 50 * 1024
const LIST_BYTES_MAX = 4 << 20

/** As git sees them, with a repository of its own where there is none, so that a .gitignore holds there too. */
const LIST = `cd -- "$1" || exit 66
if command -v git >/dev/null 2>&1; then
  export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
  if [ "$(git rev-parse --is-inside-work-tree 2>/dev/null)" = true ]; then
    git ls-files -z -co --exclude-standard -- . && printf '\\0' && exec git ls-files -z -d -- .
  fi
  own=$(mktemp -d) && git --git-dir="$own" --work-tree=. init -q 2>/dev/null &&
    git --git-dir="$own" --work-tree=. ls-files -z -o --exclude-standard -- . && rm -rf "$own" && exit 0
fi
exec find . ! -name . \\( -name .git -o -name node_modules \\) -prune -o -type f -print0 -o -type l -print0`

/** Its output as it comes, to be left early; a failure is an error with what it said. */
async function* output(session: Session, script: string, args: string[], options: {
  stdin?: Buffer; signal?: AbortSignal; env?: Record<string, string>
} = {}): AsyncGenerator<Buffer> {
  const { stdin, ...rest } = options
  let errors = ''
  const events = session.stream(['/bin/sh', '-c', script, 'sh', ...args],
                                { ...rest, stdinBase64: stdin?.toString('base64') })
  for await (const event of events) {
    if (event.type === 'stdout') yield event.bytes
    if (event.type === 'stderr' && errors.length < 4096) errors += event.bytes.toString()
    if (event.type === 'exit' && event.end.exitCode !== 0) {
      throw new Error(errors.trim() || `the search ended with ${event.end.exitCode}`)
    }
  }
}

/** Relative to the directory. Names are bytes to Linux; those that are no UTF-8 cannot be told apart here. */
export async function filesBelow(session: Session, directory: string, signal?: AbortSignal): Promise<string[]> {
  const pieces: Buffer[] = []
  for await (const piece of output(session, LIST, [directory], { signal })) pieces.push(piece)
  const records = Buffer.concat(pieces).toString().split('\0')
  const end = records.indexOf('')
  const gone = new Set(end < 0 ? [] : records.slice(end + 1))
  const named = (end < 0 ? records : records.slice(0, end)).map((one) => one.replace(/^\.\//, ''))
  return [...new Set(named)].filter((one) => one !== '' && !gone.has(one)).sort()
}

function withDirectories(files: string[]): string[] {
  const all = new Set<string>()
  for (const file of files) {
    for (let slash = file.indexOf('/'); slash >= 0; slash = file.indexOf('/', slash + 1)) all.add(file.slice(0, slash + 1))
    all.add(file)
  }
  return [...all].sort()
}

export function findOperations(sandbox: Sandbox): FindOperations {
  return {
    exists: (file) => sandbox.use((session) => isThere(session, file)),
    glob: (pattern, directory, { limit }) => sandbox.use(async (session) => {
      const isMeant = globMatcher(pattern)
      const found = withDirectories(await filesBelow(session, directory))
      return found.filter((one) => isMeant(one.replace(/\/$/, ''))).slice(0, limit)
    }),
  }
}

interface Match {
  file: string
  line: number
  text: string
}

const GREP = `grep "$@" </dev/null >/dev/null; [ $? -lt 2 ] || exit 65
xargs -0 -r sh -c 'grep "$@"; [ $? -lt 2 ] || true' sh "$@" --
exit 0`

/** FILE, NUL, LINE, ":", the line's text: whatever a file is called, it is read back as it is. */
async function* matches(session: Session, root: string, files: string[], input: GrepToolInput,
                        signal?: AbortSignal): AsyncGenerator<Match> {
  const flags = ['-nHZIs', input.literal ? '-F' : '-P', ...(input.ignoreCase ? ['-i'] : []), '-e', input.pattern]
  const script = `cd -- ${quoted(root)} || exit 66\n${GREP}`
  for (let begin = 0; begin < files.length;) {
    let bytes = 0
    let end = begin
    while (end < files.length && (end === begin || bytes < LIST_BYTES_MAX)) bytes += Buffer.byteLength(files[end++] ?? '') + 3
    const stdin = Buffer.from(files.slice(begin, end).map((one) => `./${one}\0`).join(''))
    begin = end
    let rest = Buffer.alloc(0)
    for await (const piece of output(session, script, flags, { stdin, signal, env: { LC_ALL: 'C.UTF-8' } })) {
      rest = Buffer.concat([rest, piece])
      for (;;) {
        const zero = rest.indexOf(0)
        const newline = zero < 0 ? -1 : rest.indexOf(10, zero)
        if (newline < 0) break
        const [line, text] = split(rest.toString('utf8', zero + 1, newline))
        yield { file: rest.toString('utf8', 2, zero), line, text }
        rest = rest.subarray(newline + 1)
      }
    }
  }
}

function split(numbered: string): [number, string] {
  const colon = numbered.indexOf(':')
  return [Number(numbered.slice(0, colon)), numbered.slice(colon + 1)]
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** What pi's grep says, with its limits, of files that the sandbox's own grep has read. */
export async function grep(sandbox: Sandbox, cwd: string, input: GrepToolInput, signal?: AbortSignal) {
  return sandbox.use(async (session) => {
    const typed = (input.path ?? '.').replace(/^@/, '').replace(/^~(?=$|\/)/, os.homedir())
    const target = path.resolve(cwd, typed)
    if (!(await isThere(session, target))) throw new Error(`Path not found: ${target}`)
    const whole = await isDirectory(session, target)
    const root = whole ? target : path.dirname(target)
    const isMeant = input.glob ? globMatcher(input.glob) : () => true
    const files = whole ? (await filesBelow(session, target, signal)).filter(isMeant) : [path.basename(target)]
    const limit = Math.max(1, input.limit ?? MATCHES)
    const found: Match[] = []
    for await (const match of matches(session, root, files, input, signal)) {
      found.push(match)
      if (found.length >= limit) break
    }
    if (found.length === 0) return { content: [{ type: 'text' as const, text: 'No matches found' }], details: undefined }
    return told(await blocks(session, root, found, input.context ?? 0), found.length >= limit ? limit : undefined)
  })
}

/** Each match with the lines around it. */
async function blocks(session: Session, root: string, found: Match[], context: number): Promise<[string, string][]> {
  if (context <= 0) return found.map((match) => [`${match.file}:${match.line}: `, match.text])
  const contents = new Map<string, string[]>()
  const lines: [string, string][] = []
  for (const match of found) {
    if (!contents.has(match.file)) {
      const bytes = await readBytes(session, path.join(root, match.file)).catch(() => Buffer.alloc(0))
      contents.set(match.file, bytes.toString().replace(/\r\n?/g, '\n').split('\n'))
    }
    const all = contents.get(match.file) ?? []
    for (let line = Math.max(1, match.line - context); line <= Math.min(all.length, match.line + context); line++) {
      const mark = line === match.line ? ':' : '-'
      lines.push([`${match.file}${mark}${line}${mark} `, all[line - 1] ?? ''])
    }
  }
  return lines
}

function told(lines: [string, string][], limit: number | undefined) {
  const details: GrepToolDetails = {}
  const notices: string[] = []
  const shown = lines.map(([place, raw]) => {
    const text = raw.replace(/\r/g, '')
    if (text.length <= LINE_MAX) return place + text
    details.linesTruncated = true
    return `${place}${text.slice(0, LINE_MAX)}... [truncated]`
  })
  const truncation = truncateHead(shown.join('\n'), { maxLines: Number.MAX_SAFE_INTEGER })
  if (limit !== undefined) {
    details.matchLimitReached = limit
    notices.push(`${limit} matches limit reached. Use limit=${limit * 2} for more, or refine pattern`)
  }
  if (truncation.truncated) {
    details.truncation = truncation
    notices.push(`${formatSize(BYTES_MAX)} limit reached`)
  }
  if (details.linesTruncated) notices.push(`Some lines truncated to ${LINE_MAX} chars. Use read tool to see full lines`)
  const text = truncation.content + (notices.length > 0 ? `\n\n[${notices.join('. ')}]` : '')
  return { content: [{ type: 'text' as const, text }], details: Object.keys(details).length > 0 ? details : undefined }
}
