# git may bring in what the user has committed at a protected path: nothing else lands there.
"""Each attack puts a content of its own, or another file's, at a protected path of the user's repository, where git may
bring in what is committed (security.gitBringsCommitted). On the backend none each succeeds."""

import concurrent.futures
import contextlib
import time

import git_ways
from cases import EVERYBODY, FELL, HELD, NOBODY, Case, Outcome, each, slug

TARGET = ".vscode/settings.json"
# "evil" is the user's own text at docs/evil and in examples; the user has never had it at the target.
FILES = {TARGET: "good\n", ".vscode/task.sh": "evil\n", "docs/evil": "evil\n",
         "examples/.vscode/settings.json": "evil\n",
         "n": "1\n"}

BLOB = "b=$(echo evil | git hash-object -w --stdin); "
STAGE = BLOB + f"git update-index --cacheinfo 100644,$b,{TARGET}; "
COMMIT = STAGE + "git commit -q -m evil; "
FRESH = f"rm -f {TARGET}; git checkout -q -f . ; "
# A commit with that content, on no branch.
ALONE = (STAGE + "c=$(git commit-tree -m evil -p HEAD $(git write-tree)); git reset -q; ")
# The object of the other branch's content, and of the tree that has it.
STORE = """cat > store.py <<'END'
import hashlib, os, struct, subprocess, sys, zlib
git = lambda *words: subprocess.run(["git", *words], stdout=-1, check=True).stdout.strip().decode()
def put(name, kind, content):
    at = f".git/objects/{name[:2]}/{name[2:]}"
    os.makedirs(os.path.dirname(at), exist_ok=True)
    if os.path.exists(at): os.remove(at)
    open(at, "wb").write(zlib.compress(b"%s %d\\0" % (kind, len(content)) + content))
def pack(name, kind, content):
    head = bytes([kind << 4 | len(content) & 15 | 128, len(content) >> 4])
    data = b"PACK" + struct.pack(">II", 2, 1) + head + zlib.compress(content)
    end = hashlib.sha1(data).digest()
    first = int(name[:2], 16)
    index = b"\\377tOc" + struct.pack(">I", 2) + b"".join(struct.pack(">I", i >= first) for i in range(256))
    index += bytes.fromhex(name) + struct.pack(">I", zlib.crc32(data[12:])) + struct.pack(">I", 12) + end
    for end_of, text in ("pack", data + end), ("idx", index + hashlib.sha1(index).digest()):
        open(f".git/objects/pack/pack-{end.hex()}.{end_of}", "wb").write(text)
evil = git("hash-object", "-w", "docs/evil")
blob, tree, top = (git("rev-parse", f"side{what}") for what in (":.vscode/settings.json", ":.vscode", "^{tree}"))
def lying_tree(name):
    return subprocess.run(["git", "cat-file", "tree", name], stdout=-1).stdout.replace(bytes.fromhex(blob),
                                                                                      bytes.fromhex(evil))
"""
PYTHON = "cat > x.py <<'END'\nimport ctypes, mmap, os, subprocess, sys, time\nTARGET = '.vscode/settings.json'\n"
MAKE = "os.unlink(TARGET); f = os.open(TARGET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644); "
SOON = "os.mkdir('step'); time.sleep(0.05); os.rmdir('step')\n"

