# hutch image build --dockerfile: an engine builds it; the namespace backend has it afterwards, and so has the engine.
import json
import shutil

import pytest

from rootfs import SYSTEM

pytestmark = pytest.mark.skipif(shutil.which("skopeo") is None, reason="no skopeo")

DOCKERFILE = """FROM scratch
COPY sys /bin/sys
COPY etc /etc
ENV GREETING="hello there"
"""


@pytest.fixture
def box(hutch, engine, as_user):
    """hutch with a state of its own, and that engine."""
    state = as_user.mkdir(as_user.home / f"images-{engine.kind}", 0o700)

    def call(*args, **options):
        environment = {"HUTCH_STATE": str(state), "DOCKER_HOST": engine.host}
        return hutch(*args, **{**options, "env": {**environment, **options.get("env", {})}})
    call.images = state / "data" / "images"
    yield call
    call("image", "remove", "built")
    shutil.rmtree(state)


@pytest.fixture
def context(project, as_user, compiler):
    as_user.write(project / "context" / "sys", compiler.build(SYSTEM).read_bytes(), mode=0o755)
    as_user.write(project / "context" / "etc" / "os-release", "NAME=built\n")
    return project / "context"


def left(box):
    return [one.name for one in box.images.iterdir() if not one.name.endswith(".lock")] if box.images.exists() else []


def run(box, *command):
    return box("run", "--backend", "namespace", "--image", "built", "--", "/bin/sys", *command).ok().text


def test_it_becomes_an_image(box, context, as_user, engine):
    file = as_user.write(context / "Dockerfile", DOCKERFILE)
    made = box("image", "build", "--dockerfile", file, "built")
    assert 'Image "built:latest" built successfully' in made.ok().errors
    assert run(box, "cat", "/etc/os-release") == "NAME=built\n"
    assert run(box, "env", "GREETING") == "hello there\n"
    status, text = engine.ask("GET", "/v1.41/images/built:latest/json")
    assert status == 200 and "GREETING=hello there" in json.loads(text)["Config"]["Env"]
    again = box("image", "build", "--dockerfile", file, "built")
    assert again.code == 125 and "is there already" in again.errors
    assert left(box) == ["built:latest"]


def test_the_context_may_be_another_directory(box, context, as_user, project):
    file = as_user.write(project / "elsewhere" / "Containerfile", DOCKERFILE)
    box("image", "build", "--dockerfile", file, "built", context).ok()
    assert run(box, "cat", "/etc/os-release") == "NAME=built\n"


def test_one_that_cannot_be_built_leaves_nothing(box, context, as_user):
    for text, said in (("FROM scratch\nCOPY absent /x\n", "absent"), ("NONSENSE\n", "")):
        file = as_user.write(context / "Dockerfile", text)
        failed = box("image", "build", "--dockerfile", file, "built")
        assert failed.code == 125 and "failed" in failed.errors and said in failed.errors, str(failed)
        assert left(box) == []
    missing = box("image", "build", "--dockerfile", context / "none", "built")
    assert missing.code == 125 and "--dockerfile" in missing.errors
    for words in (["--dockerfile", "x"], ["--dockerfile", "x", "--recipe", "y", "built"],
                  ["--dockerfile", "x", "built", ".", "more"]):
        assert box("image", "build", *words).code == 125, words
    assert box("image", "list", "--dockerfile", "x").code == 125
