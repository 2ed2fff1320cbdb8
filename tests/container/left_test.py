# What is left of containers whose hutch was killed at any moment: nothing, from the next start on.
import json
import os
import threading
import time

import pytest

import engines
import harness

IMAGE = "hutch-tests:latest"
WISH = {"backend": "container", "image": IMAGE}


def post(socket, path, body):
    connection = engines.LocalConnection(socket)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or "{}")
    finally:
        connection.close()


def churn(daemon, until):
    """Asks for sandboxes, uses them and gives them back, whatever becomes of that."""
    while not until.is_set():
        try:
            status, answer = post(daemon.socket, "/v1/pool/sandboxes", WISH)
            if status == 201:
                place = f"/v1/pool/sandboxes/{answer['id']}"
                post(daemon.socket, f"{place}/exec", {"command": "true"})
                post(daemon.socket, f"{place}/release", {})
        except (OSError, ValueError, engines.http.client.HTTPException):
            time.sleep(0.05)


@pytest.mark.parametrize("moment", [0.3, 0.7, 1.5])
def test_the_daemon_killed_while_its_pool_works(daemon, loaded_engine, moment):
    daemon("agent", "list").ok()
    over = threading.Event()
    clients = [threading.Thread(target=churn, args=(daemon, over)) for _ in range(4)]
    for client in clients:
        client.start()
    time.sleep(moment)
    daemon.kill()
    over.set()
    for client in clients:
        client.join()
    daemon(*("pool", "fill", "--backend", "container", "--image", IMAGE), "1").ok()
    daemon("pool", "drain").ok()
    harness.wait_until(lambda: not loaded_engine.containers(), "none is left")
    harness.wait_until(lambda: os.listdir(daemon.data / "containers") == [], "and no directory")


def test_one_that_the_engine_made_after_all(daemon, loaded_engine):
    """Its hutch was killed before the engine had made it, and the next one has removed its directory."""
    agent = daemon.create()
    daemon.sh(agent, "true").ok()
    labels = loaded_engine.containers()[0]["Labels"]
    assert labels["hutch.owner"].endswith(str(daemon.data))
    for name, label in (("hutch-00000000000000aa", labels["hutch.owner"]), ("hutch-00000000000000bb", "0:/another"),
                        ("others", labels["hutch.owner"])):
        body = {"Image": IMAGE, "Cmd": ["true"], "Labels": {"hutch.owner": label}}
        status, text = loaded_engine.ask("POST", f"/v1.41/containers/create?name={name}", json.dumps(body))
        assert status == 201, text
    daemon("agent", "stop", agent).ok()
    daemon.sh(agent, "true").ok()
    names = {name.lstrip("/") for one in loaded_engine.containers() for name in one["Names"]}
    assert "hutch-00000000000000aa" not in names and {"hutch-00000000000000bb", "others"} <= names
    for name in ("hutch-00000000000000bb", "others"):
        loaded_engine.ask("DELETE", f"/v1.41/containers/{name}?force=1")
    daemon("agent", "remove", agent).ok()
