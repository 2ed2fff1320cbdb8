# The packages for npm of this repository, as ./dev clients makes them.
"""packed() is {name: file}; nothing here knows what a single test asserts."""

import re
import subprocess
import sys

import sources

FOLDER = sources.ROOT / "clients"
BUILT = sources.ROOT / "build" / "clients"


def version():
    return re.search(r"project\(hutch VERSION (\S+)", (sources.ROOT / "CMakeLists.txt").read_text()).group(1)


def packed():
    """Made where a source has changed; a string where npm has not what that takes."""
    done = subprocess.run([sys.executable, "-B", sources.ROOT / "tools/dev.py", "clients"], capture_output=True,
                          timeout=900, check=False)
    said = done.stderr.decode()
    if done.returncode != 0 and "is there a network?" in said:
        return said[-300:]
    assert done.returncode == 0, said
    return {file.name.removesuffix(f"-{version()}.tgz"): file for file in BUILT.glob("*.tgz")}
