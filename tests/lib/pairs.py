# Who each test is tried by, and on which backend.
"""With ./dev test --all a test is tried by root and by an ordinary user, and by both on each backend. Without it one of
the two tries it, in turn; on each backend, where it has several. So a suite meets all of them."""

import os
import zlib

PERSONS = ("as_user", "daemon", "api", "worker")
BACKENDS = ("backend", "any_agent", "engine", "way")


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
        person, backend = (next((str(params[name]) for name in names if name in params), "")
                           for names in (PERSONS, BACKENDS))
        words = item.name.removesuffix("]").replace("[", "-", 1).split("-")
        chosen = [word for word in (person, backend) if word]
        if person and all(word in words for word in chosen):
            for word in chosen:
                words.remove(word)
            cases.setdefault((item.path.name, *words), {}).setdefault(backend, {})[person] = item
    left = set()
    for case, backends in cases.items():
        turn = zlib.crc32(repr(case).encode())
        for number, (_, persons) in enumerate(sorted(backends.items())):
            if len(persons) > 1:
                kept = sorted(persons)[(number + turn) % len(persons)]
                left.update(item for person, item in persons.items() if person != kept)
    return left
