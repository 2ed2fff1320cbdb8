# What the benchmarks say of a case that this machine cannot have.
import json
import sys

import pytest

import sources

sys.path.insert(0, str(sources.ROOT / "bench"))

import bench_exec  # noqa: E402
import measure  # noqa: E402

CASES = [measure.Case("floor", 1.0, "ms"), measure.Case("there", 2.0, "ms", "floor"),
         measure.Case("docker exec", None, "ms", note="no engine answers: why")]


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """A docker of the test's own making; what it was asked."""
    asked = tmp_path / "asked"

    def made(script):
        program = tmp_path / "docker"
        program.write_text(f'#!/bin/sh\necho "$*" >> {asked}\n{script}\n', encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return lambda: asked.read_text(encoding="utf-8").splitlines()

    return made


def test_a_container_is_made_and_removed(docker, tmp_path):
    asked = docker('case "$1" in import) echo image ;; run) echo container ;; esac')
    with bench_exec.Container(_floor(tmp_path)) as container:
        assert container.words == ["container"] and not container.absent
    assert [line.split()[0] for line in asked()] == ["import", "run", "rm", "rmi"]
    assert asked()[1].endswith("image /floor sleep")
    assert asked()[2:] == ["rm --force container", "rmi image"]


def test_an_engine_that_does_not_answer_is_told(docker, tmp_path):
    docker('echo "Cannot connect to the Docker daemon" >&2; exit 1')
    with bench_exec.Container(_floor(tmp_path)) as container:
        assert container.words == []
        assert container.absent == "no engine answers: Cannot connect to the Docker daemon"


def test_no_docker_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with bench_exec.Container(_floor(tmp_path)) as container:
        assert container.absent == "there is no docker on this machine"


def test_absent_is_no_figure(capsys):
    measure.print_table("title", CASES, "floor")
    measure.print_json("exec", CASES)
    said = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["docker", "exec", "absent", *CASES[2].note.split()] for line in said), said
    last = json.loads(said[-1])
    assert last["median"] is None and last["ratio"] is None and last["note"] == CASES[2].note


def _floor(tmp_path):
    floor = tmp_path / "floor"
    floor.write_bytes(b"program")
    return floor
