# Runs inside the sandbox: makes the changes of some rounds, each in the directory of its number.
"""inside.py SEED TRIP GROUND ONLY NUMBER...; ONLY is "-" or the acts, with commas."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import acts  # noqa: E402


def main(seed, trip, ground, only, *numbers):
    chosen = None if only == "-" else [int(index) for index in only.split(",")]
    os.umask(0o022)
    for number in numbers:
        os.chdir(f"{ground}/r{number}")
        acts.play(int(seed), int(number), trip, chosen)


main(*sys.argv[1:])
