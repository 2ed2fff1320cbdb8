# Which files of the tree are sources: what git knows or would add.
"""Lists by kind, as absolute paths."""

import os
import subprocess

from shell import path


def every():
    listed = subprocess.run(["git", "-c", f"safe.directory={path()}", "-C", path(), "ls-files", "-co",
                             "--exclude-standard", "-z"], stdout=subprocess.PIPE, check=True)
    names = sorted(set(listed.stdout.decode().split("\0")) - {""})
    return [path(name) for name in names if os.path.isfile(path(name))]


def cpp():
    return [file for file in every() if file.endswith((".cc", ".h"))]


def shell():
    return [file for file in every() if file.endswith(".sh") or first_line(file).startswith("#!/bin/sh")]


def first_line(file):
    with open(file, "rb") as opened:
        return opened.readline(200).decode(errors="replace")
