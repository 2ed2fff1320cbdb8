# Attacks on hutch-helper by a person, and by what runs as an agent's user.
"""What is sent is written by hand here: hutch would not say it."""

import os
import pathlib
import re
import socket
import struct
import subprocess

import pytest

import harness
import people

VERSION = int(re.search(r"kVersion = (\d+);", (harness.ROOT / "src/wire/message.h").read_text()).group(1))
ASK = """
import socket, sys
to = socket.socket(socket.AF_UNIX)
to.connect('/run/hutch-helper/socket')
to.settimeout(20)
try:
    to.sendall(bytes.fromhex(sys.argv[1]))
    if sys.argv[2] == 'end': to.shutdown(socket.SHUT_WR)
except BrokenPipeError:
    pass
heard, fds = b'', 0
while True:
    try:
        data, given, _, _ = socket.recv_fds(to, 65536, 8)
    except (ConnectionResetError, TimeoutError):
        break
    heard, fds = heard + data, fds + len(given)
    if not data or given:
        break
print(heard.hex() or '-', fds)
"""


def frame(kind, body, size=None):
    return struct.pack("<IHH", len(body) if size is None else size, kind, 0) + body


def start(user, version=VERSION, service=0, network=0, ports=(), captures=0, filters=1, tail=b""):
    body = struct.pack("<IIBB", version, user, service, network)
    body += struct.pack("<I", len(ports)) + b"".join(struct.pack("<H", port) for port in ports)
    body += struct.pack("<I", captures) + struct.pack("<IHHI", 0, 123, 900, 0) * captures
    body += struct.pack("<QQQQIII", *[0] * 7)
    allow = struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000)
    return frame(0, body + struct.pack("<I", filters) + allow * filters + tail)


def ask(machine, name, message, then="end"):
    person = machine.person(name) if isinstance(name, str) else name
    done = harness.run_in(person, ["/usr/bin/python3", "-c", ASK, message.hex(), then], outer=machine.enter())
    heard, descriptors = done.ok().text.split()
    return bytes.fromhex("" if heard == "-" else heard), int(descriptors)


def is_of(user, pid):
    try:
        return pid.isdigit() and os.stat(f"/proc/{pid}").st_uid == user
    except OSError:
        return False


def number_of(machine, name):
    return next(int(line.split(":")[2]) for line in machine.file("/etc/passwd").read_text().splitlines()
                if line.startswith(f"{name}:"))


def test_a_message_by_hand_is_understood(machine):
    heard, descriptors = ask(machine, "carol", start(number_of(machine, "hutch-carol")), then="wait")
    assert struct.unpack("<IHH", heard[:8])[1] == 0 and descriptors == 1, "else the cases below show nothing"


def others(machine):
    return {"root": 0, "the person": people.PEOPLE["carol"], "another person": people.PEOPLE["dave"],
            "another person's": number_of(machine, "hutch-dave"), "nobody": 65534, "no such": 4_000_000_000,
            "daemon": 1}


@pytest.mark.parametrize("whom", ["root", "the person", "another person", "another person's", "nobody", "no such",
                                  "daemon"])
def test_nobody_else_is_to_be_had(machine, whom):
    heard, descriptors = ask(machine, "carol", start(others(machine)[whom]))
    assert b"may run nothing as user" in heard and descriptors == 0, heard


def test_somebody_whom_root_let_be_nobody(machine):
    erin = harness.Person("erin", 61409, machine.directory)
    heard, descriptors = ask(machine, erin, start(number_of(machine, "hutch-carol")))
    assert b"person 61409 may run nothing as another user" in heard and descriptors == 0, heard


