# What one round does in a repository, inside the sandbox: a few acts, whose steps are mixed.
"""An act is a generator: each `yield` is a place where a step of another act may come in between."""

import hashlib
import heapq
import os
import random
import shutil
import struct
import subprocess
import zlib

from texts import COMMON_HOOKS, HOOKS, Texts
from ways import Ways, exchange

# Directories of repositories: those of the ground, and those that a sandbox could make.
GIT_DIRECTORIES = (".git", ".git", ".git", ".git", ".git", ".git/modules/sub", ".git/worktrees/linked", "nested/.git",
                   "bare", "evil", "sub/.git",
                   ".git/modules/x", ".git/worktrees/x", "new/.git", "new", "linked/.git", "sub/x/.git", ".")
# What the configuration of the ground names, and so git obeys.
NAMED = (".husky/pre-commit", ".husky/reference-transaction", "tools/watch", "tools/clean.sh", "tools/text.sh",
         "tools/task", "shared.gitconfig", "conf/first", "conf/absent", "linked/.husky/reference-transaction",
         "new/.husky/reference-transaction", "sub/.husky/pre-commit", "linked/tools/watch", "new/tools/watch",
         "nested/tools/watch", "evil/tools/watch")
LINK_PLACES = ("sub/.git", "new/.git", ".git", "linked/.git", "d/.git", "nested/.git", "sub/x/.git")
LINK_TARGETS = ("../evil", "evil", "../.git/modules/x", "../.git/modules/../../evil", "../.git/worktrees/x",
                "../.git/worktrees/linked", "../.git/modules/sub", "../bare", "../nested/.git", "..", "../new",
                "/HERE/evil",
                "/HERE/.git/modules/x", "../.git/worktrees/../../evil", "../linked/../evil",
                "../.git/modules/sub/modules/x")
HAMPERED = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true",
            "GIT_ALLOW_PROTOCOL": "file:ext"}


class Round(Ways):
    """One act's hands: its own random numbers, so that the act is the same without the other acts."""

    def __init__(self, rng, trip):
        super().__init__(rng)
        self.texts = Texts(trip, rng)
        self.trip = trip

    def choose(self, *of):
        return self.rng.choice(of)

    def chance(self, of):
        return self.rng.random() < of

    def commit(self):
        for name in ("refs/heads/main", "refs/heads/side"):
            text = self.tries(lambda name=name: open(f".git/{name}", encoding="ascii").read().strip())
            if text:
                return text
        packed = self.tries(lambda: open(".git/packed-refs", encoding="ascii").read()) or ""
        return next((line[:40] for line in packed.splitlines() if line.endswith("heads/main")), "0" * 40)

    def git(self, *words, cwd="."):
        def call():
            subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.example", *words], cwd=cwd, timeout=10,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                           env={**os.environ, **HAMPERED})
        try:
            call()
        except (OSError, subprocess.SubprocessError):
            pass


def act_config(do):
    directory = do.rng.choice(GIT_DIRECTORIES)
    do.put(f"{directory}/{do.choose('config', 'config', 'config', 'config.worktree')}", do.texts.config())
    yield


def act_hook(do):
    name = do.rng.choice(COMMON_HOOKS if do.chance(0.7) else HOOKS)
    do.put(f"{do.rng.choice(GIT_DIRECTORIES)}/hooks/{name}", do.texts.hook(name))
    yield


def act_hooks(do):
    files = {name: do.texts.hook(name) for name in COMMON_HOOKS}
    directory = do.rng.choice(GIT_DIRECTORIES)
    if do.chance(0.3):
        files = {f"{name}.sample": text for name, text in files.items()}
        do.put_directory(f"{directory}/hooks", files)
        yield
        for name in COMMON_HOOKS:
            do.tries(os.rename, f"{directory}/hooks/{name}.sample", f"{directory}/hooks/{name}")
    else:
        do.put_directory(f"{directory}/hooks", files)
    yield


