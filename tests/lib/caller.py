# The program that started hutch: its end of the control descriptor.
import contextlib
import json
import socket


class Caller:
    """The program that started hutch: reads its lines, writes its own."""

    def __init__(self, end):
        self.end, self.file = end, end.makefile("r")
        end.settimeout(60)

    def line(self, kind):
        """The next line of that type."""
        while (line := self.next(kind))["type"] != kind:
            pass
        return line

    def next(self, wanted="line"):
        """The next line of any type."""
        text = self.file.readline()
        assert text, f"hutch closed the channel; no {wanted} came"
        return json.loads(text)

    def refused(self):
        """The line about the next host that was refused."""
        while " was refused" not in (line := self.line("violation"))["what"] or "socket" in line["what"]:
            pass
        return line

    def refusal(self):
        """What it says of the next host that was refused."""
        return self.refused()["what"]

    def refuse_all(self):
        """Every question from here on is answered with no, until the end."""
        while (line := self.next())["type"] != "done":
            if line["type"] == "question":
                self.say(type="answer", id=line["id"], choice="no")

    def say(self, **line):
        self.end.sendall(json.dumps({"v": 1, **line}).encode() + b"\n")


@contextlib.contextmanager
def running(hutch, script, *options, **more):
    ours, its = socket.socketpair()
    with ours, its:
        process = hutch.popen("sh", "-c", script, options=["--control-fd", str(its.fileno()), *options],
                              pass_fds=[its.fileno()], **more)
        its.close()
        with process:
            caller = Caller(ours)
            yield caller, process
            caller.file.close()