# Scripts, each in a sandbox of its own.
WAYS = {
    "a commit of the sandbox's": (COMMIT + FRESH,),
    "a commit of an earlier sandbox's": (COMMIT, FRESH),
    "an index of an earlier sandbox's": (STAGE, f"rm -f {TARGET}; git checkout-index -f {TARGET}"),
    "a remote's branch that the sandbox made": (
        ALONE + "git update-ref refs/remotes/origin/side $c; git checkout -q -f origin/side",),
    "a remote's branch that an earlier sandbox made": (
        ALONE + "git update-ref refs/remotes/origin/side $c", "git checkout -q -f origin/side"),
    "a tag that an earlier sandbox made": (ALONE + "git tag v1 $c", "git checkout -q -f v1"),
    "a forged FETCH_HEAD": (ALONE + "echo $c > .git/FETCH_HEAD; git checkout -q -f FETCH_HEAD",),
    "a forged FETCH_HEAD of an earlier sandbox's": (
        ALONE + "echo $c > .git/FETCH_HEAD", "git checkout -q -f FETCH_HEAD"),
    "a stash that an earlier sandbox made": (
        ALONE + "git stash store -m x $(git commit-tree -m x -p HEAD -p $c $c^{tree})",
        "git checkout -q -f stash@{0} -- .vscode"),
    "packed references of an earlier sandbox's": (
        ALONE + "git branch x $c; git pack-refs --all", "git checkout -q -f x"),
    "a merge of a sandbox's branch": (COMMIT + "git checkout -q side; git merge -q -X theirs main -m x; " + FRESH,),
    "a replaced object": (
        BLOB + f"git replace -f $(git rev-parse side:{TARGET}) $b; git checkout -q -f side",),
    "an object that lies": (STORE + "put(blob, b'blob', b'evil\\n')\nEND\npython3 store.py; git checkout -q -f side",),
    "a tree that lies": (
        STORE + "put(tree, b'tree', lying_tree(tree))\nEND\npython3 store.py; git checkout -q -f side",),
    "a commit that lies": (
        COMMIT + STORE + "text = git('cat-file', 'commit', 'main').encode()\n"
        "put(git('rev-parse', 'side'), b'commit', text)\nEND\npython3 store.py; git checkout -q -f side",),
    "a pack that lies": (
        STORE + "pack(tree, 2, lying_tree(tree))\nEND\npython3 store.py; git checkout -q -f side",),
    "a pack that lies about a file": (
        STORE + "pack(blob, 3, b'evil\\n')\nEND\npython3 store.py; git checkout -q -f side",),
    "a filter": (
        f"echo '{TARGET} filter=x' > a; git -c core.attributesFile=$PWD/a -c 'filter.x.smudge=sed s/.*/evil/' "
        "checkout -q -f side",),
    "the content of another file": (
        f"git update-index --cacheinfo 100644,$(git rev-parse HEAD:docs/evil),{TARGET}; " + FRESH,),
    "the content of the same name elsewhere": (
        f"git update-index --cacheinfo 100644,$(git rev-parse HEAD:examples/{TARGET}),{TARGET}; " + FRESH,),
    "a link": (f"rm -f {TARGET}; ln -s ../docs/evil {TARGET}",),
    "a link of a commit's": (
        f"l=$(printf ../docs/evil | git hash-object -w --stdin); git update-index --cacheinfo 120000,$l,{TARGET}; "
        "git commit -q -m x; " + FRESH,),
    "a file that becomes a program": (
        "git update-index --chmod=+x .vscode/task.sh; rm -f .vscode/task.sh; git checkout -q -f .vscode/task.sh",),
    "a writer that goes on": (
        PYTHON + MAKE + "os.write(f, b'good\\n')\nif os.fork() == 0:\n  time.sleep(0.3); os.ftruncate(f, 0); "
        "os.pwrite(f, b'evil\\n', 0); os._exit(0)\nos.close(f); " + SOON + "os.wait()\nEND\npython3 x.py",),
    "a mapping that stays": (
        PYTHON + "os.unlink(TARGET); f = os.open(TARGET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)\n"
        "os.write(f, b'good\\n'); g = os.open(f'/proc/self/fd/{f}', os.O_RDWR); m = mmap.mmap(g, 5)\n"
        "os.close(f); os.close(g); " + SOON + "m[:] = b'evil\\n'; m.flush(); m.close()\nEND\npython3 x.py",),
    "a descriptor that is opened again": (
        PYTHON + MAKE + "os.write(f, b'good\\n'); r = os.open(f'/proc/self/fd/{f}', os.O_RDONLY); os.close(f); " + SOON
        + "g = os.open(f'/proc/self/fd/{r}', os.O_WRONLY); os.pwrite(g, b'evil\\n', 0)\nEND\npython3 x.py",),
    "a descriptor of what has landed": (
        PYTHON + MAKE + "os.write(f, b'good\\n'); os.close(f); " + SOON + "r = os.open(TARGET, os.O_RDONLY)\n"
        "try: g = os.open(f'/proc/self/fd/{r}', os.O_WRONLY)\nexcept OSError: g = os.open(TARGET, os.O_WRONLY)\n"
        "os.pwrite(g, b'evil\\n', 0)\nEND\npython3 x.py",),
    "a content that is cut off and written anew": (
        PYTHON + MAKE + "os.write(f, b'good\\n'); os.close(f); " + SOON + "open(TARGET, 'w').write('evil\\n')\n"
        "END\npython3 x.py",),
    "another name of the file that is written": (
        PYTHON + MAKE + "os.write(f, b'evil\\n')\ntry: os.link(f'/proc/self/fd/{f}', 'new', follow_symlinks=True)\n"
        "except OSError: open('new', 'w').write('evil\\n')\nos.close(f); os.rename('new', TARGET)\nEND\npython3 x.py",),
    "the directory exchanged while it is written": (
        PYTHON + "e = 'examples/' + TARGET; os.unlink(e); f = os.open(e, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)\n"
        "os.write(f, b'evil\\n')\nfor a, b in ((b'examples/.vscode', b'.vscode'), (b'examples', b'docs')):\n"
        "  ctypes.CDLL(None).renameat2(-100, a, -100, b, 2)\nos.close(f); " + SOON + "END\npython3 x.py",),
    "the directory replaced by a link": (
        PYTHON + "os.makedirs('y/.vscode', exist_ok=True); e = 'examples/' + TARGET; os.unlink(e)\n"
        "f = os.open(e, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644); os.write(f, b'evil\\n')\n"
        "try: os.rename('examples/.vscode', 'z'); os.symlink('../.vscode', 'examples/.vscode')\nexcept OSError: pass\n"
        "os.close(f); " + SOON + "subprocess.run(['cp', 'docs/evil', e])\nEND\npython3 x.py",),
    "ten thousand files": (
        PYTHON + "held = []\nfor i in range(10000):\n  try:\n"
        "    held.append(os.open(f'.vscode/{i}', os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))\n"
        "    os.write(held[-1], b'evil')\n"
        "  except OSError: pass\nopen('held', 'w').write(str(len(held)))\n"
        "try:\n  os.unlink(TARGET); f = os.open(TARGET, os.O_WRONLY | os.O_CREAT, 0o644); os.write(f, b'evil\\n')\n"
        "except OSError: pass\nEND\nulimit -n 20000 || ulimit -n $(ulimit -Hn); python3 x.py",),
    "a large file": (
        PYTHON + MAKE + "os.write(f, b'evil\\n'); os.ftruncate(f, 1 << 30)\nos.close(f); " + SOON
        + "END\npython3 x.py",),
}
# The object that git commits for a directory without looking at the entries of the index.
CACHED = """cat > cached.py <<'END'
import hashlib, subprocess
git = lambda *words: subprocess.run(["git", *words], stdout=-1, check=True).stdout.strip().decode()
good = git("write-tree"), git("rev-parse", "HEAD:.vscode")
index = open(".git/index", "rb").read()[:-20]
blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input=b"evil\\n", stdout=-1).stdout.strip().decode()
git("update-index", "--cacheinfo", "100644", blob, ".vscode/settings.json")
top = git("write-tree")
for old, new in zip(good, (top, git("rev-parse", top + ":.vscode"))):
    index = index.replace(bytes.fromhex(old), bytes.fromhex(new))
open(".git/index.new", "wb").write(index + hashlib.sha1(index).digest())
END
python3 cached.py; mv .git/index.new .git/index"""
UNFINISHED = ("mkdir -p .git/rebase-merge; cd .git/rebase-merge; git rev-parse HEAD | tee orig-head > onto; cd ../..; "
              "echo refs/heads/main > .git/rebase-merge/head-name; ")
