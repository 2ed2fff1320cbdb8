# The numbers that users of a test's own machine get: machines that are there at once share the list of processes, in
# which userdel(8) looks for a user's.
import os


def last_number():
    """The highest of them."""
    return 975 - 150 * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 4)


def own_numbers():
    """A line of sh(1), for where /etc is the test's own: the system users that are made there have numbers that no test
    has which runs at the same time."""
    return f"sed -i '/^#*SYS_UID_M/d' /etc/login.defs && printf 'SYS_UID_MAX {last_number()}\\n' >> /etc/login.defs"
