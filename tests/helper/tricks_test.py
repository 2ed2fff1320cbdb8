# More attacks on hutch-helper: what a message may hold, how it arrives, what the caller leaves to a program of root's.
"""One attempt for each row. A row says how the helper may end; nothing of root's and nothing at all may be left."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess

import pytest

import harness
import people

VERSION = int(re.search(r"kVersion = (\d+);", (harness.ROOT / "src/wire/message.h").read_text()).group(1))
ALL = 2**64 - 1
ALLOW = (6, 0, 0, 0x7FFF0000)
STARTED, REFUSED = 0, 2
# Does what it is told on one connection, and prints (the kinds of what it heard, descriptors, the first one's number).
SPEAK = """
import json, os, socket, struct, sys, time
to = socket.socket(socket.AF_UNIX)
to.settimeout(15)
to.connect('/run/hutch-helper/socket')
heard, fds, state = b'', [], {}
def hear(until):
    global heard
    while not until():
        try:
            data, given, _, _ = socket.recv_fds(to, 65536, 253)
        except OSError:
            return
        heard += data
        fds.extend(given)
        if not data:
            return
try:
    for verb, what in json.load(sys.stdin):
        if verb == 'send': to.sendall(bytes.fromhex(what))
        if verb == 'bytes':
            for byte in bytes.fromhex(what): to.sendall(bytes([byte]))
        if verb == 'pass': socket.send_fds(to, [bytes.fromhex(what)], [os.open('/dev/null', os.O_RDONLY)] * 253)
        if verb == 'pass-self': socket.send_fds(to, [bytes.fromhex(what)], [to.fileno()])
        if verb == 'urgent': to.send(bytes.fromhex(what), socket.MSG_OOB)
        if verb == 'flood':
            to.setblocking(False)
            for _ in range(20000):
                try: to.send(bytes.fromhex(what))
                except BlockingIOError: break
            to.settimeout(15)
        if verb == 'shut': to.shutdown(socket.SHUT_WR)
        if verb == 'shut-read': to.shutdown(socket.SHUT_RD)
        if verb == 'wait': time.sleep(what)
        if verb == 'hear': hear(lambda: len(heard) >= 12)
        if verb == 'who':
            pid = struct.unpack('<I', heard[8:12])[0]
            state = {'pid': pid}
            for _ in range(100):
                try: status = dict(line.split(':\\t', 1) for line in open(f'/proc/{pid}/status') if ':\\t' in line)
                except OSError: break
                if status['State'][0] == 'Z':
                    state.pop('uid', None)
                    break
                state['uid'] = int(status['Uid'].split()[0])
                if state['uid'] != 0: break
                time.sleep(.05)
except OSError:
    pass