def act_layout(do):
    """A directory that is a repository, its parts in any order."""
    directory = do.choose(".", ".", "evil", "sub", "sub/x", "new", "d", ".git/modules/x", ".git/worktrees/x", "nested",
                          "bare", "new/.git", ".git/modules", "linked")
    do.tries(os.makedirs, directory, exist_ok=True)
    parts = [part_head, part_objects, part_refs, part_config]
    parts += [part_hooks] if do.chance(0.4) else []
    parts += [part_common] if do.chance(0.2) else []
    do.rng.shuffle(parts)
    for part in parts:
        do.tries(part, do, directory)
        yield
    if directory == "." and do.chance(0.7):
        do.tries(do.choose(os.unlink, lambda path: os.rename(path, do.fresh())), ".git/HEAD")
        yield
    if directory != "." and do.chance(0.4):
        do.put(f"{do.choose('sub', 'new', 'd')}/.git", do.texts.link(f"../{directory}"))
        yield
        yield from step_index(do, b"sub")


def part_head(do, directory):
    source, target = ".git/HEAD", f"{directory}/HEAD"
    if do.chance(0.4):
        do.tries(do.choose(os.rename, os.link, shutil.copy), source, target)
    elif do.chance(0.2):
        do.tries(os.symlink, do.choose("refs/heads/main", os.path.relpath(source, directory)), target)
    else:
        do.put(target, do.choose("ref: refs/heads/main\n", do.commit() + "\n", "ref: refs/heads/x"))


def part_objects(do, directory):
    part_tree(do, directory, "objects")


def part_refs(do, directory):
    part_tree(do, directory, "refs")
    do.tries(shutil.copy, ".git/packed-refs", f"{directory}/packed-refs")


def part_tree(do, directory, name):
    source, target = f".git/{name}", f"{directory}/{name}"
    way = do.rng.randrange(6)
    if way == 0:
        do.tries(os.rename, source, target)
    elif way == 1:
        do.tries(os.symlink, os.path.relpath(source, directory), target)
    elif way == 2:
        other = do.fresh()
        do.tries(shutil.copytree, source, other)
        do.tries(os.rename, other, target)
    elif way == 3:
        do.tries(os.makedirs, f"{target}/heads" if name == "refs" else target)
    elif way == 4:
        do.put(target, "")
    else:
        do.tries(shutil.copytree, source, target)


def part_config(do, directory):
    do.put(f"{directory}/{do.choose('config', 'config', 'config', 'config.worktree')}",
           do.texts.config(do.choose(".", "", "", "..")))


def part_hooks(do, directory):
    do.put_directory(f"{directory}/hooks", {name: do.texts.hook(name) for name in COMMON_HOOKS})


def part_common(do, directory):
    do.put(f"{directory}/commondir", do.choose("../evil\n", "../..\n", "evil", "../../evil\n", "..\n"))


def act_link(do):
    place = do.rng.choice(LINK_PLACES)
    target = do.rng.choice(LINK_TARGETS).replace("/HERE", os.getcwd())
    if do.chance(0.5):
        yield from simple_layout(do, "evil")
    if do.chance(0.2):
        do.tries(os.unlink, place)
        do.tries(os.symlink, target, place)
    else:
        do.put(place, do.texts.link(target))
    yield
    yield from step_index(do, place.rpartition("/")[0].encode() or b"sub")


def simple_layout(do, directory):
    for name in ("objects", "refs/heads"):
        do.tries(os.makedirs, f"{directory}/{name}")
    do.put(f"{directory}/config", do.texts.config())
    yield
    do.put(f"{directory}/HEAD", "ref: refs/heads/main\n")
    yield


def act_common_directory(do):
    directory = do.choose(".git", ".git/worktrees/linked", ".git/worktrees/x", ".git/modules/sub", "bare",
                          "nested/.git")
    evil = do.choose("evil", "a", ".git/evil")
    if do.chance(0.7):
        do.tries(shutil.copytree, ".git", evil, symlinks=True)
        do.put(f"{evil}/config", do.texts.config())
        yield
    do.put(f"{directory}/commondir", os.path.relpath(evil, directory) + do.choose("\n", "", "\r\n", "/\n"))
    yield


