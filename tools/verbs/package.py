# ./dev package: Debian packages of the release build, made by dpkg-deb.
"""hutch: static programs, so it depends on nothing; bubblewrap is recommended for the bwrap backend, ripgrep for the
agents' tool that searches, python3 for `hutch selftest`, whose attacks are in it, npm for those who install the clients
that are in it. libhutch-dev: the C++ library, its
headers and its CMake package, for the hutch of the same version, whose hutch-guest it starts."""

import glob
import gzip
import os
import re
import shutil
import subprocess
import sysconfig

import cmake_build
import packages
from shell import Failed, must, path, say
from verbs import clients
from verbs.clients import version

HELP = "make build/hutch_VERSION_ARCH.deb and libhutch-dev from the release build"
USAGE = "usage: ./dev package [--print-packages]"

PROGRAMS = ("hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack")

# (file of the project, place in the package, mode)
FILES = [
    ("build/release/bin/hutch", "usr/bin/hutch", 0o755),
    ("build/release/bin/hutch-guest", "usr/lib/hutch/hutch-guest", 0o755),
    ("build/release/bin/hutch-inspect", "usr/lib/hutch/hutch-inspect", 0o755),
    ("build/release/bin/hutch-helper", "usr/lib/hutch/hutch-helper", 0o755),
    ("build/release/bin/hutch-unpack", "usr/lib/hutch/hutch-unpack", 0o755),
    ("packaging/deb/copyright", "usr/share/doc/hutch/copyright", 0o644),
    ("README.md", "usr/share/doc/hutch/README.md", 0o644),
    ("SECURITY.md", "usr/share/doc/hutch/SECURITY.md", 0o644),
    ("packaging/systemd/hutch.service", "usr/lib/systemd/user/hutch.service", 0o644),
    ("packaging/deb/postinst", "DEBIAN/postinst", 0o755),
    ("packaging/deb/prerm", "DEBIAN/prerm", 0o755),
]

# Where README's links lead.
DOCUMENTS = ("docs/*.md", "docs/*.json", "docs/from/*.md", "clients/*/README.md")

LIBRARY_FILES = [
    ("packaging/deb/copyright", "usr/share/doc/libhutch-dev/copyright", 0o644),
    ("docs/cpp-api.md", "usr/share/doc/libhutch-dev/cpp-api.md", 0o644),
    ("examples/cpp-sandbox/example.cc", "usr/share/doc/libhutch-dev/examples/example.cc", 0o644),
    ("examples/cpp-sandbox/CMakeLists.txt", "usr/share/doc/libhutch-dev/examples/CMakeLists.txt", 0o644),
]

# The program writes these itself, from its own table of verbs.
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/hutch",
    "zsh": "usr/share/zsh/vendor-completions/_hutch",
    "fish": "usr/share/fish/vendor_completions.d/hutch.fish",
}

CONTROL = """\
Package: hutch
Version: {version}
Architecture: {architecture}
Maintainer: The hutch authors <hutch@localhost>
Installed-Size: {kilobytes}
Section: utils
Priority: optional
Recommends: bubblewrap, ripgrep, python3
Description: run commands and AI agents in a sandbox
 hutch runs a command in a place of its own: it reaches the files that it was
 given, and neither the rest of the home, nor the network, nor other processes.
 No image, no set-up; the same for an ordinary user and for root. Agents that
 stay have a daemon, which starts and leaves by itself, and tools over MCP.
"""

LIBRARY_CONTROL = """\
Package: libhutch-dev
Version: {version}
Architecture: {architecture}
Maintainer: The hutch authors <hutch@localhost>
Installed-Size: {kilobytes}
Section: libdevel
Priority: optional
Depends: hutch (= {version}), {depends}
Description: sandboxes for AI agents, as a C++ library
 The library of hutch, its headers and its CMake package: find_package(hutch)
 gives hutch::hutch. Sandboxes live in the program's own process, without a
 daemon.
"""


def run(arguments):
    if packages.printed(arguments, "build", "run", "clients"):
        return 0
    packages.ensure("build", "run", "clients")
    if not shutil.which("dpkg-deb"):
        raise Failed("dpkg-deb is missing: a Debian package is made on Debian")
    cmake_build.build("release", [*PROGRAMS, "hutch_shared", "hutch_attacks"])
    clients.make()
    say(f"made {make_programs()}")
    staging = stage(path("build", "package-library"), LIBRARY_FILES)
    depends = install_library(staging)
    write_changelog(staging, "libhutch-dev")
    say(f"made {write_package(staging, 'libhutch-dev', LIBRARY_CONTROL, depends=depends)}")
    return 0


def make_programs(directory=None):
    """The package of the programs, of what is built; `directory` is where it is made, else build."""
    directory = directory or path("build")
    lacking = [source for source, _, _ in FILES + LIBRARY_FILES if not os.path.exists(path(source))]
    if lacking:
        raise Failed("these belong into the package and are missing: " + ", ".join(lacking))
    staging = stage(os.path.join(directory, "package"), FILES + documents())
    install_attacks(staging)
    install_clients(staging)
    write_profile(staging)
    write_completions(staging)
    write_changelog(staging, "hutch")
    return write_package(staging, "hutch", CONTROL)


