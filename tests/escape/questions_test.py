# The attack on questions: a command that tries to answer its own.
"""It is told where the socket is, and given the directory to read and write besides. What it asks for stays open."""

import contextlib
import json
import pathlib

import pytest

import harness
from harness import wait_until

ATTACK = r"""
import glob, json, os, socket, sys, threading

def ask():
    try:
        socket.create_connection(("wanted.example", 80), 50).recv(1)
    except OSError:
        pass

threading.Thread(target=ask, daemon=True).start()
wanted = sys.stdin.readline().strip()
places = [wanted, os.path.relpath(wanted)]
for top in glob.glob("/proc/[0-9]*") + ["/proc/self", "/proc/thread-self"]:
    for way in ("root", "cwd"):
        places.append(f"{top}/{way}{wanted}")
        places += glob.glob(f"{top}/{way}{os.path.dirname(wanted)}/*")
    places += glob.glob(f"{top}/fd/*")
for place in places:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        try:
            client = socket.socket(socket.AF_UNIX, kind)
            client.connect(place)
        except OSError:
            continue
        print("succeeded: reached", place, flush=True)
        for number in range(1, 9):
            line = {"v": 1, "type": "answer", "id": str(number), "choice": "everywhere"}
            client.sendall(json.dumps(line).encode() + b"\n")
# Nor may it be the one who is waited for, or stand where programs outside look.
for name in ("attending", "zzzz.sock"):
    try:
        with open(os.path.join(os.path.dirname(wanted), name), "w") as made:
            print("succeeded: made", made.name, flush=True)
    except OSError:
        pass
print("tried", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(params=["bwrap", "namespace"])
def backend(request):
    """The backends where anything is asked."""
    return request.param


@contextlib.contextmanager
def following(hutch, env):
    """Somebody who answers, so that questions stay open."""
    argv = [hutch.program, "questions", "--follow"]
    with harness.start_in(hutch.person, argv, cwd=hutch.cwd, env=env) as follower:
        try:
            attending = pathlib.Path(env["HUTCH_STATE"], "run/runs/attending")
            wait_until(attending.exists, "somebody follows")
            yield
        finally:
            follower.kill()


def test_a_command_cannot_answer_its_own_question(hutch, as_user, project):
    state = as_user.mkdir(as_user.home / f"state-{project.name.split('-')[0]}")
    env = {"HUTCH_STATE": str(state)}
    as_user.mkdir(state / "run", mode=0o700)
    runs = as_user.mkdir(state / "run/runs", mode=0o700)

    def listed():
        return [json.loads(line) for line in hutch("questions", "--json", env=env).ok().text.splitlines()]

    options = ["--allow-read", str(state), "--allow-write", str(state)]
    with following(hutch, env), hutch.popen("python3", "-c", ATTACK, options=options, env=env) as run:
        try:
            wait_until(listed, "the question is open")
            [socket] = runs.glob("*.sock")
            run.stdin.write(f"{socket}\n".encode())
            run.stdin.flush()
            assert run.stdout.readline() == b"tried\n"
            [question] = listed()
            assert question["host"] == "wanted.example", "it is still open"
            assert [path.name for path in runs.iterdir() if path.name.startswith("zzzz")] == []
            hutch("answer", question["id"], "no", env=env).ok()
            run.stdin.close()
            assert b"succeeded" not in run.stdout.read()
        finally:
            run.kill()
    assert not list((state / "config").glob("*.json")), "nothing is saved"
