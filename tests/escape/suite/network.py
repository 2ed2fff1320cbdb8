# Attacks on the gateway: none succeeds where there is one, and each is known to be an attack.
"""An attack is a file of network/, a Python program: its first line says what it does, `# none:` whether it succeeds
where nothing protects, `# allow:` which names it is given besides good.example at ports 80 and 443, `# udp:` which
hosts and ports of UDP. It runs in a small internet (tests/lib/internet.py), which root makes of two namespaces."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import time

import internet as internets
from cases import ERROR, EVERYBODY, FELL, HELD, NOBODY, ROOT, Case, Outcome, slug
from rig import PYTHON

ATTACKS = pathlib.Path(__file__).resolve().parents[1] / "network"
NAMES = sorted(path.stem for path in ATTACKS.glob("*.py") if path.stem != "attack")
ALLOWED = ["--allow-domain", "good.example:80", "--allow-domain", "good.example:443"]
# Of hosts that no attack may reach.
FORBIDDEN = ("203.0.113.11", "192.168.7.7", "169.254.169.254")
# How many internets there are at once: an attack waits more than it works.
INTERNETS = 3
# A service of the host itself, on its loopback and every other address.
SERVICE = ("import socket, socketserver\n"
           "class H(socketserver.BaseRequestHandler):\n"
           "  def handle(self): self.request.recv(10); self.request.sendall(b'host service')\n"
           "class S(socketserver.ThreadingTCPServer): allow_reuse_address = True; address_family = socket.AF_INET6\n"
           "s = S(('::', 8099), H); print('ready', flush=True); s.serve_forever()")


# Names that the host alone knows.
HOSTS = ("127.0.0.1 localhost\n192.168.7.7 secret.corp a.star.corp\n169.254.169.254 meta.corp\n"
         "127.0.0.1 lo.corp\n127.0.0.53 lo2.corp\n::1 lo6.corp\n::ffff:127.0.0.1 map.corp\n"
         "0.0.0.0 any.corp\n:: any6.corp\n127.0.0.1 two.corp\n169.254.169.254 two.corp\n"
         f"{internets.NEAR} by.corp\n{internets.NEAR6} by6.corp\n{internets.NEAR} mix.corp\n"
         "127.0.0.1 mix.corp\n")


@contextlib.contextmanager
def attacked_internet(directory):
    with internets.running(directory) as made:
        service = subprocess.Popen([*made.enter(), PYTHON, "-c", SERVICE], stdout=subprocess.PIPE,
                                   stdin=subprocess.PIPE)
        made.processes.append(service)
        assert service.stdout.readline() == b"ready\n"
        made.cover("hosts", HOSTS)
        made.cover("resolv.conf", f"nameserver {internets.DNS}\nsearch corp.example\n")
        yield made


def head_of(name, key):
    found = re.search(rf"^# {key}: (.+)$", (ATTACKS / f"{name}.py").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def what_of(name):
    lines = (ATTACKS / f"{name}.py").read_text(encoding="utf-8").split("\n# none:")[0].splitlines()
    return " ".join(line.removeprefix("# ") for line in lines)


def bites(name):
    said = head_of(name, "none").split(";")[0]
    if not said.startswith("succeeds"):
        return NOBODY
    return ROOT if "as root" in said else EVERYBODY


def cases():
    for at, name in enumerate(NAMES):
        unless = head_of(name, "none") if bites(name) == NOBODY else ""
        yield Case("network", slug(name), "network", what_of(name), attempt, bites(name), unless,
                   ("root", "ip", "nsenter", "unshare", "openssl", PYTHON), together=f"internet-{at % INTERNETS}")


def attempt(rig, cases_of_internet):
    found = {}
    together = cases_of_internet[0].together
    with attacked_internet(rig.base.path / f"{rig.backend}-{together}") as internet:
        for case in cases_of_internet:
            began = time.monotonic()
            with rig.project() as (person, project):
                internet.forget()
                hutch = rig.started_as(internets.NetHutch(internet, rig.base, person, project, rig.backend))
                verdict, how = tried(hutch, internet, person, project, case.name)
            found[case.key] = Outcome(verdict, how, time.monotonic() - began)
    return found


def tried(hutch, internet, person, project, name):
    """(verdict, how) of an attack, once more and with more patience where a host may have been slow to answer."""
    result = run_attack(hutch, person, project, name)
    if hutch.backend == "none" and bites(name) != NOBODY and result.code != 0 and not seen_outside(internet):
        result = run_attack(hutch, person, project, name, patience="4")
    if result.code == 0 or b"succeeded" in result.out:
        return FELL, result.text.strip()
    seen = seen_outside(internet) or (hutch.backend != "none" and reached(internet))
    if seen:
        return FELL, f"a host saw {seen[0]}"
    return (HELD, "") if result.code == 1 else (ERROR, result.errors[-400:])


def run_attack(hutch, person, project, name, patience="0.4"):
    """`patience` is how long, in seconds, an attack waits for an answer where nothing protects."""
    for file in ("attack", name):
        person.own(shutil.copy(ATTACKS / f"{file}.py", project / f"{file}.py"))
    options = ["--env", f"ATTACK_WAIT={patience}"] if hutch.backend == "none" else list(ALLOWED)
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


def reached(internet):
    return [line for line in internet.log("connection") if line["address"].removeprefix("::ffff:") in FORBIDDEN]
