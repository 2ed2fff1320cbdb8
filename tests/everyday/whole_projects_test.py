# Projects with submodules, hooks and tracked editor files: cloned, built and tested inside as outside, byte for byte.
"""What the sandbox holds back of a clone, git brings in outside by the commands that hutch prints: nothing else may
differ."""

import json
import re

import harness
import pytest

GIT = "git -c protocol.file.allow=always"
# The module that the projects share, and what each of them is made of. What they build is the same in each build.
MODULE = {"version.txt": "7\n", "LICENSE": "free\n", ".editorconfig": "root = true\n", ".idea/m.iml": "<module/>\n",
          "latest": "-> version.txt"}
PROJECTS = {
    "c": ({
        "main.c": '#include <stdio.h>\n#include "part.h"\n'
                  'int main(void) { printf("%d\\n", part()); return part() != 7; }\n',
        "src/part.c": '#include "../part.h"\nint part(void) { return VERSION; }\n',
        "part.h": "int part(void);\n",
        "Makefile": "V := $(shell cat vendor/module/version.txt)\nprogram: main.c src/part.c\n"
                    "\tcc -O1 -DVERSION=$(V) -o $@ $^\ncheck: program\n\t./program > result.txt\n",
        ".vscode/tasks.json": '{"version": "2.0.0"}\n',
        ".vscode/settings.json": '{"C_Cpp.default.cStandard": "c17"}\n',
        ".envrc": "export CC=cc\n",
        ".gitignore": "program\n",
        "include": "-> src",
    }, "make -s check"),
    "node": ({
        "package.json": '{"name": "p", "version": "1.0.0", "scripts": {"build": "node build.js", '
                        '"test": "node test.js"}}\n',
        "build.js": "const fs = require('fs');\nconst v = fs.readFileSync('vendor/module/version.txt');\n"
                    "fs.mkdirSync('dist', {recursive: true});\n"
                    "fs.writeFileSync('dist/v.js', `module.exports = ${v}`);\n",
        "test.js": "if (require('./dist/v.js') !== 7) process.exit(1);\n",
        ".husky/pre-commit": "#!/bin/sh\nnpm test\n",
        ".claude/settings.json": '{"hooks": {}}\n',
        ".claude/commands/fix.md": "Fix it.\n",
        ".mcp.json": '{"mcpServers": {}}\n',
        "CLAUDE.md": "Be brief.\n",
    }, "export NPM_CONFIG_UPDATE_NOTIFIER=false; npm run --silent build; npm test --silent"),
    "python": ({
        "p/__init__.py": "import pathlib\nVERSION = int(pathlib.Path('vendor/module/version.txt').read_text())\n",
        "p/__main__.py": "from p import VERSION\nprint(VERSION)\n",
        "tests/test_p.py": "import unittest\nimport p\n\nclass Test(unittest.TestCase):\n    def test(self):\n"
                           "        self.assertEqual(p.VERSION, 7)\n",
        ".idea/workspace.xml": "<project/>\n",
        ".pre-commit-config.yaml": "repos: []\n",
        ".vscode/launch.json": "{}\n",
        ".github/workflows/ci.yml": "on: push\n",
    }, "export PYTHONDONTWRITEBYTECODE=1; python3 -m unittest -q tests.test_p 2>&1 | grep -v '^Ran' > result.txt; "
       "python3 -m p >> result.txt"),
}
COMMIT = "git add -A; git -c user.name=A -c user.email=a@b.example commit -qm"
# Every file with its kind, mode, link and content, but for those of git's that have times in them.
LIST = (r"cd c; find . -name .git -prune -o -printf '%P %y %m %l\n' | sort; "
        "find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; "
        "git status --porcelain --ignored; git rev-parse HEAD; git submodule status --recursive; git fsck")
HELD = re.compile(r'.* was not written: .*; outside, `git -C (\S+) restore (\S+)` brings it')


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


def write(as_user, directory, files):
    """What begins with "-> " is the target of a symbolic link."""
    for name, content in files.items():
        if content.startswith("-> "):
            (directory / name).symlink_to(content[3:])
            as_user.own(directory / name)
        else:
            as_user.write(directory / name, content, 0o755 if content.startswith("#!") else 0o644)


@pytest.fixture
def source(as_user, project):
    return as_user.mkdir(project.parent / f"{project.name}-source")


def outside(as_user, place, script):
    return harness.run_in(as_user, ["/bin/sh", "-ec", script], cwd=place)


@pytest.mark.parametrize("name", PROJECTS)
def test_a_clone_a_build_and_its_tests(hutch, backend, as_user, project, source, name):
    files, build = PROJECTS[name]
    write(as_user, source / "module", MODULE)
    write(as_user, source / name, files)
    outside(as_user, source, f"git init -q -b main module; cd module; {COMMIT} m").ok()
    outside(as_user, source, f"git init -q -b main {name}; cd {name}; {GIT} submodule --quiet add {source}/module "
            f"vendor/module; {COMMIT} first; echo 2 > second; {COMMIT} second").ok()
    work = f"{GIT} clone -q --recurse-submodules {source}/{name} c; cd c; {build}"
    twin = as_user.mkdir(project / "twin")
    outside(as_user, twin, work).ok()
    expected = outside(as_user, twin, LIST).ok().out

    mine = as_user.mkdir(project / "mine")
    ran = hutch.run("/bin/sh", "-ec", work, options=["--json", "--allow-read", str(source)], cwd=mine).ok()
    told = [refusal["what"] for refusal in json.loads(ran.out)["refusals"]]
    held = [found.groups() for what in told if (found := HELD.match(what))]
    others = [what for what in told if not HELD.match(what) and "reads it as instructions" not in what]
    assert not others, "\n".join(others)
    assert held and all(directory.startswith(f"{mine}/c") for directory, _ in held), ran
    for directory, path in held:
        outside(as_user, mine, f"git -C {directory} restore {path}").ok()
    assert outside(as_user, mine, LIST).ok().out == expected, ran
