// The smallest server that the e2b package takes for one: every command has ended with 0 at once. Prints its port.
import { createServer } from 'node:http'

const envelope = (flags, message) => {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}
const start = envelope(0, { event: { start: { pid: 1 } } })
const end = envelope(0, { event: { end: { exitCode: 0, exited: true, status: 'exit status 0' } } })
const last = envelope(2, {})
const made = { sandboxID: 'mock', templateID: 'base', clientID: 'mock', envdVersion: '0.5.7', envdAccessToken: 'mock' }

const server = createServer((request, answer) => {
  request.resume()
  request.on('end', () => {
    if (request.url !== '/process.Process/Start') {
      answer.writeHead(201, { 'Content-Type': 'application/json' })
      return answer.end(JSON.stringify(made))
    }
    answer.writeHead(200, { 'Content-Type': 'application/connect+json' })
    answer.write(start)
    answer.write(end)
    answer.end(last)
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
