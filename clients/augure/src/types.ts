// What Augure's programs take a container and a pool for.
export type TrustLevel = 'sandboxed' | 'trusted'
export type ContainerStatus = 'idle' | 'busy' | 'stopped'

export interface ExecOpts {
  /** Seconds. */
  timeout?: number
  cwd?: string
  env?: Record<string, string>
}

export interface ExecResult {
  exitCode: number
  stdout: string
  stderr: string
}

export interface Container {
  id: string
  status: ContainerStatus
  exec(command: string, opts?: ExecOpts): Promise<ExecResult>
  stop(): Promise<void>
}

export interface VolumeMount {
  host: string
  container: string
  readonly?: boolean
}

export interface ContainerOpts {
  trust: TrustLevel
  /** Seconds: of a command that names none. */
  timeout: number
  /** "512m", "1g" */
  memory: string
  /** "1.0", "0.5" */
  cpu: string
  env?: Record<string, string>
  mounts?: VolumeMount[]
}

export interface PoolStats {
  idle: number
  busy: number
  total: number
  maxTotal: number
}

export interface ContainerPool {
  acquire(opts: ContainerOpts): Promise<Container>
  release(container: Container): Promise<void>
  destroy(container: Container): Promise<void>
  destroyAll(): Promise<void>
  stats(): PoolStats
}
