# The pages "coming from ...", which say why hutch differs from where somebody comes from.
"""says(page, sentence) is what the cases of tests/seeds end with where a row differs on purpose."""

import re

import sources

PAGES = sources.ROOT / "docs" / "from"


def flat(text):
    """In one line, without the marks of Markdown."""
    return re.sub(r"\s+", " ", re.sub(r"\*\*|`|\[([^\]]*)\]\([^)]*\)", r"\1", text))


def says(page, sentence):
    text = flat((PAGES / f"{page}.md").read_text())
    assert flat(sentence) in text, f"docs/from/{page}.md does not say: {sentence}"


def rows(table):
    """The parameters of a test for {row: sentence}; the row's number is in its name."""
    return [(f"row_{row}", sentence) for row, sentence in table.items()]
