# hutch doctor: the engine that it finds, and what it says where there is none to use.
import json
import socket
import threading

import pytest


@pytest.fixture
def doctor(hutch, as_user):
    """doctor(host) is what it says of the engine at DOCKER_HOST, as JSON."""
    if not as_user.is_root:
        pytest.skip("the engine's socket is root's")
    return lambda host: json.loads(hutch("doctor", "--json", env={"DOCKER_HOST": host}).ok().text)["engine"]


def test_names_the_engine(hutch, doctor, engine):
    found = doctor(engine.host)
    assert found["error"] is None and found["name"] == engine.kind, found
    assert found["socket"] == str(engine.socket)
    assert found["api"].startswith("1.") and int(found["api"][2:]) >= 41
    assert found["version"] and found["storage_driver"] and found["cgroup_driver"] in ("cgroupfs", "systemd")
    text = hutch("doctor", env={"DOCKER_HOST": engine.host}).ok().text
    assert f"{engine.kind} {found['version']} at {engine.socket}" in text


def test_says_that_it_was_stopped_and_finds_it_again(doctor, engine):
    engine.stop()
    found = doctor(engine.host)
    assert found["name"] is None and str(engine.socket) in found["error"] and "install and start one" in found["error"]
    engine.start()
    assert doctor(engine.host)["name"] == engine.kind


def test_refuses_an_engine_of_another_machine(doctor):
    found = doctor("tcp://127.0.0.1:2375")
    assert "tcp://127.0.0.1:2375" in found["error"] and "unix:///" in found["error"]


@pytest.mark.parametrize("answer, says", [
    (b"HTTP/1.0 500 No\r\n\r\n{\"message\":\"\\u001b[2J no\"}", r"500: \x1b[2J no"),
    (b"SSH-2.0-x\r\n\r\n", "cannot be read"),
    (b"HTTP/1.0 200 OK\r\n\r\n{\"ApiVersion\":\"1.40\"}\n", "install a newer engine"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "cannot be read"),
])
def test_says_what_is_wrong_with_an_answer(doctor, tmp_path, answer, says):
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve():
            connection, _ = listener.accept()  # the first only looks whether one listens
            connection.close()
            while True:
                connection, _ = listener.accept()
                with connection:
                    if not connection.recv(4096):
                        return
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        found = doctor(f"unix://{path}")
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(path))
        thread.join(10)
    assert found["name"] is None and says in found["error"], found
