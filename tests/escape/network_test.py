# Attacks on the gateway: none succeeds where there is one, and each is known to be an attack.
"""An attack is a file of network/, a Python program: its first line says what it does, `# none:` whether it succeeds
where nothing protects, `# allow:` which names it is given besides good.example at ports 80 and 443, `# udp:` which
hosts and ports of UDP."""

import pathlib
import re
import shutil
import subprocess
import threading
import time

import pytest

import internet as internets

ATTACKS = pathlib.Path(__file__).parent / "network"
NAMES = sorted(path.stem for path in ATTACKS.glob("*.py") if path.stem != "attack")
ALLOWED = ["--allow-domain", "good.example:80", "--allow-domain", "good.example:443"]
PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="session")
def internet(base):
    # A service of the host itself, on its loopback and every other address.
    script = ("import socketserver\n"
              "class H(socketserver.BaseRequestHandler):\n"
              "  def handle(self): self.request.recv(10); self.request.sendall(b'host service')\n"
              "class S(socketserver.ThreadingTCPServer): allow_reuse_address = True\n"
              "s = S(('0.0.0.0', 8099), H); print('ready', flush=True); s.serve_forever()")
    with internets.running(base.path / "attacked-internet") as made:
        service = subprocess.Popen([*made.enter(), PYTHON, "-c", script], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        made.processes.append(service)
        assert service.stdout.readline() == b"ready\n"
        yield made


@pytest.fixture
def hutch(internet, base, as_user, project, backend):
    internet.forget()
    return internets.NetHutch(internet, base, as_user, project, backend)


def head_of(name, key):
    found = re.search(rf"^# {key}: (.+)$", (ATTACKS / f"{name}.py").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def run_attack(hutch, as_user, project, name, extra=(), patience="0.4"):
    """`patience` is how long, in seconds, an attack waits for an answer where nothing protects."""
    for file in ("attack", name):
        as_user.own(shutil.copy(ATTACKS / f"{file}.py", project / f"{file}.py"))
    options = ["--env", f"ATTACK_WAIT={patience}"] if hutch.backend == "none" else [*ALLOWED, *extra]
    for allowed in head_of(name, "allow").split():
        options += ["--allow-domain", allowed] if hutch.backend != "none" else []
    for allowed in head_of(name, "udp").split():
        options += ["--allow-udp", allowed] if hutch.backend != "none" else []
    return hutch.run(PYTHON, f"{name}.py", options=options, timeout=400)


def seen_outside(internet):
    """What of an attack the hosts themselves have seen."""
    tunnelled = [line["name"] for line in internet.log("query") if "tunnelled" in line["name"]]
    smuggled = [line for line in internet.log("request") if "smuggled" in line["path"]]
    fronted = [line for line in internet.log("request") if (line["host"] or "").startswith("other.example")
               and line["path"] != "/"]
    datagrams = [line for line in internet.log("datagram")
                 if line["port"] != 123 or line["address"] not in ("203.0.113.10", "2001:db8:2::10")]
    return tunnelled or smuggled or fronted or datagrams


@pytest.mark.parametrize("name", NAMES)
def test_attack(hutch, internet, as_user, project, backend, name):
    result = run_attack(hutch, as_user, project, name)
    if backend == "none":
        said = head_of(name, "none").split(";")[0]
        if said.startswith("succeeds") and (as_user.is_root or "as root" not in said):
            if result.code != 0 and not seen_outside(internet):  # the hosts may have been slow to answer
                result = run_attack(hutch, as_user, project, name, patience="4")
            assert result.code == 0 or seen_outside(internet), f"no attack: it fails where nothing protects\n{result}"
        return
    assert result.code == 1, str(result)
    assert b"succeeded" not in result.out, str(result)
    assert not seen_outside(internet), (seen_outside(internet), str(result))
    assert not [line for line in internet.log("connection") if line["address"].removeprefix("::ffff:") in
                ("203.0.113.11", "192.168.7.7", "169.254.169.254")], str(result)


REBIND = """import attack, time
for i in range(60):
    made = attack.connect("moving.example", 80)
    if made and b"192.168.7.7" in attack.get(made, "moving.example"):
        attack.succeeded("the other address was dialled")
    time.sleep(0.05)
attack.held()
"""


def test_a_name_that_moves_between_check_and_dial(hutch, internet, as_user, project, backend):
    internet.move("moving.example", a=["203.0.113.10"])
    as_user.own(shutil.copy(ATTACKS / "attack.py", project / "attack.py"))
    as_user.write(project / "rebind.py", REBIND)
    stop = threading.Event()

    def move():
        while not stop.is_set():
            for address in ("192.168.7.7", "203.0.113.10"):
                internet.move("moving.example", a=[address])
                time.sleep(0.02)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        options = ["--allow-domain", "moving.example"] if backend != "none" else []
        result = hutch.run(PYTHON, "rebind.py", options=options, timeout=400)
    finally:
        stop.set()
        mover.join()
    if backend == "none":
        assert result.code == 0, f"no attack: it fails where nothing protects\n{result}"
    else:
        assert result.code == 1, str(result)
        assert not [line for line in internet.log("connection") if "192.168.7.7" in line["address"]]
