#!/usr/bin/env python3
# Runs a compiler and appends what it cost to a file: the launcher of ./dev bench build.
"""usage: timed_compiler.py FILE COMPILER [ARGUMENT...]; each line of FILE is an object's name and its CPU seconds"""

import os
import resource
import subprocess
import sys


def main(argv):
    costs, command = argv[1], argv[2:]
    code = subprocess.run(command, check=False).returncode
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "-o" in command:
        line = f"{command[command.index('-o') + 1]} {spent.ru_utime + spent.ru_stime:.3f}\n"
        # One write of one line: compilers that run at once do not mix theirs.
        target = os.open(costs, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(target, line.encode())
        os.close(target)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv))
