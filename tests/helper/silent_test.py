# Connections to hutch-helper on which nothing is said.
import harness


OPEN = """
import socket, sys, time
kept = []
for _ in range(int(sys.argv[1])):
    to = socket.socket(socket.AF_UNIX)
    to.connect('/run/hutch-helper/socket')
    kept.append(to)
print('open', flush=True)
time.sleep(30)
"""


def test_who_says_nothing_has_no_more_than_who_runs_sandboxes(machine):
    """Else one person takes all the connections that the unit accepts (MaxConnections)."""
    opened = harness.start_in(machine.person("dave"), ["/usr/bin/python3", "-c", OPEN, "90"], outer=machine.enter())
    try:
        assert opened.stdout.readline() == b"open\n"
        harness.wait_until(lambda: len(machine.started) >= 90, "they are accepted")
        harness.wait_until(lambda: len(machine.helpers()) <= 64, "the rest is refused", seconds=5)
        assert machine.hutch("carol").run("true").code == 0
    finally:
        harness.kill_group(opened)
        opened.communicate()
    harness.wait_until(lambda: not machine.helpers(), "all are gone")
