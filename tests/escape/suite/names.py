# What may not be written under a name cannot be, by whatever way it is tried.
"""The host's side looks at what came of it. Each attack works where nothing protects."""

import time

from cases import FELL, HELD, Case, Outcome, each, slug

GIT = "mkdir -p repo/.git/hooks repo/.git/modules; "
# put(name, text): the supervisor's own call for a whole file (base/put_content.h), which everybody may use; its answer,
# or the errno below zero. Where the kernel answers, EINVAL.
PUT = """
import ctypes, os, struct, sys
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
def put(name, text, mode=0o644, size=None, address=None, path=b"content"):
    held = ctypes.create_string_buffer(text)
    size = len(text) if size is None else size
    told = struct.pack("8sQQQ", path, address or ctypes.addressof(held), size, mode)
    number = ctypes.c_long({"x86_64": 316}.get(os.uname().machine, 276))
    answer = call(number, -100, told, -100, os.fsencode(name), ctypes.c_uint(1 << 31))
    return answer if answer >= 0 else -ctypes.get_errno()
"""
# As it is done elsewhere where nobody supervises.
PUT_EVIL = f"python3 -c '{PUT}\nput(sys.argv[1], b\"evil\") == -22 and open(sys.argv[1], \"w\").write(\"evil\")'"
EXCHANGE = (
    "python3 -c 'import ctypes, os, sys; a, b = map(os.fsencode, sys.argv[1:]); "
    "ctypes.CDLL(None).renameat2(-100, a, -100, b, 2)'"
)

# A script, and what it would leave in the project.
WAYS = {
    "hooks of the same name": (
        GIT + "mkdir -p x/hooks; echo evil > x/hooks/h; rmdir repo/.git/hooks;" " mv -T x/hooks repo/.git/hooks",
        "repo/.git/hooks/h",
    ),
    "hooks over the empty ones": (
        GIT + "mkdir -p x/hooks; echo evil > x/hooks/h; mv -T x/hooks repo/.git/hooks",
        "repo/.git/hooks/h",
    ),
    "modules of the same name": (
        GIT + "mkdir -p x/modules/m; echo evil > x/modules/m/config;" " mv -T x/modules repo/.git/modules",
        "repo/.git/modules/m/config",
    ),
    "a module's directory": (
        GIT + "mkdir -p x/hooks; echo evil > x/hooks/h; mv -T x repo/.git/modules/m",
        "repo/.git/modules/m/hooks/h",
    ),
    "a module's directory, nested": (
        GIT + "mkdir -p x/m/hooks; echo evil > x/m/hooks/h;" " mv -T x repo/.git/modules/a",
        "repo/.git/modules/a/m/hooks/h",
    ),
    "a remote, the older way": (
        GIT + "mkdir repo/.git/remotes; echo 'URL: ext::evil' > repo/.git/remotes/r",
        "repo/.git/remotes/r",
    ),
    "a module's remote": (
        GIT + "mkdir -p x; echo 'URL: ext::evil' > x/r; mkdir repo/.git/modules/m; mv -T x repo/.git/modules/m/remotes",
        "repo/.git/modules/m/remotes/r",
    ),
    "a module's branch": (
        GIT + "mkdir -p repo/.git/modules/a/m/branches; echo ext::evil > repo/.git/modules/a/m/branches/b",
        "repo/.git/modules/a/m/branches/b",
    ),
    "a link as a module": (
        GIT + "mkdir x; echo evil > x/config; ln -s ../../../x repo/.git/modules/m",
        "repo/.git/modules/m/config",
    ),
    "a link that is moved there": (
        GIT + "mkdir -p y x; echo evil > x/h; ln -s ../../x y/hooks; rmdir repo/.git/hooks;"
        " mv -T y/hooks repo/.git/hooks",
        "repo/.git/hooks/h",
    ),
    "a link as .git": ("mkdir -p x/hooks; echo evil > x/hooks/h; ln -s x .git", ".git/hooks/h"),
    "a tree as .git": ("mkdir -p x/hooks; echo evil > x/hooks/h; mv -T x .git", ".git/hooks/h"),
    "a tree as .claude": ("mkdir -p x/commands; echo evil > x/commands/h; mv -T x .claude", ".claude/commands/h"),
    "an outer tree": ("mkdir -p x/y/.vscode; echo evil > x/y/.vscode/h; mv x z", "z/y/.vscode/h"),
    "the configuration's file": (
        GIT + "printf '[core]\\n\\tfsmonitor = evil\\n' > repo/.git/config.lock;"
        " mv repo/.git/config.lock repo/.git/config",
        "repo/.git/config",
    ),
    "a sample that gets a hook's name": (
        GIT + "echo evil > repo/.git/hooks/h.sample;" " mv repo/.git/hooks/h.sample repo/.git/hooks/h",
        "repo/.git/hooks/h",
    ),
    "a second name": ("echo evil > x; ln x .mcp.json", ".mcp.json"),
    "a dangling link": ("ln -s .mcp.json x; echo evil > x", ".mcp.json"),
    "by way of proc": ("echo evil > /proc/self/cwd/.mcp.json", ".mcp.json"),
    "by way of proc's root": ("echo evil > /proc/self/root$PWD/.mcp.json", ".mcp.json"),
    "an odd spelling": ("echo evil > ././/../$(basename $PWD)/./.mcp.json", ".mcp.json"),
    "a configuration by replacing": (
        GIT + "echo > repo/.git/config; echo '[core] fsmonitor = evil' > repo/.git/config.lock; "
        f"{EXCHANGE} repo/.git/config.lock repo/.git/config",
        "repo/.git/config",
    ),
    "hooks by replacing": (
        GIT + f"mkdir -p x/hooks repo/.git/hooks; echo evil > x/hooks/h; {EXCHANGE} x/hooks repo/.git/hooks",
        "repo/.git/hooks/h",
    ),
    "a configuration by one call": (GIT + f"echo > repo/.git/config; {PUT_EVIL} repo/.git/config", "repo/.git/config"),
    "a name by one call": (f"{PUT_EVIL} .mcp.json", ".mcp.json"),
    "by one call through a directory's link": (
        GIT + f"mkdir -p repo/.git/hooks; ln -s repo/.git/hooks x; {PUT_EVIL} x/h",
        "repo/.git/hooks/h",
    ),
    "a pattern's directory": (
        "mkdir -p x/deep; echo evil > x/deep/k; mkdir locked; mv x locked/x",
        "locked/x/deep/k",
    ),
    "a pattern's directory of the same name": (
        "mkdir -p x/locked; echo evil > x/locked/k; mv x/locked .",
        "locked/k",
    ),
}

