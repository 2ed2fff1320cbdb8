# OpenWalrus's own text from its install to its result, by somebody with a fresh account; nothing else is typed.
"""`walrus sandbox` is hutch. Root types the lines with sudo."""

import pytest

import people

CHROME = ".config/google-chrome/Profile 1"


@pytest.fixture(scope="module")
def fresh(base):
    """A machine on which nothing was set up."""
    why = people.missing()
    if why:
        pytest.skip(why)
    made = people.Machine(base, base.unused("fresh"))
    yield made
    made.stop()


def test_from_init_to_unshare(fresh):
    alice, hutch = fresh.person("carol"), fresh.base.bin / "hutch"
    project = alice.mkdir(alice.home / "projects/my-app")
    alice.write(project / "main.c", "int main(void) { return 0; }\n")
    alice.mkdir(alice.home / ".ssh", 0o700)
    key = alice.write(alice.home / ".ssh/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nkey\n", 0o600)
    alice.write(alice.home / CHROME / "Cookies", "session", 0o600)
    secret = alice.write(alice.home / "secret", "hers", 0o600)

    told = fresh.root("env", f"SUDO_UID={alice.uid}", hutch, "init", "--for", "me")
    assert "useradd --system" in told and "/var/lib/hutch-people/hutch-carol" in told, "each command is shown"
    assert "The user hutch-carol is ready." in told
    again = fresh.root("env", f"SUDO_UID={alice.uid}", hutch, "init", "--for", "me").splitlines()
    assert len(again) == 2 and "is there already" in again[0] and again[1] == told.splitlines()[-1], again
    for place in ("workspaces", ".runtimes"):
        assert fresh.file(f"/var/lib/hutch-people/hutch-carol/{place}").is_dir()
    fresh.listen()
    walrus = fresh.hutch("carol", cwd=alice.home)

    walrus("share", "--traverse", project).ok()
    walrus.sh(f"cd {project} && cat main.c && echo made > by-agent.c").ok()
    assert (project / "by-agent.c").read_text() == "made\n"
    assert walrus.run("cat", secret).code != 0 and walrus.run("cat", key).code != 0

    walrus("share", "--traverse", "--read-only", key).ok()
    assert walrus.run("cat", key).ok().text.endswith("key\n")
    assert walrus.sh(f"echo x >> {key}; rm -f {key}").code != 0 and key.read_text().endswith("key\n")

    into = "workspaces/task-42/chrome-profile"
    walrus("share", "--copy", alice.home / CHROME, "--into", into).ok()
    assert walrus.sh(f"cat ~/{into}/Cookies; echo changed > ~/{into}/Cookies").ok().text == "session"
    assert (alice.home / CHROME / "Cookies").read_text() == "session", "an isolated copy"

    shared = walrus("shared").ok().text
    assert str(project) in shared and "read-write" in shared
    assert str(key) in shared and "read-only" in shared and "chrome-profile" in shared

    walrus("unshare", project).ok()
    walrus("unshare", key).ok()
    assert walrus.sh(f"echo x > {project}/again").code != 0 and walrus.run("cat", key).code != 0
    assert key.stat().st_mode & 0o777 == 0o600

    # Each agent is a user without another line for root.
    walrus("agent", "create", "task-42", "backend=user").ok()
    said = walrus("exec", "task-42", "--", "sh", "-c", "id -un; cat ~/main.c").text
    assert said.startswith("hutch-carol-task-42-") and "int main" not in said
    walrus("agent", "remove", "task-42").ok()
    walrus("daemon", "stop").ok()


def test_network_init_and_the_end(fresh):
    """Its rules are made for that user alone: tests/helper has what they hold."""
    hutch = fresh.base.bin / "hutch"
    planned = fresh.root(hutch, "network", "init", "--dry-run")
    assert "hutch-network" in planned
    for agent in ([], ["--agent", "task-42"]):
        fresh.root(hutch, "deinit", "--for", "carol", *agent, "--remove-homes")
    assert "hutch-carol" not in fresh.file("/etc/passwd").read_text()
    assert not fresh.file("/etc/hutch-helper/agents/61401").exists()
    refused = fresh.hutch("carol").run("true")
    assert refused.code == 125 and "sudo hutch init --for carol" in refused.errors, str(refused)
