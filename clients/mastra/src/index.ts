// A sandbox of hutch for Mastra's workspaces.
export { HutchSandbox, type HutchSandboxOptions, type NativeSandboxConfig, type SandboxDetectionResult } from './sandbox.js'
export { HutchProcessManager } from './processes.js'
export { hutchSandboxProvider } from './provider.js'
