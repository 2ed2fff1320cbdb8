# Links between the pages of the project lead somewhere.
import re
import subprocess

import pytest

import sources

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


def pages():
    listed = subprocess.run(["git", "-C", sources.ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\n") if name and (sources.ROOT / name).exists()]


def anchors_of(path):
    """As GitHub makes them of headings."""
    text = FENCED.sub("", path.read_text())
    found = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        while anchor in found:
            anchor += "-1"
        found.add(anchor)
    return found


def broken(name):
    page = sources.ROOT / name
    text = re.sub(r"`[^`\n]*`", "", FENCED.sub("", page.read_text()))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            yield f"{name}: {target} leads nowhere"
        elif anchor and there.suffix == ".md" and anchor not in anchors_of(there):
            yield f"{name}: {target}: no such heading"


@pytest.mark.parametrize("name", pages())
def test_links_of_a_page(name):
    assert not list(broken(name)), "\n".join(broken(name))


def test_anchors(tmp_path):
    page = tmp_path / "x.md"
    page.write_text("# A `b` (c), d\n\n## [Two](x.md) - words\n\n```\n# none\n```\n# A `b` (c), d\n")
    assert anchors_of(page) == {"a-b-c-d", "two---words", "a-b-c-d-1"}
