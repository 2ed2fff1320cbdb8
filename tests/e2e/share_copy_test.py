# hutch share --copy and hutch unshare of a copy: files of an agent's own, made by its OS user and by nobody else.
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess

import harness
import os_user
import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be several users")

BIG = 2000  # files


@dataclasses.dataclass
class Case:
    """Somebody who copies, and the home of the OS user that gets it, by this test's name for it."""

    hutch: harness.Hutch
    person: harness.Person  # whose sources these are
    sources: pathlib.Path
    uid: int
    home: pathlib.Path
    seen_home: str  # as hutch says it
    enter: tuple = ()  # that machine

    def share(self, source, into, *more, **options):
        return self.hutch("share", "--copy", "--into", into, *more, source, **options)

    def shared(self):
        return json.loads(self.hutch("shared", "--json").ok().text)

    def as_agent(self, argv):
        drop = ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"]
        return [*self.enter, *drop, *map(str, argv)]

    def agent(self, *argv):
        """That command as the agent, outside of any sandbox."""
        subprocess.run(self.as_agent(argv), check=True, timeout=60, cwd="/")

    def left(self):
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*"))


@pytest.fixture(params=["root", "person"])
def case(request, base, tmp_path_factory):
    if request.param == "root":
        keeper = os_user.keeper(base)
        root = base.person("root")
        made = Case(harness.Hutch(base, keeper, keeper.home), root, base.path / "sources-of-root", keeper.uid,
                    keeper.home, str(keeper.home))
    else:
        machine = request.getfixturevalue("machine")
        line = next(line.split(":") for line in machine.file("/etc/passwd").read_text().splitlines()
                    if line.startswith("hutch-carol:"))
        carol = machine.person("carol")
        made = Case(machine.hutch("carol"), carol, carol.home / "sources", int(line[2]), machine.file(line[5]), line[5],
                    tuple(machine.enter()))
    made.person.mkdir(made.sources, 0o700)
    before = made.left()
    yield made
    for copy in made.shared():
        made.hutch("unshare", "--yes", copy["path"]).ok()
    for path in [made.home / path for path in made.left() if path not in before]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    shutil.rmtree(made.sources)


@pytest.fixture
def profile(case):
    top = case.person.mkdir(case.sources / "profile", 0o750)
    case.person.write(top / "cookies", "secret\n", 0o600)
    case.person.write(top / "program", "#!/bin/sh\necho ran\n", 0o755)
    below = case.person.mkdir(top / "below", 0o555)
    case.person.write(below / "text", "text\n", 0o444)
    os.symlink("../cookies", below / "link")
    os.symlink("/etc/shadow", top / "out")
    os.utime(top / "cookies", ns=(0, 1_000_000_007))
    return top


def picture(top):
    """What is in a tree, without whose it is."""
    found = {}
    for path in [top, *sorted(top.rglob("*"))]:
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        mode = 0 if path.is_symlink() else stat.S_IMODE(info.st_mode)
        found[str(path.relative_to(top))] = (stat.S_IFMT(info.st_mode), mode, content)
    return found


def test_a_copy_is_the_agents_own(case, profile):
    before = picture(profile)
    said = case.share(profile, "work/task-42/profile").ok()
    copy = case.home / "work/task-42/profile"
    assert f"Copied {profile} to {case.seen_home}/work/task-42/profile" in said.text
    assert picture(copy) == before
    assert {path.lstat().st_uid for path in [copy, *copy.rglob("*")]} == {case.uid}
    assert (copy / "cookies").stat().st_mtime_ns == 1_000_000_007
    case.agent("sh", "-c", f"cd {case.seen_home}/work/task-42/profile; echo changed > cookies; rm program")
    assert picture(profile) == before
    said = case.shared()
    assert [(one["path"], one["into"], one["mode"], one["state"]) for one in said] == [
        (str(profile), f"{case.seen_home}/work/task-42/profile", "copied", "copied")]
    assert f"into {case.seen_home}/work/task-42/profile" in case.hutch("shared").ok().text
    refused = case.hutch("unshare", profile)
    assert refused.code == 125 and "--yes" in refused.errors and copy.exists()
    said = case.hutch("unshare", "--yes", f"{case.seen_home}/work/task-42/profile").ok()
    assert "removed" in said.text and not copy.exists() and case.shared() == []
    assert picture(profile) == before


def test_two_copies_keep_their_own_changes(case, profile):
    first = json.loads(case.share(profile, "one", "--json").ok().text)
    assert (first["files"], first["directories"], first["links"], first["bytes"]) == (3, 2, 2, 7 + 19 + 5)
    case.share(profile, "two").ok()
    case.agent("sh", "-c", f"echo one > {case.seen_home}/one/cookies")
    assert (case.home / "two/cookies").read_text() == "secret\n"
    case.hutch("unshare", "--yes", "one").ok()
    assert not (case.home / "one").exists() and (case.home / "two").exists()
    case.hutch("unshare", "--yes", profile).ok()
    assert case.shared() == [] and not (case.home / "two").exists()
    refused = case.hutch("unshare", "--yes", profile)
    assert refused.code == 125 and "is not shared" in refused.errors


