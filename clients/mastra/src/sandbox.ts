// The sandbox: an agent of hutch's daemon, whose place of work is a directory of this machine.
import { createHash, randomUUID } from 'node:crypto'
import * as fs from 'node:fs/promises'
import * as os from 'node:os'
import * as path from 'node:path'
import { StringDecoder } from 'node:string_decoder'

import {
  IsolationUnavailableError, MastraSandbox, SandboxNotReadyError, validateSandboxFileMode,
} from '@mastra/core/workspace'
import type {
  CommandResult, ExecuteCommandOptions, MastraSandboxOptions, MountManager, MountResult, ProviderStatus, SandboxFileInput,
  SandboxInfo, WorkspaceFilesystem,
} from '@mastra/core/workspace'
import {
  Hutch, HutchError, runHutchSync, type Agent, type AgentSettings, type Connection, type Line,
} from 'hutch-sdk'

import { absolute, isWithin, meaningOf, searchOf, withHome, type BwrapMeaning } from './local.js'
import { LINK, REASONS, UNLINK, directoryOf, hostPathOf, mountPathOf, refused, sharedBy } from './mounts.js'
import { dropPolicy, keepPolicy, sharedPolicy, type SharedPolicy } from './policies.js'
import { Heard, HutchProcessManager, ending, ofNone, variables } from './processes.js'

export interface NativeSandboxConfig {
  /** Every host may be reached; otherwise none. */
  allowNetwork?: boolean
  readOnlyPaths?: string[]
  readWritePaths?: string[]
  /** The working directory can be read and not written. */
  readOnly?: boolean
  /** false hides /opt and /snap, and directories of PATH that lie in the home; what /usr has is always there. */
  allowSystemBinaries?: boolean
  /** Added to the other keys, as far as they mean something in hutch; else an error. */
  bwrapArgs?: string[]
  /** Of macOS: accepted, told to the logger, and nothing else. */
  seatbeltProfilePath?: string
}

export interface SandboxDetectionResult {
  backend: 'namespace' | 'bwrap' | 'none'
  available: boolean
  message: string
}

export interface HutchSandboxOptions extends Connection,
  Pick<MastraSandboxOptions, 'onStart' | 'onStop' | 'onDestroy'> {
  /** The same id is the same sandbox, with its files; without one it is a new one. */
  id?: string
  /**
   * Of this machine; a relative one begins at process.cwd(), ~ at the home. Default: .sandbox; with isolation `vm` and `user` the
   * sandbox's own home, for a machine has no directory of this one, and another user none that is not shared with it.
   */
  workingDirectory?: string
  /** Without PATH in it commands have that of this process, then the sandbox's own. */
  env?: NodeJS.ProcessEnv
  /** Of a command that names none, in milliseconds. */
  timeout?: number
  /** The backend. Default: namespace */
  isolation?: 'namespace' | 'bwrap' | 'container' | 'vm' | 'user' | 'none' | 'seatbelt'
  nativeSandbox?: NativeSandboxConfig
  /** A policy file of this machine, in place of `nativeSandbox`. Without either the user's own policy holds. */
  policy?: string
  image?: string
  limits?: AgentSettings['limits']
  instructions?: string | ((options: { defaultInstructions: string }) => string)
}

