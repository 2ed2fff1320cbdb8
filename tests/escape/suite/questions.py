# The attack on questions: a command that tries to answer its own.
"""It is told where the socket is, and given the directory to read and write besides. What it asks for stays open."""

import contextlib
import pathlib
import time

import harness
from cases import EVERYBODY, FELL, HELD, NOBODY, Case, Outcome
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
# By what the attack prints.
PRINTED = {
    "answered": b"succeeded: reached",
    "stands_in_for_who_answers": b"/attending",
    "stands_where_programs_look": b"/zzzz.sock",
}


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


def cases():
    unless = "cannot; nothing is asked there"
    for name, what in {"answered": "Answers its own question.", "stands_in_for_who_answers": "Makes the file that says "
                       "that somebody answers.", "stands_where_programs_look": "Makes a socket beside those of "
                       "questions."}.items():
        yield Case("questions", name, "sockets", what, attempt, NOBODY if name == "answered" else EVERYBODY,
                   unless if name == "answered" else "", needs=("python3",), together="questions")


def attempt(rig, cases_of_attack):
    began = time.monotonic()
    with rig.project() as (person, project):
        hutch = rig.hutch(person, project)
        state = person.mkdir(person.home / "state")
        env = {"HUTCH_STATE": str(state)}
        person.mkdir(state / "run", mode=0o700)
        runs = person.mkdir(state / "run/runs", mode=0o700)
        options = ["--allow-read", str(state), "--allow-write", str(state)]
        with contextlib.ExitStack() as closing:
            if rig.isolates:
                closing.enter_context(following(hutch, env))
            run = closing.enter_context(hutch.popen("python3", "-c", ATTACK, options=options, env=env))
            closing.callback(run.kill)
            if rig.isolates:
                wait_until(lambda: list(runs.glob("*.sock")), "the question is open")
            wanted = next(runs.glob("*.sock"), runs / "none.sock")
            out, _ = run.communicate(f"{wanted}\n\n".encode(), timeout=harness.PATIENCE)
            if b"tried" not in out:
                raise ValueError(out.decode(errors="replace")[-400:])
    seconds = time.monotonic() - began
    return {case.key: Outcome(FELL if PRINTED[case.name] in out else HELD, "", seconds) for case in cases_of_attack}
