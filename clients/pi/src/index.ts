// An extension of pi: its tools work in a sandbox of hutch, under one policy, or they do not work at all.
import * as fs from 'node:fs/promises'

import {
  createBashToolDefinition, createEditToolDefinition, createFindToolDefinition, createGrepToolDefinition,
  createLsToolDefinition, createReadToolDefinition, createWriteToolDefinition, type BashOperations,
  type ExtensionAPI, type ExtensionContext, type GrepToolInput, type ToolDefinition,
} from '@earendil-works/pi-coding-agent'

import {
  allowTool, choicesFor, isHarmless, judge, placeOf, readTools, titleOfTool, toolsFile, type Allowed, type Foreign,
} from './foreign.js'
import { heldPolicy, openMenu } from './menu.js'
import {
  bashOperations, editOperations, lsOperations, readOperations, writeOperations,
} from './operations.js'
import { Questions } from './questions.js'
import { Sandbox, messageOf } from './sandbox.js'
import { findOperations, grep } from './search.js'

const STATUS = 'hutch'
const TOOLS = ['bash', 'read', 'write', 'edit', 'ls', 'find', 'grep'] as const
/** Those that pi has besides, and that do what no sandbox would hold. */
const REFUSED = ['powershell']

type Tool = ToolDefinition<any, any, any> // eslint-disable-line @typescript-eslint/no-explicit-any

/** As long as the daemon waits for an answer. */
const ASK_MS = 60_000

const NOT_BEGUN = 'hutch: the sandbox has not begun; nothing is run without it'

