# Attacks on the copies that a sandbox has of the host's files (ssh's drop-ins): a copy holds nothing that the sandbox
# could not read of the host itself.
"""Each is known to be an attack: with the backend none the secret is printed."""

import harness
import own_ssh
import pytest

SECRET = "Host secret-b7f1.example"
SEARCH = ("grep -Rhs secret-b7f1 /etc/ssh /.hutch /proc/self/root/.hutch /proc/1/root/.hutch {home}/hidden; "
          "echo searched")
DROP = f"printf '{SECRET}\\n' > 20-drop.conf"
# Of root, in a home that the default policy hides.
IN_HOME = f"mkdir -p {{home}}/hidden; printf '{SECRET}\\n' > {{home}}/hidden/key; cd /etc/ssh/ssh_config.d"
GROUP = 4243

# What the host has, and the options of the run.
HIDDEN = {
    "a directory": (DROP, ("--deny-read", "/etc/ssh/ssh_config.d")),
    "a file": (DROP, ("--deny-read", "/etc/ssh/ssh_config.d/20-drop.conf")),
    "all that a pattern matches": (DROP, ("--deny-read", "/etc/ssh/ssh_config.d/20-*")),
    "all of ssh": (DROP, ("--deny-read", "/etc/ssh")),
    "the target of a link": (f"{DROP}; mv 20-drop.conf ../real; ln -s ../real 20-drop.conf",
                             ("--deny-read", "/etc/ssh/real")),
    "a home that a link leads to": (f"{IN_HOME}; ln -s {{home}}/hidden/key 20-drop.conf", ()),
    "a home that is included": (f"{IN_HOME}; printf 'Include {{home}}/hidden/key\\n' > 20-drop.conf", ()),
    "a home that a relative path leads to": (f"{IN_HOME}; printf 'Include ../..{{home}}/hidden/*\\n' > 20-drop.conf",
                                             ()),
}

# Files that the permissions close to a user, whose own capabilities read them all the same.
CLOSED = {
    "a file of root's alone": f"{DROP}; chmod 600 20-drop.conf",
    "a file of another group": f"{DROP}; chgrp {GROUP} 20-drop.conf; chmod 640 20-drop.conf",
    "a file in a directory of root's alone": f"{DROP}; chmod 700 .",
}


class Capable(harness.Person):
    """A user with CAP_DAC_READ_SEARCH, as a service of systemd's may be (AmbientCapabilities=)."""

    def group_options(self):
        capability = "+dac_read_search"
        return [*super().group_options(), "--inh-caps", capability, "--ambient-caps", capability]


@pytest.fixture
def attack(base, project, backend):
    """attack(person, change, options): the secret lines that a search of the sandbox prints."""
    own_ssh.skip_unless_possible()

    def search(person, change, options=()):
        home = person.home
        hutch = harness.Hutch(base, person, project, backend)
        result = hutch.run("sh", "-c", SEARCH.format(home=home), options=options if backend != "none" else (),
                           outer=own_ssh.enter(person, change.format(home=home), project))
        assert "searched\n" in result.text, str(result)
        return [line for line in result.text.splitlines() if line == SECRET]
    return search


@pytest.mark.parametrize("what", HIDDEN)
def test_what_the_policy_hides(attack, as_user, backend, what):
    assert bool(attack(as_user, *HIDDEN[what])) == (backend == "none")


@pytest.mark.parametrize("what", CLOSED)
def test_what_permissions_close(attack, as_user, backend, what):
    if as_user.is_root:
        pytest.skip("nothing is closed to root")
    if backend == "bwrap":
        pytest.skip("bwrap starts nothing for a user with capabilities")
    capable = Capable(as_user.name, as_user.uid, as_user.home)
    assert bool(attack(capable, CLOSED[what])) == (backend == "none")


def test_a_copy_is_what_a_user_reads_anyway(attack, as_user):
    assert attack(as_user, DROP)
