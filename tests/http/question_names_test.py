# Names that a command chooses, on each of those who are asked: what is shown is one line, whole, and nothing else.
import contextlib
import json
import os
import re
import socket
import threading
import time

import pytest

from api import wait_until

NAMES = {
    "an escape sequence": b"a\x1b[2J\x1b[Hb",
    "a title of the terminal": b"a\x1b]0;x\x07b",
    "a line end": b"a\nhutch answer 1 once",
    "a carriage return": b"a\rconnect wanted",
    "a backspace": b"a\x08\x08\x08b",
    "a tab": b"a\tb",
    "CSI in one character": b"a\xc2\x9b2Jb",
    "bytes that are no text": b"a\xff\xfe\x80b",
    "right to left": "a\u202egnp.b".encode(),
    "an isolate": "a\u2066b\u2069c".encode(),
    "no room": "a\u200bb".encode(),
    "a joiner": "a\u200db".encode(),
    "a tag": "a\U000e0041\U000e0042b".encode(),
    "a variation": "a\ufe0fb".encode(),
    "a space that is none": "a\u00a0b".encode(),
    "a blank letter": "a\u3164b".encode(),
    "a line separator": "a\u2028b".encode(),
    "blanks in a row": b"a" + b" " * 20 + b"by git (1), in agent x",
    "a blank at its end": b"a ",
    "a command of a shell": b"$(id)`id`;id",
    "JSON": b'a","choice":"once","x":"',
    "markup": b"<b onclick=x>a<!--&amp;",
    "a very long name": b"a" * 45 + b"the-end",
}


class Service:
    """A socket of the host's, by that name."""

    def __init__(self, api, name):
        directory = api.person.mkdir(api.person.home / f"n{time.monotonic_ns() % 10**7}")
        self.path = os.path.join(os.fsencode(directory), name)
        self.listener = socket.socket(socket.AF_UNIX)
        above = os.open(directory, os.O_PATH)
        self.listener.bind(b"/proc/self/fd/%d/" % above + name)
        os.chown(name, api.person.uid, -1, dir_fd=above, follow_symlinks=False)
        os.close(above)
        self.listener.listen(4)


@pytest.fixture(params=NAMES)
def service(request, api):
    made = Service(api, NAMES[request.param])
    yield made
    made.listener.close()


def test_what_is_asked_is_one_line_and_whole(api, agent, service):
    code = f"import socket; socket.socket(socket.AF_UNIX).connect(bytes.fromhex('{service.path.hex()}'))"
    with api.events("GET", f"/v1/questions?agent={agent}") as events:
        assert next(events)[0] == "ready"
        run = threading.Thread(target=api.post, args=(f"/v1/agents/{agent}/exec",
                                                      {"command": f'python3 -c "{code}" 2>/dev/null'}))
        run.start()
        try:
            name, question = next(events)
            assert (name, question["kind"]) == ("question", "socket")
            with contextlib.suppress(UnicodeDecodeError):
                assert question["path"] == service.path.decode()
            shown = wait_until(lambda: api("questions").ok().out)
            lines = [json.loads(line) for line in api("questions", "--json").ok().text.strip("\n").split("\n")]
            assert [one["id"] for one in lines] == [question["id"]] and lines[0]["path"] == question["path"]
        finally:
            api.post(f"/v1/questions/{question['id']}", {"choice": "no"})
            run.join(60)
    # JSON has no bytes that are no text: each is shown by the character that stands for such.
    path = service.path.decode(errors="replace").encode()
    shown = shown.replace("\ufffd".encode(), b"\\xef\\xbf\\xbd")
    assert shown.count(b"\n") == 2 and re.fullmatch(rb"[ -~\n]*", shown), shown
    text = re.sub(rb"\\x(..)", lambda found: bytes.fromhex(found[1].decode()), shown)
    assert b"socket " + path + b", by " in text, "nothing is left out"
    assert not re.search(rb"  +(by|asked|in agent|hutch)", shown.split(b"\n")[0])


def test_a_long_host_is_shown_whole(api, agent):
    host = ".".join(["good"] + ["x" * 50] * 4 + ["evil", "example"])
    with api.events("GET", f"/v1/questions?agent={agent}") as events:
        next(events)
        command = f"bash -c 'exec 3<>/dev/tcp/{host}/8443'"
        run = threading.Thread(target=api.post, args=(f"/v1/agents/{agent}/exec", {"command": command}))
        run.start()
        _, question = next(events)
        try:
            assert question["host"] == host and f"connect {host}:8443" in api("questions").ok().text
        finally:
            api.post(f"/v1/questions/{question['id']}", {"choice": "no"})
            run.join(60)
