# What programs of E2B do first: /home/user, a port by its host's name, links to upload and download.
import base64
import hashlib
import json
import os
import shlex
import socket
import urllib.parse

import pytest

import api as client
import e2b
import harness

PACKAGE = "e2b@2.51.0"
KEY = "key-of-ann-0123456789"
pytestmark = pytest.mark.xdist_group("e2b")

SERVER = """
import { createHash } from 'node:crypto'
import http from 'node:http'

const server = http.createServer((request, answer) => {
  let bytes = 0
  request.on('data', (piece) => { bytes += piece.length })
  request.on('end', () => {
    if (request.url === '/large') return answer.end(Buffer.alloc(5_000_000, 'x'))
    answer.setHeader('X-Own', 'yes')
    answer.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, bytes }))
  })
})
server.on('upgrade', (request, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n' +
    `Sec-WebSocket-Accept: ${accept}\\r\\n\\r\\n`)
  socket.on('data', (bytes) => socket.write(bytes))
})
server.listen(3000, '127.0.0.1', () => console.log('listening'))
"""

COURSE = """
import { Sandbox } from 'e2b'
import { readFileSync } from 'node:fs'
import http from 'node:http'

const port = Number(new URL(process.env.E2B_API_URL).port)
const sandbox = await Sandbox.create()
const run = async (line, options) => (await sandbox.commands.run(line, options)).stdout
const said = { home: await run('pwd; echo $HOME; whoami'), cwd: await run('pwd', { cwd: '/home/user', user: 'user' }) }
await sandbox.files.write('/home/user/note.txt', 'hello')
said.note = await run('cat ~/note.txt note.txt')
said.listed = (await sandbox.files.list('/home/user')).map((one) => one.path)
said.root = await sandbox.commands.run('apt-get install -y x', { user: 'root' }).catch((error) => error.message)
said.snapshot = await sandbox.createSnapshot().catch((error) => error.message)

await sandbox.files.write('server.mjs', process.env.SERVER)
let begun = ''
const hear = (text) => { begun += text }
const server = await sandbox.commands.run('node server.mjs', { background: true, onStdout: hear })
for (let i = 0; i < 400 && !begun.includes('listening'); i++) await new Promise((go) => setTimeout(go, 50))
const host = sandbox.getHost(3000)
said.host = host === `3000-${sandbox.sandboxId}.localhost:${port}`
const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken }
// As a client that knows where .localhost is.
const ask = (options, body) => new Promise((resolve, reject) => {
  const { headers, ...rest } = options
  const request = http.request({ host: '127.0.0.1', port, headers: { Host: host, ...headers }, ...rest }, (answer) => {
    const pieces = []
    answer.on('data', (piece) => pieces.push(piece))
    answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) }))
    answer.on('error', reject)
  })
  request.on('error', reject)
  for (const piece of [body].flat()) if (piece) request.write(piece)
  request.end()
})
const basic = { Authorization: `Basic ${Buffer.from(`x:${sandbox.trafficAccessToken}`).toString('base64')}` }
const refused = await ask({ path: '/' })
said.refused = [refused.status, refused.headers['www-authenticate']]
const twice = { ...token, 'X-Access-Token': sandbox.trafficAccessToken, Cookie: 'a=b' }
const shown = await ask({ path: '/a?b=c', headers: twice })
said.shown = [shown.status, shown.headers['x-own'], JSON.parse(shown.body).url, JSON.parse(shown.body).headers.cookie]
const key = process.env.E2B_API_KEY
const ways = [shown, await ask({ headers: { Authorization: `Bearer ${key}` } }), await ask({ headers: basic })]
said.leaks = ways.map(({ status, body }) => [status, body.includes(sandbox.trafficAccessToken), body.includes(key)])
said.other = []
const pages = [{ Origin: 'http://3000-x.localhost:1' }, { 'Sec-Fetch-Site': 'same-site' }, { Origin: `http://${host}` }]
for (const more of pages) {
  said.other.push((await ask({ headers: { ...basic, ...more } })).status)
}
const large = Buffer.alloc(3_000_000, 'y')
const told = { method: 'POST', headers: { ...token, 'Content-Length': large.length } }
said.posted = [await ask(told, large), await ask({ method: 'PUT', headers: token }, [large, 'z'])]
  .map((one) => JSON.parse(one.body).bytes)
said.continued = await new Promise((resolve, reject) => {
  const headers = { Host: host, ...token, Expect: '100-continue', 'Content-Length': 4 }
  const request = http.request({ host: '127.0.0.1', port, method: 'POST', headers }, (answer) => {
    let body = ''
    answer.on('data', (piece) => { body += piece })
    answer.on('end', () => resolve(JSON.parse(body).bytes))
  })
  request.on('continue', () => request.end('told'))
  request.on('error', reject)
  request.flushHeaders()
})
said.large = (await ask({ path: '/large', headers: token })).body.length
const closed = await ask({ headers: { ...token, Host: sandbox.getHost(3001) } })
said.closed = [closed.status, JSON.parse(closed.body).port]
said.stranger = (await ask({ headers: { ...token, Host: `3000-i000.localhost:${port}` } })).status
said.echoed = await new Promise((resolve, reject) => {
  const headers = { Host: host, ...token, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
                    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64') }
  const request = http.request({ host: '127.0.0.1', port, headers })
  request.on('upgrade', (answer, socket) => {
    socket.write('ping')
    socket.once('data', (bytes) => { resolve([answer.statusCode, bytes.toString()]); socket.destroy() })
  })
  request.on('response', (answer) => resolve([answer.statusCode]))
  request.on('error', reject)
  request.end()
})
said.processes = (await sandbox.commands.list()).length
await server.kill()

// Links, by which whoever has one needs no key.
const form = (text) => { const made = new FormData(); made.append('file', new Blob([text])); return made }
const upload = await sandbox.uploadUrl('up.txt')
said.uploaded = [(await fetch(upload, { method: 'POST', body: form('by a link') })).status]
said.uploaded.push(await sandbox.files.read('up.txt'))
const download = await sandbox.downloadUrl('/home/user/up.txt', { useSignatureExpiration: 60 })
said.downloaded = await (await fetch(download)).text()
const wrong = [upload, `${download}0`, download.replace('up.txt', 'note.txt'),
  download.replace(/signature=[^&]*/, 'signature=v1_x'),
  await sandbox.downloadUrl('up.txt', { useSignatureExpiration: -60 })]
said.wrong = await Promise.all(wrong.map(async (url) => (await fetch(url)).status))
said.wrongWrite = (await fetch(download, { method: 'POST', body: form('no') })).status
const other = await Sandbox.create()
const elsewhere = { headers: { 'E2b-Sandbox-Id': other.sandboxId }, method: 'POST', body: form('no') }
said.others = (await fetch(upload, elsewhere)).status
await other.kill()
await sandbox.kill()
said.gone = [(await ask({ headers: token })).status, (await fetch(download)).status]
console.log(JSON.stringify(said))
process.exit(0)
"""


