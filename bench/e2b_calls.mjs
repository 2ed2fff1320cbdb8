// Times commands of the unmodified e2b package in turn; prints the medians in milliseconds as JSON.
import { Sandbox } from 'e2b'

const { hutch, mock, key, template, rounds } = JSON.parse(process.env.SETTINGS)
const made = async (server, name) => Sandbox.create(name, { apiUrl: server, sandboxUrl: server, apiKey: key })
const own = await made(hutch, template)
const empty = await made(mock, 'base')
const cases = {
  mock: () => empty.commands.run('true'),
  hutch: () => own.commands.run('true'),
  login: () => own.commands.run('exec /bin/bash -l -c true'),
}
const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
for (let round = 0; round < rounds + 10; round++) {
  for (const [name, call] of Object.entries(cases)) {
    const began = performance.now()
    await call()
    if (round >= 10) times[name].push(performance.now() - began)
  }
}
await own.kill()
const median = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]
console.log(JSON.stringify(Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]))))
process.exit(0)
