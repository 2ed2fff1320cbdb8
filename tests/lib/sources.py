# The project's own files, as the style tests see them.
"""Files come from git, so that what is ignored is no source; outside of a checkout, from walking the tree."""

import functools
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {".git", "build", "__pycache__", ".cache"}
COMMENT = r"//[^\n]*|/\*.*?\*/"
RAW_STRING = r'R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"'
LITERAL = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
NOT_CODE = re.compile(f"{COMMENT}|{RAW_STRING}|{LITERAL}", re.DOTALL)


@functools.cache
def every():
    """Paths relative to the root, sorted."""
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-co",
                             "--exclude-standard", "-z"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else walk()
    return sorted(name for name in set(names) if name and (ROOT / name).is_file())


def walk():
    for directory, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in files:
            yield os.path.relpath(os.path.join(directory, name), ROOT)


def matching(*suffixes, under=""):
    return [name for name in every() if name.endswith(suffixes) and name.startswith(under)]


def cpp(under="src/"):
    return matching(".cc", ".h", under=under)


@functools.cache
def text(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


@functools.cache
def code(name):
    """C++ with comments gone and literals empty; every line keeps its number."""
    def blank(match):
        found = match.group(0)
        newlines = "\n" * found.count("\n")
        return newlines if found.startswith(("//", "/*")) else found[0] + newlines + found[-1]
    # A digit separator is no character literal.
    source = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text(name))
    # What an #include names is no literal either.
    source = re.sub(r'^(\s*#\s*include\s+)"([^"\n]*)"', r"\1<\2>", source, flags=re.MULTILINE)
    return NOT_CODE.sub(blank, source)


def line_of(source, offset):
    return source.count("\n", 0, offset) + 1


def includes(name):
    """[(line, path, quoted?)] of a C++ file."""
    found = re.finditer(r'^\s*#\s*include\s+([<"])([^>"\n]+)[>"]', text(name), re.MULTILINE)
    return [(line_of(text(name), match.start()), match.group(2), match.group(1) == '"') for match in found]


def functions(name):
    """[(name, first line, lines)] of the functions defined at namespace or class level."""
    source, scopes, found = code(name), [], []
    source = re.sub(r"^\s*#.*(?:\\\n.*)*", lambda match: "\n" * match.group(0).count("\n"), source, flags=re.MULTILINE)
    head, head_start = "", 0
    for offset, letter in enumerate(source):
        if letter == "{":
            kind = kind_of(head, scopes)
            scopes.append((kind, head, head_start))
            head, head_start = "", offset + 1
        elif letter == "}" and scopes:
            kind, opened_head, opened_start = scopes.pop()
            if kind == "function":
                start = opened_start + len(source[opened_start:]) - len(source[opened_start:].lstrip())
                first, last = line_of(source, start), line_of(source, offset)
                found.append((name_of(opened_head), first, last - first + 1))
            head, head_start = (opened_head + "{}", opened_start) if kind == "initializer" else ("", offset + 1)
        elif letter == ";" and not (scopes and scopes[-1][0] in ("inside", "initializer")):
            head, head_start = "", offset + 1
        else:
            head += letter
    return found


def kind_of(head, scopes):
    words = re.sub(r"\[\[[^\]]*\]\]|\btemplate\s*<[^{}]*?>\s*(?=\w)", " ", head).strip()
    if scopes and scopes[-1][0] in ("function", "inside"):
        return "inside"
    if re.match(r"(inline\s+)?namespace\b|extern\b\s*[\"']", words):
        return "namespace"
    if re.match(r"(typedef\s+)?(class|struct|union|enum)\b", words) and "(" not in words:
        return "class"
    bare = re.sub(r"\(.*\)|operator\W+", "", words, count=0, flags=re.DOTALL)
    closed = re.search(r"\)\s*(const|noexcept|override|final|&&|&|->\s*[\w:<>,&*\s]+|:\s.*|\s)*$", words, re.DOTALL)
    # "Foo(int a) : a_(a), b_" goes on with a brace that initialises b_.
    in_member_list = re.search(r"[:,]\s*\w+(<[^<>]*>)?$", words)
    if closed and not in_member_list and "=" not in bare:
        return "function"
    return "initializer"


def name_of(head):
    found = re.search(r"((?:[\w~]+(?:<[^<>]*>)?::)*(?:~?\w+|operator\s*\W{1,3}))\s*\(", head)
    return found.group(1) if found else head.strip()[:40]
