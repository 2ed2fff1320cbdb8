#!/usr/bin/env python3
# The verbs of ./dev: each is a module of tools/verbs with HELP, USAGE and run(arguments).
"""Reads the verb and hands over. Only Python's own library is used here and in tools/."""

import importlib
import sys

from shell import Failed, say

VERBS = ["run", "build", "test", "bench", "lint", "fuzz", "fmt", "new-verb", "attacks", "works", "clients", "package",
         "release", "help"]


def module_of(verb):
    return importlib.import_module("verbs." + verb.replace("-", "_"))


def show_help():
    print("usage: ./dev VERB [ARGUMENT...]\n")
    for verb in VERBS[:-1]:
        print(f"  {verb:<9} {module_of(verb).HELP}")
    print(f"  {'help':<9} this list; ./dev help VERB says how a verb is used\n")
    print("Each verb first installs the Debian packages it lacks (packaging/dependencies); with --print-packages it")
    print("prints their names instead and does nothing.")
    return 0


def main(arguments):
    verb = arguments[0] if arguments else "help"
    if verb in ("help", "-h", "--help"):
        if len(arguments) > 1 and arguments[1] in VERBS[:-1]:
            module = module_of(arguments[1])
            print(f"{module.USAGE}\n\n{module.HELP}")
            return 0
        return show_help()
    if verb not in VERBS:
        say(f"no verb '{verb}'; there are {', '.join(VERBS)}")
        return 2
    try:
        return module_of(verb).run(arguments[1:])
    except Failed as failure:
        say(str(failure))
        return failure.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
