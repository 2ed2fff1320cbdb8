# Every call that takes a descriptor, made on one from before the file had a name that may not be changed.
"""The calls are those of tests/access/descriptors.py, whose table is src/plan/filter/descriptor_calls.cc."""

import os
import time

import descriptors
import harness
from cases import FELL, HELD, NOT_RUN, Case, Outcome, slug
from rig import PYTHON

DENIED = ".mcp.json"


def cases():
    for row in descriptors.ATTACKS:
        if descriptors.is_here(row):
            yield Case("descriptor", slug(row), "descriptors", f"Changes a protected file by {row.replace(':', ', ')}.",
                       attempt, together="descriptors", bites="everybody", needs=(PYTHON,))


def attempt(rig, cases_of_table):
    began = time.monotonic()
    rows = [row for row in descriptors.ATTACKS if slug(row) in {case.name for case in cases_of_table}]
    with rig.project() as (person, project):
        make_files(person, project, rows)
        before = states(project)
        argv = [rig.hutch(person, project).program, "run", "--backend", rig.backend, "--", PYTHON, "descriptors.py"]
        with harness.start_in(person, [*argv, *rows], cwd=project) as process:
            if process.stdout.readline() != b"ready\n":
                raise ValueError(process.stderr.read().decode()[-400:])
            for path in project.glob("*/plain"):
                path.rename(path.with_name(DENIED))
            out, err = process.communicate(b"\n", timeout=harness.PATIENCE)
        after = states(project)
    if process.returncode != 0:
        raise ValueError(err.decode()[-400:])
    answers = {tuple(line.split("|")[:2]): line.split("|")[2] for line in out.decode().splitlines()}
    seconds = (time.monotonic() - began) / len(rows)
    return {f"descriptor.{slug(row)}": outcome_of(rig, {
        kind: (answers[row, kind], before[f"{at}-{kind}"] != after[f"{at}-{kind}"]) for kind in descriptors.KINDS
    }, seconds) for at, row in enumerate(rows)}


def outcome_of(rig, answers, seconds):
    """`answers`: by the kind of descriptor, what the call answered and whether the file has changed."""
    made = [kind for kind, (answer, changed) in answers.items() if changed or answer == "ok"]
    if made:
        return Outcome(FELL, f"by a descriptor for {', '.join(made)}", seconds)
    if not rig.isolates:
        errors = ", ".join(sorted({answer for answer, _ in answers.values()}))
        return Outcome(NOT_RUN, f"the kernel or the file system answers with {errors} where nothing protects", seconds)
    return Outcome(HELD, "", seconds)


def make_files(person, project, rows):
    for at, _ in enumerate(rows):
        for kind in descriptors.KINDS:
            path = person.write(project / f"{at}-{kind}" / "plain", "as it was\n")
            try:
                os.setxattr(path, "user.old", b"o")
            except OSError:
                pass  # a file system without them holds nothing that could be changed
            os.utime(path, (5, 5))
    person.write(project / "spare", "of the spare file\n" * 1000)
    with open(descriptors.__file__, "rb") as source:
        person.write(project / "descriptors.py", source.read())


def states(project):
    """Of each file what can be changed about it."""
    found = {}
    for path in [*project.glob("*/plain"), *project.glob(f"*/{DENIED}")]:
        info = path.lstat()
        values = {name: os.getxattr(path, name) for name in os.listxattr(path)}
        found[path.parent.name] = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink, info.st_mtime_ns,
                                   path.read_bytes(), values)
    return found
