// The model of the skill loop: a stand-in that gets it wrong at first, or an endpoint of chat completions.

const FORM = 'Answer with two blocks of code and nothing else: first an ES module that exports the skill, a function of one ' +
  'JSON value, as its default; then a test of it for node:test, which imports ./skill.mjs.'

/** Knows one skill, "add numbers", and writes it with a mistake until a report says so. */
const standIn = {
  test: `import assert from 'node:assert/strict'
import test from 'node:test'

import skill from './skill.mjs'

test('it adds numbers', () => assert.equal(skill([1, 2, 3]), 6))
test('of nothing the sum is 0', () => assert.equal(skill([]), 0))
`,
  async generate() {
    return { code: 'export default (numbers) => numbers.reduce((sum, one) => sum + one)\n', test: this.test }
  },
  async heal(_task, skill, report) {
    if (!report.includes('Reduce of empty array')) return skill
    return { ...skill, code: 'export default (numbers) => numbers.reduce((sum, one) => sum + one, 0)\n' }
  },
}

class Endpoint {
  constructor(url, name, key) {
    Object.assign(this, { url, name, key })
  }

  generate(task) {
    return this.ask(`Write a skill in JavaScript for this task: ${task}\n${FORM}`)
  }

  heal(task, skill, report) {
    return this.ask(`This skill for the task "${task}" fails its test.\n\n\`\`\`\n${skill.code}\`\`\`\n\n\`\`\`\n${skill.test}` +
      `\`\`\`\n\nThe report:\n${report}\n\nMend it. ${FORM}`)
  }

  async ask(content) {
    const answer = await fetch(`${this.url}/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(this.key ? { Authorization: `Bearer ${this.key}` } : {}) },
      body: JSON.stringify({ model: this.name, messages: [{ role: 'user', content }] }),
    })
    if (!answer.ok) throw new Error(`the model answers with ${answer.status}: ${await answer.text()}`)
    const text = (await answer.json()).choices[0].message.content
    const [code, test] = [...text.matchAll(/```[a-z]*\n([\s\S]*?)```/g)].map((one) => one[1])
    if (!code || !test) throw new Error(`the model did not answer with two blocks of code: ${text}`)
    return { code, test }
  }
}

export const chooseModel = ({ MODEL_URL, MODEL_NAME = 'gpt-4o-mini', MODEL_KEY }) =>
  (MODEL_URL ? new Endpoint(MODEL_URL, MODEL_NAME, MODEL_KEY) : standIn)