def act_worktree(do):
    """A linked worktree, made by hand: what it needs in any order."""
    name = do.choose("x", "linked", "y")
    directory = f"{do.choose('.git', '.git', 'nested/.git', '.git/modules/sub', 'a/.git')}/worktrees/{name}"
    place = do.choose("new", "sub", "d")
    steps = [("HEAD", "ref: refs/heads/x\n"), ("commondir", do.choose("../..\n", "../../\n", "../../../evil\n")),
             ("gitdir", f"{os.getcwd()}/{place}/.git\n")]
    if do.chance(0.4):
        steps.append(("config.worktree", do.texts.config()))
    do.rng.shuffle(steps)
    for file, text in steps:
        do.put(f"{directory}/{file}", text)
        yield
    do.put(f"{place}/.git", do.texts.link(os.path.relpath(directory, place)))
    yield
    if do.chance(0.4):
        do.tries(os.rename, do.choose(directory, os.path.dirname(directory)), do.choose("a/b/x", "evil", "w"))
        yield


def act_state(do):
    """An operation that would go on outside."""
    directory = do.choose(".git", ".git", ".git", ".git/worktrees/linked", ".git/modules/sub", "nested/.git", "bare")
    commit = do.commit()
    merge = {"head-name": "refs/heads/main\n", "onto": commit + "\n", "orig-head": commit + "\n", "interactive": "",
             "git-rebase-todo": do.texts.todo(commit), "done": "", "msgnum": "1\n", "end": "2\n"}
    kind = do.rng.randrange(8)
    if kind in (0, 1):
        do.put_directory(f"{directory}/rebase-merge", merge)
    elif kind == 2:
        merge |= {"strategy": do.texts.strategy(), "strategy_opts": "", "git-rebase-todo": f"pick {commit}\n"}
        do.put("git-merge-x/y", "")
        do.put("trip", do.texts.hook())
        do.put_directory(f"{directory}/rebase-merge", merge)
    elif kind == 3:
        do.put(f"{directory}/rebase-merge/git-rebase-todo", do.texts.todo(commit))
    elif kind == 4:
        do.put_directory(f"{directory}/sequencer", {"todo": do.choose(do.texts.todo(commit), f"pick {commit} x\n"),
                                                    "head": commit + "\n", "opts": do.texts.options()})
        do.put(f"{directory}/{do.choose('CHERRY_PICK_HEAD', 'REVERT_HEAD')}", commit + "\n")
    elif kind == 5:
        mail = f"From {commit} Mon Sep 17 00:00:00 2001\nFrom: A <a@b.example>\nSubject: x\n\n---\n"
        do.put_directory(f"{directory}/rebase-apply", {
            "applying": "", "next": "1\n", "last": "1\n", "0001": mail, "threeway": "t\n", "keep": "f\n",
            "quiet": "t\n",
            "sign": "f\n", "utf8": "t\n", "messageid": "f\n", "scissors": "f\n", "no-reset": "", "apply-opt": do.choose(
                "", "'--directory=.git/hooks'\n", f"'--unsafe-paths' '{do.trip}'\n"), "gpg_sign_opt": "trip\n"})
    elif kind == 6:
        do.put(f"{directory}/BISECT_LOG", f"git bisect start\n# x\n; {do.trip} bisect\n$({do.trip} bisect)\n")
        do.put(f"{directory}/BISECT_START", do.choose("main\n", f"$({do.trip} bisect)\n"))
        do.put(f"{directory}/BISECT_TERMS", f"bad\n`{do.trip} terms`\n")
        do.put(f"{directory}/BISECT_NAMES", f"'x'; {do.trip} names\n")
        do.put(f"{directory}/BISECT_RUN", do.trip)
    else:
        do.put(f"{directory}/MERGE_HEAD", commit + "\n")
        do.put(f"{directory}/MERGE_MODE", "no-ff")
        do.put(f"{directory}/MERGE_MSG", "x\n")
        do.put(f"{directory}/AUTO_MERGE", commit)
    yield


def act_attributes(do):
    do.put(do.choose(".gitattributes", ".git/info/attributes", "sub/.gitattributes", "trip-attributes"),
           do.texts.attributes())
    do.put(do.choose("file", "x.d", "d/x.d"), "new\n")
    yield


def act_modules(do):
    do.put(".gitmodules", do.texts.modules())
    yield
    yield from step_index(do, do.choose(b"sub", b"new", b"evil"))


def act_named(do):
    path = do.rng.choice(NAMED)
    text = do.texts.included() if path.endswith(("config", "first", "absent")) else do.texts.hook("named")
    if do.chance(0.3):
        do.put_directory(path.rpartition("/")[0] or "tools", {path.rpartition("/")[2]: text})
    else:
        do.put(path, text)
    do.put("file", "new\n")
    yield


