// Which program is hutch. It runs outside as the user, so it is never one that the sandbox may have put there.
import * as fs from 'node:fs'
import * as path from 'node:path'

function isWithin(file: string, directory: string): boolean {
  const from = path.relative(directory, file)
  return from === '' || (from !== '..' && !from.startsWith(`..${path.sep}`) && !path.isAbsolute(from))
}

/** npm puts the project's own into PATH, and those of the directories above it, before everything else. */
const isOfPackages = (directory: string): boolean => /[/\\]node_modules[/\\]\.bin[/\\]*$/.test(directory)

function realOf(file: string): string | undefined {
  try {
    return fs.realpathSync(file)
  } catch {
    return undefined
  }
}

/** What is left of a PATH without directories that whoever works in the project may write. */
export function safeSearch(search: string, project: string): string[] {
  const inside = [path.resolve(project), realOf(project) ?? path.resolve(project)]
  return search.split(path.delimiter).filter((directory) => {
    if (!path.isAbsolute(directory) || isOfPackages(directory)) return false
    const real = realOf(directory) ?? directory
    return !isOfPackages(real) && !inside.some((top) => isWithin(directory, top) || isWithin(real, top))
  })
}

/** By its real path: a link is not followed anew at each start. */
export function findHutch(search: string, project: string): string | undefined {
  const inside = realOf(project) ?? path.resolve(project)
  for (const directory of safeSearch(search, project)) {
    const real = realOf(path.join(directory, 'hutch'))
    if (real === undefined || isWithin(real, inside)) continue
    try {
      fs.accessSync(real, fs.constants.X_OK)
    } catch {
      continue
    }
    if (fs.statSync(real).isFile()) return real
  }
  return undefined
}

/** The one that HUTCH_PROGRAM names, which is the user's word, else the one of PATH; an error where it is neither. */
export function chooseHutch(environment: NodeJS.ProcessEnv, project: string): string {
  const named = environment.HUTCH_PROGRAM
  if (named) {
    if (!path.isAbsolute(named)) throw new Error(`HUTCH_PROGRAM has to be an absolute path, not ${named}`)
    return realOf(named) ?? named
  }
  const found = findHutch(environment.PATH ?? '', project)
  if (found) return found
  throw new Error('there is no hutch in PATH outside of the project and of node_modules/.bin, where a sandbox may have ' +
    'put one; HUTCH_PROGRAM says where it is')
}
