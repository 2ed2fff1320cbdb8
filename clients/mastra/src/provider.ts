// What Mastra's editor makes sandboxes by.
import type { SandboxProvider } from '@mastra/core/editor'

import { HutchSandbox, type HutchSandboxOptions } from './sandbox.js'

const texts = { type: 'object', additionalProperties: { type: 'string' } }
const paths = { type: 'array', items: { type: 'string' } }

export const hutchSandboxProvider: SandboxProvider<HutchSandboxOptions> = {
  id: 'hutch',
  name: 'hutch',
  description: 'Sandboxes of this machine: namespaces, bubblewrap, containers or virtual machines, under one policy',
  configSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'the same id is the same sandbox' },
      workingDirectory: { type: 'string', description: 'a directory of this machine', default: '.sandbox' },
      env: texts,
      timeout: { type: 'number', description: 'of a command that names none, in milliseconds' },
      isolation: { type: 'string', enum: ['namespace', 'bwrap', 'container', 'vm', 'user', 'none'] },
      image: { type: 'string', description: 'of a backend that has one' },
      policy: { type: 'string', description: 'a policy file of this machine' },
      limits: texts,
      nativeSandbox: {
        type: 'object',
        properties: { allowNetwork: { type: 'boolean', default: false }, readOnly: { type: 'boolean', default: false },
                      readOnlyPaths: paths, readWritePaths: paths, allowSystemBinaries: { type: 'boolean', default: true },
                      bwrapArgs: paths, seatbeltProfilePath: { type: 'string' } },
      },
      url: { type: 'string', description: 'http://ADDRESS:PORT of hutch serve; its Unix socket without it' },
      token: { type: 'string', description: 'what its token file holds' },
    },
  },
  createSandbox: (config) => new HutchSandbox(config),
}
