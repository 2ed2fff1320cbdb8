#!/usr/bin/env python3
# What starting a sandbox costs: hutch by each backend, beside bubblewrap with the same mounts and this machine's floor.
"""usage: ./dev bench start [--json] [--rounds N] [--sandboxes N]

Every command is timed in turn within one run, as root (when started by root) and as an ordinary user. The floor is
spawning a static program; above it stand the namespaces alone. Memory is of sandboxes whose command waits for input.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import measure
from measure import Case, harness

MOUNTS = 16
SPAWN, NAMESPACES, ALL_SEVEN = "spawn a static program", "six namespaces, no net", "seven namespaces"
BWRAP = "bwrap itself, same mounts"
LISTED = "hutch run, a list of domains"


def main():
    options = parse()
    base = harness.Base()
    try:
        floor = measure.compile_static("floor.c", base.path / "bin" / "floor")
        turns = measure.compile_static("turns.c", base.path / "bin" / "turns")
        for name in ["root", "user"] if os.geteuid() == 0 else ["user"]:
            measure_person(Place(base, base.person(name), floor, turns), options)
    finally:
        base.remove()
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench start", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=101, help="how often each command is timed")
    parser.add_argument("--sandboxes", type=int, default=24, help="how many idle sandboxes memory is averaged over")
    return parser.parse_args()


class Place:
    """One person with a project that holds the program to start, and a policy that gives a plan of sixteen mounts."""

    def __init__(self, base, person, floor, turns):
        self.person, self.turns = person, turns
        self.hutch_program = base.bin / "hutch"
        self.project = person.mkdir(person.home / "projects" / "bench")
        self.floor = self.project / "floor"
        shutil.copy(floor, self.floor)
        person.own(self.floor)
        self.policy = self.person.home / "bench-policy.json"
        self.listed_policy = self.person.home / "bench-listed.json"
        self.given = []
        self.mounts = self.planned_mounts()

    def planned_mounts(self):
        """Only system directories are readable, and as many others as it takes."""
        while True:
            readable = ["/usr", "/bin", "/lib", "/lib64", "/etc", ".", *self.given]
            policy = {"filesystem": {"denyRead": ["/"], "allowRead": readable, "allowWrite": ["."]}, "network": "none"}
            self.person.write(self.policy, json.dumps(policy))
            self.person.write(self.listed_policy, json.dumps({**policy, "network": ["example.com", "*.example.org"]}))
            mounts = self.explained_mounts()
            if count_of(mounts) >= MOUNTS:
                return mounts
            self.given.append(str(self.person.mkdir(self.person.home / f"tool{len(self.given)}")))

    def hutch(self, verb, backend):
        return [self.hutch_program, verb, "--backend", backend, "--policy", self.policy]

    def listed(self):
        """The same plan with a gateway to the network."""
        return [self.hutch_program, "run", "--backend", "namespace", "--policy", self.listed_policy, "--"]

    def explained_mounts(self):
        explained = harness.run_in(self.person, [*self.hutch("explain", "namespace"), "--json"], cwd=self.project).ok()
        return json.loads(explained.out)["plan"]["mounts"]

    def bwrap(self):
        """bubblewrap with the plan's own mounts and the same namespaces."""
        argv = ["/usr/bin/bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
        for mount in self.mounts:
            argv += bwrap_mount(mount)
        return [*argv, "--chdir", str(self.project), "--"]


def count_of(mounts):
    """Mounts of the plan; directories and links are made on them, seals are of those that count already."""
    return sum(mount["kind"] in ("tmpfs", "bind", "hide_file", "cover", "proc", "devices") for mount in mounts)


def bwrap_mount(mount):
    kind, target = mount["kind"], mount["target"]
    if kind == "tmpfs":
        size = ["--size", str(mount["size"])] if mount.get("size") else []
        return ["--perms", f"{mount['mode']:o}", *size, "--tmpfs", target] if target != "/" else []
    if kind == "directory":
        return ["--perms", f"{mount['mode']:o}", "--dir", target]
    if kind == "file":
        # bwrap writes one from a descriptor only; a link is as little work for it.
        return ["--symlink", "/dev/null", target]
    if kind == "symlink":
        return ["--symlink", mount["text"], target]
    if kind == "bind":
        return ["--bind" if mount["access"] != "read" else "--ro-bind", mount["source"], target]
    if kind in ("hide_file", "cover"):  # one file over another
        return ["--ro-bind", "/dev/null", target]
    if kind == "proc":
        return ["--proc", target]
    if kind == "devices":
        return ["--dev", target]
    if kind == "seal":
        return ["--remount-ro", target]
    sys.exit(f"bench: a mount of kind {kind!r} is not known here")


def commands_of(place):
    program = [place.floor, "true"]
    commands = {SPAWN: program, NAMESPACES: [place.floor, "namespaces"], ALL_SEVEN: [place.floor, "namespaces", "net"],
                BWRAP: [*place.bwrap(), *program]}
    for backend in ("none", "bwrap", "namespace"):
        commands[f"hutch run, {backend}"] = [*place.hutch("run", backend), "--", *program]
    commands[LISTED] = [*place.listed(), *program]
    if shutil.which("srt"):
        commands["srt"] = [shutil.which("srt"), *map(str, program)]
    if shutil.which("codex"):
        commands["codex sandbox"] = [shutil.which("codex"), "sandbox", "linux", "--", *program]
    return commands


COMPARED = {NAMESPACES: SPAWN, ALL_SEVEN: SPAWN, BWRAP: ALL_SEVEN, "hutch run, none": SPAWN, "hutch run, bwrap": BWRAP,
            "hutch run, namespace": BWRAP, LISTED: "hutch run, namespace", "srt": "hutch run, namespace",
            "codex sandbox": "hutch run, namespace"}


def measure_person(place, options):
    who = place.person.name
    medians = measure.time_in_turn(place.turns, place.person, place.project, commands_of(place), options.rounds)
    cases = [Case(f"{name} ({who})", median, "ms", f"{COMPARED[name]} ({who})" if name in COMPARED else "")
             for name, median in medians.items()]
    memory = memory_cases(place, options.sandboxes, who)
    if options.json:
        measure.print_json("start", cases + memory)
        return
    title = f"start, as {who}: median of {options.rounds} in turn, a plan of {count_of(place.mounts)} mounts"
    measure.print_table(title, cases, f"{SPAWN} ({who})")
    measure.print_table(f"memory of an idle sandbox, as {who}: mean of {options.sandboxes}", memory)


def memory_cases(place, count, who):
    """What the processes around an idle command hold (PSS), and what the kernel's own counters grew by."""
    program = [place.floor, "sleep"]
    bwrap_name, hutch_name = f"idle: bwrap itself ({who})", f"idle: hutch run, namespace ({who})"
    bwrap = idle_memory(place, [*place.bwrap(), *program], count)
    hutch = idle_memory(place, [*place.hutch("run", "namespace"), "--", *program], count)
    listed = idle_memory(place, [*place.listed(), *program], count)
    inside = [Case(f"idle: of it {part} ({who})", hutch[part], "MiB") for part in ("guest", "hutch", "kernel")]
    whole = [Case(bwrap_name, sum(bwrap.values()), "MiB"), Case(hutch_name, sum(hutch.values()), "MiB", bwrap_name),
             Case(f"idle: {LISTED} ({who})", sum(listed.values()), "MiB", bwrap_name)]
    return whole + inside


def idle_memory(place, command, count):
    """MiB of one sandbox: {"guest", "hutch" (or bwrap outside), "kernel"}; the command's own memory is left out."""
    before = kernel_memory()
    running = []
    try:
        for _ in range(count):
            process = harness.start_in(place.person, command, cwd=place.project, stderr=subprocess.DEVNULL)
            running.append(process)
            assert process.stdout.readline() == b"ready\n", "the idle command did not start"
        grown = (kernel_memory() - before) / count
        sums = {"guest": 0.0, "hutch": 0.0}
        for process in running:
            for pid in tree_of(process.pid):
                if not is_payload(pid, place.floor):
                    sums["hutch" if pid == process.pid else "guest"] += pss_kib(pid)
        return {**{part: value / count / 1024 for part, value in sums.items()}, "kernel": max(grown, 0) / 1024}
    finally:
        for process in running:
            process.stdin.close()
        for process in running:
            process.wait(60)


def kernel_memory():
    """KiB in the kernel's own counters: page tables, stacks, slab (namespaces, mounts, inodes), per-CPU data."""
    wanted = ("Slab", "KernelStack", "PageTables", "SecPageTables", "Percpu")
    with open("/proc/meminfo", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if line.split(":")[0] in wanted)


def tree_of(pid):
    """The process and everything below it."""
    found = [pid]
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
            for child in children.read().split():
                found += tree_of(int(child))
    return found


def is_payload(pid, program):
    with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
        return cmdline.read().split(b"\0")[0] == os.fsencode(program)


def pss_kib(pid):
    """The guest is not dumpable, so only root may see its PSS. Others count its anonymous pages: the rest of it is the
    program's file, which all sandboxes share."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            return next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    except PermissionError:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))


if __name__ == "__main__":
    sys.exit(main())
