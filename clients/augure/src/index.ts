// Augure's interfaces of containers and their pool, on the pool of hutch's daemon.
export { DockerContainerPool, ensureImage, type PoolConfig } from './pool.js'
export { DockerContainer } from './container.js'
export type {
  Container, ContainerOpts, ContainerPool, ContainerStatus, ExecOpts, ExecResult, PoolStats, TrustLevel, VolumeMount,
} from './types.js'