def test_what_programs_of_e2b_do_first(api, npm):
    place = npm(PACKAGE)
    (place / "ports.mjs").write_text(COURSE)
    server = f"http://127.0.0.1:{api.port}"
    environment = {**api.environment(), "PATH": os.environ["PATH"], "E2B_API_URL": server, "E2B_SANDBOX_URL": server,
                   "E2B_API_KEY": api.token, "E2B_VALIDATE_API_KEY": "false", "SERVER": SERVER}
    done = harness.run_in(api.person, ["node", place / "ports.mjs"], cwd=place, env=environment, timeout=180)
    said = json.loads(done.ok().text)
    assert said["home"] == "/home/user\n/home/user\nuser\n" and said["cwd"] == "/home/user\n"
    assert said["note"] == "hellohello" and said["listed"] == ["/home/user/note.txt"]
    assert "hutch image build" in said["root"] and "hutch agent install" in said["root"]
    assert said["snapshot"].startswith("501") and "pause" in said["snapshot"], said["snapshot"]
    assert said["host"] is True
    assert said["refused"] == [401, 'Basic realm="sandbox"']
    assert said["shown"] == [200, "yes", "/a?b=c", "a=b"]
    assert said["leaks"] == [[200, False, False]] * 3, "the sandbox is shown no token"
    assert said["other"] == [401, 401, 200], "a page of another sandbox has the browser's password as well"
    assert said["posted"] == [3_000_000, 3_000_001] and said["large"] == 5_000_000
    assert said["continued"] == 4
    assert said["closed"] == [502, 3001] and said["stranger"] == 401
    assert said["echoed"] == [101, "ping"] and said["processes"] == 1
    assert said["uploaded"] == [200, "by a link"] and said["downloaded"] == "by a link"
    assert said["wrong"] == [401] * 5 and said["wrongWrite"] == 401 and said["others"] == 401
    assert said["gone"] == [401, 401]
    assert api.get("/v1/agents").ok()["agents"] == []


LISTENER = """
import socket

server = socket.create_server(("127.0.0.1", 3000))
print("listening")
while True:
    client, _ = server.accept()
    client.settimeout(1)
    heard = b""
    while not heard.endswith(b"\\r\\n\\r\\n") and (piece := client.recv(4096)):
        heard += piece
    client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    try:
        while piece := client.recv(4096):
            heard += piece
    except OSError:
        pass
    client.close()
    with open("/tmp/heard", "ab") as file:
        file.write(heard + b"END")
"""


