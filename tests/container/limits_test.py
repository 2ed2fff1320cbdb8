# Limits of agents whose sandbox is a container: the engine holds them, and what they end is told.
HOG = "x = []\nwhile True: x.append(bytearray(1 << 20))"


def test_a_command_that_is_killed_for_memory_is_told_as_such(daemon):
    name = daemon.create("limits.memory=100M")
    hog = daemon.exec(name, "/usr/bin/python3", "-c", HOG)
    assert hog.code == 137 and "limit of memory" in hog.errors, str(hog)
    own = daemon.sh(name, "kill -KILL $$")
    assert own.code == 137 and "memory" not in own.errors, str(own)
    daemon("agent", "remove", name).ok()


def test_a_limit_of_the_disk_holds_or_is_an_error(daemon):
    name = daemon.create("limits.disk=64M")
    said = daemon.sh(name, "dd if=/dev/zero of=/var/tmp/hog bs=1M count=128 2>&1 | tail -1; ls -l /var/tmp/hog")
    if said.code == 125:
        assert "limits.disk: the engine's storage cannot hold it" in said.errors and "pquota" in said.errors, str(said)
    else:
        assert "134217728" not in said.text, str(said)
    daemon("agent", "remove", name).ok()
