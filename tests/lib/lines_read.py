# How many lines the compiler reads for each source: its own and those of every header behind it, counted, not timed.
"""The project's headers are followed by their #include lines; the compiler says what a header of the system reads, once
for each such header. Lines that the preprocessor leaves out count as well: they are read."""

import functools
import os
import pathlib
import re
import subprocess

import sources

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


@functools.cache
def line_count(file):
    with open(file, "rb") as opened:
        return opened.read().count(b"\n")


@functools.cache
def behind_system_header(name):
    """The files that `#include <name>` reads."""
    command = ["g++", "-std=c++23", "-D_GNU_SOURCE", f"-I{sources.ROOT / 'include'}", "-M", "-x", "c++", "-"]
    asked = subprocess.run(command, input=f"#include <{name}>\n".encode(), stdout=subprocess.PIPE, check=True)
    words = asked.stdout.decode().replace("\\\n", " ").split()[1:]
    return frozenset(os.path.realpath(word) for word in words if word not in ("-", "/dev/null"))


@functools.cache
def includes(file):
    text = pathlib.Path(file).read_text(encoding="utf-8")
    return [(quote == '"', name) for quote, name in INCLUDE.findall(text)]


def files_of(source):
    """Every file that is read for `source`, which is one of them."""
    found, todo = {str(source)}, [str(source)]
    while todo:
        for own, name in includes(todo.pop()):
            header = str(sources.ROOT / "src" / name)
            if not own or not os.path.exists(header):
                found |= behind_system_header(name)
            elif header not in found:
                found.add(header)
                todo.append(header)
    return found


def of_sources():
    """{source: lines} of everything in src that is compiled."""
    names = [name for name in sources.cpp("src/") if name.endswith(".cc")]
    return {name: sum(map(line_count, files_of(sources.ROOT / name))) for name in names}
