# How the pages and the help speak: short sentences, plain openings, the field's words.
"""The counts of exceptions.json are what is left of earlier times: they may only shrink."""
import json
import re

import pytest

import sources

EXCEPTIONS = json.loads((sources.ROOT / "tests/style/exceptions.json").read_text())["words"]
# Made by programs, or a record of what was.
NOT_PROSE = ("docs/obeyed.md", "docs/attacks.md", "docs/works-inside.md", "CHANGELOG.md", "LICENSE")
SENTENCE_WORDS_MAX = 30
HELP_WORDS_MAX = 10
OPENINGS = ("Of", "By", "What", "Whoever", "Whose", "Without")
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
BANNED = re.compile(r"\b(?:whereabouts|unspelled|stand-ins?|set going|plug card|desk|keeper)\b", re.IGNORECASE)


def blocks(page):
    """The prose of a page: paragraphs, items of lists, cells of tables."""
    text = FENCED.sub("", page)
    found, lines = [], []
    for line in [*text.split("\n"), ""]:
        is_table = line.lstrip().startswith("|")
        begins = not line.strip() or is_table or re.match(r"\s*(?:[-*]|\d+\.)\s|#|>", line)
        if begins and lines:
            found.append(" ".join(lines))
            lines = []
        if is_table:
            found += [cell.strip() for cell in line.strip().strip("|").split("|")]
        elif line.strip() and not line.startswith(("    ", "#")) or (lines and line.strip()):
            lines.append(re.sub(r"^\s*(?:[-*]|\d+\.|>)\s+", "", line).strip())
    return found


def sentences(page):
    for block in blocks(page):
        plain = re.sub(r"`[^`]*`", "Code", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", block))
        plain = re.sub(r"[*_]{1,2}(\S[^*]*?)[*_]{1,2}", r"\1", plain)
        yield from (one for one in re.split(r"(?<=[.?!:])\s+(?=[A-Z\"(])", plain) if one.strip())


def faults(page):
    found = []
    for one in sentences(page):
        words = one.split()
        if len(words) > SENTENCE_WORDS_MAX:
            found.append(f"{len(words)} words: {one}")
        if words[0] in OPENINGS and not one.endswith("?"):
            found.append(f"begins with {words[0]}: {one}")
        if banned := BANNED.search(one):
            found.append(f"{banned[0]}: {one}")
    return found


def pages():
    return [name for name in sources.every()
            if name.endswith(".md") and name not in NOT_PROSE and not name.startswith(("changes/", "tests/"))]


@pytest.mark.parametrize("name", pages())
def test_a_page_reads_easily(name):
    found = faults((sources.ROOT / name).read_text())
    most = EXCEPTIONS.get(name, 0)
    assert len(found) <= most, f"{name}: {len(found)} sentences, at most {most}:\n" + "\n".join(found[-20:])


def test_help_of_a_verb_is_short():
    found = {}
    for name in sources.cpp("src/cli/options/"):
        for verb, text in re.findall(r'Verb\{\s*"([\w-]+)",\s*((?:"[^"]*"\s*)+),', sources.text(name)):
            found[verb] = "".join(re.findall(r'"([^"]*)"', text))
    assert len(found) > 30, "the reader of verbs finds none"
    long = {verb: text for verb, text in found.items() if len(text.split()) > HELP_WORDS_MAX}
    assert not long, long


@pytest.mark.parametrize("page, count", [
    ("It is short.\n", 0),
    ("What is here is short.\n", 1),
    ("What is here?\n", 0),
    ("- Of these, none.\n", 1),
    ("| a | By this |\n", 1),
    ("    What is code\n", 0),
    ("```\nWhat is code\n```\n", 0),
    (" ".join(["word"] * 31) + ".\n", 1),
    (" ".join(["word"] * 20) + ".\nAnd " + " ".join(["word"] * 20) + ".\n", 0),
    ("The desk of it.\n", 1),
])
def test_the_rule_itself(page, count):
    assert len(faults(page)) == count