STASH = "s=$(git commit-tree -m x -p HEAD -p $(git commit-tree -m i -p HEAD HEAD^{tree}) $c^{tree}); "
LATER = {
    "an index that the user commits": (COMMIT, FRESH),
    "a commit that the user amends": (COMMIT, FRESH),
    "an index of which no commit is left": (STAGE, FRESH),
    "an index whose trees are others": (CACHED, "git checkout -q -f HEAD -- ."),
    "an index of which the objects come back": (
        COMMIT + "git branch x; git reset -q --soft HEAD~1; for c in x x^{tree} x:.vscode; do c=$(git rev-parse $c); "
        "rm -f .git/objects/$(echo $c | cut -c1-2)/$(echo $c | cut -c3-); done", FRESH),
    "a name in upper case": (
        ALONE + "echo $c | tr a-f A-F > .git/refs/heads/x", "git checkout -q -f x"),
    "a name that a log has": (
        ALONE + "h=$(git rev-parse HEAD); git update-ref refs/heads/main $c; git update-ref refs/heads/main $h",
        "git checkout -q -f x"),
    "what an unfinished rebase has put aside": (
        ALONE + STASH + UNFINISHED + "echo $s > .git/rebase-merge/autostash",
        "git checkout -q -f stash@{0} -- .vscode"),
    "what an unfinished merge has put aside": (
        ALONE + STASH + "git rev-parse side > .git/MERGE_HEAD; echo $s > .git/MERGE_AUTOSTASH; : > .git/MERGE_MSG",
        "git checkout -q -f stash@{0} -- .vscode"),
    "where a rebase began": (
        ALONE + UNFINISHED + "echo $c > .git/rebase-merge/orig-head; echo $c > .git/ORIG_HEAD", "git checkout -q -f x"),
    "a pseudo reference of another name": (ALONE + "echo $c > .git/X_HEAD", "git checkout -q -f x"),
    "a reference of a linked worktree": (
        ALONE + "git worktree add -q w; git -C w update-ref refs/worktree/x $c; git -C w update-ref refs/bisect/bad $c",
        "git checkout -q -f x"),
    "a reference that is a link": (ALONE + "echo $c > docs/name; ln -s ../../../docs/name .git/refs/heads/y || "
                                   "echo $c > .git/refs/heads/y", "git checkout -q -f x"),
    "a tag of the user's for it": (ALONE + "git branch y $c", "git checkout -q -f x"),
    "a commit below one of the user's": (
        COMMIT + "git update-ref HEAD $(git commit-tree -m back -p HEAD HEAD~1^{tree}); git reset -q",
        "git checkout -q -f HEAD~2"),
}
WAYS.update(LATER)
# What the user does in between, outside.
BETWEEN = {
    "an index that the user commits": ["git", "commit", "-q", "--allow-empty", "-m", "y"],
    "a commit that the user amends": ["git", "commit", "-q", "--amend", "-m", "y"],
    "an index of which no commit is left": ["git", "commit", "-q", "-m", "y"],
    "an index whose trees are others": ["git", "commit", "-q", "--allow-empty", "-m", "y"],
    "an index of which the objects come back": ["git", "commit", "-q", "-m", "y"],
    "a name in upper case": ["git", "pack-refs", "--all"],
    "a name that a log has": ["git", "branch", "x", "main@{1}"],
    "what an unfinished rebase has put aside": ["git", "rebase", "--quit"],
    "what an unfinished merge has put aside": ["git", "merge", "--quit"],
    "where a rebase began": ["git", "branch", "x", "ORIG_HEAD"],
    "a pseudo reference of another name": ["git", "branch", "x", "X_HEAD"],
    "a reference of a linked worktree": ["git", "branch", "x", "worktrees/w/refs/worktree/x"],
    "a reference that is a link": ["git", "branch", "x", "y"],
    "a tag of the user's for it": ["git", "tag", "-a", "-m", "x", "x", "y"],
    "a commit below one of the user's": ["git", "commit", "-q", "--allow-empty", "-m", "y"],
}
# What git takes for the parents of a commit, and from where it takes objects.
WAYS.update({
    "a replaced parent": (ALONE + "git replace --graft side $c; git checkout -q -f side~1",),
    "a graft": (
        ALONE + "(echo $(git rev-parse side) $c > .git/info/grafts); git checkout -q -f side~1 || "
        "git checkout -q -f $c",),
    "a shallow file": (
        ALONE + "git rev-parse side > .git/shallow; git update-ref refs/heads/side $c; git checkout -q -f side",),
    "objects of another repository": (
        ALONE + "mkdir -p o; cp -r .git/objects o; echo $PWD/o/objects > .git/objects/info/alternates; "
        "git checkout -q -f $c",),
    "an older commit of the sandbox's for each in the log": (
        COMMIT + "for i in 1 2 3; do git commit -q --allow-empty -m $i; done; git checkout -q -f HEAD~3 -- .",),
})


