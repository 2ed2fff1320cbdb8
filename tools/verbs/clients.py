# ./dev clients: the packages for npm, built and packed, so that each installs from its file alone.
"""hutch-sdk, hutch-mastra, hutch-pi and hutch-augure. The others bring the first in them (bundleDependencies): no
registry has to have it, and the order in which they are installed does not matter. What they are compiled against is
npm's, in build/clients/work; with no change of a source this takes no time."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess

import packages
from shell import Failed, path, say

HELP = "build the npm packages and pack them: build/clients/hutch-{sdk,mastra,pi,augure}-VERSION.tgz"
USAGE = "usage: ./dev clients [--print-packages]"

# The directory below clients, and whether programs that use require() can have it too: Mastra and pi are for import.
PACKAGES = [("typescript", True), ("mastra", False), ("pi", False), ("augure", True)]
NOT_SOURCES = ("node_modules", "dist", "api.ts")


def run(arguments):
    if packages.printed(arguments, "clients"):
        return 0
    if arguments:
        raise Failed(USAGE, 2)
    packages.ensure("clients")
    for made in make():
        say(f"made {made}")
    return 0


def make(directory=None):
    """The packed files, of `directory`, else of build/clients; they are made anew where a source has changed."""
    directory = directory or path("build", "clients")
    os.makedirs(directory, exist_ok=True)
    # Several test runs may want them at once.
    with open(os.path.join(directory, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        files = files_in(directory)
        stamp, wanted = os.path.join(directory, ".made"), state_of_sources()
        if read(stamp) == wanted and all(os.path.exists(file) for file in files):
            return files
        for name in os.listdir(directory):
            if name.endswith(".tgz") or name == ".made":
                os.unlink(os.path.join(directory, name))
        work = install_tools(os.path.join(directory, "work"))
        for folder, _ in PACKAGES:
            compile_package(work, folder)
        for folder, _ in PACKAGES:
            pack(work, folder, directory)
        with open(stamp, "w", encoding="utf-8") as opened:
            opened.write(wanted)
        return files


def files_in(directory):
    return [os.path.join(directory, f"{name_of(folder)}-{version()}.tgz") for folder, _ in PACKAGES]


def version():
    """That of hutch itself, which has them: they are told apart from older ones by it."""
    with open(path("CMakeLists.txt"), encoding="utf-8") as listing:
        return re.search(r"project\(hutch VERSION (\S+)", listing.read()).group(1)


def manifest_of(folder):
    with open(path("clients", folder, "package.json"), encoding="utf-8") as opened:
        return json.load(opened)


def name_of(folder):
    return manifest_of(folder)["name"]


def read(file):
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except OSError:
        return None


def state_of_sources():
    """A digest of all that the packed files are made of."""
    digest = hashlib.sha256(version().encode())
    files = [path("docs", "openapi.json"), path("LICENSE"), __file__]
    for folder, directories, names in os.walk(path("clients")):
        directories[:] = [name for name in directories if name not in NOT_SOURCES]
        files += [os.path.join(folder, name) for name in names if name not in NOT_SOURCES]
    for file in sorted(files):
        with open(file, "rb") as opened:
            digest.update(f"{file} ".encode() + hashlib.sha256(opened.read()).digest())
    return digest.hexdigest()


def install_tools(work):
    """The compiler and the hosts' types, of which each manifest names its own, in the node_modules of `work`."""
    tools = {name: pin for folder, _ in PACKAGES for name, pin in manifest_of(folder)["devDependencies"].items()}
    manifest = {"name": "hutch-clients", "private": True, "type": "module", "dependencies": tools}
    text = json.dumps(manifest, indent=1)
    stamp = os.path.join(work, ".installed")
    if read(stamp) != text:
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        with open(os.path.join(work, "package.json"), "w", encoding="utf-8") as opened:
            opened.write(text)
        say("fetching what the clients are compiled with, from npm")
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps",
                   "--fetch-retries=1"]
        must(command, work, "npm could not fetch what the clients are compiled with (is there a network?)")
        with open(stamp, "w", encoding="utf-8") as opened:
            opened.write(text)
    return work


def compile_package(work, folder):
    """`work`/`folder` has the package, with dist, and work/node_modules has it by its name, for those that use it."""
    place, (_, for_require) = os.path.join(work, folder), next(one for one in PACKAGES if one[0] == folder)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(path("clients", folder), place, ignore=shutil.ignore_patterns(*NOT_SOURCES))
    if os.path.exists(os.path.join(place, "generate.mjs")):
        must(["node", "generate.mjs", path("docs", "openapi.json"), "src/api.ts", version()], place, f"{folder}: types")
    tsc = ["node", os.path.join(work, "node_modules/typescript/bin/tsc"), "--skipLibCheck"]
    must(tsc, place, f"clients/{folder} does not compile")
    if for_require:
        compile_for_require(tsc, place)
    link = os.path.join(work, "node_modules", name_of(folder))
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(place, link)


def compile_for_require(tsc, place):
    """The same sources are another kind of module where the manifest beside them says so."""
    other = f"{place}-cjs"
    shutil.rmtree(other, ignore_errors=True)
    os.makedirs(other)
    shutil.copytree(os.path.join(place, "src"), os.path.join(other, "src"))
    shutil.copyfile(os.path.join(place, "tsconfig.json"), os.path.join(other, "tsconfig.json"))
    for directory in (other, os.path.join(place, "dist", "cjs")):
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "package.json"), "w", encoding="utf-8") as opened:
            opened.write('{"type": "commonjs"}\n')
    must([*tsc, "--outDir", os.path.join(place, "dist", "cjs")], other, f"{place} does not compile for require()")


def pack(work, folder, directory):
    place = os.path.join(work, folder)
    manifest = manifest_of(folder)
    manifest["version"] = version()
    for name in ("devDependencies", "scripts"):
        manifest.pop(name, None)
    bundled = manifest.get("bundleDependencies", [])
    for name in bundled:
        manifest["dependencies"][name] = version()
        target = os.path.join(place, "node_modules", name)
        unpack(os.path.join(directory, f"{name}-{version()}.tgz"), target)
    with open(os.path.join(place, "package.json"), "w", encoding="utf-8") as opened:
        json.dump(manifest, opened, indent=2)
    shutil.copyfile(path("LICENSE"), os.path.join(place, "LICENSE"))
    must(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", directory], place,
         f"npm pack: {manifest['name']}")


def unpack(file, target):
    os.makedirs(target)
    must(["tar", "-xzf", file, "--strip-components=1", "-C", target], target, f"unpack {file}")


def must(command, directory, what):
    done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Failed(f"{what}:\n{done.stdout.decode(errors='replace')[-3000:].rstrip()}")