def test_a_single_file(case, profile):
    case.share(profile / "cookies", "keys/cookies").ok()
    assert (case.home / "keys/cookies").read_text() == "secret\n"
    assert stat.S_IMODE((case.home / "keys/cookies").stat().st_mode) == 0o600


def test_what_is_no_file_is_left_out_and_rights_are_dropped(case, profile):
    os.mkfifo(profile / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(profile / "socket"))
        (profile / "program").chmod(0o6755)
        said = case.share(profile, "copy")
    assert said.ok() and "2 sockets, pipes and devices are left out" in said.errors
    copy = case.home / "copy"
    assert not (copy / "pipe").exists() and not (copy / "socket").exists()
    assert stat.S_IMODE((copy / "program").stat().st_mode) == 0o755


@pytest.mark.parametrize("case", ["person"], indirect=True)
def test_what_the_person_may_not_read_is_left_out(case, profile):
    (profile / "roots").write_text("secret")
    (profile / "roots").chmod(0o600)
    (profile / "closed").mkdir(0o700)
    said = case.share(profile, "copy").ok()
    assert "2 files and directories that you may not read are left out" in said.errors
    assert not (case.home / "copy/roots").exists() and not (case.home / "copy/closed").exists()
    refused = case.share(profile / "roots", "alone")
    assert refused.code == 125 and "may not read" in refused.errors and not (case.home / "alone").exists()


@pytest.mark.parametrize("into, says", [
    ("/etc/x", "relative to the agent's home"), ("../x", "is not followed"), ("a/../../x", "is not followed"),
    (".", "the home itself"), (".hutch-copy-x", "on their way"), ("there", "something already"),
    ("there/file/x", "not a directory"), ("link/x", "symbolic link"), ("there/link/x", "symbolic link"),
    ("link", "something already")])
def test_places_that_are_refused(case, profile, into, says):
    victim = case.person.mkdir(case.sources / "victim")
    victim.chmod(0o777)
    case.agent("sh", "-c", f"cd {case.seen_home} && mkdir there && echo x > there/file && ln -s {victim} link"
               f" && ln -s {victim} there/link")
    before = case.left()
    refused = case.share(profile, into)
    assert refused.code == 125 and says in refused.errors, str(refused)
    assert case.left() == before and not list(victim.iterdir()) and case.shared() == []


def test_options_that_mean_nothing_together(case, profile):
    for words in (["--copy"], ["--into", "x"], ["--copy", "--into", "x", "--read-only"],
                  ["--copy", "--into", "x", "--traverse"]):
        refused = case.hutch("share", *words, profile)
        assert refused.code != 0 and not (case.home / "x").exists(), words