if not heard: hear(lambda: bool(heard))
kind = heard[4] if len(heard) > 4 else None
print(json.dumps({'heard': kind, 'fds': len(fds), 'text': heard[8:].decode('latin-1'), **state}))
"""


def address(text):
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    return struct.pack("<B", 6 if ":" in text else 4) + socket.inet_pton(family, text)


def start(user, service=0, network=0, ports=(), captures=b"\0\0\0\0", numbers=(0, 0, 0, 0), texts=(b"", b"", b""),
          filters=(ALLOW,)):
    body = struct.pack("<IIBB", VERSION, user, service, network)
    body += struct.pack("<I", len(ports)) + b"".join(struct.pack("<H", port) for port in ports) + captures
    body += struct.pack("<QQQQ", *numbers) + b"".join(struct.pack("<I", len(text)) + text for text in texts)
    body += struct.pack("<I", len(filters)) + b"".join(struct.pack("<HBBI", *one) for one in filters)
    return struct.pack("<IHH", len(body), 0, 0) + body


def speak(machine, name, *actions):
    done = harness.run_in(machine.person(name), ["/usr/bin/python3", "-c", SPEAK], stdin=json.dumps(actions).encode(),
                          outer=machine.enter())
    return json.loads(done.ok().text)


def number_of(machine, name):
    lines = machine.file("/etc/passwd").read_text().splitlines()
    return next(int(line.split(":")[2]) for line in lines if line.startswith(f"{name}:"))


@pytest.fixture
def own(machine):
    return number_of(machine, "hutch-carol")


def left_of(machine):
    user, found = number_of(machine, "hutch-carol"), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == user:
                found.append(pid)
    return found


def nothing_is_left(machine):
    harness.wait_until(lambda: not machine.helpers() and not left_of(machine), "no helper and no process is left")


EXTREMES = {"1": 1, "4095": 4095, "2^31": 2**31, "2^63": 2**63, "2^64-1": ALL}
NAMES = ("tmp_bytes", "memory_bytes", "pids", "cpu_millis")


@pytest.mark.parametrize("size", EXTREMES)
@pytest.mark.parametrize("name", NAMES)
def test_a_number_at_its_ends(machine, own, name, size):
    numbers = [EXTREMES[size] if name == one else 0 for one in NAMES]
    said = speak(machine, "carol", ("send", start(own, numbers=numbers).hex()), ("hear", 0), ("who", 0))
    assert said["heard"] in (STARTED, REFUSED, None), said
    assert said["heard"] != STARTED or said.get("uid", own) == own, said
    nothing_is_left(machine)
    assert machine.hutch("carol").run("true").code == 0


FILTERS = {
    "every call succeeds and is not made": [(6, 0, 0, 0x00050000)],
    "every call kills": [(6, 0, 0, 0x80000000)],
    "every call traps": [(6, 0, 0, 0x00030000)],
    "every call is a tracer's": [(6, 0, 0, 0x7FF00000)],
    "every call is a listener's": [(6, 0, 0, 0x7FC00000)],
    "every call is an error that is none": [(6, 0, 0, 0x0005FFFF)],
    "a jump beyond its end": [(0x05, 0, 0, 100), ALLOW],
    "a load beyond the call": [(0x20, 0, 0, 4096), ALLOW],
    "a load that is not aligned": [(0x20, 0, 0, 3), ALLOW],
    "no end": [(0x20, 0, 0, 0)],
    "an instruction that is none": [(0xFFFF, 255, 255, 0xFFFFFFFF)],
    "a division by 0": [(0x34, 0, 0, 0), ALLOW],
    "memory that is not written": [(0x60, 0, 0, 15), (0x16, 0, 0, 0)],
    "memory beyond its cells": [(0x60, 0, 0, 16), ALLOW],
    "the longest": [(0x20, 0, 0, 0)] * 4095 + [ALLOW],
}


@pytest.mark.parametrize("what", FILTERS)
def test_a_filter_holds_nobody_at_root(machine, own, what):
    """A filter that lets setuid(2) succeed without being made would keep a process that is root."""
    said = speak(machine, "carol", ("send", start(own, filters=FILTERS[what]).hex()), ("hear", 0), ("who", 0))
    assert said["heard"] != STARTED or said.get("uid", own) == own, said
    nothing_is_left(machine)


def capture(port, gateway_port, *addresses, host=b"x"):
    body = struct.pack("<I", len(host)) + host + struct.pack("<HHI", port, gateway_port, len(addresses))
    return struct.pack("<I", 1) + body + b"".join(map(address, addresses))


NETWORKS = {
    "a port twice": {"ports": [80, 80]},
    "the highest port": {"ports": [65535]},
    "the port of the proxy": {"ports": [1023]},
    "the port of the bridge": {"ports": [1022]},
    "the ports of rules": {"ports": list(range(900, 1022))},
    "as many as there may be": {"ports": list(range(1, 257))},
    **{f"datagrams to {to}": {"captures": capture(53, 900, to)} for to in
       ("127.0.0.1", "0.0.0.0", "255.255.255.255", "169.254.169.254", "10.0.0.1", "224.0.0.1", "::1", "::", "fe80::1",
        "ff02::1", "::ffff:127.0.0.1", "fd00::1")},
    "datagrams to the gateway's own port": {"captures": capture(900, 900, "203.0.113.1")},
    "a host that is text of a command": {"captures": capture(53, 900, "203.0.113.1", host=b"; flush ruleset")},
    "a host with NUL and line ends": {"captures": capture(53, 900, "203.0.113.1", host=b"\0\n}\n")},
}


@pytest.mark.skipif(not shutil.which("ip"), reason="ip is not installed")
@pytest.mark.parametrize("what", NETWORKS)
def test_a_network_is_the_sandboxs_alone(machine, own, what):
    def of_the_machine():
        return [subprocess.run(["ip", "-o", kind], capture_output=True, text=True, check=True).stdout
                for kind in ("route", "rule")]

    before = of_the_machine()
    said = speak(machine, "carol", ("send", start(own, network=2, **NETWORKS[what]).hex()), ("hear", 0), ("who", 0))
    assert said["heard"] != STARTED or said.get("uid", own) == own, said
    assert of_the_machine() == before
    nothing_is_left(machine)


TEXTS = {
    "an authority without its bundle": (b"x", b"", b""),
    "a bundle without its authority": (b"", b"x", b""),
    "a Java store alone": (b"", b"", b"x"),
    "NUL": (b"\0", b"\0", b"\0"),
    "a path": (b"/etc/shadow", b"/etc/shadow", b"/etc/shadow"),
    "lines of a shell": (b"$(id)\n`id`\n", b"; id\n", b"| id\n"),
    "as large as there may be": (b"x", b"x" * (4 << 20), b"x" * (4 << 20)),
    "larger": (b"x", b"x" * ((4 << 20) + 1), b""),
}


@pytest.mark.parametrize("what", TEXTS)
def test_certificates_are_text_and_nothing_else(machine, own, what):
    stores = [pathlib.Path(path) for path in ("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/java/cacerts")]

    def contents():
        return [machine.file(path).stat() if machine.file(path).exists() else None for path in stores]

    before = contents()
    said = speak(machine, "carol", ("send", start(own, texts=TEXTS[what]).hex()), ("hear", 0), ("who", 0))
    assert said["heard"] != STARTED or said.get("uid", own) == own, said
    assert [one and (one.st_ino, one.st_size, one.st_mtime_ns) for one in contents()] == \
        [one and (one.st_ino, one.st_size, one.st_mtime_ns) for one in before]
    nothing_is_left(machine)


COUNT = struct.pack("<IHH", 0, 1, 0).hex()


def arrivals(own):
    good = start(own).hex()
    return {
        "byte by byte": [("bytes", good), ("hear", 0)],
        "half, and the rest later": [("send", good[:40]), ("wait", 1), ("send", good[40:]), ("hear", 0)],
        "half, and an end": [("send", good[:40]), ("shut", 0)],
        "with descriptors": [("pass", good), ("hear", 0)],
        "with itself": [("pass-self", good), ("hear", 0)],
        "an urgent byte first": [("urgent", "ff"), ("send", good), ("hear", 0)],
        "counts behind it that nobody reads": [("send", good), ("flood", COUNT)],
        "a count with descriptors": [("send", good), ("hear", 0), ("pass", COUNT)],
        "a start behind it": [("send", good), ("hear", 0), ("send", good)],
        "noise behind it": [("send", good), ("hear", 0), ("send", "ff" * 4096)],
        "an end of reading": [("shut-read", 0), ("send", good)],
        "an end before it is answered": [("send", good), ("shut", 0)],
        "noise that never ends": [("flood", "ffffff7f00000000" * 512)],
        "a frame as large as may be said": [("send", struct.pack("<IHH", (64 << 20) - 1, 0, 0).hex()),
                                            ("flood", "00" * 65536), ("shut", 0)],
    }


@pytest.mark.parametrize("how", list(arrivals(0)))
def test_however_it_arrives(machine, own, how):
    said = speak(machine, "carol", *arrivals(own)[how])
    assert said["heard"] in (STARTED, REFUSED, 1, None) and said["fds"] <= 1, said
    nothing_is_left(machine)
    assert machine.hutch("carol").run("true").code == 0


def test_who_is_not_let_takes_no_place_of_others(machine):
    """Connections of somebody whom root let be nobody, and of nobody who says anything."""
    erin = harness.Person("erin", 61409, machine.directory)
    script = ("import socket\nkept = []\nfor _ in range(200):\n  to = socket.socket(socket.AF_UNIX)\n"
              "  to.connect('/run/hutch-helper/socket'); kept.append(to)\nprint(len(kept), flush=True)\ninput()")
    argv = ["/usr/bin/python3", "-c", script]
    with harness.start_in(erin, argv, cwd="/", outer=machine.enter(), stdin=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline() == b"200\n"
            assert machine.hutch("carol").run("true").code == 0
        finally:
            other.kill()
    nothing_is_left(machine)


def test_one_persons_silence_is_no_other_persons(machine):
    script = ("import socket\nkept = []\nfor _ in range(70):\n  to = socket.socket(socket.AF_UNIX)\n"
              "  to.connect('/run/hutch-helper/socket'); kept.append(to)\nprint(len(kept), flush=True)\ninput()")
    argv = ["/usr/bin/python3", "-c", script]
    with harness.start_in(machine.person("dave"), argv, cwd="/", outer=machine.enter(), stdin=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline() == b"70\n"
            assert machine.hutch("carol").run("true").code == 0
        finally:
            other.kill()
    nothing_is_left(machine)


@pytest.fixture(scope="module")
def by_sudo(base):
    why = people.missing() or (None if shutil.which("sudo") else "sudo is not installed")
    if why:
        pytest.skip(why)
    made = people.Machine(base, base.unused("machine-of-tricks"), starter="/etc/sudoers.d")
    try:
        made.init("--for", "carol")
        made.init("--for", "dave")
        yield made
    finally:
        made.stop()


WAYS = {
    "its environment kept": "-E {helper}",
    "a variable before it": "SUDO_UID=61402 {helper}",
    "another's number": "SUDO_UID=0 {helper}",
    "a library": "LD_PRELOAD=/tmp/x.so {helper}",
    "an argument": "{helper} --help",
    "an argument that is empty": "{helper} ''",
    "two": "{helper} '' ''",
    "descriptors": "-C 4 {helper}",
    "a directory": "-D /root {helper}",
    "a root directory": "-R / {helper}",
    "a group": "-g 0 {helper}",
    "another user": "-u hutch-dave {helper}",
    "a number that overflows": "-u '#-1' {helper}",
    "a number that wraps": "-u '#4294967295' {helper}",
    "a login": "-i {helper}",
    "a shell": "-s {helper}",
    "an editor": "-e {helper}",
    "in the background": "-b {helper} x",
    "a time": "-T 1 {helper}",
    "another path to it": "{bin}/../bin/hutch-helper x",
    "its neighbour": "{bin}/hutch-guest",
    "hutch itself": "{bin}/hutch doctor",
    "the rule": "cat /etc/sudoers.d/hutch-helper-61401",
}


@pytest.mark.parametrize("how", WAYS)
def test_sudo_runs_the_helper_and_that_alone(by_sudo, how):
    words = WAYS[how].format(helper=f"{by_sudo.base.bin}/hutch-helper", bin=by_sudo.base.bin)
    tried = harness.run_in(by_sudo.person("carol"), ["sh", "-c", f"sudo -n {words} < /dev/null"], outer=by_sudo.enter())
    assert tried.code != 0 and not tried.out, str(tried)
    known = ("password is required", "you are not allowed", "not permitted", "unknown user", "unknown group", "usage:",
             "only one of", "invalid")
    assert any(text in tried.errors for text in known), str(tried)


INHERITED = {
    "no new file": "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
    "four descriptors": "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))",
    "eight descriptors": "resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))",
    "sixteen descriptors": "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))",
    "one process": "resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))",
    "little memory": "resource.setrlimit(resource.RLIMIT_AS, (24 << 20, 24 << 20))",
    "a small stack": "resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))",
    "no locked memory": "resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))",
    "no signals": "resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))",
    "cores": "resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)",
    "no children to wait for": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "all signals ignored": "[signal.signal(one, signal.SIG_IGN) for one in range(1, 65) if one not in (9, 19, 32, 33)]",
    "all signals blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))",
    "an alarm": "signal.setitimer(signal.ITIMER_REAL, 1)",
    "a mask of its files": "os.umask(0)",
    "a directory that is gone": "os.mkdir(GONE); os.chdir(GONE); os.rmdir(GONE)",
    "no standard streams": "os.close(1); os.close(2)",
    "the lowest priority": "os.nice(19)",
    "the first to be killed": "open('/proc/self/oom_score_adj', 'w').write('1000')",
    "not dumpable": "ctypes.CDLL(None).prctl(4, 0)",
    "no new privileges": "ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)",
    "a subreaper": "ctypes.CDLL(None).prctl(36, 1)",
}
BY_SUDO = """
import ctypes, os, resource, signal, socket, struct, subprocess, sys, time
mine, helpers = socket.socketpair()
GONE = os.path.join(os.environ['HOME'], 'gone')
def inherit():
    {inherit}
