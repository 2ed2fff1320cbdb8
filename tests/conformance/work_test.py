# Ordinary developer work runs inside: compilers, git, python, node, cargo, shells.
import pathlib
import shutil

import pytest
from harness import run_in

needs = {
    name: pytest.mark.skipif(shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") is None, reason=f"no {name} here")
    for name in ("git", "gcc", "make", "cmake", "node", "npm", "strace")
}


@needs["git"]
def test_git(hutch, backend):
    hutch.sh(
        "git init -q repo && cd repo && git config user.email a@b && git config user.name n && echo x > f && "
        "git add f && git commit -q -m m && git log --oneline | grep -q m && git status --porcelain",
        env={"GIT_CONFIG_NOSYSTEM": "1"},
    ).ok()


@needs["gcc"]
@needs["make"]
def test_gcc_and_make(hutch, backend, project, as_user):
    as_user.write(project / "hello.c", '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n')
    as_user.write(project / "Makefile", "hello: hello.c\n\tcc -O2 -o $@ $<\n")
    assert hutch.sh("make -s -j2 && ./hello").ok().out == b"built\n"


@needs["cmake"]
def test_cmake(hutch, backend, project, as_user):
    as_user.write(project / "main.cc", "int main() { return 7; }\n")
    as_user.write(
        project / "CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nadd_executable(p main.cc)\n"
    )
    assert hutch.sh("cmake -S . -B out >/dev/null && cmake --build out >/dev/null && out/p").code == 7


def test_python_with_venv(hutch, backend):
    hutch.sh(
        "/usr/bin/python3 -m venv --without-pip env && "
        "env/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'"
    ).ok()


# A package that builds itself, so that pip needs nothing from anywhere.
BUILD_BACKEND = '''
import zipfile

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "greeting-1.0-py3-none-any.whl"
    info = "greeting-1.0.dist-info/"
    with zipfile.ZipFile(directory + "/" + name, "w") as wheel:
        wheel.write("greeting.py")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "entry_points.txt", "[console_scripts]\\ngreet = greeting:main\\n")
        wheel.writestr(info + "RECORD", "")
    return name
'''


def test_pip(hutch, backend, project, as_user):
    package = project / "greeting"
    as_user.write(package / "pyproject.toml",
                  '[build-system]\nrequires = []\nbuild-backend = "builder"\nbackend-path = ["."]\n')
    as_user.write(package / "builder.py", BUILD_BACKEND)
    as_user.write(package / "greeting.py", "def main():\n    print('installed by pip')\n")
    pip = "env/bin/pip --disable-pip-version-check --no-cache-dir -q"
    result = hutch.sh(
        "/usr/bin/python3 -m venv env && "
        f"{pip} wheel --no-index -w wheels ./greeting && {pip} install --no-index wheels/greeting-1.0-*.whl && "
        f"env/bin/greet && {pip} uninstall -y greeting && "
        f"{pip} install --no-index ./greeting && env/bin/greet",
        timeout=300,
    )
    assert result.ok().out == b"installed by pip\ninstalled by pip\n", str(result)


def test_python_processes(hutch, backend):
    code = (
        "import multiprocessing as m\n"
        "if __name__ == '__main__':\n  print(m.get_context('fork').Pool(2).map(abs, [-1, -2]))"
    )
    assert hutch.run("/usr/bin/python3", "-c", code).ok().out == b"[1, 2]\n"


@needs["node"]
def test_node(hutch, backend):
    code = (
        "const {execFileSync} = require('child_process'); const fs = require('fs');"
        "fs.writeFileSync('made', 'x'); process.stdout.write(execFileSync('echo', ['from a child']))"
    )
    assert hutch.run("node", "-e", code).ok().out == b"from a child\n"


@needs["npm"]
def test_npms_own_code(hutch, backend, project, as_user):
    as_user.write(project / "package.json", '{"name":"p","version":"1.0.0","scripts":{"hi":"echo ran the script"}}')
    assert b"ran the script" in hutch.run("npm", "run", "--silent", "hi").ok().out


def test_bash_with_pipes_and_jobs(hutch, backend, project, as_user):
    as_user.write(
        project / "script.sh",
        "set -m\nsleep 0.1 & \nwait %1\necho a b c | tr ' ' '\\n' | sort -r | head -n 1\n"
        "diff <(echo 1) <(echo 1) && echo same\ncat <<E\nhere\nE\n",
    )
    assert hutch.run("bash", "script.sh").ok().out == b"c\nsame\nhere\n"


@needs["strace"]
def test_strace_of_ones_own_child(hutch, backend):
    result = hutch.sh("strace -f -o trace -e trace=write echo traced && grep -c traced trace")
    assert result.ok().out.splitlines()[0] == b"traced"


def test_named_pipes_and_locks(hutch, backend):
    hutch.sh('mkfifo f && (echo through > f &) && read line < f && test "$line" = through && flock lock true').ok()


def test_an_archive_with_owners_and_links(hutch, backend):
    hutch.sh(
        "mkdir d && echo x > d/a && ln d/a d/b && ln -s a d/c && tar cf t.tar d && rm -r d && tar xf t.tar && "
        'test "$(cat d/c)" = x'
    ).ok()


def cargo_options(as_user, project):
    """What `hutch run` is given so that cargo works: the system's, else one that rustup put into a home."""
    if shutil.which("cargo", path="/usr/local/bin:/usr/bin:/bin"):
        return []
    home = pathlib.Path.home()
    if not (home / ".cargo/bin/cargo").exists():
        pytest.skip("no cargo in /usr/bin, /usr/local/bin or ~/.cargo/bin")
    if run_in(as_user, ["/usr/bin/test", "-x", home / ".cargo/bin/cargo"]).code != 0:
        pytest.skip(f"{as_user.name} may not run {home}/.cargo/bin/cargo")
    given = {"PATH": f"{home}/.cargo/bin:/usr/bin:/bin", "RUSTUP_HOME": f"{home}/.rustup", "CARGO_HOME": f"{project}/c"}
    return ["--allow-read", f"{home}/.cargo/bin", "--allow-read", f"{home}/.rustup",
            *(word for key, value in given.items() for word in ("--env", f"{key}={value}"))]


def test_cargo(hutch, backend, project, as_user):
    if backend == "user" and not shutil.which("cargo", path="/usr/local/bin:/usr/bin:/bin"):
        pytest.skip("no cargo in /usr/bin or /usr/local/bin: that user does not get to a home of others")
    options = cargo_options(as_user, project)
    as_user.write(project / "Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
    as_user.write(project / "src/main.rs", 'fn main() { println!("from rust"); }\n')
    result = hutch.run("cargo", "run", "--offline", "--quiet", options=options, timeout=300)
    assert result.ok().out == b"from rust\n"
