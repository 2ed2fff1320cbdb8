# hutch as a library: installed into a prefix of its own, with programs that were built against that alone.
import os
import pathlib
import subprocess

import pytest

import harness


def must(*argv):
    done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, f"{argv}\n{done.stdout.decode()[-4000:]}"


@pytest.fixture(scope="session")
def prefix(base):
    """Where `cmake --install` has put hutch."""
    built = pathlib.Path(os.environ.get("HUTCH_BIN", harness.ROOT / "build/release/bin")).parent
    target = base.unused("prefix")
    must("cmake", "--install", built, "--prefix", target)
    return target


def built_against(prefix, source, target):
    must("cmake", "-G", "Ninja", "-S", source, "-B", target, f"-DCMAKE_PREFIX_PATH={prefix}")
    must("cmake", "--build", target)
    return target


@pytest.fixture(scope="session")
def surface(base, prefix):
    return built_against(prefix, harness.ROOT / "tests/api", base.unused("surface")) / "surface"


@pytest.fixture(scope="session")
def example(base, prefix):
    return built_against(prefix, harness.ROOT / "examples/cpp-sandbox", base.unused("example")) / "example"
