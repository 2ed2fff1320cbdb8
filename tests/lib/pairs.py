# Which pairs of a person and a backend each test is tried with.
"""A test runs for root and for an ordinary user, and on each backend. All pairs of the two are tried with ./dev test
--all; without it each backend is tried by one of the two, in turn, so that a test meets both and a suite meets all."""

import os
import zlib

PERSONS = ("as_user", "daemon")
BACKENDS = ("backend", "any_agent", "engine")


def leave_spare(config, items):
    """Takes the rest out of the items."""
    if os.environ.get("HUTCH_TEST_ALL") == "1":
        return
    left = spare(items)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


def spare(items):
    cases = {}
    for item in items:
        params = getattr(item, "callspec", None) and item.callspec.params or {}
        chosen = [str(params[name]) for names in (PERSONS, BACKENDS) for name in names if name in params]
        words = item.name.removesuffix("]").replace("[", "-", 1).split("-")
        if len(chosen) == 2 and all(name in words for name in chosen):
            for name in chosen:
                words.remove(name)
            person, backend = chosen
            cases.setdefault((item.path.name, *words), {}).setdefault(backend, {})[person] = item
    left = set()
    for case, backends in cases.items():
        turn = zlib.crc32(repr(case).encode())
        for number, (_, persons) in enumerate(sorted(backends.items())):
            if len(persons) > 1:
                kept = sorted(persons)[(number + turn) % len(persons)]
                left.update(item for person, item in persons.items() if person != kept)
    return left