MALFORMED = {
    "nothing": b"",
    "half a header": b"\x01\x00",
    "a header alone": frame(0, b"", size=20),
    "a size beyond all bounds": frame(0, b"x", size=0xFFFFFFFF),
    "an unknown verb": frame(77, b"x"),
    "an empty start": frame(0, b""),
    "a count first": frame(1, b""),
    "a count with something in it": frame(1, b"x"),
    "more than a start": start(1, tail=b"x"),
    "another version": start(1, version=VERSION + 1),
    "a service that is none": start(1, service=7),
    "a network that is none": start(1, network=9),
    "a list longer than the message": frame(0, struct.pack("<IIBBI", VERSION, 1, 0, 0, 0xFFFFFFFF)),
    "ports without a gateway": start(1, ports=[80]),
    "a port that is 0": start(1, network=2, ports=[0]),
    "too many ports": start(1, network=2, ports=[80] * 5000),
    "too many rules of UDP": start(1, network=2, captures=900),
    "no filter": start(1, filters=0),
    "a filter beyond the kernel's bound": start(1, filters=4097),
    "text": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "noise": bytes(range(256)) * 40,
}


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_malformed_starts_nothing(machine, what):
    message = MALFORMED[what]
    # As the person's own user, so that it is for no other reason.
    own = struct.pack("<I", number_of(machine, "hutch-carol"))
    if message[4:6] == b"\0\0" and len(message) > 16:
        message = message[:12] + own + message[16:]
    before = len(processes_of(machine, "hutch-carol"))
    heard, descriptors = ask(machine, "carol", message)
    assert descriptors == 0 and (not heard or struct.unpack("<IHH", heard[:8])[1] == 2), heard
    harness.wait_until(lambda: len(processes_of(machine, "hutch-carol")) <= before, "nothing runs")


def processes_of(machine, name):
    uid, found = number_of(machine, name), []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == uid:
                found.append(entry)
        except OSError:
            continue
    return found


def test_a_second_start_ends_the_first(machine):
    own = number_of(machine, "hutch-carol")
    heard, descriptors = ask(machine, "carol", start(own) + start(own), then="wait")
    assert descriptors == 1 and struct.unpack("<IHH", heard[:8])[1] == 0
    harness.wait_until(lambda: not machine.helpers(), "no helper stays")


def test_one_person_has_so_many_at_once(machine):
    own = number_of(machine, "hutch-dave")
    # A helper that is one too many answers, and is gone, before it is asked.
    script = ("import contextlib, socket, sys\nkept, codes = [], []\nfor _ in range(66):\n"
              "  to = socket.socket(socket.AF_UNIX); to.connect('/run/hutch-helper/socket')\n"
              "  with contextlib.suppress(BrokenPipeError): to.sendall(bytes.fromhex(sys.argv[1]))\n"
              "  data, fds, _, _ = socket.recv_fds(to, 4096, 4)\n"
              "  kept.append((to, fds)); codes.append(data[4])\nprint(codes.count(0), codes.count(2))")
    done = harness.run_in(machine.person("dave"), ["/usr/bin/python3", "-c", script, start(own).hex()],
                          outer=machine.enter())
    assert done.ok().text == "64 2\n"
    harness.wait_until(lambda: not machine.helpers(), "all end with who asked")
    assert machine.hutch("dave").run("true").code == 0


def test_by_sudo_the_connection_has_to_be_the_persons(machine):
    """Whoever may run the helper by sudo could hand it a connection of somebody else's: of root's, here."""
    mine, helpers = socket.socketpair()
    process = machine.serve(helpers, env={"SUDO_UID": str(people.PEOPLE["carol"])})
    heard = mine.recv(4096)
    assert b"somebody else" in heard and process.wait(20) == 125


def test_the_places_of_who_may_be_whom_have_to_be_roots(machine):
    place = machine.file("/etc/hutch-helper/people/61402")
    os.chmod(place, 0o777)
    try:
        heard, descriptors = ask(machine, "dave", start(number_of(machine, "hutch-dave")))
        assert b"not root's alone" in heard and descriptors == 0
    finally:
        os.chmod(place, 0o755)


def test_a_guest_that_others_may_change_is_not_started(machine):
    guest = pathlib.Path(machine.base.bin / "hutch-guest")
    guest.chmod(0o777)
    try:
        heard, descriptors = ask(machine, "carol", start(number_of(machine, "hutch-carol")))
        assert b"not root's alone" in heard and descriptors == 0
    finally:
        guest.chmod(0o755)


