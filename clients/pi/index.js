// What pi loads: the extension, or, where that cannot be loaded, the refusal of all that would work without a sandbox.
// Plain JavaScript, which is there before anything has been built: pi passes over an entry that is missing, and says
// nothing.

// By this pi's own loader takes this file, and with it what is imported below: Node's would not find pi for them.
import '@earendil-works/pi-coding-agent'

/** pi's own, which work outside. */
const TOOLS = ['bash', 'read', 'write', 'edit', 'ls', 'find', 'grep']
/** Of what pi has besides; these reach no more than other tools. Whatever somebody else adds is refused as well. */
const HARMLESS = new Map([['codemode', 'builtin:codemode'], ['tool_search', 'builtin:tool-search']])

const REMEDY = '`hutch clients install pi` puts the whole package in its place (from the sources: `./dev clients` first); ' +
  '`pi --no-sandbox` runs without a sandbox'

function reasonOf(error) {
  const message = error instanceof Error ? error.message : String(error)
  const missing = /(?:Cannot find (?:module|package)|Could not resolve) '?"?([^'"\n]+)/.exec(message)
  return missing ? `the package hutch-pi is not whole, ${missing[1]} is missing` : `hutch-pi cannot be loaded: ${message}`
}

/** Its name is what somebody else's may not have: a tool of this name that is not pi's own. */
function refusal(name, words) {
  return {
    name,
    label: name,
    description: words,
    parameters: { type: 'object', properties: {}, additionalProperties: true },
    execute: () => Promise.reject(new Error(words)),
  }
}

function refuse(pi, error) {
  const words = `hutch: no sandbox, and nothing is run without one: ${reasonOf(error)}; ${REMEDY}`
  pi.registerFlag('no-sandbox', { description: 'Run tools without hutch\'s sandbox', type: 'boolean', default: false })
  const isOff = () => pi.getFlag('no-sandbox') === true
  const isHarmless = (name) => {
    const tool = pi.getAllTools().find((one) => one.name === name)
    return tool !== undefined && HARMLESS.get(name) === tool.sourceInfo.path
  }
  pi.on('tool_call', (event) =>
    isOff() || isHarmless(event.toolName) ? undefined : { block: true, reason: words })
  pi.on('user_bash', () => isOff() ? undefined : { operations: { exec: () => Promise.reject(new Error(words)) } })
  pi.on('session_start', (_event, ctx) => {
    if (!isOff()) for (const name of TOOLS) pi.registerTool(refusal(name, words))
    if (!ctx.hasUI) {
      if (!isOff()) process.stderr.write(`${words}\n`)
      return
    }
    const text = isOff() ? 'Sandbox: disabled' : 'Sandbox: does not run, commands are refused'
    ctx.ui.setStatus('hutch', ctx.mode === 'tui' ? ctx.ui.theme.fg('error', text) : text)
    if (!isOff()) ctx.ui.notify(words, 'error')
  })
  pi.registerCommand('sandbox', {
    description: 'Say why hutch\'s sandbox does not run',
    handler: (_args, ctx) => { if (ctx.hasUI) ctx.ui.notify(words, 'error') },
  })
}

export default async function hutch(pi) {
  try {
    const { default: begin } = await import('./dist/index.js')
    await begin(pi)
  } catch (error) {
    refuse(pi, error)
  }
}