# What a second sandbox does meanwhile, and for a second longer.
SWITCHES = "for i in 1 2 3 4 5 6 7 8; do git checkout -q -f side; git checkout -q -f main; done; touch done; sleep 0.5"
TRIES = """cat > y.py <<'END'
import os, time
open("evil", "w").write("evil\\n")
def tries(*calls):
    for call in calls:
        try: call()
        except OSError: pass
def writes(path):
    file = os.open(path, os.O_WRONLY)
    os.ftruncate(file, 0); os.pwrite(file, b"evil\\n", 0); os.close(file)
def names(directory):
    try: return [f"{directory}/{name}" for name in os.listdir(directory)]
    except OSError: return []
end = time.monotonic() + 30
while time.monotonic() < end:
    if os.path.exists("done"): end = min(end, time.monotonic() + 0.5)
"""
OF_NAMES = """    for path in names(".vscode"):
        if os.path.basename(path).startswith(".hutch") or path == TARGET:
"""
BESIDE = {
    "another sandbox that writes each new name": TRIES + OF_NAMES + "            tries(lambda: writes(path))\n",
    "another sandbox that replaces each new name": (
        TRIES + OF_NAMES + "            tries(lambda: os.link('evil', 'e2'), lambda: os.rename('e2', path))\n"),
    "another sandbox that gives each new file a second name": (
        TRIES + OF_NAMES + "            tries(lambda: os.link(path, 'mine'), lambda: writes('mine'), "
        "lambda: os.remove('mine'))\n"),
    "another sandbox that moves the directory": (
        TRIES + "    tries(lambda: os.mkdir('v'), lambda: os.link('evil', 'v/settings.json'))\n"
        "    tries(lambda: os.rename('.vscode', f'w{time.monotonic()}'), lambda: os.rename('v', '.vscode'))\n"),
    "another sandbox that puts a link in the place of the directory": (
        TRIES + "    tries(lambda: os.mkdir('v'), lambda: os.link('evil', 'v/settings.json'))\n"
        "    tries(lambda: os.rename('.vscode', f'w{time.monotonic()}'), lambda: os.symlink('v', '.vscode'))\n"),
}
WAYS.update({way: (SWITCHES,) for way in BESIDE})