def test_a_link_in_the_place_of_an_entry_is_none(machine):
    link = machine.file("/etc/hutch-helper/people/61401/daemon")
    link.symlink_to("hutch-carol")
    try:
        heard, _ = ask(machine, "carol", start(1))
        assert b"not root's alone" in heard
    finally:
        link.unlink()


def rename_when_idle(machine, name, new_name):
    """usermod(8) refuses while a process of that user runs: the last ones of a run may end a moment after it."""
    def is_renamed():
        done = subprocess.run([*machine.enter(), "usermod", "--login", new_name, name], capture_output=True, text=True,
                              check=False)
        assert done.returncode in (0, 8), done  # 8: a process of that user runs
        return done.returncode == 0
    harness.wait_until(is_renamed, f"no process of {name} runs")


def test_a_number_that_is_somebody_elses_by_now_is_nobodys(machine):
    """userdel(8) and useradd(8) give a number again: what root let the one be, the other is not."""
    machine.init("--for", "frank")
    user = number_of(machine, "hutch-frank")
    assert machine.hutch("frank").run("id", "-un").ok().text == "hutch-frank\n"
    rename_when_idle(machine, "frank", "gina")
    try:
        heard, descriptors = ask(machine, "frank", start(user))
        assert b"may run nothing as user" in heard and descriptors == 0
        planned = machine.root(machine.base.bin / "hutch", "deinit", "--for", "frank", "--dry-run")
        assert "rm -f -- /etc/hutch-helper/people/61403/hutch-frank" in planned and "userdel hutch-frank" in planned
    finally:
        rename_when_idle(machine, "gina", "frank")
    machine.hutch("frank").run("true").ok()
    machine.root(machine.base.bin / "hutch", "deinit", "--for", "frank", "--remove-homes")


def test_nobody_is_the_user_that_a_daemon_is(machine, carol):
    """It would have the daemon's files and its socket. The other way round root is told what runs."""
    unit = machine.file("/etc/systemd/system/hutch-daemon-hutch-carol.service")
    unit.write_text("[Service]\nUser=hutch-carol\n")
    try:
        refused = carol.run("true")
        assert refused.code == 125 and "hutch service deinit" in refused.errors, str(refused)
        heard, descriptors = ask(machine, "carol", start(number_of(machine, "hutch-carol")))
        assert b"hutch service deinit" in heard and descriptors == 0
    finally:
        unit.unlink()
    with carol.popen("sleep", "600") as run:
        user = number_of(machine, "hutch-carol")
        harness.wait_until(lambda: any(is_of(user, pid) for pid in os.listdir("/proc")), "it runs")
        for words in (["init"], ["check"]):
            said = as_root(machine, "service", *words, "--for", "carol")
            assert said.returncode == 125 and "end what runs as that user" in said.stderr, said
        assert not unit.exists() and not machine.file(f"/etc/hutch-helper/daemons/{user}").exists()
        run.terminate()
        run.wait(30)


def as_root(machine, *words):
    return subprocess.run([*machine.enter(), machine.base.bin / "hutch", *words], capture_output=True, text=True,
                          check=False)


def test_a_sandbox_that_starts_while_a_daemon_comes_is_none(machine, carol):
    """Root has looked whether anybody is the user, and the sandbox whether a daemon is: before both of them are."""
    guest = pathlib.Path(machine.base.bin / "hutch-guest")
    program = guest.rename(guest.with_name("hutch-guest-itself"))
    begun = machine.directory / "begun"
    guest.write_text(f"#!/bin/sh\n/bin/touch {begun}\n/bin/sleep 3\nexec {program} \"$@\"\n")
    guest.chmod(0o755)
    try:
        with carol.popen("sleep", "600") as run:
            harness.wait_until(begun.exists, "the guest is about to become the user")
            machine.root(machine.base.bin / "hutch", "service", "init", "--for", "carol")
            _, errors = run.communicate(timeout=30)
            assert run.returncode == 125 and b"daemon is that user by now" in errors, errors
        # hutch-helper ends what it started, and hutch does not wait for that.
        harness.wait_until(lambda: not processes_of(machine, "hutch-carol"), "nobody is the user")
    finally:
        program.rename(guest)
        machine.root(machine.base.bin / "hutch", "service", "deinit", "--for", "carol")
    carol.run("true").ok()