words = ['sudo', '-n', '--', {helper!r}]
process = subprocess.Popen(words, stdin=helpers, preexec_fn=inherit, stderr=subprocess.DEVNULL)
helpers.close()
mine.settimeout(15)
try: mine.sendall(bytes.fromhex({message!r}))
except BrokenPipeError: pass  # sudo has given up
try: data, fds, _, _ = socket.recv_fds(mine, 65536, 8)
except OSError: data, fds = b'', []
uid = None
if data[4:5] == b'\\0':
    try:
        for _ in range(40):
            text = open('/proc/%d/status' % struct.unpack('<I', data[8:12])[0]).read()
            if 'State:\\tZ' in text:
                uid = None
                break
            uid = int(text.split('Uid:')[1].split()[0])
            if uid: break
            time.sleep(.05)
    except OSError: pass
print(data[4] if len(data) > 4 else None, uid, flush=True)
mine.close()
"""


@pytest.mark.parametrize("what", INHERITED)
def test_what_the_caller_leaves_to_the_helper(by_sudo, what):
    user = number_of(by_sudo, "hutch-carol")
    code = BY_SUDO.format(inherit=INHERITED[what], helper=f"{by_sudo.base.bin}/hutch-helper", message=start(user).hex())
    done = harness.run_in(by_sudo.person("carol"), ["/usr/bin/python3", "-c", code], outer=by_sudo.enter())
    kind, uid = done.ok().text.split()
    assert kind in ("0", "2", "None") and uid in ("None", str(user)), str(done)
    harness.wait_until(lambda: not left_of(by_sudo), "no process is left")
    slots = by_sudo.file("/run/hutch-helper/slots")
    left = list(slots.iterdir()) if slots.exists() else []
    assert all(one.stat().st_size == 0 and one.stat().st_mode & 0o077 == 0 for one in left), "only locks"
    assert by_sudo.hutch("carol").run("true").code == 0


def test_a_connection_of_somebody_else_is_nobodys(by_sudo):
    """carol may run the helper by sudo; the connection that it is given was made by somebody else, here by root."""
    mine, helpers = socket.socketpair()
    mine.sendall(start(number_of(by_sudo, "hutch-dave")))
    argv = by_sudo.person("carol").command(["sudo", "-n", "--", f"{by_sudo.base.bin}/hutch-helper"])
    tried = subprocess.run([*by_sudo.enter(), *argv], stdin=helpers, capture_output=True, check=False)
    assert tried.returncode == 125 and b"somebody else" in mine.recv(4096), tried