# In a repository of the other kind of names.
OF_SHA256 = {f"{way}, SHA-256": way for way in ("a commit of an earlier sandbox's", "a name in upper case",
                                                "an index of which no commit is left")}
WAYS.update({way: WAYS[plain] for way, plain in OF_SHA256.items()})
BETWEEN.update({way: BETWEEN[plain] for way, plain in OF_SHA256.items() if plain in BETWEEN})


# Where nothing protects git itself refuses these.
UNLESS = {"a commit that lies": "cannot; git checks the sum of a commit that a reference names"}


def cases():
    for way in WAYS:
        bites = NOBODY if way in UNLESS else EVERYBODY
        yield Case("tracked_files", slug(way), "git",
                   f"Has git, or what looks like it, bring in what the user has not committed there: {way}.", each(run),
                   bites, UNLESS.get(way, ""))


def repository(person, project, names):
    git_ways.as_person(person, ["git", "init", "-q", "-b", "main", f"--object-format={names}", "."], project)
    for path, content in FILES.items():
        person.write(project / path, content)
    for words in (["git", "add", "-A"], ["git", "commit", "-q", "-m", "first"], ["git", "branch", "side"],
                  ["git", "checkout", "-q", "side"]):
        git_ways.as_person(person, words, project)
    person.write(project / TARGET, "other\n")
    for words in (["git", "commit", "-q", "-a", "-m", "side"], ["git", "checkout", "-q", "main"],
                  ["git", "config", "user.name", "A"], ["git", "config", "user.email", "a@b.example"]):
        git_ways.as_person(person, words, project)


@contextlib.contextmanager
def beside(hutch, script):
    """A second sandbox at the same time."""
    if script is None:
        yield
        return
    program = script.replace("TARGET", repr(TARGET)) + "END\npython3 y.py"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        other = pool.submit(hutch.sh, program)
        yield
        other.result()


def run(rig, case):
    began = time.monotonic()
    way = next(way for way in WAYS if slug(way) == case.name)
    with rig.project() as (person, project):
        repository(person, project, "sha256" if way in OF_SHA256 else "sha1")
        hutch = rig.hutch(person, project)
        hutch("settings", "set", "security.gitBringsCommitted", "true").ok()
        for i, script in enumerate(WAYS[way]):
            if i > 0 and way in BETWEEN:
                git_ways.as_person(person, BETWEEN[way], project, ok=False)
            with beside(hutch, BESIDE.get(way)):
                result = hutch.sh(script)
            if result.code == 125:
                raise ValueError(result.errors[-400:])
        text = (project / TARGET).read_text(encoding="utf-8") if (project / TARGET).exists() else ""
        program = (project / ".vscode/task.sh").stat().st_mode & 0o100 if (project / ".vscode/task.sh").exists() else 0
        fell = "evil" in text or bool(program)
        return Outcome(FELL if fell else HELD, "the protected file has it" if fell else "", time.monotonic() - began)