def act_data(do):
    """Files of a repository that other files are read by."""
    path, text = do.choose(
        ("objects/info/alternates", "../../evil/objects\n"), ("objects/info/alternates", f"$({do.trip} x)\n"),
        ("info/grafts", do.commit() + "\n"), ("info/exclude", "!*\n"), ("info/sparse-checkout", "/*\n"),
        ("remotes/origin", f"URL: ext::{do.trip} x\nPull: main\n"), ("branches/origin", f"ext::{do.trip} x\n"),
        ("FETCH_HEAD", f"{do.commit()}\t\tbranch 'x' of ext::{do.trip}\n"), ("shallow", do.commit() + "\n"),
        ("gitweb/gitweb.py", do.texts.hook()), ("logs/HEAD", "x\n"), ("description", "x"), ("gc.log", "x"),
        ("refs/replace/" + do.commit(), "0" * 40), ("refs/heads/--upload-pack=trip", do.commit() + "\n"),
        ("refs/heads/-x", do.commit() + "\n"), ("ORIG_HEAD", do.commit() + "\n"), ("lfs/config", "trip"),
        ("objects/info/http-alternates", "ext::x"), ("HEAD", "ref: refs/heads/../../evil\n"), ("HEAD", "ref: refs/x\n"),
        ("index", do.texts.noise()), ("packed-refs", do.texts.noise()), ("svn/.metadata", "[x]\n"))
    do.put(f"{do.rng.choice(GIT_DIRECTORIES)}/{path}", text)
    yield


def act_bytes(do):
    """A file below .git, or one that git is told of, changed anywhere."""
    files = []
    for top, _, names in os.walk(do.choose(".git", ".git", ".")):
        files += [os.path.join(top, name) for name in names]
    files.sort()
    path = do.rng.choice(files or ["file"])
    data = bytearray(do.tries(lambda: open(path, "rb").read(65536)) or b"")
    at = do.rng.randrange(len(data) + 1)
    new = do.choose(do.texts.noise(), do.texts.setting_text().encode(), b"\n", do.texts.link("evil").encode(), b"\0")
    data[at:at + do.rng.choice([0, 1, 8, len(data)])] = new
    do.put(path, bytes(data))
    yield


def act_names(do):
    """Names change: renamed, exchanged, linked, removed, closed."""
    paths = (".git", ".git/hooks", ".git/config", ".git/HEAD", ".git/objects", ".git/refs", ".git/index", ".git/info",
             ".git/modules", ".git/modules/sub", ".git/worktrees", ".git/worktrees/linked", "sub", "sub/.git", "linked",
             "linked/.git", "nested", "nested/.git", "evil", "bare", "bare/config", "bare/hooks", "bare/HEAD", ".husky",
             "tools", "conf", "new", "d", ".git/worktrees/linked/commondir", ".git/packed-refs", ".git/x", "x", "y")
    for _ in range(do.rng.choice([1, 2, 4])):
        one, other = do.rng.sample(paths, 2)
        call = do.choose(os.rename, os.rename, exchange, os.symlink, os.link, "copy", "remove", "close", "to")
        if call == "copy":
            do.tries(shutil.copytree, one, other, symlinks=True, dirs_exist_ok=True)
        elif call == "remove":
            do.tries(do.choose(shutil.rmtree, os.unlink), one)
        elif call == "close":
            do.tries(os.chmod, one, do.choose(0, 0o555, 0o755))
        elif call == "to":
            do.tries(os.symlink, os.path.relpath(other, os.path.dirname(one) or "."), one)
        else:
            do.tries(call, one, other)
        yield