export default function hutch(pi: ExtensionAPI): void {
  let sandbox: Sandbox | undefined
  let context: ExtensionContext | undefined
  // Off is what somebody said: a flag, the policy, the switch. Anything else that is not there is a refusal.
  let off = false
  const questions = new Questions()
  const allowed: Allowed[] = [] // of others' tools, for this session
  const parameters = new Map<string, unknown>()

  const use = (): Sandbox => {
    if (!sandbox) throw new Error(NOT_BEGUN)
    return sandbox
  }

  // --- what is shown ---

  const statusText = (): [string, 'accent' | 'error'] => {
    if (off) return ['Sandbox: disabled', 'error']
    const state = sandbox?.state
    if (state?.kind === 'running') return [state.session.status, 'accent']
    return ['Sandbox: does not run, commands are refused', 'error']
  }

  const show = (): void => {
    if (!context?.hasUI) return
    const [text, colour] = statusText()
    context.ui.setStatus(STATUS, context.mode === 'tui' ? context.ui.theme.fg(colour, text) : text)
  }

  // --- tools ---

  const register = (name: string, local: (cwd: string) => Tool, inside: (cwd: string, sandbox: Sandbox) => Tool): void => {
    const definition = local(process.cwd())
    // An object of its own, by which this tool is told from somebody else's of the same name.
    const own = Object.create(Object.getPrototypeOf(definition.parameters) as object,
                              Object.getOwnPropertyDescriptors(definition.parameters)) as Tool['parameters']
    parameters.set(name, own)
    pi.registerTool({
      ...definition,
      parameters: own,
      execute: (id, input, signal, update, ctx) =>
        (off ? local(ctx.cwd) : inside(ctx.cwd, use())).execute(id, input, signal, update, ctx),
    })
  }

  register('bash', (cwd) => createBashToolDefinition(cwd),
           (cwd, place) => createBashToolDefinition(cwd, { operations: bashOperations(place) }))
  register('read', (cwd) => createReadToolDefinition(cwd),
           (cwd, place) => createReadToolDefinition(cwd, { operations: readOperations(place) }))
  register('write', (cwd) => createWriteToolDefinition(cwd),
           (cwd, place) => createWriteToolDefinition(cwd, { operations: writeOperations(place) }))
  register('edit', (cwd) => createEditToolDefinition(cwd),
           (cwd, place) => createEditToolDefinition(cwd, { operations: editOperations(place) }))
  register('ls', (cwd) => createLsToolDefinition(cwd),
           (cwd, place) => createLsToolDefinition(cwd, { operations: lsOperations(place) }))
  register('find', (cwd) => createFindToolDefinition(cwd),
           (cwd, place) => createFindToolDefinition(cwd, { operations: findOperations(place) }))
  // pi's own runs ripgrep outside, whatever operations it is given.
  register('grep', (cwd) => createGrepToolDefinition(cwd), (cwd, place) => {
    const definition: Tool = createGrepToolDefinition(cwd)
    return { ...definition, execute: (_id, input, signal) => grep(place, cwd, input as GrepToolInput, signal) }
  })

  const replaced = (name: string): string | undefined => {
    const tool = pi.getAllTools().find((one) => one.name === name)
    return !tool || tool.parameters === parameters.get(name) ? undefined : tool.sourceInfo.path
  }

  // --- tools of others ---

  const foreign = (name: string): Foreign => {
    const tool = pi.getAllTools().find((one) => one.name === name)
    return { name, of: tool?.sourceInfo.path ?? 'nobody' }
  }

  /** Why it may not run; nothing where it may. */
  const askAbout = async (tool: Foreign, input: unknown, ctx: ExtensionContext): Promise<string | undefined> => {
    const cwd = await fs.realpath(ctx.cwd)
    if (judge(tool, cwd, await readTools(), allowed) === 'allowed') return undefined
    const remedy = `to allow it, name it in ${toolsFile()}: {"*": ["${tool.name}"]}`
    const what = `hutch: the tool ${tool.name} of ${tool.of} works outside of the sandbox`
    if (!ctx.hasUI) return `${what}, and nobody is there to be asked; ${remedy}`
    const { project } = await heldPolicy(ctx.cwd)
    const over = AbortSignal.any([AbortSignal.timeout(ASK_MS), ...(ctx.signal ? [ctx.signal] : [])])
    // What was answered about it meanwhile, in the same message of the model, holds.
    const stillAsked = async (): Promise<boolean> => judge(tool, cwd, await readTools(), allowed) === 'ask'
    const choice = await questions.choose(ctx, titleOfTool(tool, input), choicesFor(cwd, project), over, stillAsked)
    if (choice === 'no') return `${what}, and was not allowed; ${remedy}`
    if (choice === 'session') allowed.push({ tool: tool.name, of: tool.of })
    const place = placeOf(choice, cwd, project)
    if (place !== undefined) await allowTool(place, tool)
    return undefined
  }

  pi.on('tool_call', async (event, ctx) => {
    if (off) return undefined
    const name = event.toolName
    try {
      const guarded = (TOOLS as readonly string[]).includes(name)
      const by = guarded ? replaced(name) : REFUSED.includes(name) ? 'pi' : undefined
      if (by !== undefined) return { block: true, reason: `hutch: the tool ${name} is ${by}'s, which the sandbox does not hold` }
      const tool = foreign(name)
      if (guarded || isHarmless(tool)) return undefined
      const reason = await askAbout(tool, event.input, ctx)
      return reason === undefined ? undefined : { block: true, reason }
    } catch (error) {
      return { block: true, reason: `hutch: whether ${name} may run could not be found out, so it may not: ${messageOf(error)}` }
    }
  })

  // Where this threw, older versions of pi would run the command themselves.
  const refusing: BashOperations = { exec: () => Promise.reject(new Error(NOT_BEGUN)) }
  pi.on('user_bash', () => (off ? undefined : { operations: sandbox ? bashOperations(sandbox) : refusing }))

  // --- the sandbox's life ---

  const begin = async (ctx: ExtensionContext): Promise<void> => {
    sandbox = new Sandbox(ctx.cwd, (question, over) => questions.ask(context, question, over), show)
    try {
      await sandbox.open()
    } catch (error) {
      if (ctx.hasUI) ctx.ui.notify(messageOf(error), 'error')
      else process.stderr.write(`${messageOf(error)}\n`)
    }
  }

  const end = async (): Promise<void> => {
    const ending = sandbox
    sandbox = undefined
    await ending?.close()
  }

  pi.registerFlag('no-sandbox', { description: 'Run tools without hutch\'s sandbox', type: 'boolean', default: false })

  pi.on('session_start', async (_event, ctx) => {
    context = ctx
    off = pi.getFlag('no-sandbox') === true
    try {
      // What is saved as disabled is no failure.
      if (!off) off = (await heldPolicy(ctx.cwd)).policy.enabled === false
    } catch {
      // Opening says what is wrong.
    }
    if (!off) await begin(ctx)
    show()
    for (const name of off ? [] : TOOLS) {
      const by = replaced(name)
      if (by && ctx.hasUI) ctx.ui.notify(`hutch: ${by} has replaced the tool ${name}; it is refused`, 'warning')
    }
  })

  // Killed, pi leaves no more than a connection that ends: then the daemon ends the sandbox by itself.
  pi.on('session_shutdown', async () => {
    await end()
    if (context?.hasUI) context.ui.setStatus(STATUS, undefined)
    context = undefined
  })

  pi.registerCommand('sandbox', {
    description: 'Show, switch and edit hutch\'s sandbox',
    handler: async (_args, ctx) => {
      context = ctx
      if (!ctx.hasUI) return
      await openMenu(ctx, {
        isOn: !off,
        status: async () => {
          if (!off) await sandbox?.refresh().catch(() => {})
          const state = sandbox?.state
          return statusText()[0] + (!off && state?.kind === 'failed' ? `: ${state.reason}` : '')
        },
        turn: async (on) => {
          await end()
          off = !on
          if (on) await begin(ctx)
          show()
        },
        saved: async () => {
          await sandbox?.refresh().catch(() => {})
          show()
        },
        outside: async () => {
          const others = pi.getAllTools().map((one) => foreign(one.name)).filter((one) => !isHarmless(one) &&
            !(TOOLS as readonly string[]).includes(one.name) && !REFUSED.includes(one.name))
          const cwd = await fs.realpath(ctx.cwd)
          const saved = await readTools()
          return others.map((one) => `${one.name}${judge(one, cwd, saved, allowed) === 'allowed' ? ' (allowed)' : ''}`)
        },
      })
    },
  })
}
