// /sandbox: what holds, a switch for this session, and an editor of the policies that are hutch's own.
import * as fs from 'node:fs/promises'
import * as os from 'node:os'
import * as path from 'node:path'

import type { ExtensionCommandContext } from '@earendil-works/pi-coding-agent'
import { runHutch } from 'hutch-sdk'

import { firstPolicy, printable, type Policy } from './policy.js'
import { messageOf } from './sandbox.js'
import { Wizard, type Outcome, type Wizards } from './wizard.js'

export type Scope = 'project' | 'new' | 'default'

interface Held {
  file: string | null
  project: string | null
  policy: Policy
  /** Where answers are all that default.json has besides the built-in policy: what they have added. */
  added?: Policy | null
}

/** The lists that have a screen of their own; the rest of a policy is edited as its JSON. */
const LISTS = ['network.allowedDomains', 'network.deniedDomains', 'filesystem.allowRead', 'filesystem.denyRead',
  'filesystem.allowWrite', 'filesystem.denyWrite'] as const

const ADD = '+ Add'
const BACK = '< Back'
const SAVE = 'Save'
const LEAVE = 'Leave without saving'

/** The policy that a change in this scope begins with, or that holds where none is named. */
export async function heldPolicy(cwd: string, scope?: Scope): Promise<Held> {
  const words = ['config', 'show', '--json', ...(scope ? ['--scope', scope] : [])]
  const held = JSON.parse(await runHutch(words, { cwd })) as Held
  const now = JSON.parse(await runHutch(['config', 'show', '--json'], { cwd })) as Held
  if (now.project !== null || (now.file !== null && !now.added)) return held
  return { ...held, file: now.file, policy: withAdded(firstPolicy(), now.added ?? {}) as Policy }
}

/** As hutch itself makes it for a session that brings a first policy. */
function withAdded(policy: unknown, added: unknown): unknown {
  if (Array.isArray(added)) {
    const before = Array.isArray(policy) ? policy : []
    const known = new Set(before.map((one) => JSON.stringify(one)))
    return [...before, ...added.filter((one) => !known.has(JSON.stringify(one)))]
  }
  const all = { ...(policy as Record<string, unknown> | undefined) }
  for (const [key, more] of Object.entries(added as Record<string, unknown>)) all[key] = withAdded(all[key], more)
  return all
}

/** Checked, and saved whole or not at all, by hutch. */
async function save(cwd: string, scope: Scope, policy: Policy): Promise<string> {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'hutch-pi-'))
  try {
    const file = path.join(directory, 'policy.json')
    await fs.writeFile(file, JSON.stringify(policy, null, 2), { mode: 0o600 })
    return (await runHutch(['config', 'import', file, '--scope', scope], { cwd })).trim()
  } finally {
    await fs.rm(directory, { recursive: true, force: true })
  }
}

function listOf(policy: Policy, key: string): unknown[] {
  const [section, name] = key.split('.') as [string, string]
  const held = (policy[section] as Record<string, unknown> | undefined)?.[name]
  return Array.isArray(held) ? held : []
}

function withList(policy: Policy, key: string, items: unknown[]): Policy {
  const [section, name] = key.split('.') as [string, string]
  const held = policy[section]
  const before = typeof held === 'object' && held !== null ? held : {}
  return { ...policy, [section]: { ...before, [name]: items } }
}

const worded = (item: unknown): string => printable(typeof item === 'string' ? item : JSON.stringify(item))

async function editList(ctx: ExtensionCommandContext, policy: Policy, key: string): Promise<Policy> {
  for (;;) {
    const items = listOf(policy, key)
    const rows = items.map((item, i) => `${i + 1}. ${worded(item)}`)
    const chosen = await ctx.ui.select(`${key}: choose one to delete it`, [ADD, ...rows, BACK])
    if (chosen === undefined || chosen === BACK) return policy
    if (chosen === ADD) {
      const typed = (await ctx.ui.input(`Add to ${key}`))?.trim()
      if (typed) policy = withList(policy, key, [...items, typed])
      continue
    }
    const index = rows.indexOf(chosen)
    if (await ctx.ui.confirm(`Delete from ${key}?`, worded(items[index]))) {
      policy = withList(policy, key, items.filter((_, i) => i !== index))
    }
  }
}

async function editText(ctx: ExtensionCommandContext, policy: Policy): Promise<Policy> {
  let text = JSON.stringify(policy, null, 2)
  for (;;) {
    const typed = await ctx.ui.editor('The whole policy, as JSON', text)
    if (typed === undefined) return policy
    try {
      return JSON.parse(typed) as Policy
    } catch (error) {
      ctx.ui.notify(`Not JSON: ${messageOf(error)}`, 'error')
      text = typed
    }
  }
}

