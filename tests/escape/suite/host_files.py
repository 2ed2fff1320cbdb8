# Attacks that take more than one step: what one sandbox leaves for the next one, and what hutch itself knows.
"""A Scene is a declarative entry: what lies there before, what runs inside, and which file of the host's side says
"evil" afterwards, or what the last sandbox prints. Other tables of such cases are made by scenes() too."""

import dataclasses
import time

import arena as arenas
from cases import EVERYBODY, FELL, HELD, NOBODY, Case, Outcome, each, slug


@dataclasses.dataclass(frozen=True)
class Scene:
    what: str
    inside: tuple  # scripts, one after the other, each in a sandbox of its own
    before: dict = dataclasses.field(default_factory=dict)  # below the home: path, content
    written: str = ""  # below the home: it says "evil" if the attack succeeded
    options: tuple = ()  # of the last sandbox; {home} and {project} are put in
    environment: dict = dataclasses.field(default_factory=dict)  # of hutch
    bites: str = EVERYBODY
    unless: str = ""


SECRET = arenas.SECRET
KEY = {"secret/key": SECRET}
REFUSES = "cannot; hutch refuses such a place whatever the backend"

LEFT = [
    Scene("a link in the place of a directory that may be written",
          ("rmdir out; ln -s ../../other out", "echo evil > out/file"), {"other/file": "", "projects/p/out/": ""},
          "other/file", ("--allow-write", "{project}/out"), bites=NOBODY, unless=REFUSES),
    Scene("a link in the place of a directory that may be read",
          ("rmdir out; ln -s ../../secret out", "cat out/key"), {**KEY, "projects/p/out/": ""},
          options=("--allow-read", "{project}/out")),
    Scene("a link in the place of a file that may be read", ("rm out; ln -s ../../secret/key out", "cat out"),
          {**KEY, "projects/p/out": "x"}, options=("--allow-read", "{project}/out")),
    Scene("a link above a directory that may be written",
          ("mv a b; ln -s ../../other a", "echo evil > a/out/file"), {"other/out/file": "", "projects/p/a/out/": ""},
          "other/out/file", ("--allow-write", "{project}/a/out"), bites=NOBODY, unless=REFUSES),
    Scene("a link in the place of the temporary directory of the project",
          ("ln -s ../../other tmp", "echo evil > tmp/file"), {"other/file": ""}, "other/file"),
    Scene("a policy in the project",
          ("mkdir -p .hutch .config/hutch; for f in .hutch.json hutch.json .hutch/policy.json "
           ".config/hutch/default.json .hutchrc; do printf '{\"filesystem\": {\"allowRead\": [\"/\"]}}' > $f; done",
           "cat ../../secret/key"), KEY),
    Scene("variables that a program of the project may set for hutch",
          ("printf 'HUTCH_BACKEND=none\\nHUTCH_POLICY=/dev/null\\n' > .env; echo none > .hutch-backend",
           "cat ../../secret/key"), KEY),
    Scene("a program of the project in the place of hutch-guest",
          ("for f in hutch-guest bwrap sh; do printf '#!/bin/sh\\necho evil > ../../other/file\\n' > $f; "
           "chmod 755 $f; done",
           "hutch-guest; ./hutch-guest"), {"other/file": ""}, "other/file", ("--env", "PATH=.:/usr/bin:/bin")),
    Scene("a pipe that the user's next program reads", ("mkfifo ../../other/pipe && echo evil > ../../other/file",),
          {"other/file": ""}, "other/file"),
    Scene("a hard link to a file of the home", ("ln ../../other/file mine; echo evil > mine",), {"other/file": ""},
          "other/file"),
    Scene("by renaming its own directory away",
          ("cd ..; mv p q && mkdir p && ln -s ../../other/file p/file; echo evil > p/file",), {"other/file": ""},
          "other/file"),
]

KNOWN = [
    Scene("a token in the environment of hutch, by its processes",
          ("for f in /proc/[0-9]*/environ; do cat $f 2>/dev/null; done | tr '\\0' '\\n'",),
          environment={"CALLER_TOKEN": SECRET}),
    Scene("a token in the environment of hutch, by the command's own", ("env; cat /proc/self/environ",),
          environment={"CALLER_TOKEN": SECRET}, bites=NOBODY, unless="cannot; hutch passes no variable on that it was "
          "not told to"),
    Scene("the record of past runs", ("cat ../../.local/share/hutch/* ../../.local/share/hutch/*/*; grep -rs "
          f"{SECRET} ../../.local ../../.config",), {".local/share/hutch/then": SECRET}),
    Scene("the user's own policies", ("cat ../../.config/hutch/default.json || cat $XDG_CONFIG_HOME/hutch/*",),
          {".config/hutch/notes": SECRET}, bites=NOBODY, unless="cannot; there is no such policy"),
    Scene("a change of the user's own policies",
          ("mkdir -p ../../.config/hutch; echo evil > ../../.config/hutch/projects.txt",), {},
          ".config/hutch/projects.txt"),
    Scene("a new policy for the project, by hutch itself",
          ("mkdir -p ../../.config/hutch && cp /dev/null ../../.config/hutch/x && echo evil > ../../.config/hutch/x",),
          {}, ".config/hutch/x"),
]


def scenes(attack, kind, sentence, table):
    """Cases of a table of Scenes: for tables that are kept elsewhere too. `sentence` is what they have in common."""
    by_name = {slug(scene.what): scene for scene in table}
    assert len(by_name) == len(table)

    def run(rig, case):
        return play(rig, by_name[case.name])

    for name, scene in by_name.items():
        yield Case(attack, name, kind, f"{sentence}: {scene.what}.", each(run), scene.bites, scene.unless)


def cases():
    yield from scenes("left_for_the_next", "files", "Leaves for the next sandbox, or the user's next program", LEFT)
    yield from scenes("what_hutch_knows", "files", "Reads or changes what hutch itself keeps", KNOWN)


def play(rig, scene):
    began = time.monotonic()
    with rig.project() as (person, project):
        for path, content in scene.before.items():
            if not path.endswith("/"):
                person.write(person.home / path, content)
            elif not (person.home / path).exists():
                person.mkdir(person.home / path)
        hutch = rig.hutch(person, project)
        for script in scene.inside[:-1]:
            hutch.sh(script, env=scene.environment)
        options = [word.format(home=person.home, project=project) for word in scene.options]
        result = hutch.sh(scene.inside[-1], options=options, env=scene.environment)
        evil = person.home / scene.written
        fell = evil.is_file() and "evil" in evil.read_text(encoding="utf-8") if scene.written else \
            SECRET.encode() in result.out
        if result.code == 125 and not fell and b"symbolic link" not in result.err:
            raise ValueError(result.errors[-400:])
        how = f"{scene.written} was written" if scene.written else "the secret was printed"
        return Outcome(FELL if fell else HELD, how if fell else "", time.monotonic() - began)