def test_what_a_daemon_leaves_is_closed_to_sandboxes(machine, carol):
    user, hutch = number_of(machine, "hutch-carol"), machine.base.bin / "hutch"
    files = "/var/lib/hutch-daemon-hutch-carol"
    machine.root(hutch, "service", "init", "--for", "carol")
    # As systemd makes it (systemd.exec(5), StateDirectory=).
    machine.root("install", "-d", "-m", "0700", "-o", str(user), "-g", str(user), files)
    machine.root("setpriv", "--reuid", str(user), "--clear-groups", "sh", "-c", f"echo secret > {files}/key")
    refused = as_root(machine, "deinit", "--for", "carol")
    assert refused.returncode == 125 and "hutch service deinit" in refused.stderr, refused
    machine.root(hutch, "service", "deinit", "--for", "carol")
    held = carol.sh(f"cat {files}/key; echo '{{}}' > {files}/other; mkdir -p {files}/.config")
    assert held.code != 0 and not held.text and held.errors.count("ermission denied") == 3, str(held)
    assert machine.root("stat", "-c", "%u:%a", files) == "0:700\n"
    machine.root(hutch, "service", "deinit", "--for", "carol")
    machine.root(hutch, "service", "init", "--for", "carol")
    assert carol.run("true").code == 125
    machine.root(hutch, "service", "deinit", "--for", "carol")
    # Where they are open all the same, they are a daemon's, and no daemon's to come.
    machine.root("chown", str(user), files)
    refused = carol.run("true")
    assert refused.code == 125 and "hutch service deinit" in refused.errors, str(refused)
    again = as_root(machine, "service", "init", "--for", "carol")
    assert again.returncode == 125 and "was open to sandboxes" in again.stderr, again
    machine.root(hutch, "service", "deinit", "--for", "carol")
    carol.run("true").ok()


def test_without_systemd_too_no_sandbox_is_a_daemons_user(machine, carol):
    hutch = machine.base.bin / "hutch"
    machine.root("mv", "/run/systemd", "/run/no-systemd")
    try:
        said = machine.root(hutch, "service", "init", "--for", "carol")
        start = next(line.strip() for line in said.splitlines() if line.endswith("serve --idle never"))
        assert not machine.file("/etc/systemd/system/hutch-daemon-hutch-carol.service").exists()
        daemon = subprocess.Popen([*machine.enter(), "sh", "-c", start.replace("&& setpriv", "&& exec setpriv")])
        try:
            harness.wait_until(lambda: any(machine.file("/run/hutch-daemon-hutch-carol").rglob("*sock*")), "it serves")
            refused = carol.run("true")
            assert refused.code == 125 and "hutch service deinit" in refused.errors, str(refused)
            there = as_root(machine, "service", "deinit", "--for", "carol")
            assert there.returncode == 125 and "runs as hutch-carol" in there.stdout + there.stderr, there
            assert carol.run("true").code == 125
        finally:
            daemon.terminate()
            daemon.wait(20)
        machine.root(hutch, "service", "deinit", "--for", "carol")
    finally:
        machine.root("mv", "/run/no-systemd", "/run/systemd")
    held = carol.run("ls", "/var/lib/hutch-daemon-hutch-carol")
    assert held.code != 0 and "ermission denied" in held.errors, str(held)


def test_from_inside_the_helper_is_out_of_reach(machine, carol):
    code = ("import socket\ntry: socket.socket(socket.AF_UNIX).connect('/run/hutch-helper/socket'); print('reached')\n"
            "except OSError as error: print('held', error.errno)")
    assert carol.run("/usr/bin/python3", "-c", code).ok().text.startswith("held")


