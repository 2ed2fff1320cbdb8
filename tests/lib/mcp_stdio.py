# A client of `hutch mcp`, by its standard input and output.
import json
import subprocess

import harness


class Client:
    """`hutch mcp --agent NAME`, or without an agent that of its working directory; a message a line."""

    def __init__(self, daemon, agent=None, **options):
        chosen = ["--agent", agent] if agent else []
        self.process = daemon.popen("mcp", *chosen, stderr=subprocess.DEVNULL, **options)
        self.number = 0

    def send(self, method, **params):
        self.number += 1
        self.say({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def say(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        """The answer, and the notifications that came before it."""
        number = self.send(method, **params)
        before = []
        while (message := self.hear()).get("id") != number:
            before.append(message)
        return message["result"], before

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(harness.PATIENCE) == 0
        self.process.stdout.close()


def names(tools):
    return {tool["name"] for tool in tools["tools"]}
