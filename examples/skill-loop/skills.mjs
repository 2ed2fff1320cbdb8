// A skill loop: a model writes a skill and its test, sandboxes test it, the model heals it, and a sandbox runs it.
//
//   ./dev clients && hutch clients install augure . && node skills.mjs 'add numbers' '[1, 2, 3]'
//
// The model is a stand-in (model.mjs) unless MODEL_URL names an endpoint that speaks OpenAI's chat completions;
// MODEL_NAME and MODEL_KEY go with it. What the model writes runs in sandboxes without a network, and nowhere else.
import { DockerContainerPool } from 'hutch-augure'

import { chooseModel } from './model.mjs'

const FAILURES_MAX = 3
const LIMITS = { trust: 'sandboxed', timeout: 60, memory: '512m', cpu: '1.0' }
const HARNESS = `import skill from './skill.mjs'
const input = JSON.parse(process.argv[2])
Promise.resolve().then(() => skill(input)).then(
  (output) => console.log(JSON.stringify({ success: true, output })),
  (error) => console.log(JSON.stringify({ success: false, error: String(error?.message ?? error) })))
`

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

/** Each time a sandbox of its own: what the last one left behind is in no other. */
async function inSandbox(pool, files, command) {
  const container = await pool.acquire(LIMITS)
  try {
    for (const [name, text] of Object.entries(files)) {
      const encoded = Buffer.from(text).toString('base64')
      const written = await container.exec(`echo ${encoded} | base64 -d > ${quoted(name)}`)
      if (written.exitCode !== 0) throw new Error(`${name}: ${written.stderr}`)
    }
    return await container.exec(command)
  } finally {
    await pool.release(container)
  }
}

/** The report is TAP; a test that ends by no word of its own has failed. */
async function testSkill(pool, skill) {
  const files = { 'skill.mjs': skill.code, 'skill.test.mjs': skill.test }
  const { exitCode, stdout, stderr } = await inSandbox(pool, files, 'node --test --test-reporter=tap skill.test.mjs')
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0)
  return { passed: exitCode === 0 && count('pass') > 0 && count('fail') === 0, report: `${stdout}\n${stderr}`.trim() }
}

async function makeSkill(pool, model, task) {
  let skill = await model.generate(task)
  for (let failures = 0; ; ) {
    const { passed, report } = await testSkill(pool, skill)
    console.error(passed ? 'tested: it passes' : 'tested: it fails')
    if (passed) return { skill, failures }
    failures += 1
    if (failures >= FAILURES_MAX) throw new Error(`it still fails after ${failures} attempts:\n${report}`)
    skill = await model.heal(task, skill, report)
    console.error('healed')
  }
}

async function runSkill(pool, skill, input) {
  const command = `node harness.mjs ${quoted(JSON.stringify(input))}`
  const { stdout, stderr } = await inSandbox(pool, { 'skill.mjs': skill.code, 'harness.mjs': HARNESS }, command)
  const last = stdout.trimEnd().split('\n').at(-1)
  try {
    return JSON.parse(last)
  } catch {
    return { success: false, error: `it said no result: ${stderr || stdout}` }
  }
}

const [task, input = 'null'] = process.argv.slice(2)
if (!task) {
  console.error('usage: node skills.mjs TASK [INPUT as JSON]')
  process.exit(2)
}
const pool = new DockerContainerPool(undefined, { maxTotal: 2 })
try {
  const { skill, failures } = await makeSkill(pool, chooseModel(process.env), task)
  const result = await runSkill(pool, skill, JSON.parse(input))
  console.log(JSON.stringify({ task, failures, ...result }))
  process.exitCode = result.success ? 0 : 1
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await pool.destroyAll()
}
