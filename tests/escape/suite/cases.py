# What a case of the suite is, and what comes of it.
"""A case is one attempt of one attack. It is run on the backend none, where it is to succeed, and on those that
isolate, where it is to be held. Cases with the same `together` are made by one call of `attempt`."""

import dataclasses
import re
import typing

# What may come of a case on a backend.
FELL, HELD, NOT_RUN, ERROR = "fell", "held", "not run", "error"
# Who succeeds on the backend none.
EVERYBODY, ROOT, USER, NOBODY = "everybody", "root", "user", "nobody"


class NotRun(Exception):
    """Why this host has not what the case needs."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    verdict: str
    how: str = ""
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Case:
    attack: str
    name: str
    kind: str
    what: str  # a sentence
    attempt: typing.Callable  # attempt(rig, [case, ...]) -> {case.key: Outcome}
    bites: str = EVERYBODY
    unless: str = ""  # why nobody succeeds with it on the backend none
    needs: tuple = ()  # programs that the host has to have, "root", "internet"
    together: str = ""
    of_files: bool = True  # whether it is about rules for files, which the backend user has none of

    @property
    def key(self):
        return f"{self.attack}.{self.name}"

    def is_to_bite(self, is_root):
        return self.bites == EVERYBODY or self.bites == (ROOT if is_root else USER)


def slug(text):
    """A name for the command line of what a sentence names."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("'", "")).strip("_")


def each(attempt):
    """For cases that are run one by one: attempt(rig, case) -> Outcome."""
    return lambda rig, cases: {case.key: attempt(rig, case) for case in cases}