def big(case, files=BIG):
    top = case.person.mkdir(case.sources / "big", 0o700)
    for number in range(files // 100):
        below = case.person.mkdir(top / f"d{number}" , 0o700)
        for name in range(100):
            case.person.write(below / f"f{name}", f"{number} {name}\n" * 50, 0o600)
    return top


def test_two_thousand_files(case):
    top = big(case)
    said = json.loads(case.share(top, "big", "--json").ok().text)
    assert said["files"] == BIG and said["directories"] == BIG // 100 + 1
    assert picture(case.home / "big") == picture(top)


def copying(case, top, into):
    """That copy, once something of it is there."""
    argv = [case.hutch.program, "share", "--copy", "--into", into, top]
    started = harness.start_in(case.hutch.person, argv, cwd=case.hutch.cwd, outer=case.enter)
    harness.wait_until(lambda: list(case.home.glob(".hutch-copy-*/d*/f*")) or started.poll() is not None, "it began")
    return started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_it_leaves_nothing(case, number):
    top, before = big(case), case.left()
    with copying(case, top, "some/where") as process:
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode != 0 and b"nothing of it is left" in errors, errors
    assert case.left() == before and case.shared() == []


def test_killed_it_is_known_and_taken_back(case):
    top, before = big(case), case.left()
    with copying(case, top, "some/where") as process:
        process.kill()
        process.wait(60)
    assert not (case.home / "some").exists()
    assert [(one["path"], one["state"]) for one in case.shared()] == [(str(top), "copying")]
    assert "interrupted" in case.hutch("shared").ok().text
    case.hutch("unshare", "--yes", "some/where").ok()
    assert case.left() == before and case.shared() == []


def test_the_next_copy_to_that_place_takes_it_back_too(case):
    top, before = big(case), case.left()
    with copying(case, top, "where") as process:
        process.kill()
        process.wait(60)
    case.share(top, "where").ok()
    assert [one["state"] for one in case.shared()] == ["copied"]
    assert [path for path in case.left() if path not in before and not path.startswith("where")] == []


# As the agent: each directory that comes into the copy's place is moved away, and a link to a directory of the
# person's is put there, which the agent may not write and whoever copies may.
SWAP = """
import glob, os, sys, time
home, victim = sys.argv[1:]
print("ready", flush=True)
count = 0
while True:
    for found in glob.glob(home + "/.hutch-copy-*/d*") + glob.glob(home + "/way"):
        try:
            count += 1
            os.rename(found, home + f"/aside-{count}")
            os.symlink(victim, found)
        except OSError:
            pass
"""


def test_a_directory_that_becomes_a_link_leads_nowhere(case):
    top = big(case)
    victim = case.person.mkdir(case.sources / "victim", 0o755)
    case.agent("mkdir", f"{case.seen_home}/way")
    swapper = subprocess.Popen(case.as_agent(["/usr/bin/python3", "-c", SWAP, case.seen_home, victim]),
                               stdout=subprocess.PIPE, cwd="/")
    try:
        swapper.stdout.readline()
        for _ in range(5):
            done = case.share(top, "way/copy")
            assert done.code == 125, str(done)
    finally:
        swapper.kill()
        swapper.wait()
        swapper.stdout.close()
    assert list(victim.iterdir()) == [] and list(case.home.glob("aside-*"))
    assert not list(case.home.glob(".hutch-copy-*")) and case.shared() == []


def test_print_says_the_commands_and_does_nothing(case, profile):
    before = case.left()
    said = case.share(profile, "work/copy", "--print").ok().text.splitlines()
    user = re.match("sudo -u ([a-z-]+) mkdir -p -- ", said[0]).group(1)
    place = f"{case.seen_home}/work/copy"
    assert said[1:] == [f"sudo -u {user} mkdir -- {place}",
                        f"tar --one-file-system -C {profile} -cf - . | sudo -u {user} tar -C {place} -xf - "
                        "--no-same-owner"]
    assert case.left() == before and case.shared() == []


def test_who_may_not_be_that_user_hears_how(base):
    user = base.person("user")
    passwd = base.path / "passwd-of-copies"
    lines = [f"{name}:x:{uid}:{uid}::{home}:/bin/sh\n"
             for name, uid, home in (("plain", user.uid, user.home), ("hutch", os_user.UID, "/x"))]
    passwd.write_text(pathlib.Path("/etc/passwd").read_text() + "".join(lines))
    passwd.chmod(0o644)
    source = user.write(user.home / "to-copy", "x", 0o600)
    done = harness.run_in(user, [base.bin / "hutch", "share", "--copy", "--into", "x", source], cwd=user.home,
                          outer=["unshare", "--mount", "sh", "-c", f'mount --bind {passwd} /etc/passwd && exec "$@"',
                                 "sh"])
    assert done.code == 125 and "sudo hutch init --for plain" in done.errors, str(done)


def file_system(directory):
    """A mounted file system that can share blocks, or why there is none."""
    for kind, options in (("btrfs", ["-q"]), ("xfs", ["-q", "-m", "reflink=1"])):
        program = shutil.which(f"mkfs.{kind}", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        if program is None:
            continue
        image = directory / "image"
        with open(image, "wb") as file:
            file.truncate(512 << 20)
        made = subprocess.run([program, *options, image], capture_output=True, text=True)
        mounted = subprocess.run(["mount", "-o", "loop", image, directory / "mount"], capture_output=True, text=True)
        if made.returncode == 0 and mounted.returncode == 0:
            return None
        return f"{kind}: {made.stderr}{mounted.stderr}"
    return "neither mkfs.btrfs nor mkfs.xfs is here"


@pytest.fixture
def reflinks(base):
    directory = base.path / "reflinks"
    (directory / "mount").mkdir(parents=True)
    missing = file_system(directory)
    if missing:
        shutil.rmtree(directory)
        pytest.skip(missing)
    yield directory / "mount"
    subprocess.run(["umount", directory / "mount"], check=True)
    shutil.rmtree(directory)


def on_the_disk(mount):
    subprocess.run(["sync", "--file-system", mount], check=True)
    return shutil.disk_usage(mount).used


def test_blocks_are_shared_where_the_file_system_can(base, reflinks):
    home = reflinks / "home"
    harness.Person("hutch", os_user.UID, home).mkdir(home, 0o755)
    passwd = base.path / "passwd-of-reflinks"
    lines = pathlib.Path("/etc/passwd").read_text().splitlines(True)
    others = [line for line in lines if not line.startswith("hutch:")]
    passwd.write_text("".join(others) + f"hutch:x:{os_user.UID}:{os_user.UID}::{home}:/bin/sh\n")
    passwd.chmod(0o644)
    keeper = os_user.Keeper("hutch", os_user.UID, home, passwd)
    hutch = harness.Hutch(base, keeper, home)
    source = reflinks / "source"
    source.mkdir(mode=0o700)
    for name in ("a", "b"):
        (source / name).write_bytes(os.urandom(60 << 20))
    used = on_the_disk(reflinks)
    said = json.loads(hutch("share", "--copy", "--into", "copy", "--json", source).ok().text)
    assert said["reflinked"] == said["files"] == 2 and said["bytes"] == 120 << 20
    assert on_the_disk(reflinks) - used < 60 << 20
    before = (source / "a").read_bytes()
    assert (home / "copy/a").read_bytes() == before
    with open(home / "copy/a", "r+b") as file:
        file.write(b"changed")
    assert (source / "a").read_bytes() == before
    hutch("unshare", "--yes", source).ok()
    assert not (home / "copy").exists()