def test_a_second_request_of_the_connection_reaches_no_sandbox(api):
    """It may be for another host, and show another token."""
    sandbox = e2b.Sandbox(api)
    stream = sandbox.start(f"python3 -u -c {shlex.quote(LISTENER)}")
    events = stream.events()
    assert "start" in next(events) and base64.b64decode(next(events)["data"]["stdout"]).startswith(b"listening")
    with socket.create_connection(("127.0.0.1", api.port), timeout=60) as connection:
        head = f"GET / HTTP/1.1\r\nHost: 3000-{sandbox.id}.localhost\r\nX-Access-Token: {sandbox.port_token}\r\n"
        connection.sendall(f"{head}\r\n{head.replace('/', '/second', 1)}Authorization: Bearer other\r\n\r\n".encode())
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    assert answer.count(b"HTTP/1.1 200 OK") == 1, answer
    heard = harness.wait_until(lambda: sandbox.run("cat /tmp/heard")[1], "what the server heard")
    assert heard.startswith(b"GET / HTTP/1.1\r\n") and b"second" not in heard
    assert sandbox.port_token.encode() not in heard
    stream.close()
    sandbox.kill()


# Says what is in SAID to whoever connects, and more once it has heard more; it does not close.
SAYER = """
import socket

server = socket.create_server(("127.0.0.1", 3000))
print("listening")
while True:
    client, _ = server.accept()
    client.settimeout(1)
    try:
        for answer in open("/tmp/said", "rb").read().split(b"|NEXT|"):
            client.recv(65536)
            client.sendall(answer)
        while client.recv(65536):
            pass
    except OSError:
        pass
    client.close()
"""


def _saying(sandbox):
    stream = sandbox.start(f"python3 -u -c {shlex.quote(SAYER)}")
    events = stream.events()
    assert "start" in next(events) and base64.b64decode(next(events)["data"]["stdout"]).startswith(b"listening")
    return stream


def _answered(api, sandbox, said, second=b"", more=""):
    """What a client reads until the daemon closes; it sends `second` once an answer has come."""
    line = f"echo {base64.b64encode(said).decode()} | base64 -d > /tmp/said"
    assert sandbox.run(line)[3]["exited"]
    with socket.create_connection(("127.0.0.1", api.port), timeout=60) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\nHost: 3000-{sandbox.id}.localhost\r\n"
                           f"Authorization: Bearer {api.token}\r\n{more}\r\n".encode())
        answer = connection.recv(65536)
        try:
            if second:
                connection.sendall(second)
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionError:
            pass
    return answer


