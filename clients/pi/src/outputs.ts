// Whole outputs of commands, which pi itself keeps in its own /tmp and names to the model.
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import * as os from 'node:os'
import * as path from 'node:path'

const NAME = /^pi-bash-[0-9a-f]{16}\.log$/

/** Absent: no such file of pi's. A name that leads elsewhere, or that somebody else has made, is none. */
export async function wholeOutput(file: string): Promise<Buffer | undefined> {
  if (path.dirname(file) !== os.tmpdir() || !NAME.test(path.basename(file))) return undefined
  const opened = await fs.open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (!opened) return undefined
  try {
    const stat = await opened.stat()
    if (!stat.isFile() || stat.nlink !== 1 || stat.uid !== process.getuid?.()) return undefined
    return await opened.readFile()
  } finally {
    await opened.close()
  }
}
