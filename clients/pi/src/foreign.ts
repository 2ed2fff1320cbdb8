// Tools that the sandbox does not hold: those of other extensions and of servers of MCP. Which may run, and who says so.
import * as fs from 'node:fs/promises'
import * as path from 'node:path'

import { configDirectory } from 'hutch-sdk'

import { printable } from './policy.js'

/** Of one tool, as pi tells of it. */
export interface Foreign {
  name: string
  /** The extension's file, or "builtin:mcp". pi gives no file of an extension a name that begins so. */
  of: string
}

/** `tool` may end in "*". Without `of` the entry allows the tool of any extension. */
export interface Allowed {
  tool: string
  of?: string
}

/** By directory, with all below it; "*" is everywhere. */
export type AllowedTools = Record<string, Allowed[]>

export type Verdict = 'allowed' | 'ask'

/** pi's own that do nothing but by other tools, each of which is judged by itself. */
const HARMLESS = new Map([['codemode', 'builtin:codemode'], ['tool_search', 'builtin:tool-search']])

export function isHarmless(tool: Foreign): boolean {
  return HARMLESS.get(tool.name) === tool.of
}

function covers(directory: string, cwd: string): boolean {
  return directory === '*' || cwd === directory || cwd.startsWith(directory === '/' ? '/' : `${directory}/`)
}

function names(allowed: Allowed, tool: Foreign): boolean {
  if (allowed.of !== undefined && allowed.of !== tool.of) return false
  return allowed.tool.endsWith('*') ? tool.name.startsWith(allowed.tool.slice(0, -1)) : tool.name === allowed.tool
}

/** Of `cwd`, canonical. */
export function judge(tool: Foreign, cwd: string, saved: AllowedTools, session: readonly Allowed[]): Verdict {
  const lists = Object.entries(saved).filter(([directory]) => covers(directory, cwd)).map(([, list]) => list)
  return [session, ...lists].some((list) => list.some((one) => names(one, tool))) ? 'allowed' : 'ask'
}

/** What may be answered, in the terms of hutch's own questions. `project` is the directory that has a policy of its own. */
export function choicesFor(cwd: string, project: string | null): string[] {
  return ['no', 'session', 'project', ...(project !== null && project !== cwd ? ['new'] : []), 'everywhere', 'once']
}

/** Where an answer is kept; none: nowhere, or for the session. */
export function placeOf(choice: string, cwd: string, project: string | null): string | undefined {
  if (choice === 'everywhere') return '*'
  if (choice === 'new') return cwd
  return choice === 'project' ? project ?? cwd : undefined
}

export function titleOfTool(tool: Foreign, input: unknown): string {
  const told = printable(JSON.stringify(input) ?? '', 160)
  return `Sandbox: run ${printable(tool.name, 80)} of ${printable(tool.of, 160)} outside, with ${told}?`
}

// --- the file, which lies where no sandbox of hutch may write ---

export function toolsFile(): string {
  return path.join(configDirectory(), 'pi-tools.json')
}

function entryOf(value: unknown, file: string): Allowed {
  if (typeof value === 'string' && value !== '') return { tool: value }
  const { tool, of } = (value ?? {}) as Record<string, unknown>
  if (typeof tool !== 'string' || tool === '' || (of !== undefined && typeof of !== 'string')) {
    throw new Error(`${file}: an entry is a tool's name, or {"tool": NAME, "of": EXTENSION}`)
  }
  return of === undefined ? { tool } : { tool, of }
}

export function parseTools(text: string, file: string): AllowedTools {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${file} is not an object`)
  return Object.fromEntries(Object.entries(value as Record<string, unknown>).map(([directory, list]) => {
    if (directory !== '*' && !path.isAbsolute(directory)) throw new Error(`${file}: "${directory}" is not "*" or an absolute path`)
    if (!Array.isArray(list)) throw new Error(`${file}: "${directory}" is not a list of tools`)
    return [directory, list.map((one) => entryOf(one, file))]
  }))
}

/** Returns no answers if the file does not exist. An error means that it cannot be trusted: then nothing is allowed. */
export async function readTools(file: string = toolsFile()): Promise<AllowedTools> {
  let opened: fs.FileHandle
  try {
    opened = await fs.open(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    const { mode, uid } = await opened.stat()
    const own = process.getuid?.()
    if ((mode & 0o022) !== 0 || (own !== undefined && uid !== own && uid !== 0)) {
      throw new Error(`${file} may be written by others: chmod 600 it`)
    }
    return parseTools(await opened.readFile('utf8'), file)
  } finally {
    await opened.close()
  }
}

export async function allowTool(place: string, tool: Foreign, file: string = toolsFile()): Promise<void> {
  const saved = await readTools(file)
  const list = Object.hasOwn(saved, place) ? saved[place]! : []
  const text = JSON.stringify({ ...saved, [place]: [...list, { tool: tool.name, of: tool.of }] }, null, 2)
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const beside = `${file}.${process.pid}`
  await fs.writeFile(beside, `${text}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await fs.rename(beside, file)
  } catch (error) {
    await fs.rm(beside, { force: true })
    throw error
  }
}
