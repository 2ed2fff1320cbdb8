# OpenWalrus: rows 6 to 58. Sandboxes that are OS users have their suite in tests/helper, on a machine with root.
import pytest

import harness
from seed_pages import rows, says

DIFFERS = {
    6: "Each agent with backend=user is an OS user of its own, made when you make the agent",
    13: "--backend user also filters system calls and closes the network.",
    14: "hutch service init",
    15: "hutch run isolates without it",
    25: "A share of a private key changes the key's mode.",
    36: "After unshare the agent's user can still read the files that it made itself.",
    38: "hutch shared goes on listing what somebody took back with setfacl",
    42: "closes the network",
    45: "it has no list of hosts for that user, because a firewall sees addresses only.",
    48: "elsewhere run hutch network apply at each start.",
    49: "A display, sound and a session bus are not passed to the OS user:",
    50: "A display, sound and a session bus are not passed to the OS user:",
    51: "macOS and BSD are not supported.",
    52: "macOS and BSD are not supported.",
    53: "Skills have no needs:.",
    58: "hutch's programs may lie below /tmp for an agent that is an OS user, too.",
}


@pytest.mark.parametrize("row, sentence", rows(DIFFERS))
def test_what_differs_is_told(row, sentence):
    says("openwalrus", sentence)


def test_row_15_without_root_a_command_is_isolated_all_the_same(base, person, project):
    secret = person.write(person.home / "of-openwalrus", "secret")
    done = harness.Hutch(base, person, project)("run", "--", "cat", secret)
    assert done.code != 0 and "secret" not in done.text, str(done)


def test_row_13_and_42_a_command_reaches_no_host(base, person, project):
    done = harness.Hutch(base, person, project)("run", "--", "curl", "-s", "http://good.invalid/")
    assert "--allow-domain good.invalid allows it" in done.errors, str(done)


def test_row_6_the_remedy_names_who_is_to_be_let(base, person, project):
    done = harness.Hutch(base, person, project)("run", "--backend", "user", "--", "true")
    assert done.code == 125 and f"sudo hutch init --for {person.uid}" in done.errors, str(done)


def test_row_d5_the_remedy_of_doctor_is_the_same_each_time(base, person, project):
    """Where it names an agent of doctor's own, doing it does not help: the next time there is another one."""
    hutch = harness.Hutch(base, person, project)
    state = {"HUTCH_STATE": str(person.mkdir(person.home / "d5"))}
    said = {hutch("doctor", "--backend", "user", env=state).errors for _ in range(2)}
    hutch("daemon", "stop", env=state).ok()
    assert len(said) == 1 and f"sudo hutch init --for {person.uid}" in min(said), said
