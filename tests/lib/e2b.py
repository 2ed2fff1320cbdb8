# The calls of the E2B-compatible API as its clients make them, without such a client.
"""Sandbox(api) makes one; its calls go by HTTP with exactly the headers that are asked for."""

import base64
import json
import struct

KEY = "X-API-KEY"


def rest(api, method, path, data=None, headers=None, key=None):
    """One request of the API of sandboxes, without the bearer token that api.request shows."""
    sent = {"Authorization": None, KEY: key if key is not None else api.token, **(headers or {})}
    return api.request(method, path, data=data, headers=sent)


def envelope(message, flags=0):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack(">BI", flags, len(body)) + body


class Stream:
    """A call that is answered by a stream: iterating gives its messages; `error` is what its last envelope said."""

    def __init__(self, connection, answer):
        self.connection, self.answer, self.error, self.ended = connection, answer, None, False

    def __iter__(self):
        return self

    def __next__(self):
        head = self._read(5)
        flags, size = struct.unpack(">BI", head)
        message = json.loads(self._read(size))
        if flags & 2:
            self.error, self.ended = message.get("error"), True
            raise StopIteration
        return message

    def _read(self, size):
        data = self.answer.read(size)
        if len(data) != size:
            raise EOFError(f"the stream broke off: {data!r}")
        return data

    def events(self):
        return (message["event"] for message in self)

    def run(self):
        """(pid, stdout, stderr, end) of what is left of a process's stream."""
        pid, texts, end = None, {"stdout": [], "stderr": [], "pty": []}, None
        for event in self.events():
            if "start" in event:
                pid = event["start"]["pid"]
            for name, data in event.get("data", {}).items():
                texts[name].append(base64.b64decode(data))  # a bytes that grows is copied for each piece
            end = event.get("end", end)
        return pid, b"".join(texts["stdout"] + texts["pty"]), b"".join(texts["stderr"]), end

    def close(self):
        self.answer.close()
        self.connection.close()


class Sandbox:
    def __init__(self, api, template="base", key=None, **wish):
        self.api, self.key = api, key
        made = rest(api, "POST", "/v2/sandboxes", {"templateID": template, **wish}, key=key).ok(201)
        self.id, self.token = made["sandboxID"], made["envdAccessToken"]
        self.port_token = made["trafficAccessToken"]

    @property
    def agent(self):
        return f"e2b-{self.id}"

    def rest(self, method, path="", data=None):
        return rest(self.api, method, f"/sandboxes/{self.id}{path}", data, key=self.key)

    def headers(self, more=None):
        return {"Authorization": None, "E2b-Sandbox-Id": self.id, "X-Access-Token": self.token, **(more or {})}

    def call(self, method, message, headers=None):
        """A call that is no stream."""
        return self.api.request("POST", f"/{method}", data=message, headers=self.headers(headers))

    def stream(self, method, message, headers=None, body=None):
        connection = self.api.connection()
        sent = self.headers({"Content-Type": "application/connect+json", **(headers or {})})
        connection.request("POST", f"/{method}", body=envelope(message) if body is None else body,
                           headers={name: value for name, value in sent.items() if value is not None})
        answer = connection.getresponse()
        assert answer.status == 200, (answer.status, answer.read())
        return Stream(connection, answer)

    def start(self, line, headers=None, **more):
        process = {"cmd": "/bin/bash", "args": ["-l", "-c", line], **more.pop("process", {})}
        return self.stream("process.Process/Start", {"process": process, "stdin": False, **more}, headers)

    def run(self, line, **more):
        stream = self.start(line, **more)
        try:
            return stream.run()
        finally:
            stream.close()

    def pids(self):
        return [one["pid"] for one in self.call("process.Process/List", {}).ok().get("processes", [])]

    def kill(self):
        return self.rest("DELETE")


def expect_home(sandbox, home="/home/user", user="user"):
    """It is where commands begin and what files are relative to, and it stays. Where the sandbox has its home elsewhere
    (`home`), calls go by /home/user all the same."""
    first = sandbox.run(f"pwd; echo $HOME; echo kept > note; cat {home}/note ~/note")
    assert first[1] == f"{home}\n{home}\nkept\nkept\n".encode(), first
    there = sandbox.run("pwd; mkdir -p deep/er; id -un", process={"cwd": "/home/user"})
    assert there[1] == f"{home}\n{user}\n".encode(), there
    inside = sandbox.run("pwd", process={"cwd": "/home/user/deep/er"})
    assert inside[1] == f"{home}/deep/er\n".encode(), inside
    headers = sandbox.headers({"Content-Type": "application/octet-stream"})
    written = sandbox.api.request("POST", "/files?path=/home/user/deep/own", body=b"by a client", headers=headers)
    assert written.ok(200)[0]["path"] == f"{home}/deep/own"
    assert sandbox.run(f"cat {home}/deep/own")[1] == b"by a client"
    assert sandbox.api.request("GET", "/files?path=note", headers=sandbox.headers()).body == b"kept\n"
    outside = sandbox.api.request("GET", "/files?path=/home/user/../../etc/hostname", headers=sandbox.headers())
    assert outside.body == sandbox.run("cat /etc/hostname")[1] or outside.status == 404, outside.body
    listed = sandbox.call("filesystem.Filesystem/ListDir", {"path": "/home/user"}).ok()["entries"]
    assert {f"{home}/note", f"{home}/deep"} <= {one["path"] for one in listed}, listed