# What is made outside first, what runs inside, and the file that would say "evil"; rules are about the names below.
RULES = ["sub/secret", "sub/absent", "deep/a/c/secret", "way/**/k"]
MOVES = {
    "the directory of a file": ("mv sub sub2; echo evil > sub2/secret", "sub2/secret"),
    "the directory of what is not there": ("mv sub sub2; echo evil > sub2/absent", "sub2/absent"),
    "one further up": ("mv deep/a deep/b; echo evil > deep/b/c/secret", "deep/b/c/secret"),
    "one further up, and back": ("mv deep x; echo evil > x/a/c/secret; mv x deep", "deep/a/c/secret"),
    "for another one": (
        "mkdir -p x/a/c; "
        "python3 -c 'import ctypes; print(ctypes.CDLL(None).renameat2(-100, b\"x\", -100, b\"deep\", 2))';"
        " [ -e x/a/c/secret ] && echo evil > x/a/c/secret",
        "x/a/c/secret",
    ),
    "the directory of a pattern": ("mv way way2; echo evil > way2/in/k", "way2/in/k"),
}


def cases():
    for way in WAYS:
        yield Case("names", slug(way), "names", f"Writes under a protected name: {way}.", each(run_way))
    for way in MOVES:
        yield Case("moves", slug(way), "names", f"Moves what a rule is about, to write there: {way}.", each(run_move))


def run_way(rig, case):
    script, path = next(WAYS[way] for way in WAYS if slug(way) == case.name)
    with rig.project() as (person, project):
        return tried(rig.hutch(person, project), script, project / path, ["--deny-write", f"{project}/locked/**/k"])


def run_move(rig, case):
    script, path = next(MOVES[way] for way in MOVES if slug(way) == case.name)
    with rig.project() as (person, project):
        make_places(person, project)
        options = [word for name in RULES for word in ("--deny-write", f"{project}/{name}")]
        return tried(rig.hutch(person, project), script, project / path, options)


def make_places(person, project):
    for name in ("sub/secret", "deep/a/c/secret", "way/in/other"):
        person.write(project / name, "as it was\n")


def tried(hutch, script, path, options):
    """Whether the file says "evil" after that script."""
    began = time.monotonic()
    result = hutch.sh(script, options=options)
    if result.code == 125:
        raise ValueError(result.errors[-400:])
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return Outcome(FELL if "evil" in text else HELD, f"{path.name} was written" if "evil" in text else "",
                   time.monotonic() - began)