def test_a_server_in_a_sandbox_does_not_speak_for_the_daemon(api):
    """A connection that a client keeps for its next request would answer that as well."""
    sandbox = e2b.Sandbox(api)
    stream = _saying(sandbox)
    forged = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"agents": 1}'
    first = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\nContent-Length: 2\r\n\r\nok"
    second = f"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.token}\r\n\r\n".encode()
    closed = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    assert _answered(api, sandbox, first + b"|NEXT|" + forged, second) == closed
    assert _answered(api, sandbox, first + forged) == closed
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    assert _answered(api, sandbox, interim + first) == closed
    for bad in (b"hello\r\n\r\n", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + forged, interim * 100,
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\nok"):
        assert _answered(api, sandbox, bad).startswith(b"HTTP/1.1 502 "), bad
    stream.close()
    sandbox.kill()


def test_the_password_of_ports_opens_nothing_else(api):
    """Whoever is given it may see a page, and neither run commands nor read files; nor the other way about."""
    sandbox = e2b.Sandbox(api)
    assert sandbox.port_token != sandbox.token
    host = f"3000-{sandbox.id}.localhost"
    for name in ("e2b-traffic-access-token", "X-Access-Token"):
        for token, status in ((sandbox.port_token, 502), (sandbox.token, 401)):  # 502: nobody listens
            shown = {"Authorization": None, "Host": host, name: token}
            assert api.request("GET", "/", headers=shown).status == status, (name, status)
    own = {"X-Access-Token": sandbox.port_token}
    assert sandbox.call("process.Process/List", {}, own).status == 401
    assert api.request("GET", "/files?path=/etc/passwd", headers=sandbox.headers(own)).status == 401
    assert sandbox.call("process.Process/List", {}).status == 200
    sandbox.kill()


def test_a_scheme_is_read_without_regard_to_case(api):
    """Who names root is refused, however Basic is written; at a port it is no name of a user of the sandbox."""
    sandbox = e2b.Sandbox(api)
    words = base64.b64encode(b"root:").decode()
    said = [sandbox.call("process.Process/List", {}, {"Authorization": f"{scheme} {words}"}).status
            for scheme in ("Basic", "basic", "BASIC")]
    assert said == [501] * 3
    let_in = base64.b64encode(f"root:{sandbox.port_token}".encode()).decode()
    at_port = {"Authorization": f"basic {let_in}", "Host": f"3000-{sandbox.id}.localhost"}
    assert api.request("GET", "/", headers=at_port).status == 502, "nobody listens"
    sandbox.kill()


def test_no_scheme_carries_a_token_on(api):
    """Whatever of the request it was let in by: neither tokens nor anybody's key."""
    api.person.write(api.state / "config" / "api-keys", f"ann {KEY}\n", mode=0o600)
    sandbox = e2b.Sandbox(api)
    stream = sandbox.start(f"python3 -u -c {shlex.quote(LISTENER)}")
    events = stream.events()
    assert "start" in next(events) and base64.b64decode(next(events)["data"]["stdout"]).startswith(b"listening")
    shown = {"Authorization": None, "Host": f"3000-{sandbox.id}.localhost", "X-Access-Token": sandbox.port_token}
    tokens = (api.token, sandbox.token, sandbox.port_token, KEY)
    for token in tokens:
        basic = base64.b64encode(f"x:{token}".encode()).decode()
        for value in (f"Basic {basic}", f"basic {basic}", f"bearer {token}", f"Token {token}", token):
            assert api.request("GET", "/", headers={**shown, "Authorization": value}).status == 200, value
        assert api.request("GET", "/", headers={**shown, "X-Note": token, "Cookie": f"a={token}"}).status == 200
    own = base64.b64encode(b"x:its own").decode()
    assert api.request("GET", "/last", headers={**shown, "Authorization": f"Basic {own}"}).status == 200
    heard = harness.wait_until(lambda: (text := sandbox.run("cat /tmp/heard")[1]).count(b"END") == 25 and text,
                               "what the server heard").decode()
    for token in tokens:
        assert token not in heard and base64.b64encode(f"x:{token}".encode()).decode() not in heard
    assert own in heard
    stream.close()
    sandbox.kill()


def test_at_other_names_a_browser_says_whose_page_asks(base, request):
    """By plain HTTP it does not, and an image of any page has the password that the browser keeps."""
    own = client.Api(base, base.person("user"), listen="0.0.0.0")
    request.addfinalizer(own.stop)
    sandbox = e2b.Sandbox(own)
    basic = base64.b64encode(f"x:{sandbox.port_token}".encode()).decode()

    def status(domain, **more):
        shown = {"Authorization": f"Basic {basic}", "Host": f"3000-{sandbox.id}.{domain}:{own.port}", **more}
        return own.request("GET", "/", headers=shown).status

    let_in = 502  # nobody listens
    assert [status("box.example"), status("localhost.example"), status("localhost")] == [401, 401, let_in]
    sites = ("same-origin", "none", "cross-site", "same-site")
    said = [status("box.example", **{"Sec-Fetch-Site": site}) for site in sites]
    assert said == [let_in, let_in, 401, 401]
    token = {"Authorization": None, "e2b-traffic-access-token": sandbox.port_token}
    assert status("box.example", **token) == let_in
    sandbox.kill()


def _signed(sandbox, path, operation, user):
    text = f"{path}:{operation}:{user}:{sandbox.token}".encode()
    return "v1_" + base64.b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")


def _at_link(api, method, signature, body=None, **query):
    text = urllib.parse.urlencode({**query, "signature": signature})
    headers = {"Authorization": None, "Content-Type": "application/octet-stream"}
    return api.request(method, f"/files?{text}", body=body, headers=headers)


def test_a_link_that_reads_does_not_write(api):
    """What is signed does not tell its parts apart, and a file may have any name."""
    sandbox = e2b.Sandbox(api)
    assert sandbox.run("echo old > a; echo other > a:write:b")[3]["exited"]
    path = "/home/user/a:write:b"
    for user in ("", "user"):
        link = _signed(sandbox, path, "read", user)
        assert _at_link(api, "GET", link, path=path, username=user).body == b"other\n"
        forged = _at_link(api, "POST", link, b"new", path="/home/user/a", username=f"b:read:{user}")
        assert forged.status == 401, forged.body
        own = _signed(sandbox, "/home/user/c", "write", user)
        assert _at_link(api, "POST", own, b"new", path="/home/user/c", username=user).status == 200
    assert sandbox.run("cat a c")[1] == b"old\nnew"
    sandbox.kill()
