# The key of all secrets in the Secret Service of a session: a real one, of gnome-keyring, on a bus of the test's own.
import os
import pwd
import shutil
import subprocess

import pytest

import daemons

PROGRAMS = ["dbus-daemon", "gnome-keyring-daemon", "secret-tool"]
VALUE = b"0123456789-value"


def has_account():
    try:
        return bool(pwd.getpwuid(os.geteuid()))
    except KeyError:
        return False


pytestmark = [
    pytest.mark.skipif(not all(shutil.which(program) for program in PROGRAMS), reason="no " + ", ".join(PROGRAMS)),
    pytest.mark.skipif(not has_account(), reason="a bus asks who it is of"),
]


@pytest.fixture
def session(base):
    """A daemon of hutch's in a session that has an unlocked keyring, and the environment of that session."""
    made = daemons.Daemon(base, base.person("root" if os.geteuid() == 0 else "user"))
    home = made.state / "keyring"
    home.mkdir(mode=0o700)
    environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "XDG_DATA_HOME": str(home)}
    everything = {**os.environ, **environment}
    with subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE,
                          text=True, stderr=subprocess.DEVNULL, env=everything) as bus:
        environment["DBUS_SESSION_BUS_ADDRESS"] = everything["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        with subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=everything) as keyring:
            keyring.stdin.write("password")
            keyring.stdin.close()
            subprocess.run(["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                            "org.freedesktop.DBus.Peer.Ping"], env=everything, check=True, stdout=subprocess.DEVNULL)
            yield made, environment
            made.stop()
            keyring.terminate()
        bus.terminate()


def files(daemon):
    return sorted(path.name for path in (daemon.data / "secrets").iterdir())


def test_it_goes_there_and_back_and_every_value_stays(session):
    daemon, environment = session
    agent = daemon.create()
    daemon("secret", "set", "--agent", agent, "TOKEN", stdin=VALUE).ok()
    daemon("daemon", "stop").ok()
    assert daemon.json("secret", "key", env=environment) == {"key": "file"}
    assert daemon.json("secret", "key", "secret-service", env=environment) == {"key": "secret-service"}
    assert files(daemon) == [f"{agent}.sealed", "key-is-in-secret-service"]
    daemon("daemon", "stop").ok()

    # A daemon of another session knows of no keyring: nothing is made anew in its place.
    alone = {**environment, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={daemon.state}/nothing"}
    refused = daemon("secret", "check", "--agent", agent, "TOKEN", env=alone)
    assert refused.code == 125 and "Secret Service" in refused.errors, refused
    assert daemon("secret", "set", "--agent", agent, "OTHER", stdin=VALUE, env=alone).code == 125
    assert daemon("secret", "key", "file", env=alone).code == 125
    daemon("daemon", "stop").ok()

    assert daemon("secret", "check", "--agent", agent, "TOKEN", env=environment).code == 0
    said = daemon.exec(agent, "hutch-host", "secrets", "get", "TOKEN")
    assert said.code == 0 and VALUE.decode() in said.text, said
    assert daemon.json("secret", "key", "file", env=environment) == {"key": "file"}
    assert files(daemon) == [f"{agent}.sealed", "key"]
    daemon("daemon", "stop").ok()
    assert daemon("secret", "check", "--agent", agent, "TOKEN").code == 0


def test_a_key_that_is_gone_is_said_and_none_is_made(session):
    daemon, environment = session
    agent = daemon.create()
    daemon("daemon", "stop").ok()
    daemon("secret", "set", "--agent", agent, "TOKEN", stdin=VALUE, env=environment).ok()
    daemon("secret", "key", "secret-service").ok()
    daemon("daemon", "stop").ok()
    subprocess.run(["secret-tool", "clear", "application", "hutch", "store", str(daemon.data / "secrets")],
                   env={**os.environ, **environment}, check=True)
    refused = daemon("secret", "check", "--agent", agent, "TOKEN", env=environment)
    assert refused.code == 125 and "any more" in refused.errors, refused
    assert files(daemon) == [f"{agent}.sealed", "key-is-in-secret-service"]


@pytest.mark.parametrize("words, said", [(["elsewhere"], "secret-service"), (["file", "file"], "no value"),
                                         (["--agent", "x", "file"], "--agent")])
def test_bad_input(session, words, said):
    daemon, _ = session
    refused = daemon("secret", "key", *words)
    assert refused.code == 125 and said in refused.errors, refused
