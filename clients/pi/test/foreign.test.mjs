// The judgement about tools of others: what is allowed where, what may be answered, and what a file may say.
// Run in a directory that has the package: node --test foreign.test.mjs
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const at = createRequire(path.join(process.cwd(), 'x.js')).resolve('hutch-pi/dist/foreign.js')
const { allowTool, choicesFor, isHarmless, judge, parseTools, placeOf, readTools, titleOfTool } =
  await import(pathToFileURL(at).href)

const search = { name: 'mcp__docs__search', of: 'builtin:mcp' }

test('a tool is asked about until something names it', () => {
  const cases = [
    [{}, [], 'ask'],
    [{ '*': [{ tool: 'mcp__docs__search' }] }, [], 'allowed'],
    [{ '*': [{ tool: 'mcp__docs__*' }] }, [], 'allowed'],
    [{ '*': [{ tool: '*' }] }, [], 'allowed'],
    [{ '*': [{ tool: 'mcp__docs__sea' }] }, [], 'ask'],
    [{ '*': [{ tool: 'mcp__docs__search', of: 'builtin:mcp' }] }, [], 'allowed'],
    [{ '*': [{ tool: 'mcp__docs__search', of: '/home/me/.pi/agent/extensions/other.js' }] }, [], 'ask'],
    [{ '/projects/app': [{ tool: 'mcp__docs__search' }] }, [], 'allowed'],
    [{ '/projects': [{ tool: 'mcp__docs__search' }] }, [], 'allowed'],
    [{ '/': [{ tool: 'mcp__docs__search' }] }, [], 'allowed'],
    [{ '/projects/ap': [{ tool: 'mcp__docs__search' }] }, [], 'ask'],
    [{ '/projects/app/below': [{ tool: 'mcp__docs__search' }] }, [], 'ask'],
    [{}, [{ tool: 'mcp__docs__search', of: 'builtin:mcp' }], 'allowed'],
    [{}, [{ tool: 'mcp__docs__search', of: '/other.js' }], 'ask'],
  ]
  for (const [saved, session, verdict] of cases) {
    assert.equal(judge(search, '/projects/app', saved, session), verdict, JSON.stringify([saved, session]))
  }
})

test('pi asks about no tool of its own that only calls other tools, but about others with such a name', () => {
  assert.equal(isHarmless({ name: 'codemode', of: 'builtin:codemode' }), true)
  assert.equal(isHarmless({ name: 'tool_search', of: 'builtin:tool-search' }), true)
  assert.equal(isHarmless({ name: 'codemode', of: '/home/me/.pi/agent/extensions/evil.js' }), false)
  assert.equal(isHarmless({ name: 'mcp__docs__search', of: 'builtin:mcp' }), false)
  assert.equal(isHarmless({ name: 'search', of: 'builtin:codemode' }), false)
  assert.equal(isHarmless({ name: 'nothing', of: 'nobody' }), false)
})

test('the answers are those of hutch\'s own questions', () => {
  assert.deepEqual(choicesFor('/projects/app', null), ['no', 'session', 'project', 'everywhere', 'once'])
  assert.deepEqual(choicesFor('/projects/app', '/projects/app'), ['no', 'session', 'project', 'everywhere', 'once'])
  assert.deepEqual(choicesFor('/projects/app', '/projects'), ['no', 'session', 'project', 'new', 'everywhere', 'once'])
  const places = ['no', 'session', 'project', 'new', 'everywhere', 'once'].map((one) => placeOf(one, '/projects/app', '/projects'))
  assert.deepEqual(places, [undefined, undefined, '/projects', '/projects/app', '*', undefined])
  assert.equal(placeOf('project', '/projects/app', null), '/projects/app')
})

test('a question moves no cursor, and is not as long as what is asked', () => {
  const title = titleOfTool({ name: 'x\x1b[2J', of: '/e\n.js' }, { text: `\x1b]0;${'y'.repeat(10_000)}` })
  assert.match(title, /^Sandbox: run x\\x1b\[2J of \/e\\x0a\.js outside, with /)
  assert.ok(title.length < 500)
})

test('a file that says something else is an error', () => {
  for (const text of ['', '[]', 'null', '{"*": {}}', '{"*": [3]}', '{"*": [""]}', '{"*": [{"of": "x"}]}',
    '{"*": [{"tool": "x", "of": 3}]}', '{"relative": ["x"]}']) {
    assert.throws(() => parseTools(text, 'pi-tools.json'), /pi-tools\.json/, text)
  }
  assert.deepEqual(parseTools('{"*": ["a", {"tool": "b", "of": "/e.js"}]}', 'f'),
                   { '*': [{ tool: 'a' }, { tool: 'b', of: '/e.js' }] })
})

test('what is allowed is kept, and a file of others is not believed', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'hutch-pi-'))
  const file = path.join(directory, 'config', 'pi-tools.json')
  try {
    assert.deepEqual(await readTools(file), {})
    await allowTool('/projects', search, file)
    await allowTool('*', { name: 'other', of: '/e.js' }, file)
    assert.deepEqual(await readTools(file), { '/projects': [{ tool: search.name, of: search.of }],
                                              '*': [{ tool: 'other', of: '/e.js' }] })
    await chmod(file, 0o620)
    await assert.rejects(readTools(file), /may be written by others/)
    await chmod(file, 0o600)
    await writeFile(file, '{')
    await assert.rejects(allowTool('*', search, file), /no JSON/)
    assert.equal(await readFile(file, 'utf8'), '{')
    await rm(file)
    await mkdir(file)
    await assert.rejects(readTools(file))
  } finally {
    await rm(directory, { recursive: true })
  }
})
