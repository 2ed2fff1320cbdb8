# A machine's clock, where the machine, or the one that it is on, has stood still.
import os
import signal
import time

import daemons
import harness
import pytest


def qemu_of(pid):
    for below in daemons.descendants(pid):
        try:
            with open(f"/proc/{below}/cmdline", "rb") as words:
                if words.read().split(b"\0")[0].endswith(b"qemu-system-x86_64"):
                    return below
        except OSError:
            continue
    raise AssertionError("no QEMU")


@pytest.mark.parametrize("options", [(), ("--memory", "512M")], ids=["saved", "fresh"])
def test_it_is_right_from_the_first_command_on(machines, options):
    """A start takes seconds, at whose beginning the machine was told what time it is."""
    script = "date +%s; while read line; do date +%s; done"
    with machines.popen("sh", "-c", script, options=options) as process:
        def ahead():
            inside = process.stdout.readline()
            return int(inside) - int(time.time())

        assert abs(ahead()) <= 1

        def again():
            process.stdin.write(b"\n")
            process.stdin.flush()
            return ahead()

        qemu = qemu_of(process.pid)
        os.kill(qemu, signal.SIGSTOP)
        time.sleep(12)
        os.kill(qemu, signal.SIGCONT)
        harness.wait_until(lambda: abs(again()) <= 1, "it is right again", seconds=30)
        # And stays so: what was on its way meanwhile is older.
        for _ in range(3):
            time.sleep(1)
            assert abs(again()) <= 1
        process.stdin.close()
        assert process.wait(timeout=60) == 0
