#!/usr/bin/env python3
# What a virtual machine costs: its start beside a bare one of the same kernel, and a command in one that runs.
"""usage: ./dev bench vm [--json] [--rounds N]

The floor is the same kernel in the same QEMU, with the same memory and processors, whose first program says a word and
turns the machine off, on the processor that QEMU says is its best. hutch's machines leave out what takes longest in
software, the kernel's tries of its ciphers and pages that are copied byte by byte: so there is a second one that does
as well. Each round starts one after the other: these, a machine that goes on from the saved one, and one of another
size, which boots. Bars: a booted one's first command within 1.3 times of the floor; a command in a machine that runs
within 3 times of a spawn by its own shell.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time

import measure
from measure import Case, harness

from machines import busybox_archive

BARE, UNTRIED = "a bare init", "as hutch sets it up"
SAVED, COLD, SHARED = "hutch run --backend vm", "the same, booted", "an agent's start, with files"
OWN, EXEC = "the machine's own spawn", "hutch exec"
SPAWNS = 200
BARE_INIT = """
#include <sys/reboot.h>
#include <unistd.h>
#include <fcntl.h>
int main(void) {
  int console = open("/dev/console", O_WRONLY);
  if (console >= 0) (void)!write(console, "up\\n", 3);
  reboot(RB_POWER_OFF);
  for (;;) pause();
}
"""


def main():
    options = parse()
    if os.geteuid() != 0:
        sys.exit("bench: the floor's archive holds a device, which root makes: sudo ./dev bench vm")
    if not shutil.which("qemu-system-x86_64") or not shutil.which("tar2sqfs"):
        sys.exit("bench: virtual machines take qemu-system-x86 and squashfs-tools-ng")
    base = harness.Base()
    try:
        cases = start_cases(base, options)
    finally:
        base.remove()
    if options.json:
        measure.print_json("vm", cases)
    else:
        measure.print_table(f"virtual machines: medians of {options.rounds} in turn", cases)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench vm", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=9, help="how often each start is timed")
    return parser.parse_args()


class Place:
    """A person with a state of their own, in which a machine is provisioned."""

    def __init__(self, base):
        self.person = base.person("user")
        self.hutch_program = base.bin / "hutch"
        self.state = self.person.mkdir(self.person.home / "vm-state")
        self.environment = {"HUTCH_STATE": str(self.state)}
        self.run("vm", "provision", "--root", str(busybox_archive(base.path / "root.tar")))
        files = self.state / "data/vm/files"
        self.kernel = base.path / "kernel"
        shutil.copy(files / "kernel", self.kernel)
        self.initramfs = bare_initramfs(base.path)

    def run(self, *words):
        return harness.run_in(self.person, [self.hutch_program, *words], cwd="/", env=self.environment,
                              timeout=600).ok()

    def bare(self, processor="max", more=""):
        # Of what hutch gives a machine, all that has no device of its own.
        return timed(["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-M",
                      "q35,accel=tcg", "-cpu", processor, "-smp", "2", "-m", "2048M", "-kernel", self.kernel, "-initrd",
                      self.initramfs, "-append", f"console=ttyS0 quiet panic=-1 rdinit=/init {more}", "-serial",
                      "stdio"],
                     self.person, {})

    def start(self, *options):
        return timed([self.hutch_program, "run", "--backend", "vm", *options, "--", "/bin/echo", "up"], self.person,
                     self.environment)

    def shared(self):
        took = timed([self.hutch_program, "exec", "speedy", "--", "/bin/echo", "up"], self.person, self.environment)
        self.run("agent", "stop", "speedy")
        return took


def bare_initramfs(directory):
    """A cpio archive in the form that a kernel unpacks, of one program."""
    tree = directory / "bare"
    (tree / "dev").mkdir(parents=True)
    source = directory / "bare.c"
    source.write_text(BARE_INIT, encoding="utf-8")
    subprocess.run(["gcc", "-O2", "-static", str(source), "-o", str(tree / "init")], check=True)
    os.mknod(tree / "dev/console", 0o600 | 0o020000, os.makedev(5, 1))
    packed = subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], input=b".\ndev\ndev/console\ninit\n", cwd=tree,
                            check=True, capture_output=True)
    path = directory / "bare.cpio"
    path.write_bytes(packed.stdout)
    path.chmod(0o644)
    return path


def timed(command, person, environment):
    """Milliseconds until it has said "up"."""
    words = person.command([str(word) for word in command])
    began = time.monotonic()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**os.environ, **environment},
                          cwd="/") as process:
        for line in process.stdout:
            if b"up" in line:
                break
        else:
            sys.exit(f"bench: {command[0]} {command[1]} said nothing")
        took = time.monotonic() - began
        process.stdout.read()
    return took * 1e3


def start_cases(base, options):
    place = Place(base)
    place.run("agent", "create", "speedy", "backend=vm")
    place.run("exec", "speedy", "--", "/bin/true")
    place.run("agent", "stop", "speedy")
    turns = {BARE: place.bare, UNTRIED: lambda: place.bare("max,-erms", "cryptomgr.notests"), SAVED: place.start,
             COLD: lambda: place.start("--memory", "2049M"), SHARED: place.shared}
    times = {name: [] for name in turns}
    for _ in range(options.rounds):
        for name, turn in turns.items():
            times[name].append(turn())
    spawns = {OWN: [], EXEC: []}
    place.run("exec", "speedy", "--", "/bin/true")
    script = f"i=0; while [ $i -lt {SPAWNS} ]; do /bin/busybox true; i=$((i + 1)); done"
    for _ in range(options.rounds):
        began = time.monotonic()
        place.run("exec", "speedy", "--", "/bin/sh", "-c", script)
        of_many = time.monotonic() - began
        began = time.monotonic()
        place.run("exec", "speedy", "--", "/bin/busybox", "true")
        of_one = time.monotonic() - began
        spawns[OWN].append((of_many - of_one) * 1e3 / SPAWNS)
        spawns[EXEC].append(of_one * 1e3)
    place.run("daemon", "stop")
    starts = [measure_case(name, times[name], "" if name == BARE else BARE) for name in turns]
    return starts + [measure_case(OWN, spawns[OWN], ""), measure_case(EXEC, spawns[EXEC], OWN)]


def measure_case(name, times, vs):
    times = sorted(times)
    return Case(name, times[len(times) // 2], "ms", vs)


if __name__ == "__main__":
    sys.exit(main())
