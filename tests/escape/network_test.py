# Attacks on the gateway, by both people: none succeeds where there is one, and each is known to be an attack.
"""The attacks and how they are judged are the suite's (suite/network.py), which makes them as root only."""

import pathlib
import shutil
import sys
import threading
import time

import pytest

import internet as internets

sys.path.insert(0, str(pathlib.Path(__file__).parent / "suite"))
import network  # noqa: E402
from cases import FELL, HELD, NOBODY, ROOT  # noqa: E402
from rig import PYTHON  # noqa: E402


@pytest.fixture(scope="session")
def internet(base):
    with network.attacked_internet(base.unused("attacked-internet")) as made:
        yield made


@pytest.fixture
def hutch(internet, base, as_user, project, backend):
    internet.forget()
    return internets.NetHutch(internet, base, as_user, project, backend)


@pytest.mark.parametrize("name", network.NAMES)
def test_attack(hutch, internet, as_user, project, backend, name):
    verdict, how = network.tried(hutch, internet, as_user, project, name)
    if backend != "none":
        assert verdict == HELD, how
    elif network.bites(name) != NOBODY and (as_user.is_root or network.bites(name) != ROOT):
        assert verdict == FELL, "no attack: it fails where nothing protects"


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
    as_user.own(shutil.copy(network.ATTACKS / "attack.py", project / "attack.py"))
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
