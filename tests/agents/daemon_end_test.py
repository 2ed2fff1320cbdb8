# A daemon that is told to stop while sandboxes start ends as it should.
import random
import time

import harness

ROUNDS = 25


def test_it_ends_while_sandboxes_start(own_daemon):
    """One that starts once the others have been stopped outlives whoever is told of its states."""
    agents = [own_daemon.create() for _ in range(3)]
    own_daemon("daemon", "stop").ok()
    for number in range(ROUNDS):
        with own_daemon.popen("serve") as serving:
            harness.wait_until(own_daemon.socket.exists, "the daemon listens")
            calls = [own_daemon.popen("exec", random.choice(agents), "--", "true") for _ in range(4)]
            time.sleep(random.random() * 0.1)
            own_daemon("daemon", "stop")
            serving.communicate(timeout=20)
            assert serving.returncode == 0, number
        for call in calls:
            call.communicate(timeout=harness.PATIENCE)
        own_daemon("daemon", "stop")
