// The policy files that nativeSandbox is made into: one for all sandboxes of the same settings, called by its hash.
import { createHash, randomUUID } from 'node:crypto'
import * as fs from 'node:fs/promises'
import * as path from 'node:path'

import { configDirectory } from 'hutch-sdk'

export interface SharedPolicy {
  file: string
  text: string
}

/** Beside the user's own policies, where no sandbox can write. */
const DIRECTORY = () => path.join(configDirectory(), 'mastra')

export function sharedPolicy(policy: object): SharedPolicy {
  const text = JSON.stringify(policy, null, 2)
  const digest = createHash('sha256').update(text).digest('hex')
  return { file: path.join(DIRECTORY(), `native-${digest.slice(0, 32)}.json`), text }
}

/** Writes the file in one step, because others may read it. Replaces a file of that name with other content. */
export async function keepPolicy({ file, text }: SharedPolicy): Promise<void> {
  if (await fs.readFile(file, 'utf8').then((there) => there === text, () => false)) return
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const made = `${file}.${randomUUID()}`
  try {
    await fs.writeFile(made, text, { mode: 0o600, flag: 'wx' })
    await fs.rename(made, file)
  } finally {
    await fs.rm(made, { force: true })
  }
}

/** Removes the file once no sandbox uses it. A sandbox that starts at that moment finds it, or writes it again. */
export async function dropPolicy(policy: SharedPolicy, isUsed: () => Promise<boolean>): Promise<void> {
  if (await isUsed()) return
  await fs.rm(policy.file, { force: true })
  if (await isUsed()) await keepPolicy(policy)
}
