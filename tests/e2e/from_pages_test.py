# The pages for people who come from another system name commands and files that exist.
import re

import pytest

import sources

PAGES = sorted(name for name in sources.matching(".md") if name.startswith("docs/from/"))


def commands(text):
    """Each command of hutch's in a code span or a code block, without the comment behind it."""
    spans = [words for span in re.findall(r"`([^`\n]+)`", text) for words in span.split("&&")]
    blocks = [line for line in re.findall(r"^    (.*)$", text, re.MULTILINE) for line in line.split("&&")]
    for words in [*spans, *blocks]:
        found = re.match(r"^\s*(?:sudo )?hutch ([a-z][^#]*)$", words.split(" #")[0])
        if found:
            yield found.group(1).split()


@pytest.mark.parametrize("page", PAGES)
def test_its_commands_exist(hutch, page):
    found = list(commands(sources.text(page)))
    assert found
    for verb, *words in found:
        shown = hutch(verb, "--help")
        assert shown.code == 0, f"{page}: hutch {verb}"
        before_command = words[: words.index("--")] if "--" in words else words
        for word in before_command:
            option = word.split("=")[0]
            assert not word.startswith("--") or option in shown.text, f"{page}: hutch {verb} {word}"
        # A word that the help names as a verb of its own, or else what the person chooses.
        verbs = set(re.findall(rf"hutch {verb} ([a-z|]+)", shown.text.split("\n\n")[0]))
        first = before_command[0] if before_command else ""
        if first.isalpha() and first.islower() and verbs:
            assert first in {one for group in verbs for one in group.split("|")}, f"{page}: hutch {verb} {first}"


@pytest.mark.parametrize("page", PAGES)
def test_its_links_lead_somewhere(page):
    place = (sources.ROOT / page).parent
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", sources.text(page)):
        assert (place / link).exists(), f"{page}: {link}"
