# What the cases of the conformance suite share.
"""Everything here is said of all three backends, for root and for an ordinary user, unless a case says otherwise."""

import json


def isolates(backend):
    return backend != "none"


def has_own_files(backend):
    """Files are those that were planned; with user they are the machine's, as open as they are to that user."""
    return backend not in ("none", "user")


def outcome(hutch, *command, options=(), **kw):
    """The object that --json prints."""
    result = hutch.run(*command, options=["--json", *options], **kw)
    assert result.out.count(b"\n") == 1, str(result)
    return json.loads(result.out), result
