# The fault sweep: no failing call of the set-up lets a command run less confined than planned.
import os
import pathlib
import sys

import pytest
from harness import run_in

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sweep  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(sweep.STRACE), reason="strace is not installed")
PAYLOAD = (pathlib.Path(__file__).parent / "payload.c").read_text(encoding="utf-8")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def swept(hutch, backend, compile_c, project):
    return sweep.Sweep(hutch, compile_c(PAYLOAD, name="payload"), project / "mark")


def judge(swept, numbers_of, leave_out=(), only=sweep.SET_UP, at_least=20):
    baseline, wrong, tried = swept.baseline(), [], 0
    for call, count in swept.counts().items():
        if call in leave_out or call not in only:
            continue
        for number in numbers_of(count):
            tried += 1
            problem = swept.fails(call, number, baseline)
            if problem:
                wrong.append(f"{call} #{number} of {count}: {problem}")
    assert tried > at_least
    assert not wrong, "\n".join(wrong)


def test_the_first_the_middle_and_the_last_of_each_call(swept, backend):
    # Bubblewrap does not look whether it could wake its other half, and hutch gives up after 30 s: for the slow tests.
    judge(swept, lambda count: sorted({1, (count + 1) // 2, count}), ["write"] if backend == "bwrap" else [])


def test_each_message(swept):
    """The one that waits for a message that was not sent would wait for ever, and with it the command's call."""
    judge(swept, lambda count: range(1, count + 1), only=("sendmsg", "recvmsg"), at_least=4)


@pytest.mark.slow
def test_every_call(swept):
    judge(swept, lambda count: range(1, count + 1))


@pytest.mark.slow
def test_a_bubblewrap_that_waits_for_itself_is_given_up(swept, backend):
    if backend != "bwrap":
        pytest.skip("of bubblewrap alone")
    result, ran = swept.run("-e", "inject=write:error=EPERM:when=1")
    assert not ran and result.code == 125, str(result)


def test_a_starter_that_is_held_up_comes_first_still(swept, backend):
    if backend != "namespace":
        pytest.skip("bubblewrap starts the guest once")
    swept.baseline()
    result, ran = swept.run("-e", "inject=clone:delay_exit=500000")
    assert ran and result.code == 0, str(result)


@pytest.mark.parametrize(
    "call, argument",
    [
        ("unshare", "unshare(user, mount"),
        ("pivot_root", "pivot_root(., .)"),
        ("sethostname", "sethostname(hutch)"),
        ("capset", "capset(none)"),
        ("seccomp", "seccomp(SET_MODE_FILTER)"),
        ("fsopen", "fsopen(tmpfs)"),
        ("landlock_restrict_self", "landlock_restrict_self()"),
        ("setsid", "setsid()"),
        ("open_tree", "open_tree(/"),
    ],
)
def test_the_message_names_the_call_and_its_argument(swept, backend, call, argument):
    if backend == "bwrap" and call in ("pivot_root", "sethostname", "fsopen", "capset", "setsid", "unshare"):
        pytest.skip("bubblewrap makes the call, and words its own error")
    result, ran = swept.run("-e", f"inject={call}:error=EPERM:when=1")
    assert not ran and result.code == 125, str(result)
    assert argument in result.errors and "Operation not permitted" in result.errors, str(result)


def test_the_payload_can_tell_a_weaker_place(swept, as_user):
    """The measure itself: outside of a sandbox it must look different in every respect that the sweep relies on."""
    inside = set(swept.baseline())
    outside = sweep.strength(run_in(as_user, [swept.payload, str(swept.mark)], cwd=swept.mark.parent).ok().out)
    for what in ("CapBnd", "NoNewPrivs", "Seccomp:", "unix socket", "unshare", "landlock", "ns mnt", "hostname"):
        mine = {line for line in inside if line.startswith(what)}
        theirs = {line for line in outside if line.startswith(what)}
        assert mine and theirs and mine != theirs, what
