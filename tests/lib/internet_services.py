# More hosts of the tests' internet: an SSH server, a database, and repositories of packages. Each is made when wanted.
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

import pytest

from harness import wait_until

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def git_repository(internet, name):
    """/git/NAME/tiny.git of every host: a bare repository with one file in it. The path of it on this machine."""
    need("git")
    place = internet.www / "git" / name
    place.mkdir(parents=True)
    script = """git init -q -b main work && cd work && echo content > file && git add file &&
        git -c user.name=t -c user.email=t@good.example commit -q -m one && cd .. &&
        git clone -q --bare work tiny.git && git -C tiny.git update-server-info && rm -r work"""
    subprocess.run(["sh", "-c", script], cwd=place, check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(place)})
    return place / "tiny.git"


def python_index(internet):
    """/pip/simple/ of every host: an index with the package tiny-package 1.0."""
    project = internet.www / "pip/simple/tiny-package"
    project.mkdir(parents=True)
    wheel = "tiny_package-1.0-py3-none-any.whl"
    with zipfile.ZipFile(project / wheel, "w") as made:
        made.writestr("tiny_package.py", "x = 1\n")
        info = "tiny_package-1.0.dist-info/"
        made.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0\n")
        made.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(info + "RECORD", "")
    (project / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{wheel}">{wheel}</a></body></html>')


def npm_registry(internet, hosts):
    """/npm-HOST/ of each host: a registry with the package tiny-package 1.0.0."""
    with tempfile.TemporaryDirectory() as work:
        manifest = {"name": "tiny-package", "version": "1.0.0"}
        (pathlib.Path(work) / "package.json").write_text(json.dumps(manifest))
        archive = internet.directory / "tiny-package-1.0.0.tgz"
        with tarfile.open(archive, "w:gz") as made:
            made.add(pathlib.Path(work) / "package.json", "package/package.json")
    digest = hashlib.sha1(archive.read_bytes()).hexdigest()
    for host in hosts:
        place = internet.www / f"npm-{host}"
        place.mkdir()
        shutil.copy(archive, place)
        dist = {"tarball": f"http://{host}/npm-{host}/{archive.name}", "shasum": digest}
        (place / "tiny-package").write_text(json.dumps({"name": "tiny-package", "dist-tags": {"latest": "1.0.0"},
                                                        "versions": {"1.0.0": {**manifest, "dist": dist}}}))


def apt_repository(internet):
    """/apt/ of every host: a repository with the package tiny-package 1.0."""
    need("dpkg-deb")
    place = internet.www / "apt"
    place.mkdir()
    control = ("Package: tiny-package\nVersion: 1.0\nArchitecture: all\nMaintainer: T <t@good.example>\n"
               "Description: tiny\n")
    with tempfile.TemporaryDirectory() as work:
        (pathlib.Path(work) / "DEBIAN").mkdir()
        os.chmod(work, 0o755)
        (pathlib.Path(work) / "DEBIAN/control").write_text(control)
        deb = place / "tiny-package_1.0_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", work, deb], check=True, capture_output=True)
    content = deb.read_bytes()
    packages = (f"{control}Filename: ./{deb.name}\nSize: {len(content)}\n"
                f"SHA256: {hashlib.sha256(content).hexdigest()}\n\n").encode()
    (place / "Packages").write_bytes(packages)
    (place / "Packages.gz").write_bytes(gzip.compress(packages))


def ssh_server(internet):
    """sshd at port 22 of every host, for root and the key `ssh_user_key` of the internet's directory."""
    need("ssh-keygen")
    if not os.path.exists("/usr/sbin/sshd"):
        pytest.skip("sshd is not installed")
    home = internet.directory
    for key in ("ssh_host_key", "ssh_user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / key], check=True)
    (home / "sshd_config").write_text(f"""
        Port 22
        HostKey {home}/ssh_host_key
        AuthorizedKeysFile {home}/ssh_user_key.pub
        PermitRootLogin yes
        StrictModes no
        UsePAM no
        PidFile none
        """)
    # Its directory for separating privileges is in /run, which is not there on every machine.
    start = f"mount -t tmpfs none /run && mkdir /run/sshd && exec /usr/sbin/sshd -D -e -f {home}/sshd_config"
    internet.start("unshare", "--mount", "sh", "-c", start, stderr=open(home / "sshd.log", "w", encoding="utf-8"))
    wait_until(lambda: internet.listens(22), "sshd listens")


def database(internet):
    """PostgreSQL at port 5432 of every host, for everybody."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found += [pathlib.Path(path) for path in [shutil.which("initdb")] if path]
    if not found:
        pytest.skip("postgresql is not installed")
    need("psql")
    programs, data = found[-1].parent, internet.directory / "database"
    data.mkdir()
    os.chown(data, 65534, 65534)
    subprocess.run([*NOBODY, programs / "initdb", "-D", data, "-U", "t", "-A", "trust", "--no-sync", "--locale=C"],
                   check=True, capture_output=True, cwd="/")
    with open(data / "pg_hba.conf", "a", encoding="utf-8") as access:
        access.write("host all all all trust\n")
    internet.start(*NOBODY, programs / "postgres", "-D", data, "-c", "listen_addresses=*", "-c", "fsync=off",
                   "-c", "unix_socket_directories=", cwd="/",
                   stderr=open(internet.directory / "database.log", "w", encoding="utf-8"))
    wait_until(lambda: internet.listens(5432), "postgres listens")