def act_git(do):
    """git itself, inside."""
    template = do.fresh()
    words = do.choose(
        ["init", "-q", do.choose("new", "d", "sub/x", "evil")], ["init", "-q", "--bare", do.choose("new", "evil")],
        ["init", "-q", "--separate-git-dir", do.choose("evil", ".git/modules/x", ".git/x"), do.choose("new", "d")],
        ["clone", "-q", "--no-hardlinks", ".", do.choose("new", "d")],
        ["clone", "-q", "--bare", ".", "new"], ["init", "-q", f"--template={template}", do.choose("new", "d")],
        ["worktree", "add", "-q", "-f", do.choose("new", "d"), "-b", "z"], ["worktree", "move", "linked", "new"],
        ["worktree", "lock", "--reason", do.trip, "linked"], ["checkout", "-q", "-f", "side"], ["stash"],
        ["config", do.choose("core.fsmonitor", "core.hooksPath", "diff.external"), do.trip],
        ["config", "--worktree", "core.fsmonitor", do.trip], ["config", "extensions.worktreeConfig", "true"],
        ["submodule", "--quiet", "add", "-f", "./nested", "new"], ["submodule", "absorbgitdirs"],
        ["rebase", "-q", "--exec", do.trip, "side"], ["rebase", "-q", "side"], ["cherry-pick", "side"],
        ["bisect", "start", "main", "main~1"], ["bisect", "run", do.trip],
        ["remote", "set-url", "origin", f"ext::{do.trip}"],
        ["sparse-checkout", "set", "x"], ["update-index", "--add", "--cacheinfo", f"160000,{do.commit()},new"],
        ["merge", "-q", "side"], ["gc", "-q"], ["mv", "-f", "sub", "new"], ["replace", "--graft", "HEAD"])
    if template in words[-2] or template in words[0]:
        do.fill(template, {"config": do.texts.config(), **{f"hooks/{name}": do.texts.hook() for name in COMMON_HOOKS}})
    do.git(*words, cwd=do.choose(".", ".", ".", "nested", "linked", "sub", "bare"))
    yield


def act_tree(do):
    """A commit with names that a checkout should refuse. None of NAMED: a commit and the index are data (walls.md),
    and it is the person who has git write such a file."""
    names = [b".git", b".GIT", b"git~1", b".git ", b".g\xe2\x80\x8cit", b".git\\hooks", b"..",
             b".git::$INDEX_ALLOCATION"]
    blob = put_object(do, b"blob", do.texts.hook("tree").encode())
    hooks = put_object(do, b"tree", b"".join(entry(b"100755", name.encode(), blob) for name in sorted(COMMON_HOOKS)))
    top = put_object(do, b"tree", entry(b"40000", b"hooks", hooks))
    link = put_object(do, b"blob", do.choose(b".git/hooks", b".git", b"../evil", b"evil"))
    entries = sorted([(do.rng.choice(names), b"40000", top), (b"a", b"120000", link), (b"a", b"40000", hooks),
                      (b"d", b"40000", hooks), (do.choose(b".gitmodules", b"x"), b"120000", link)])
    tree = put_object(do, b"tree", b"".join(entry(mode, name, sha) for name, mode, sha in entries))
    who = b"A <a@b.example> 1700000000 +0000"
    commit = put_object(do, b"commit", b"tree %s\nauthor %s\ncommitter %s\n\nx\n" % (tree.hex().encode(), who, who))
    do.put(f".git/refs/heads/{do.choose('main', 'side', 'x')}", commit.hex() + "\n")
    yield


def act_index(do):
    yield from step_index(do, do.choose(b"sub", b"new", b"d", b"nested", b"evil", b"linked", b".", b""))