const SAFE = /^[a-zA-Z0-9._\-/=:@]+$/
const quoted = (word: string): string => (SAFE.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/**
 * /tmp is of one start of a sandbox; here it is of its life, in the home meanwhile. What is mounted below it is not the
 * sandbox's own: a directory of this machine, which would be put back as it was, or hutch's. Sockets and pipes are not
 * files. An image may have busybox's tar, or none.
 */
const KEEP_TMP = String.raw`rm -rf "$HOME/.tmp.tar" "$HOME/.tmp.kept" "$HOME/.tmp.err"
cd /tmp || exit 1
others=/.hutch/
set -- --exclude=./.hutch
while read -r id parent device root place rest; do
  case $place in /tmp/*) ;; *) continue ;; esac
  top=${'$'}{place#/tmp/}
  top=$(printf '%b' "$(printf %s "${'$'}{top%%/*}" | sed 's/\\/\\0/g')")
  others=$others$top/
  set -- "$@" "--exclude=./$top"
done < /proc/self/mountinfo
if tar --version 2> /dev/null | grep -q 'GNU tar'; then
  tar --no-wildcards --anchored "$@" --one-file-system --ignore-failed-read -cSf "$HOME/.tmp.tar" . 2> "$HOME/.tmp.err"
else
  set --
  for name in * .[!.]* ..?*; do
    case $others in */"$name"/*) continue ;; esac
    [ -e "$name" ] || [ -L "$name" ] || continue
    set -- "$@" "./$name"
  done
  [ $# -gt 0 ] || exit 0
  if command -v tar > /dev/null; then
    tar -cf "$HOME/.tmp.tar" "$@" 2> "$HOME/.tmp.err"
  else
    mkdir -p "$HOME/.tmp.kept" && cp -Rp "$@" "$HOME/.tmp.kept" 2> "$HOME/.tmp.err"
  fi
fi
code=$? # 1: a file changed meanwhile
[ $code -le 1 ] || cat "$HOME/.tmp.err" >&2
rm -f "$HOME/.tmp.err"
[ $code -le 1 ]`
/** What the sandbox itself may have put there keeps it from nothing. */
const RESTORE_TMP = `code=0
if [ -f "$HOME/.tmp.tar" ]; then tar -C /tmp -xpf "$HOME/.tmp.tar" || code=$?; fi
if [ -d "$HOME/.tmp.kept" ]; then cp -Rp "$HOME/.tmp.kept/." /tmp || code=$?; fi
rm -rf "$HOME/.tmp.tar" "$HOME/.tmp.kept"
exit $code`
const TMP_TIMEOUT_MS = 60_000

/** Backends whose sandboxes have not the directories of this machine's user. */
const APART = new Set<string | undefined>(['vm', 'user'])
/** Of nativeSandbox, what is about paths of this machine. */
const OF_PATHS = ['readOnly', 'readOnlyPaths', 'readWritePaths', 'bwrapArgs', 'allowSystemBinaries'] as const
/** Backends whose sandboxes have this machine's programs. */
const OF_HOST = new Set<string | undefined>([undefined, 'namespace', 'bwrap', 'none'])
const HIDDEN_BINARIES = ['/opt', '/snap']
/**
 * Two environments: a command's own, and what a login shell makes of none, which is whatever the system's profile sets.
 */
const ENVIRONMENTS = "env -0; printf '\\0\\0'; env -i /bin/sh -l -c 'env -0' 2> /dev/null || true"
const OF_SHELL = new Set(['PATH', 'HOME', 'PWD', 'SHLVL', '_', 'TMPDIR', 'OLDPWD'])

/** An agent's name has at most 24 characters, of few kinds. */
const nameOf = (id: string): string => `mastra-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`

export class HutchSandbox extends MastraSandbox {
  readonly id: string
  readonly name = 'HutchSandbox'
  readonly provider = 'hutch'
  status: ProviderStatus = 'pending'
  declare readonly processes: HutchProcessManager
  declare readonly mounts: MountManager
  readonly agent: Agent
  private readonly hutch: Hutch
  private readonly options: HutchSandboxOptions
  /** The directory of this machine in which it works; undefined: its own home. */
  private readonly dir: string | undefined
  private policy: SharedPolicy | undefined
  private readonly createdAt = new Date()
  private lastUsedAt: Date | undefined
  /** Somebody's agent may be there, which destroy() has to remove. */
  hasBegun = false
  /** Done when none is being made anew, which destroy() waits for: it would find nothing to remove. */
  private making: Promise<unknown> = Promise.resolve()
  private readonly meant: BwrapMeaning | undefined
  private readonly writable: string[]
  /** What commands have besides, before what is given. */
  usualEnv: NodeJS.ProcessEnv = {}
  /** What the system's profile sets, and no command of this is to have. */
  private unwanted: string[] = []
  /** What the sandbox was started with. */
  private shared = new Set<string>()

  /** As LocalSandbox has it: what isolates here, and why nothing does. */
  static detectIsolation(): SandboxDetectionResult {
    try {
      interface Found { name: string; available: boolean; reason?: string; remedy?: string }
      const { backends } = JSON.parse(runHutchSync(['doctor', '--json'])) as { backends: Found[] }
      for (const backend of ['namespace', 'bwrap'] as const) {
        if (!backends.some((one) => one.name === backend && one.available)) continue
        return { backend, available: true, message: `hutch isolates by ${backend}` }
      }
      const why = backends.find((one) => one.name === 'namespace')
      return { backend: 'none', available: false, message: `${why?.reason ?? 'nothing isolates'}; try: ${why?.remedy ?? 'hutch doctor'}` }
    } catch (error) {
      return { backend: 'none', available: false, message: error instanceof Error ? error.message : String(error) }
    }
  }

  constructor(options: HutchSandboxOptions = {}) {
    const env = options.env ?? {}
    const isApart = APART.has(options.isolation) && options.workingDirectory === undefined
    const dir = isApart ? undefined : absolute(options.workingDirectory ?? '.sandbox')
    super({
      name: 'HutchSandbox',
      onStart: options.onStart,
      onStop: options.onStop,
      onDestroy: options.onDestroy,
      env,
      workingDirectory: dir && withHome(options.workingDirectory ?? dir),
      processes: new HutchProcessManager({ env }),
    })
    this.options = options
    this.dir = dir
    this.id = options.id ?? `hutch-sandbox-${randomUUID()}`
    if (options.isolation === 'seatbelt') throw new IsolationUnavailableError('seatbelt', 'it is macOS alone that has it')
    if (options.policy && options.nativeSandbox) throw new Error('policy and nativeSandbox: one of the two')
    const unknown = Object.keys(options.nativeSandbox ?? {}).filter((key) => !KNOWN.has(key))
    if (unknown.length > 0) throw new Error(`nativeSandbox.${unknown[0]}: hutch has no such key; write a policy file`)
    const ofPaths = OF_PATHS.find((key) => !dir && options.nativeSandbox?.[key] !== undefined)
    if (ofPaths) throw new Error(`nativeSandbox.${ofPaths}: a sandbox without a workingDirectory sees its own files alone`)
    if (options.url && options.nativeSandbox) {
      throw new Error('nativeSandbox: a policy file is made of it on this machine; name one of the daemon\'s by policy')
    }
    if (dir && options.nativeSandbox?.bwrapArgs) this.meant = meaningOf(options.nativeSandbox.bwrapArgs, dir)
    const paths = [...(options.nativeSandbox?.readWritePaths ?? []), ...(this.meant?.readWritePaths ?? [])]
    this.writable = [...(dir ? [dir] : []), ...paths.map(absolute)]
    this.hutch = new Hutch({ ...options, projects: options.projects ?? (dir ? this.writable : undefined) })
    this.agent = this.hutch.agent(nameOf(this.id))
  }

  // --- its life ---

  override start(): Promise<{ outcome: 'created' | 'connected' }> {
    return this.begin()
  }

  /** Mastra's own start does nothing while it takes the sandbox to run. */
  private async begin(): Promise<{ outcome: 'created' | 'connected' }> {
    await this.hutch.checkVersion()
    if (this.options.nativeSandbox?.seatbeltProfilePath) {
      this.logger?.warn('nativeSandbox.seatbeltProfilePath has no meaning on Linux: the policy is hutch\'s, and no profile is read')
    }
    const settings = await this.settings()
    let outcome: 'created' | 'connected' = 'created'
    try {
      await this.hutch.create(this.agent.name, settings)
    } catch (error) {
      if (!(error instanceof HutchError && error.status === 409)) throw error
      await this.agent.set(settings).catch((missing: unknown) => {
        throw missing instanceof HutchError && missing.status === 404 ? error : missing
      })
      outcome = 'connected'
    }
    this.hasBegun = true
    // The last sandbox of the same settings may have been destroyed before this one was there.
    if (this.policy) await keepPolicy(this.policy)
    await this.agent.start()
    await this.readEnvironment()
    if (!this.dir) this._workingDirectory = (await this.agent.exec(['pwd'])).stdout?.trimEnd()
    await this.tmp(RESTORE_TMP)
    return { outcome }
  }

  override async stop(): Promise<void> {
    try {
      await this.tmp(KEEP_TMP)
    } finally {
      await this.agent.stop().catch(ofNone)
    }
  }

  /**
   * What `work` does in the sandbox. The daemon is started by the client where it has gone, and goes on with the same
   * sandbox; one that somebody has removed is made anew, which is told, and only what had not begun is done again.
   */
  async inside<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(await this.isGone(error))) throw error
      this.checkLives()
      const begun = this.begin()
      this.making = Promise.allSettled([this.making, begun])
      this.logger?.warn(`the sandbox ${this.id} was removed; it is made anew, and its home and /tmp are empty`)
      await begun
      this.checkLives()
      return work()
    }
  }

  private checkLives(): void {
    if (this.status === 'destroyed' || this.status === 'destroying') throw new SandboxNotReadyError(this.id)
  }

  private async isGone(error: unknown): Promise<boolean> {
    if (!(error instanceof HutchError && error.status === 404)) return false
    return this.agent.show().then(() => false, (missing: unknown) => missing instanceof HutchError && missing.status === 404)
  }

  /** Without isolation /tmp is this machine's own, which stays by itself. What fails is told, and stops nothing. */
  private async tmp(script: string): Promise<void> {
    if (this.options.isolation === 'none') return
    const failed = (why: string) => this.logger?.warn(`the files of /tmp are not kept: ${why}`)
    try {
      const done = await this.agent.exec(['/bin/sh', '-c', script], { timeoutMs: TMP_TIMEOUT_MS })
      if (done.exitCode !== 0) failed(done.stderr?.trim() || `exit code ${done.exitCode}`)
    } catch (error) {
      failed(String(error))
    }
  }

  /** The working directory stays: it is the user's. */
  override async destroy(): Promise<void> {
    await this.making
    await this.unmountAll()
    try {
      await this.agent.remove().catch(ofNone)
    } catch (error) {
      // Of what never was, nothing has to be removed, and no daemon is missed.
      const isUnavailable = error instanceof HutchError && error.status === 0 && error.code === 'unavailable'
      if (this.hasBegun || !isUnavailable) throw error
    }
    const { policy } = this
    if (policy) await dropPolicy(policy, () => this.isPolicyUsed(policy.file))
    this.hutch.close()
  }

  isReady(): boolean {
    return this.status === 'running'
  }

  private async settings(): Promise<AgentSettings> {
    const { isolation, image, limits, policy, nativeSandbox } = this.options
    const settings: AgentSettings = { backend: isolation ?? 'namespace' }
    if (this.dir && !this.options.url) await fs.mkdir(this.dir, { recursive: true })
    if (this.dir) settings.dir = this.dir
    if (image) settings.image = image
    if (limits) settings.limits = limits
    if (policy) settings.policy = path.resolve(policy)
    if (nativeSandbox) {
      this.policy = this.policyOf(nativeSandbox)
      await keepPolicy(this.policy)
      settings.policy = this.policy.file
    }
    if (this.dir && !this.options.url) Object.assign(settings, this.files())
    return settings
  }

  // --- its environment ---

  /** Programs of the PATH are those of this machine. */
  private get hasHostsPrograms(): boolean {
    const { isolation, image, url } = this.options
    return this.dir !== undefined && !url && !image && OF_HOST.has(isolation)
  }

  private get search() {
    const isHidden = this.options.nativeSandbox?.allowSystemBinaries === false
    if (!this.hasHostsPrograms || this.getEnv().PATH !== undefined) return undefined
    const found = searchOf(process.env.PATH ?? '', os.homedir(), [...this.writable, ...sharedBy(this.mounts).write])
    const isOurs = (one: string) => !isHidden || ![os.homedir(), '/home', '/root', ...HIDDEN_BINARIES].some((top) => isWithin(one, top))
    return isHidden ? { directories: found.directories.filter(isOurs), readable: [], env: {} } : found
  }

  /** Laid over the policy: what commands need of this machine's files besides. */
  private files(): Pick<AgentSettings, 'allowRead' | 'allowWrite'> {
    if (this.options.isolation === 'none') return {}
    const { read, write } = sharedBy(this.mounts)
    this.shared = new Set([...read, ...write])
    return { allowRead: [...(this.search?.readable ?? []), ...read], allowWrite: write }
  }

  /** Once for a start: a command is told what to leave out, and where else to look for programs. */
  private async readEnvironment(): Promise<void> {
    this.usualEnv = { ...this.search?.env, ...this.meant?.env }
    this.unwanted = []
    if (!this.hasHostsPrograms) return
    const said = await this.agent.exec(['/bin/sh', '-c', ENVIRONMENTS])
    const [own = '', profile = ''] = (said.stdout ?? '').split('\0\0\0')
    const names = (text: string) => text.split('\0').filter((one) => one.includes('=')).map((one) => one.slice(0, one.indexOf('=')))
    const has = new Set(names(own))
    this.unwanted = names(profile).filter((one) => has.has(one) && !OF_SHELL.has(one) && !one.startsWith('HUTCH'))
    const search = this.search
    if (!search) return
    const before = /(?:^|\0)PATH=([^\0]*)/.exec(own)?.[1] ?? ''
    const directories = [...search.directories, ...before.split(path.delimiter)].filter((one, i, all) => one && all.indexOf(one) === i)
    this.usualEnv.PATH = directories.join(path.delimiter)
  }

  /** What a shell reads, without the variables of the system's profile that nobody has given. */
  lineOf(line: string, env: NodeJS.ProcessEnv = {}): Line {
    const given = { ...this.usualEnv, ...this.getEnv(), ...env }
    const out = this.unwanted.filter((one) => given[one] === undefined)
    return out.length === 0 ? line : ['/usr/bin/env', ...out.flatMap((one) => ['-u', one]), '/bin/sh', '-c', line]
  }

  /** A relative one lies in the working directory; one typed from where the program works may lead there as well. */
  cwdOf(cwd: string | undefined): string | undefined {
    if (cwd === undefined || !this.dir || path.isAbsolute(cwd)) return cwd
    const typed = absolute(cwd)
    return isWithin(typed, this.dir) ? typed : path.resolve(this.dir, cwd)
  }

  // --- directories of this machine in it ---

  /** A link in the working directory, which leads to that directory; other filesystems are none of this machine's. */
  async mount(filesystem: WorkspaceFilesystem, given: string): Promise<MountResult> {
    const mountPath = mountPathOf(given)
    const directory = directoryOf(filesystem)
    if (!directory) {
      const type = (filesystem.getMountConfig?.() as { type?: string } | undefined)?.type
      return refused(this.mounts, filesystem, mountPath, type ? `Unsupported mount type: ${type}`
        : `Filesystem "${filesystem.id}" does not provide a mount config`, type ? 'unsupported' : 'error')
    }
    if (!this.dir || this.options.url) {
      return refused(this.mounts, filesystem, mountPath, 'a sandbox without a working directory of this machine has no mounts',
                     'unsupported')
    }
    const config = filesystem.getMountConfig!()
    const earlier = this.mounts.get(mountPath)
    const before = earlier?.state === 'mounted' ? directoryOf(earlier.filesystem) : undefined
    this.mounts.set(mountPath, { filesystem, state: 'mounting', config })
    const missing = await this.open(directory)
    if (missing) return refused(this.mounts, filesystem, mountPath, missing)
    const place = hostPathOf(this.dir, mountPath)
    const done = await this.agent.exec(['/bin/sh', '-c', LINK, 'sh', place, directory, before ?? ''])
    if (done.exitCode !== 0) {
      const why = REASONS[done.exitCode ?? 0] ?? (done.stderr?.trim() || `exit code ${done.exitCode}`)
      return refused(this.mounts, filesystem, mountPath, `Cannot mount at ${place}: ${why}`)
    }
    this.mounts.set(mountPath, { filesystem, state: 'mounted', config })
    return { success: true, mountPath }
  }

  /** What is allowed to the sandbox holds from its next start on: it is started anew where nothing runs in it. */
  private async open(directory: string): Promise<string | undefined> {
    if (this.shared.has(directory) || this.options.isolation === 'none') return undefined
    const running = (await this.agent.processes()).filter((one) => one.running)
    if (running.length > 0) {
      return `${directory} is no part of the sandbox, which would have to be started anew, and ${running.length} processes run ` +
        'in it: give it to the workspace\'s mounts, or mount it before they run'
    }
    await this.agent.set(this.files())
    await this.tmp(KEEP_TMP)
    await this.agent.stop()
    await this.agent.start()
    await this.tmp(RESTORE_TMP)
    return undefined
  }

  /** The link goes; that the directory can be reached ends with the sandbox's next start. */
  async unmount(given: string): Promise<void> {
    const mountPath = mountPathOf(given)
    const entry = this.mounts.get(mountPath)
    this.mounts.delete(mountPath)
    const directory = entry && directoryOf(entry.filesystem)
    if (!this.dir || !directory || entry.state !== 'mounted') return
    await this.agent.exec(['/bin/sh', '-c', UNLINK, 'sh', hostPathOf(this.dir, mountPath), directory])
  }

  private async unmountAll(): Promise<void> {
    for (const [mountPath, { state }] of [...this.mounts.entries]) {
      if (state === 'mounted') await this.unmount(mountPath).catch((error) => this.logger?.warn(`${mountPath}: ${error}`))
    }
  }

  private policyOf(config: NativeSandboxConfig): SharedPolicy {
    const network = (this.meant?.allowNetwork ?? config.allowNetwork) ? 'outbound' : 'none'
    return sharedPolicy(this.dir ? { filesystem: this.filesystem(this.dir, config), network } : { network })
  }

  /** Another sandbox with the same settings has the same file. If that is unknown, assume that one has it. */
  private async isPolicyUsed(file: string): Promise<boolean> {
    const agents = await this.hutch.list().catch(() => undefined)
    return !agents || agents.some((one) => one.policy === file && one.name !== this.agent.name)
  }

  private filesystem(dir: string, config: NativeSandboxConfig): object {
    const { readOnlyPaths = [], readWritePaths = [] } = config
    const writable = [...(config.readOnly ? [] : [dir]), ...readWritePaths.map(absolute), ...(this.meant?.readWritePaths ?? [])]
    const readable = [dir, ...writable, ...readOnlyPaths.map(absolute), ...(this.meant?.readOnlyPaths ?? [])]
    const literal = (paths: string[]) => paths.map((one) => ({ path: one, literal: true }))
    const hidden = config.allowSystemBinaries === false ? HIDDEN_BINARIES : []
    return { denyRead: ['/home', '/root', '~', ...hidden], allowRead: literal(readable), allowWrite: literal(writable), denyWrite: [] }
  }

  // --- commands ---

  override async executeCommand(command: string, args: string[] = [],
                                options: ExecuteCommandOptions = {}): Promise<CommandResult> {
    this.checkLives()
    await this.ensureRunning()
    this.lastUsedAt = new Date()
    const line = args.length > 0 ? [command, ...args].map(quoted).join(' ') : command
    const limit = options.timeout ?? this.options.timeout
    const result = await this.inside(() => this.run(line, { ...options, timeout: limit }))
    return { ...result, command, args }
  }

  /** A limit of time and an abort end it; both are a result, with what it had written. */
  private async run(line: string, options: ExecuteCommandOptions): Promise<CommandResult> {
    const startedAt = Date.now()
    const heard = new Heard(options)
    const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
    const hear = (stream: 'stdout' | 'stderr', text: string) => {
      if (text) stream === 'stdout' ? heard.emitStdout(text) : heard.emitStderr(text)
    }
    const aborted = (): CommandResult => ({
      success: false, exitCode: 128, killed: true, timedOut: false, executionTimeMs: Date.now() - startedAt, ...heard.texts(),
    })
    if (options.abortSignal?.aborted) return aborted()
    try {
      const events = this.agent.stream(this.lineOf(line, options.env), {
        cwd: this.cwdOf(options.cwd),
        env: variables({ ...this.usualEnv, ...this.getEnv(), ...options.env }),
        timeoutMs: options.timeout,
        signal: options.abortSignal,
      })
      for await (const event of events) {
        if (event.type === 'stdout' || event.type === 'stderr') hear(event.type, decoders[event.type].write(event.bytes))
        if (event.type !== 'exit') continue
        for (const stream of ['stdout', 'stderr'] as const) hear(stream, decoders[stream].end())
        const { note, ...result } = ending(event.end, options.timeout, startedAt)
        hear('stderr', note)
        return { ...result, ...heard.texts() }
      }
    } catch (error) {
      if (options.abortSignal?.aborted) return aborted()
      throw error
    }
    throw new Error('the command\'s end is not known')
  }

  // --- files, and what is told of it ---

  override async writeFiles(files: SandboxFileInput[], options: { abortSignal?: AbortSignal } = {}): Promise<void> {
    for (const file of files) if (file.mode !== undefined) validateSandboxFileMode(file.mode)
    await this.ensureRunning()
    for (const file of files) {
      options.abortSignal?.throwIfAborted()
      await this.inside(() => this.agent.writeFile(file.path, file.content, { mode: file.mode }))
    }
  }

  override async getInfo(): Promise<SandboxInfo> {
    const info: SandboxInfo = {
      id: this.id, name: this.name, provider: this.provider, status: this.status, createdAt: this.createdAt,
      lastUsedAt: this.lastUsedAt,
      metadata: {
        workingDirectory: this.workingDirectory, isolation: this.options.isolation ?? 'namespace', agent: this.agent.name,
        platform: os.platform(), nodeVersion: process.version,
      },
    }
    const mounted = [...this.mounts.entries].filter(([, entry]) => entry.state === 'mounted')
    if (mounted.length > 0) info.mounts = mounted.map(([place, entry]) => ({ path: place, filesystem: entry.filesystem.provider }))
    if (this.status === 'running') info.resources = (await this.inside(() => this.agent.show())).resources
    return info
  }

  override getInstructions(): string {
    const { instructions, nativeSandbox } = this.options
    const network = (this.meant?.allowNetwork ?? nativeSandbox?.allowNetwork) ? '' : ' Hosts are reached as far as a policy allows them.'
    const defaultInstructions =
      `Commands run in a sandbox on Linux. Working directory: "${this.dir ?? this.workingDirectory}".` +
      ` Files elsewhere cannot be changed, those of /tmp are the sandbox's own.${network}`
    if (typeof instructions === 'function') return instructions({ defaultInstructions })
    return instructions ?? defaultInstructions
  }
}

const KNOWN = new Set(['allowNetwork', 'readOnlyPaths', 'readWritePaths', 'readOnly', 'allowSystemBinaries', 'bwrapArgs',
  'seatbeltProfilePath'])