def documents():
    found = [name for pattern in DOCUMENTS for name in sorted(glob.glob(pattern, root_dir=path()))]
    return [(name, f"usr/share/doc/hutch/{name}", 0o644) for name in found]


def stage(staging, files):
    shutil.rmtree(staging, ignore_errors=True)
    for source, place, mode in files:
        install(path(source), os.path.join(staging, place), mode)
    os.makedirs(os.path.join(staging, "DEBIAN"), mode=0o755, exist_ok=True)
    return staging


def install_attacks(staging):
    """What `hutch selftest --attacks` runs, beside hutch-guest."""
    target = os.path.join(staging, "usr/lib/hutch/attacks")
    shutil.copytree(path("build", "release", "bin", "attacks"), target, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, names in os.walk(target):
        os.chmod(folder, 0o755)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o755 if name == "attempts" else 0o644)
    must(["strip", "--strip-unneeded", os.path.join(target, "escape/attempts")])


def install_clients(staging):
    """What `hutch clients install` puts in place: run() has made them, and a test packs those that there are."""
    for file in clients.files_in(path("build", "clients")):
        if os.path.exists(file):
            install(file, os.path.join(staging, "usr/share/hutch/clients", os.path.basename(file)), 0o644)


def install_library(staging):
    """What `cmake --install` puts where, the programs aside; on what Debian packages it depends."""
    whole = path("build", "package-install")
    shutil.rmtree(whole, ignore_errors=True)
    must(["cmake", "--install", path("build", "release"), "--prefix", os.path.join(whole, "usr"), "--strip"],
         stdout=subprocess.DEVNULL)
    for place in ("include", "lib"):
        shutil.copytree(os.path.join(whole, "usr", place), os.path.join(staging, "usr", place), symlinks=True)
    shutil.rmtree(os.path.join(staging, "usr/lib/hutch"))
    library = next(os.path.join(folder, name) for folder, _, names in os.walk(staging) for name in names
                   if re.fullmatch(r"libhutch\.so\.[0-9.]+[0-9]", name))
    needed = subprocess.run(["objdump", "-p", library], stdout=subprocess.PIPE, check=True).stdout.decode()
    sonames = re.findall(r"NEEDED +(\S+)", needed)
    found = {package_of(soname) for soname in sonames if not soname.startswith("ld-linux")}
    return ", ".join(sorted(found))


def package_of(soname):
    """The installed package that a library is from: what it was linked with is here. Other packages have the library of
    that name for another ABI of the same processor (libc6-i386)."""
    listed = must_text(["dpkg-query", "--search", f"*/{sysconfig.get_config_var('MULTIARCH')}/{soname}"])
    return listed.split(":")[0]


def must_text(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def install(source, target, mode):
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, mode)
    if os.path.basename(target) in PROGRAMS and os.path.basename(os.path.dirname(source)) == "bin":
        must(["strip", "--strip-unneeded", target])


def write_profile(staging):
    """The AppArmor profile is a template: it names the one program that makes namespaces."""
    with open(path("packaging", "apparmor", "hutch"), encoding="utf-8") as template:
        profile = re.sub(r"^#.*\n", "", template.read(), flags=re.MULTILINE)
    target = os.path.join(staging, "usr/share/hutch/apparmor/hutch")
    os.makedirs(os.path.dirname(target), mode=0o755)
    with open(target, "w", encoding="utf-8") as opened:
        opened.write("# Lets hutch-guest make user namespaces; confines nothing.\n")
        opened.write(profile.replace("@GUEST@", "/usr/lib/hutch/hutch-guest"))


def write_completions(staging):
    for shell, place in COMPLETIONS.items():
        target = os.path.join(staging, place)
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        with open(target, "wb") as script:
            must([path("build", "release", "bin", "hutch"), "completion", shell], stdout=script)


def write_changelog(staging, name):
    text = f"{name} ({version()}) unstable; urgency=medium\n\n  * This version.\n"
    with gzip.GzipFile(os.path.join(staging, f"usr/share/doc/{name}/changelog.gz"), "wb", mtime=0) as target:
        target.write(text.encode())


def write_package(staging, name, control, **more):
    architecture = must_text(["dpkg", "--print-architecture"]).strip()
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, files in os.walk(staging) for name in files)
    control = control.format(version=version(), architecture=architecture, kilobytes=size // 1024 + 1, **more)
    with open(os.path.join(staging, "DEBIAN", "control"), "w", encoding="utf-8") as target:
        target.write(control)
    made = os.path.join(os.path.dirname(staging), f"{name}_{version()}_{architecture}.deb")
    must(["dpkg-deb", "--root-owner-group", "--build", staging, made], stdout=subprocess.DEVNULL)
    return made