def step_index(do, gitlink, others=()):
    """The index, made anew: what it had, a gitlink, and paths that should not be there."""
    if not others and do.chance(0.5):
        do.git("update-index", "--add", "--cacheinfo", f"160000,{do.commit()},{os.fsdecode(gitlink)}")
        yield
        return
    blob = put_object(do, b"blob", do.texts.hook("index").encode())
    paths = [(gitlink, 0o160000, bytes.fromhex(do.commit())), (b"file", 0o100644, blob)]
    for path in do.rng.sample([b".git/hooks/pre-commit", b".GIT/hooks/post-checkout", b"git~1/hooks/pre-commit",
                               b".git/config", b"sub/.git", b"a/../.git/config", b"linked/.git", b"d/x",
                               b".git", b"new/.git/config", b"sub/.git/config"], 3):
        paths.append((path, 0o100755, blob))
    paths += [(os.fsencode(path), 0o100755, blob) for path in others[:1 + do.rng.randrange(3)]]
    body = b"DIRC" + struct.pack(">II", 2, len(paths))
    for path, mode, sha in sorted(paths):
        flags = min(len(path), 0xFFF) | (0x8000 if do.chance(0.1) else 0)
        one = struct.pack(">10I", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + sha + struct.pack(">H", flags) + path
        body += one + b"\0" * (8 - len(one) % 8)
    if do.chance(0.2):
        tail = do.choose(b"link" + struct.pack(">I", 20) + b"\1" * 20, b"FSMN" + struct.pack(">I", 3) + b"\0\0\1",
                         b"sdir" + struct.pack(">I", 0), b"UNTR" + struct.pack(">I", 4) + b"trip")
        body += tail
    do.put(f"{do.choose('.git', '.git', '.git/worktrees/linked', '.git/modules/sub')}/index",
           body + hashlib.sha1(body).digest())
    yield


def entry(mode, name, sha):
    return mode + b" " + name + b"\0" + sha


def put_object(do, kind, data):
    whole = kind + b" %d\0" % len(data) + data
    sha = hashlib.sha1(whole).digest()
    path = f".git/objects/{sha.hex()[:2]}/{sha.hex()[2:]}"
    do.tries(os.makedirs, os.path.dirname(path), exist_ok=True)
    do.tries(do.file_plain, path, zlib.compress(whole))
    return sha


# What git writes in place.
WRITTEN = ("COMMIT_EDITMSG", "COMMIT_EDITMSG", "COMMIT_EDITMSG", "logs/HEAD", "logs/HEAD", "FETCH_HEAD",
           "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "logs/HEAD",
           "logs/refs/heads/main", "ORIG_HEAD", "BISECT_LOG", "index", "packed-refs", "shallow", "gc.log", "MERGE_RR",
           "rebase-merge/message", "info/refs", "MERGE_HEAD", "logs", "rr-cache")


def act_way_out(do):
    """A link, an index or a list of conflicts that leads out of the repository."""
    victims = os.path.join(os.path.dirname(do.trip), "victims")
    directory = do.choose(".git", ".git", do.rng.choice(GIT_DIRECTORIES))
    kind = do.choose("link", "link", "link", "index", "resolution")
    if kind == "index":
        yield from step_index(do, b"sub", (f"{victims}/new", os.path.relpath(f"{victims}/new"), f"d/../{victims}/new"))
    elif kind == "resolution":
        number = "%040x" % do.rng.getrandbits(160)
        do.put(f"{do.choose('.git', directory)}/rr-cache/{number}/preimage", "x\n")
        name = do.choose(os.path.relpath(f"{victims}/rc"), f"{victims}/rc", "way-out")
        do.tries(os.symlink, f"{victims}/rc", "way-out")
        do.put(f"{directory}/MERGE_RR", f"{number}\t{name}\0")
    else:
        path = f"{directory}/{do.rng.choice(WRITTEN)}"
        target = do.choose(f"{victims}/rc", f"{victims}/new", os.path.relpath(f"{victims}/rc", directory), "config",
                           "hooks/pre-commit")
        do.put(f"{directory}/MERGE_MSG", do.texts.config() + "\n#")
        yield
        put_link(do, path, target)
    yield


def act_options(do):
    """An operation that goes on with an option by which git writes a file of the person's."""
    victim = os.path.join(os.path.dirname(do.trip), "victims", do.choose("rc", "new"))
    directory, commit = do.choose(".git", ".git", ".git", ".git/worktrees/linked"), do.commit()
    option, todo = f"index-output={victim}", f"pick {commit} x\npick {commit} x\n"
    kind = do.choose("rebase", "pick")
    if kind == "rebase":
        do.put_directory(f"{directory}/rebase-merge", {
            "head-name": "refs/heads/main\n", "onto": commit + "\n", "orig-head": commit + "\n", "interactive": "",
            "git-rebase-todo": todo, "done": "", "msgnum": "1\n", "end": "2\n", "strategy": "resolve\n"})
        yield
        do.put(f"{directory}/rebase-merge/strategy_opts",
               do.choose(f" --{option}\n", f'"{option}"\n', f" --ours --{option}"))
    else:
        do.put_directory(f"{directory}/sequencer", {"todo": todo, "head": commit + "\n", "opts": ""})
        yield
        do.put(f"{directory}/sequencer/opts", f"[options]\n\tstrategy = resolve\n\tstrategy-option = {option}\n")
    yield


def act_reference(do):
    """A symbolic reference to a file of the repository, into which git then writes a commit's name."""
    directory = do.choose(".git", ".git", ".git/worktrees/linked", ".git/modules/sub", "nested/.git", "bare")
    commit = do.tries(lambda: open(".git/refs/heads/side", encoding="ascii").read().strip()) or do.commit()
    target = do.choose("commondir", "commondir", "evil/HEAD", "worktrees/linked/commondir", "config.worktree")
    name = do.choose("refs/heads/feature", "refs/heads/feature", "ORIG_HEAD", "refs/bisect/bad", "HEAD", "HEAD")
    steps = [(f"{directory}/{commit}/config", do.texts.config())]
    if name == "HEAD":
        target = do.choose("refs/heads/../../", "refs/../", "refs/heads/a b/../../../") + target
    elif do.chance(0.3):
        message = do.choose("TAG_EDITMSG", "EDIT_DESCRIPTION", "MERGE_MSG")
        steps.append((f"{directory}/{message}", f"ref: {target}\n"))
        target = message
    steps.append((f"{directory}/{name}",
                  do.choose(f"ref: {target}\n", f"ref:{target}", f"ref:\t{target} \n\n", f"ref: {target}\0 x\n")))
    if do.chance(0.6):
        steps.append((f"{directory}/{commit}/hooks/pre-commit", do.texts.hook("pre-commit")))
    do.rng.shuffle(steps)
    do.tries(shutil.copytree, f"{directory}/refs", f"{directory}/{commit}/refs", symlinks=True)
    do.tries(shutil.copytree, f"{directory}/objects", f"{directory}/{commit}/objects", symlinks=True)
    for path, text in steps:
        do.put(path, text)
        yield


def put_link(do, path, target):
    other = do.fresh()
    do.tries(os.makedirs, os.path.dirname(path), exist_ok=True)
    way = do.choose("made", "moved", "linked", "exchanged", "directory")
    if way == "directory":
        above, _, name = path.rpartition("/")
        do.tries(shutil.copytree, above, other, symlinks=True)
        do.tries(os.unlink, f"{other}/{name}")
        do.tries(os.symlink, target, f"{other}/{name}")
        do.tries(do.choose(exchange, lambda one, two: (os.rename(two, do.fresh()), os.rename(one, two))), other, above)
        return
    if way != "exchanged":
        do.tries(os.unlink, path)
    do.tries(os.symlink, target, path if way == "made" else other)
    if way != "made":
        do.tries({"moved": os.rename, "exchanged": exchange,
                  "linked": lambda one, two: os.link(one, two, follow_symlinks=False)}[way], other, path)


ACTS = {act_config: 4, act_hook: 3, act_hooks: 3, act_layout: 5, act_link: 4, act_common_directory: 2, act_worktree: 3,
        act_state: 4, act_attributes: 1, act_modules: 1, act_named: 3, act_data: 2, act_bytes: 2, act_names: 3,
        act_git: 2,
        act_tree: 1, act_index: 1, act_way_out: 5, act_options: 3,
        act_reference: 3}


def plan(seed, number):
    """The acts of a round, by name: (index, act)."""
    rng = random.Random(f"{seed}:{number}")
    return list(enumerate(rng.choices(list(ACTS), list(ACTS.values()), k=rng.choice([1, 2, 3, 4, 5, 6, 8]))))


def play(seed, number, trip, only=None):
    """Makes the round's changes in the working directory. `only`: the acts that are made, for a smaller round."""
    queue = []
    for index, act in plan(seed, number):
        if only is not None and index not in only:
            continue
        rng = random.Random(f"{seed}:{number}:{index}")
        heapq.heappush(queue, (rng.random(), index, rng, act(Round(rng, trip))))
    while queue:
        at, index, rng, steps = heapq.heappop(queue)
        step_at = random.Random(f"{seed}:{number}:{index}:{at}").random()
        try:
            next(steps)
        except StopIteration:
            continue
        except (OSError, ValueError, KeyError, RecursionError, IndexError):
            continue
        heapq.heappush(queue, (at + step_at * 0.5, index, rng, steps))