def test_nobody_is_asked_whether_a_sandbox_may_reach_it(machine):
    """Whoever it answers is the person: with hutch between them, a program in a sandbox too (hutch-helper would start
    another for it, as another user)."""
    code = "import socket\nsocket.socket(socket.AF_UNIX).connect('/run/hutch-helper/socket')"
    carol = machine.person("carol")
    project = carol.mkdir(carol.home / "of sockets")
    held = machine.hutch("carol", project, "namespace").run("/usr/bin/python3", "-c", code)
    assert held.code == 1 and "/run/hutch-helper/socket was refused: it is hutch-helper's" in held.errors, str(held)
    assert "--allow-socket" not in held.errors, "no question, and no such remedy"


def test_as_the_agents_user_outside_of_a_sandbox_the_helper_gives_nothing(machine):
    user = harness.Person("hutch-carol", number_of(machine, "hutch-carol"), pathlib.Path("/"))
    for whom in ("hutch-carol", "hutch-dave"):
        heard, descriptors = ask(machine, user, start(number_of(machine, whom)))
        assert b"may run nothing as another user" in heard and descriptors == 0


LATER = {
    "cron": "echo '* * * * * touch /var/tmp/PROOF' | crontab -",
    "at": "echo 'touch /var/tmp/PROOF' | at now",
    "su": "su root -c 'touch /var/tmp/PROOF' < /dev/null",
    "su to the person": "su carol -c 'touch /var/tmp/PROOF' < /dev/null",
    "sudo": "sudo -n touch /var/tmp/PROOF",
    "setpriv": "setpriv --reuid 0 touch /var/tmp/PROOF",
    "newgrp": "newgrp root < /dev/null; touch /root/PROOF",
    "unshare": "unshare --user --map-root-user --mount mount -t tmpfs none /mnt && touch /var/tmp/PROOF",
    "the helper by hand": "/usr/bin/env HELPER < /dev/null && touch /var/tmp/PROOF",
    "the person's home": "touch HOME/PROOF",
    "another's sandboxes": "ls /var/lib/hutch-people/hutch-dave && touch /var/tmp/PROOF",
    "the users": "echo 'hutch-carol:x:0:0::/:/bin/sh' >> /etc/passwd && touch /var/tmp/PROOF",
    "its own permission": "touch /etc/hutch-helper/people/61401/root",
    "kernel settings": "echo /tmp/x > /proc/sys/kernel/core_pattern && touch /var/tmp/PROOF",
}


@pytest.mark.parametrize("how", LATER)
def test_out_of_the_sandbox(machine, carol, how):
    proof = f"proof-{os.getpid()}-{how.replace(' ', '-')}"
    words = {"PROOF": proof, "HOME": str(carol.person.home), "HELPER": str(machine.base.bin / "hutch-helper")}
    script = re.sub("|".join(words), lambda found: words[found.group()], LATER[how])
    carol.person.home.chmod(0o755)
    result = carol.sh(script)
    assert result.code != 0, str(result)
    places = ["/var/tmp", "/root", str(carol.person.home), "/etc/hutch-helper/people/61401"]
    left = [place for place in places if machine.file(f"{place}/{proof}").exists()]
    assert not left and not machine.file("/etc/hutch-helper/people/61401/root").exists()
    assert "hutch-carol:x:0:" not in machine.file("/etc/passwd").read_text()


def test_a_signal_reaches_neither_person_nor_helper(machine, carol):
    with subprocess.Popen(["setpriv", "--reuid", "61401", "--clear-groups", "sleep", "60"]) as victim:
        try:
            script = f"kill -9 {victim.pid}; kill -9 -1; kill -9 1; echo still here"
            result = carol.run("/bin/sh", "-c", script)
            assert victim.poll() is None, str(result)
        finally:
            victim.kill()
    assert carol.run("true").code == 0
