# What every verb of ./dev needs: the project's paths, messages, running a program.
"""Messages go to stderr: stdout belongs to the program that ./dev runs."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Failed(Exception):
    """Ends the verb with one line and this exit code."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def say(message):
    print(f"dev: {message}", file=sys.stderr, flush=True)


def path(*parts):
    return os.path.join(ROOT, *parts)


def jobs():
    return len(os.sched_getaffinity(0))


def call(command, **options):
    """Runs a program with the caller's streams; its exit code."""
    return subprocess.run(command, check=False, **options).returncode


def must(command, **options):
    code = call(command, **options)
    if code != 0:
        raise Failed(f"{command[0]} ended with {code}", code if 0 < code < 256 else 1)