/** Whether anything was saved. */
async function editPolicy(ctx: ExtensionCommandContext, scope: Scope): Promise<boolean> {
  const before = await heldPolicy(ctx.cwd, scope)
  let policy = before.policy
  for (;;) {
    const enabled = `enabled: ${policy.enabled ?? true}`
    const rows = LISTS.map((key) => `${key} (${listOf(policy, key).length})`)
    const chosen = await ctx.ui.select(`Policy of ${place(scope, before)}`, [enabled, ...rows, 'Edit as JSON', SAVE, LEAVE])
    if (chosen === undefined || chosen === LEAVE) return false
    if (chosen === enabled) policy = { ...policy, enabled: policy.enabled === false }
    const key = LISTS[rows.indexOf(chosen)]
    if (key) policy = await editList(ctx, policy, key)
    if (chosen === 'Edit as JSON') policy = await editText(ctx, policy)
    if (chosen !== SAVE) continue
    try {
      if (JSON.stringify((await heldPolicy(ctx.cwd, scope)).policy) !== JSON.stringify(before.policy)) {
        throw new Error('somebody has changed it meanwhile; nothing is saved: leave, and begin again')
      }
      ctx.ui.notify(await save(ctx.cwd, scope, policy), 'info')
      return true
    } catch (error) {
      ctx.ui.notify(`Not saved: ${messageOf(error)}`, 'error')
    }
  }
}

const place = (scope: Scope, held: Held): string =>
  scope === 'default' ? 'every directory without an entry' : printable(held.project ?? 'this directory')

export interface Switch {
  status(): Promise<string>
  isOn: boolean
  turn(on: boolean): Promise<void>
  /** Saved policies hold in what runs; what they say of `enabled` from the next session on. */
  saved(): Promise<void>
  /** Tools of others, and which of them may run without a question. */
  outside(): Promise<string[]>
}

export async function openMenu(ctx: ExtensionCommandContext, sandbox: Switch): Promise<void> {
  const lines = [await sandbox.status()]
  let scopes: [string, Scope][] = []
  try {
    const held = await heldPolicy(ctx.cwd)
    const first = 'the first policy of this extension'
    const from = held.file === null ? first : held.added ? `${first}, and answers in ${held.file}` : held.file
    lines.push(`policy: ${printable(from)}${held.project ? ` "${printable(held.project)}"` : ''}`)
    for (const key of LISTS) {
      const items = listOf(held.policy, key)
      if (items.length > 0) lines.push(`${key}: ${items.map(worded).join(', ')}`)
    }
    const covered = held.project !== null
    const exact = covered && (await fs.realpath(ctx.cwd)) === held.project
    if (held.project !== null && !exact) lines.push(`paths from: ${printable(held.project)}, above this directory`)
    scopes = [
      ...(covered ? [['Edit this project', 'project'] as [string, Scope]] : []),
      ...(exact ? [] : [['New project entry', 'new'] as [string, Scope]]),
      ['Edit the default', 'default'],
    ]
  } catch (error) {
    lines.push(`hutch: ${messageOf(error)}`)
  }
  try {
    const outside = await sandbox.outside()
    if (outside.length > 0) lines.push(`tools of others, outside of it, asked about: ${outside.map((one) => printable(one)).join(', ')}`)
  } catch (error) {
    lines.push(`hutch: tools of others are refused: ${messageOf(error)}`)
  }
  const toggle = sandbox.isOn ? 'Disable sandbox' : 'Enable sandbox'
  if (ctx.mode === 'tui') return openWizard(ctx, sandbox, lines, toggle, scopes)
  const chosen = await ctx.ui.select(lines.join('\n'), [toggle, ...scopes.map(([words]) => words)])
  if (chosen === toggle) return sandbox.turn(!sandbox.isOn)
  const scope = scopes.find(([words]) => words === chosen)?.[1]
  if (scope && (await editPolicy(ctx, scope))) await sandbox.saved()
}

/** All of it is one dialog where there is a terminal; elsewhere a host draws each step as its own. */
async function openWizard(ctx: ExtensionCommandContext, sandbox: Switch, summary: string[], toggle: string,
                          scopes: [string, Scope][]): Promise<void> {
  const before = new Map<Scope, string>()
  const wizards: Wizards<Scope> = {
    summary, toggle, scopes, lists: LISTS, messageOf,
    load: async (scope) => {
      const held = await heldPolicy(ctx.cwd, scope)
      before.set(scope, JSON.stringify(held.policy))
      return { title: place(scope, held), policy: held.policy }
    },
    save: async (scope, policy) => {
      if (JSON.stringify((await heldPolicy(ctx.cwd, scope)).policy) !== before.get(scope)) {
        throw new Error('somebody has changed it meanwhile; nothing is saved: leave, and begin again')
      }
      const said = await save(ctx.cwd, scope, policy)
      before.set(scope, JSON.stringify((await heldPolicy(ctx.cwd, scope)).policy))
      await sandbox.saved()
      return said
    },
  }
  const outcome = await ctx.ui.custom<Outcome>((tui, _theme, keys, done) =>
    new Wizard(wizards, keys, done, () => tui.requestRender()))
  if (outcome === 'toggle') await sandbox.turn(!sandbox.isOn)
}
