# The attacks that are C programs (attacks/*.c): each ATTEMPT in them is a case.
"""The head of an attack: a sentence, and lines `// key: value`. kind: what it is about. none: why nobody succeeds with
some of it where nothing protects. stdin, stdout: file, if that stream is one. twice: the second sandbox is the one that
counts. outside: what the host does meanwhile."""

import concurrent.futures
import contextlib
import os
import pathlib
import re
import time

from cases import ERROR, FELL, HELD, NOBODY, NOT_RUN, Case, Outcome, each

ATTACKS = pathlib.Path(__file__).resolve().parents[1] / "attacks"
ATTEMPT = re.compile(r"^ATTEMPT\((\w+), (everybody|root|user|nobody)\b", re.MULTILINE)
HEAD = re.compile(r"^// (\w+): (.+)$", re.MULTILINE)
SUCCEEDED, WAS_HELD, ABSENT, FAILED = 0, 1, 2, 125
# About the host and not about rules for files: tried on a sandbox that is another user of the host as well.
OF_FILES = ("files", "streams")
# What the sandbox's own user may do to its own files, where no rule is about names.
OWN_FILES = ("setuid_program.made", "setuid_program.moved", "setuid_program.group", "high_halves.a_mode")


def text_of(attack):
    return (ATTACKS / f"{attack}.c").read_text(encoding="utf-8")


def head_of(attack):
    return dict(HEAD.findall(text_of(attack)))


def names():
    return sorted(path.stem for path in ATTACKS.glob("*.c") if path.stem != "main")


def cases():
    for attack in names():
        head, what = head_of(attack), text_of(attack).split("\n", 1)[0].removeprefix("// ")
        for name, bites in ATTEMPT.findall(text_of(attack)):
            of_files = head["kind"] in OF_FILES or f"{attack}.{name}".startswith(OWN_FILES)
            # Both are of the same name, and are looked into by permission only.
            yield Case(attack, name, head["kind"], what, each(run), bites,
                       head.get("none", "") if bites == NOBODY else "", of_files=of_files)


def run(rig, case):
    head = head_of(case.attack)
    began = time.monotonic()
    with rig.arena() as arena:
        if "outside" in head:
            result = replaced_meanwhile(rig, arena, case)
        else:
            result = run_in(rig, arena, case, head)
            if "twice" in head:
                result = run_in(rig, arena, case, head)
        changed = [path for path in arena.changes() if path != str(arena.stream) or "stdout" not in head]
        if "outside" in head:
            # What the host itself has put there is another file, of the same content.
            changed = [path for path in changed if b"attacked" in pathlib.Path(path).read_bytes()]
        stream = arena.stream.stat()
        kept = arena.stream.read_bytes().startswith(b"the-secret-word") and stream.st_mode & 0o777 == 0o644
    seconds = time.monotonic() - began
    if result.code == SUCCEEDED or b"succeeded" in result.out:
        return Outcome(FELL, "the attempt succeeded", seconds)
    if changed or not kept:
        return Outcome(FELL, "changed: " + ", ".join(changed or ["the file of the standard output"]), seconds)
    if result.code == FAILED and not ("outside" in head and b"replaced outside" in result.err):
        return Outcome(ERROR, result.errors.strip()[-400:], seconds)
    if result.code == ABSENT and not rig.isolates:
        return Outcome(NOT_RUN, "this host does not have what it is about", seconds)
    if result.code not in (WAS_HELD, ABSENT, FAILED) and result.code < 128:
        return Outcome(ERROR, f"exit code {result.code}: {result.errors.strip()[-400:]}", seconds)
    return Outcome(HELD, "", seconds)


def run_in(rig, arena, case, head):
    with contextlib.ExitStack() as opened:
        streams = {}
        if "stdin" in head:
            streams["stdin"] = opened.enter_context(open(arena.stream, "rb"))
        if "stdout" in head:
            streams["stdout"] = opened.enter_context(open(arena.stream, "ab"))
        return rig.attack(arena, case.attack, case.name, streams)


def replaced_meanwhile(rig, arena, case):
    """The host replaces the protected file while the attack waits."""
    name = "denied-file" if case.name.startswith("a_denied_file") else ".git/config"
    project, person = arena.project, arena.person
    person.write(project / "outside")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(rig.attack, arena, case.attack, case.name, {})
        deadline = time.monotonic() + 45
        while not (project / "waiting").exists() and not running.done() and time.monotonic() < deadline:
            time.sleep(0.02)
        content = (project / name).read_bytes()
        if case.name.endswith("aside"):
            os.rename(project / name, project / "aside")
        os.rename(person.write(project / "fresh", content), project / name)
        person.write(project / "replaced")
        return running.result()
