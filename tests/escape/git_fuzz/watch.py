# The person's git, outside, in what a round has left: does it run or read anything that the sandbox wrote, or write a
# file elsewhere?

import json
import os
import random
import signal
import subprocess

# Made in every round.
ALWAYS = ("status", "diff", "add -A", "commit -q --allow-empty -m x", "rebase --continue", "cherry-pick --continue",
          "checkout -q -f main", "branch n0")
# A round makes some of them, in any order; of the second list, each of which is many processes, a few.
SOMETIMES = (
    "status -s --ignored", "diff --cached", "diff --stat HEAD", "log -2 -p --show-signature", "show --stat",
    "stash list",
    "branch -f feature side", "reset -q", "commit -q -a -m y", "checkout -q -b n1", "checkout -q side", "restore .",
    "reset -q --hard", "branch -a",
    "merge --no-edit side", "merge --continue", "merge --abort", "rebase --skip", "rebase --abort", "cherry-pick side",
    "cherry-pick --skip", "cherry-pick --abort", "revert --no-edit HEAD", "revert --continue", "am --continue",
    "am --skip",
    "am --abort", "worktree list", "worktree prune", "gc -q --auto", "blame file", "grep -q x",
    "describe --always --dirty",
    "ls-files -s", "archive --format=tar HEAD", "archive --format=t HEAD", "rerere", "update-index -q --refresh",
    "tag -m x t1", "tag -s -m x t2", "verify-commit HEAD", "t", "st", "format-patch -1", "shortlog -s HEAD",
    "mv file moved",
    "commit -q -m x --amend", "commit -q --allow-empty -m x -S", "switch -q main",
    "interpret-trailers --trailer t:x file",
    "pack-refs --all", "checkout -q main -- .", "rm -q -r d", "init -q", "reflog", "bisect log",
    "bisect visualize")
MANY_PROCESSES = (
    "stash", "stash pop", "fetch -q origin", "pull -q --no-edit origin main", "push -q origin HEAD:refs/heads/x",
    "rebase side", "rebase -q --autostash main", "bisect good", "bisect reset", "submodule status",
    "submodule --quiet update --init", "submodule --quiet foreach true", "remote update", "ls-remote origin",
    "maintenance run --auto -q", "repack -q -a -d", "worktree add -q -f w1", "clone -q . c1", "fsck",
    "send-pack . HEAD:refs/heads/y", "mergetool -y")
IN_OTHER_PLACES = ("status", "add -A", "commit -q --allow-empty -m x", "branch n2", "rebase --continue",
                   "cherry-pick --continue", "checkout -q -f", "diff HEAD")
COMMANDS_IN_ROUND = 30
PLACES_MAX = 3
PATIENCE = 120  # seconds for the commands of one round: a pipe in place of a file holds git for ever
SETTINGS = "git config --list --show-origin --show-scope -z"


def places_in(top):
    """Where git would find a repository: the round's directory first, then those below, also by links."""
    found = [top]
    for here, names, files in os.walk(top):
        if here.count("/") - top.count("/") > 4:
            names.clear()
        names[:] = sorted(set(names) - {"objects"})
        for name in names:
            path = os.path.join(here, name)
            has_head = os.path.lexists(f"{path}/HEAD") and name not in ("logs", ".git")
            is_place = has_head or os.path.lexists(f"{path}/.git")
            if is_place and os.path.isdir(path):
                found.append(path)
    return found


def script_for(seed, number, top, marks):
    rng = random.Random(f"{seed}:{number}:outside")
    others = places_in(top)[1:]
    rng.shuffle(others)
    others = others[:PLACES_MAX]
    left = COMMANDS_IN_ROUND - 2 - len(others) * (len(IN_OTHER_PLACES) // 2 + 1) - len(ALWAYS)
    many = min(2, left)
    first = list(ALWAYS) + rng.sample(MANY_PROCESSES, many) + rng.sample(SOMETIMES, left - many)
    rng.shuffle(first)
    lines, count = [], 0
    quoted = "'" + marks.replace("'", "'\\''") + ".config'"
    for place in [top, *others]:
        commands = first if place == top else rng.sample(IN_OTHER_PLACES, len(IN_OTHER_PLACES) // 2)
        lines.append("cd '" + place.replace("'", "'\\''") + "' 2>/dev/null && {")
        lines.append(f"{SETTINGS} >> {quoted}")
        lines += [f"git {command} >/dev/null" for command in commands]
        lines.append(f"{SETTINGS} >> {quoted}" if place == top else "")
        lines.append("}")
        count += len(commands) + 1 + (place == top)
    return "\n".join(lines) + "\n", count


def watch(ground, seed, number):
    """(what was obeyed, how many commands were run); the first is empty in a round without a trip."""
    top, marks = str(ground.rounds / f"r{number}"), str(ground.marks / f"r{number}")
    script, count = script_for(seed, number, top, marks)
    environment = {**ground.environment, "GIT_FUZZ_MARK": marks + ".ran", "GIT_TRACE2_EVENT": marks + ".trace",
                   "GIT_EDITOR": "true"}
    copies = ground.copies(number)
    with subprocess.Popen(["sh", "-c", script], cwd=ground.top, env=environment, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as shell:
        try:
            shell.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
    return ground.harmed(number, copies) + trips(marks), count


def trips(marks):
    found = [line for line in text_of(marks + ".ran").splitlines() if line]
    for one in text_of(marks + ".config").split("\0"):
        key, _, value = one.partition("\n")
        # A name of a person's may be any text.
        if "trip" in key.lower() + value and not one.startswith(("file:", "user.")):
            found.append(f"setting: {key} = {value}")
    for line in text_of(marks + ".trace").splitlines():
        if '"child_start"' in line and "trip" in line:
            found += child_of(line)
    return sorted(set(found))


def child_of(line):
    """What git started, if the program itself is the sandbox's."""
    try:
        event = json.loads(line)
    except ValueError:
        return []
    argv = [str(word) for word in event.get("argv", [])]
    is_trip = argv and ("trip" in argv[0] or any("ext::" in word and "trip" in word for word in argv))
    return ["started: " + " ".join(argv)] if is_trip else []


def text_of(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 22).decode(errors="replace")
    except OSError:
        return ""
