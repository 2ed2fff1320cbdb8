// Mounts of a workspace that are directories of this machine: a link in the working directory leads to each.
import * as path from 'node:path'

import type { MountManager, MountResult, WorkspaceFilesystem } from '@mastra/core/workspace'

import { absolute } from './local.js'

const SAFE_PATH = /^\/[a-zA-Z0-9_.\-/]+$/

export function mountPathOf(given: string): string {
  const parts = given.split('/').filter(Boolean)
  if (!SAFE_PATH.test(given) || parts.length === 0 || parts.some((one) => one === '.' || one === '..')) {
    throw new Error(`Invalid mount path: ${given}. It is absolute, of letters, digits, dashes, dots, underscores and ` +
      'slashes, without "." and "..", and not "/".')
  }
  return `/${parts.join('/')}`
}

/** The directory that a filesystem is; undefined where it is none of this machine's. */
export function directoryOf(filesystem: WorkspaceFilesystem): string | undefined {
  const config = filesystem.getMountConfig?.() as { type: string; basePath?: string } | undefined
  return config?.type === 'local' && config.basePath ? absolute(config.basePath) : undefined
}

export interface Shared {
  read: string[]
  write: string[]
}

/** What the sandbox has to reach for those that are mounted, or will be when it runs. */
export function sharedBy(mounts: MountManager): Shared {
  const shared: Shared = { read: [], write: [] }
  for (const { filesystem, state } of mounts.entries.values()) {
    if (state === 'error' || state === 'unsupported') continue
    const directory = directoryOf(filesystem)
    if (directory) (filesystem.readOnly ? shared.read : shared.write).push(directory)
  }
  return shared
}

/** Run in the sandbox, where no link that it has made leads out. Exit codes 10 to 12 are those of `REASONS`. */
export const LINK = `place=$1 target=$2 before=$3
if [ -L "$place" ]; then
  now=$(readlink "$place")
  [ "$now" = "$target" ] && exit 0
  [ -n "$before" ] && [ "$now" = "$before" ] || exit 10
  rm "$place" || exit 1
elif [ -d "$place" ]; then
  [ -z "$(ls -A "$place")" ] || exit 11
  rmdir "$place" || exit 1
elif [ -e "$place" ]; then
  exit 12
fi
mkdir -p "$(dirname "$place")" && ln -s "$target" "$place"`
export const UNLINK = `place=$1 target=$2
[ ! -L "$place" ] || [ "$(readlink "$place")" != "$target" ] || rm "$place"`

export const REASONS: Record<number, string> = {
  10: 'path is already occupied by a symlink that was not created by this sandbox. Remove it, or use a different mount path.',
  11: 'directory exists and is not empty. Mounting would hide existing files. Use a different path or empty the directory.',
  12: 'path is a regular file. Use a different mount path or remove the file first.',
}

export function refused(mounts: MountManager, filesystem: WorkspaceFilesystem, mountPath: string, error: string,
                        state: 'error' | 'unsupported' = 'error'): MountResult {
  mounts.set(mountPath, { filesystem, state, error })
  return { success: false, mountPath, error }
}

export const hostPathOf = (directory: string, mountPath: string): string => path.join(directory, mountPath)
