// The policy that holds where the user has none, and what is told of one.
import * as os from 'node:os'
import * as path from 'node:path'

import { getAgentDir } from '@earendil-works/pi-coding-agent'

export interface Policy {
  enabled?: boolean | string
  filesystem?: Partial<Record<'denyRead' | 'allowRead' | 'allowWrite' | 'denyWrite', unknown[]>>
  network?: Record<string, unknown> | string
  [key: string]: unknown
}

/** Directories of coding agents, as the policies of hutch for coding agents close them. hutch holds single names itself. */
const OBEYED = ['.pi', '.agents', '.codex']

/** The project alone, and what pi itself has: its skills, prompts and extensions, without its credentials. */
export function firstPolicy(): Policy {
  const own = getAgentDir()
  const credentials = ['auth.json', 'mcp-oauth'].map((name) => path.join(own, name))
  const directories = new Set([path.join(os.homedir(), '.pi'), own])
  return {
    enabled: true,
    filesystem: {
      denyRead: ['/home', '/root', '/Users', '~', ...credentials],
      allowRead: ['.', ...directories],
      allowWrite: ['.'],
      denyWrite: [...OBEYED, ...credentials],
    },
    network: { allowedDomains: [], deniedDomains: [] },
  }
}

/** As hutch shows names that a sandbox may have chosen: nothing in it moves a terminal's cursor. */
export function printable(text: string, most = 300): string {
  // eslint-disable-next-line no-control-regex
  const shown = text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (one) =>
    `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return shown.length > most ? `${shown.slice(0, most)}…` : shown
}
