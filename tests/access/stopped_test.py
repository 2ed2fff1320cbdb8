# A supervisor that is stopped in the middle of an answer, as each process is when its machine goes to sleep.
import contextlib
import os
import signal
import threading
import time

import harness
import pytest
from supervisors import supervisor_of

# One processor for all of them, where whoever asks comes last: what is stopped goes on before its answer is taken.
PROCESSOR = min(os.sched_getaffinity(0))
# The kernel then has the call answer 0, which is standard input here, and gives no descriptor.
OPENS = f"""
import os
os.sched_setaffinity(0, {{{PROCESSOR}}})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
for i in range(200000):
    opened = os.open("f", os.O_WRONLY | os.O_CREAT)
    if opened == 0:
        break
    os.close(opened)
print("ready", flush=True)
input()
print("x", file=open("after", "x"))
"""


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_the_calls_behind_it_are_answered(hutch, project, backend):
    with hutch.popen("python3", "-c", OPENS, backend=backend) as run:
        enough = threading.Event()
        stops = threading.Thread(target=stop_often, args=(supervisor_of(run), enough))
        stops.start()
        try:
            assert run.stdout.readline() == b"ready\n"
        finally:
            enough.set()
            stops.join()
        _, err = run.communicate(b"go\n", timeout=harness.PATIENCE)
        assert run.returncode == 0, err
    assert (project / "after").read_text() == "x\n"


def stop_often(pid, enough):
    with contextlib.suppress(ProcessLookupError):
        for one in (pid, 0):
            os.sched_setaffinity(one, {PROCESSOR})
        while not enough.is_set():
            os.kill(pid, signal.SIGSTOP)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.0001)
