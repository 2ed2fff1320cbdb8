// The pool: sandboxes of the daemon's, of which this program holds some.
import { Hutch, type Connection } from 'hutch-sdk'

import { DockerContainer } from './container.js'
import type { Container, ContainerOpts, ContainerPool, PoolStats } from './types.js'

export interface PoolConfig extends Connection {
  /** Of the container backend. Augure's own name, "augure-sandbox:latest", is hutch's default one. */
  image?: string
  maxTotal: number
  /** Else what config.json says (sandbox.runtime). */
  backend?: 'namespace' | 'bwrap' | 'container'
}

const OF_AUGURE = 'augure-sandbox:latest'

/** What Augure asks for without a word of its own. */
const USUAL: ContainerOpts = { trust: 'sandboxed', timeout: 300, memory: '512m', cpu: '1.0' }

/** Those are hutch's own too, and hold where this machine can hold them; any others are an error where it cannot. */
const unlessUsual = (key: 'memory' | 'cpu', given: string): string | undefined => (given === USUAL[key] ? undefined : given)

let isTold = false
function tell(notHeld: string[]): void {
  if (isTold || notHeld.length === 0) return
  isTold = true
  process.emitWarning(`nothing limits ${notHeld.join(' and ')} of sandboxes on this machine; hutch doctor says why`, 'HutchWarning')
}

const imageOf = (name: string | undefined): string | undefined => (name === OF_AUGURE ? undefined : name)

export class DockerContainerPool implements ContainerPool {
  private readonly hutch: Hutch
  private readonly held = new Set<DockerContainer>()
  /** On their way: several callers at once do not pass the limit together. */
  private acquiring = 0

  /** The first argument, Augure's client of Docker, is not used: the daemon of hutch has its own. */
  constructor(_docker: unknown, private readonly config: PoolConfig) {
    this.hutch = new Hutch(config)
  }

  async acquire(opts: ContainerOpts): Promise<Container> {
    if (this.held.size + this.acquiring >= this.config.maxTotal) throw new Error('Pool limit reached')
    this.acquiring += 1
    try {
      const { id, notHeld } = await this.hutch.transport.call('POST /v1/pool/sandboxes', {}, { body: {
        backend: this.config.backend, image: imageOf(this.config.image), trust: opts.trust,
        memory: unlessUsual('memory', opts.memory), cpu: unlessUsual('cpu', opts.cpu), env: opts.env, mounts: opts.mounts,
      } })
      tell(notHeld ?? [])
      const container = new DockerContainer(this.hutch, id, opts)
      this.held.add(container)
      return container
    } finally {
      this.acquiring -= 1
    }
  }

  /** Whoever has it next gets a new one, without its files and processes. */
  async release(container: Container): Promise<void> {
    const own = this.own(container)
    await own.giveBack()
    this.held.delete(own)
  }

  async destroy(container: Container): Promise<void> {
    const own = this.own(container)
    await own.stop()
    this.held.delete(own)
  }

  /** Those that this program holds; a failure of one keeps none of the others. */
  async destroyAll(): Promise<void> {
    const all = [...this.held]
    this.held.clear()
    await Promise.allSettled(all.map((one) => one.stop()))
    this.hutch.close()
  }

  /** Of this program: what the daemon keeps ready is told by `hutch pool stats`. */
  stats(): PoolStats {
    return { idle: 0, busy: this.held.size, total: this.held.size, maxTotal: this.config.maxTotal }
  }

  private own(container: Container): DockerContainer {
    if (container instanceof DockerContainer) return container
    throw new Error(`${container.id} is no container of this pool`)
  }
}

/** That sandboxes of the image start: the daemon makes its default one where that is absent. */
export async function ensureImage(docker: unknown, imageName: string, config: Omit<PoolConfig, 'image' | 'maxTotal'> = {}):
    Promise<void> {
  const pool = new DockerContainerPool(docker, { ...config, image: imageName, maxTotal: 1 })
  try {
    await pool.release(await pool.acquire(USUAL))
  } finally {
    await pool.destroyAll()
  }
}
