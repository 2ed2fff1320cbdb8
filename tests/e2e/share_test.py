# hutch share, unshare and init: what an agent's OS user gets of somebody's files, and that it is all taken back.
import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import threading
import time

import harness
import pytest
from numbers_of_users import own_numbers

AGENT, SECOND, BOB = 61301, 61302, 61303
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be several users")


@dataclasses.dataclass(frozen=True)
class Sharer(harness.Person):
    """Somebody on a machine whose agents have OS users."""

    passwd: pathlib.Path = None
    before: str = ":"

    def environment(self, extra=None):
        return super().environment({"HUTCH_STATE": str(self.home / "share-state"), **(extra or {})})

    def command(self, argv):
        mounts = f"mount --bind {self.passwd} /etc/passwd && {self.before}"
        return ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", f'{mounts} && exec "$@"', "sh"] + super().command(argv)


@pytest.fixture
def sharer(as_user, base):
    passwd = base.path / "passwd-of-sharers"
    users = [("sharer", as_user.uid, as_user.home), ("hutch", AGENT, "/nowhere"), ("agent-second", SECOND, "/nowhere")]
    lines = [f"{name}:x:{uid}:{uid}::{home}:/bin/sh\n" for name, uid, home in users]
    passwd.write_text(pathlib.Path("/etc/passwd").read_text() + "".join(lines))
    passwd.chmod(0o644)
    return Sharer(as_user.name, as_user.uid, as_user.home, passwd)


@pytest.fixture
def hutch(base, sharer, project):
    made = harness.Hutch(base, sharer, project)
    yield made
    for share in json.loads(made("shared", "--json").ok().text):
        made("unshare", "--forget", share["path"])


@pytest.fixture
def tree(as_user, project):
    top = as_user.mkdir(project / "tree", 0o700)
    as_user.write(top / "text", "text\n", 0o600)
    as_user.write(top / "program", "#!/bin/sh\necho ran\n", 0o700)
    as_user.write(as_user.mkdir(top / "below") / "inner", "inner\n", 0o640)
    return top


def entries(path, kind=ACCESS):
    """{(tag, id): rights}; {} where there is no list."""
    try:
        raw = os.getxattr(path, kind, follow_symlinks=False)
    except OSError:
        return {}
    return {(tag, who): rights for tag, rights, who in struct.iter_unpack("<HHI", raw[4:])}


def set_entries(path, rows, kind=ACCESS):
    none = 0xffffffff
    rows = [(tag, rights, none if who is None else who) for tag, who, rights in rows]
    os.setxattr(path, kind, struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows))


def snapshot(top):
    found = {}
    for path in [top, *sorted(top.rglob("*"))]:
        if not path.is_symlink():
            found[str(path)] = (path.stat().st_mode, path.stat().st_uid, entries(path), entries(path, DEFAULT))
    return found


def may(uid, action, path):
    """Whether that user can do it: read, write, list, run or make."""
    command = {"read": ["cat", path], "write": ["sh", "-c", 'echo more >> "$0"', path], "list": ["ls", path],
               "run": [path], "make": ["sh", "-c", 'echo made > "$0"', path]}[action]
    as_them = ["/usr/bin/setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", *map(str, command)]
    return subprocess.run(as_them, capture_output=True, timeout=60, cwd="/").returncode == 0


def test_the_agent_alone_gets_it_and_loses_it(hutch, tree):
    before = snapshot(tree.parent)
    for path in (tree / "text", tree / "program", tree / "below/inner"):
        assert not may(AGENT, "read", path)
    hutch("share", tree).ok()
    assert may(AGENT, "read", tree / "text") and may(AGENT, "write", tree / "below/inner")
    assert may(AGENT, "run", tree / "program") and may(AGENT, "list", tree)
    assert not may(AGENT, "run", tree / "text")
    for action in ("read", "write"):
        assert not may(BOB, action, tree / "text") and not may(SECOND, action, tree / "text")
    said = json.loads(hutch("shared", "--json").ok().text)
    assert [(one["path"], one["user"], one["mode"]) for one in said] == [(str(tree), "hutch", "read-write")]
    hutch("unshare", tree).ok()
    assert snapshot(tree.parent) == before
    assert not may(AGENT, "read", tree / "text")
    assert json.loads(hutch("shared", "--json").ok().text) == []


def test_for_reading_alone(hutch, tree):
    before = snapshot(tree)
    hutch("share", "--read-only", tree).ok()
    assert may(AGENT, "read", tree / "text") and may(AGENT, "list", tree / "below")
    assert not may(AGENT, "write", tree / "text") and not may(AGENT, "make", tree / "new")
    hutch("share", tree).ok()  # the other way from now on
    assert may(AGENT, "write", tree / "text")
    hutch("share", "--read-only", tree).ok()
    assert not may(AGENT, "write", tree / "text")
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before


def test_a_single_file(hutch, tree):
    tree.chmod(0o711)
    before = snapshot(tree)
    hutch("share", "--read-only", tree / "text").ok()
    assert may(AGENT, "read", tree / "text") and not may(AGENT, "write", tree / "text")
    assert not may(AGENT, "list", tree)
    hutch("unshare", tree / "text").ok()
    assert snapshot(tree) == before


def test_a_private_key_is_told_with_the_way_that_keeps_ssh_working(hutch, as_user, tree):
    tree.chmod(0o711)
    key = as_user.write(tree / "id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n", 0o600)
    as_user.write(tree / "id_ed25519.pub", "ssh-ed25519 AAAA nobody\n", 0o644)
    for path in (key, tree):
        said = hutch("share", "--read-only", path).ok().errors
        assert f"{key} is a private key" in said and f"hutch share --copy --into keys/id_ed25519 {key}" in said, said
        assert said.count("is a private key") == 1
        hutch("unshare", path).ok()
    assert key.stat().st_mode & 0o777 == 0o600
    assert "private key" not in hutch("share", "--read-only", tree / "text").ok().errors


def test_what_is_made_later_is_for_both(hutch, sharer, tree):
    hutch("share", tree).ok()
    assert may(AGENT, "make", tree / "below/agents") and may(sharer.uid, "make", tree / "below/own")
    assert may(sharer.uid, "write", tree / "below/agents") and may(AGENT, "write", tree / "below/own")
    hutch("unshare", tree).ok()
    assert may(sharer.uid, "write", tree / "below/agents")
    assert not may(AGENT, "read", tree / "below/own") and not entries(tree / "below/own")


def test_what_was_moved_in_is_shared_by_the_next(hutch, as_user, tree):
    hutch("share", tree).ok()
    as_user.write(tree.parent / "moved", "moved", 0o600).rename(tree / "moved")
    assert not may(AGENT, "read", tree / "moved")
    hutch("share", tree).ok()
    assert may(AGENT, "read", tree / "moved")
    hutch("unshare", tree).ok()
    assert not may(AGENT, "read", tree / "moved") and not entries(tree / "moved")


def test_below_a_closed_directory_it_asks_first(hutch, as_user, tree):
    closed = tree.parent / "closed"
    as_user.mkdir(closed, 0o700)
    inner = as_user.mkdir(closed / "inner")
    as_user.write(inner / "file", "x", 0o600)
    as_user.write(closed / "secret", "x", 0o644)
    before = snapshot(tree.parent)
    refused = hutch("share", inner)
    assert refused.code == 125 and str(closed) in refused.errors and "--traverse" in refused.errors
    assert snapshot(tree.parent) == before
    said = hutch("share", "--traverse", inner).ok()
    assert str(closed) in said.text
    assert may(AGENT, "read", inner / "file") and not may(AGENT, "list", closed)
    hutch("share", "--traverse", "--agent", "second", inner / "file").ok()
    hutch("unshare", inner).ok()
    assert not may(AGENT, "read", closed / "secret") and may(SECOND, "read", inner / "file")
    hutch("unshare", inner / "file").ok()
    assert snapshot(tree.parent) == before


# A mask that is raised for one hands everybody what it had held back: setfacl(1) does so.
def test_nobody_else_gets_more(hutch, tree):
    tree.chmod(0o711)
    rows = [(0x01, None, 6), (0x02, BOB, 6), (0x04, None, 6), (0x10, None, 4), (0x20, None, 0)]
    set_entries(tree / "text", rows)
    set_entries(tree / "below", [(0x01, None, 7), (0x04, None, 7), (0x08, BOB, 7), (0x10, None, 5), (0x20, None, 0)],
                DEFAULT)
    before = snapshot(tree)
    assert may(BOB, "read", tree / "text") and not may(BOB, "write", tree / "text")
    raised = [(0x01, None, 6), (0x02, BOB, 6), (0x02, 61304, 6), (0x04, None, 6), (0x10, None, 6), (0x20, None, 0)]
    set_entries(tree / "text", raised)
    assert may(BOB, "write", tree / "text")
    set_entries(tree / "text", rows)
    hutch("share", tree).ok()
    assert may(AGENT, "write", tree / "text")
    assert may(BOB, "read", tree / "text") and not may(BOB, "write", tree / "text")
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before


def test_one_in_another_and_two_agents(hutch, tree):
    before = snapshot(tree)
    hutch("share", tree).ok()
    hutch("share", "--read-only", tree / "below").ok()
    hutch("share", "--agent", "second", tree).ok()
    assert not may(AGENT, "write", tree / "below/inner") and may(SECOND, "write", tree / "below/inner")
    hutch("unshare", tree / "below").ok()
    assert may(AGENT, "write", tree / "below/inner")
    hutch("share", "--read-only", tree / "below").ok()
    hutch("unshare", "--agent", "second", tree).ok()
    hutch("unshare", tree).ok()
    assert may(AGENT, "read", tree / "below/inner") and not may(AGENT, "read", tree / "text")
    hutch("unshare", tree / "below").ok()
    assert snapshot(tree) == before


def test_names_outside_are_for_reading_alone(hutch, as_user, tree):
    outside = as_user.write(tree.parent / "store", "shared by many", 0o600)
    os.link(outside, tree / "linked")
    os.link(tree / "text", tree / "twice")
    before = snapshot(tree.parent)
    said = hutch("share", tree).ok()
    assert "1 files have names outside" in said.errors
    assert may(AGENT, "read", tree / "linked") and not may(AGENT, "write", tree / "linked")
    assert may(AGENT, "write", tree / "twice")
    hutch("unshare", tree).ok()
    assert snapshot(tree.parent) == before


def test_links_are_not_followed(hutch, as_user, tree):
    victim = as_user.write(tree.parent / "victim", "x", 0o600)
    folder = as_user.mkdir(tree.parent / "folder", 0o700)
    os.symlink(victim, tree / "to-file")
    os.symlink(folder, tree / "to-folder")
    hutch("share", tree).ok()
    assert not entries(victim) and not entries(folder)


# A directory of the tree becomes a link to one outside, again and again, while it is shared and unshared.
def test_a_directory_that_becomes_a_link_leads_nowhere(hutch, as_user, tree):
    victim = as_user.mkdir(tree.parent / "victim", 0o700)
    as_user.write(victim / "inner", "x", 0o600)
    inside, aside = tree / "below", tree.parent / "aside"
    # That is an attack: whoever goes by path gets there.
    inside.rename(aside)
    os.symlink(victim, inside)
    os.chmod(inside / "inner", 0o644)
    assert victim.joinpath("inner").stat().st_mode & 0o777 == 0o644
    victim.joinpath("inner").chmod(0o600)
    inside.unlink()
    aside.rename(inside)
    done = threading.Event()

    def flip():
        while not done.is_set():
            inside.rename(aside)
            os.symlink(victim, inside)
            inside.unlink()
            aside.rename(inside)

    flipper = threading.Thread(target=flip)
    flipper.start()
    try:
        for _ in range(30):
            hutch("share", tree)
            hutch("unshare", tree)
    finally:
        done.set()
        flipper.join()
    assert not entries(victim) and not entries(victim / "inner")


def test_a_deep_tree(hutch, as_user, tree):
    at = os.open(tree, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", 0o755, dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.fchown(below, as_user.uid, as_user.uid)
        os.close(at)
        at = below
    hutch("share", tree).ok()
    assert (0x02, AGENT) in entries(f"/proc/self/fd/{at}/.")
    hutch("unshare", tree).ok()
    assert not entries(f"/proc/self/fd/{at}/.")
    os.close(at)


def test_a_file_system_without_lists_is_refused(base, hutch, sharer, as_user, tree):
    place = as_user.mkdir(tree.parent / "plain")
    mount = f"mount -t ramfs none {place} && chown {as_user.uid} {place}"
    refused = harness.Hutch(base, dataclasses.replace(sharer, before=mount), tree)("share", place)
    assert refused.code == 125 and "without access control lists" in refused.errors, str(refused)
    assert json.loads(hutch("shared", "--json").ok().text) == []


def test_an_interrupted_share_is_taken_back(hutch, as_user, tree):
    for number in range(6000):
        as_user.write(tree / f"{number:04}", "x", 0o600)
    set_entries(tree / "5999", [(0x01, None, 6), (0x02, BOB, 4), (0x04, None, 0), (0x10, None, 4), (0x20, None, 0)])
    before = snapshot(tree)
    argv = hutch.person.command([hutch.program, "share", tree])
    process = subprocess.Popen(argv, env=hutch.person.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not entries(tree) and process.poll() is None and time.monotonic() < deadline:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    rows = json.loads(hutch("shared", "--json").ok().text)
    assert [row["path"] for row in rows] == [str(tree)]
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before


def test_one_at_a_time(hutch, sharer, tree):
    hutch("shared").ok()
    with open(sharer.home / "share-state/data/shares.lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = hutch("share", tree)
    assert refused.code == 125 and "another hutch" in refused.errors
    hutch("share", tree).ok()


def test_a_user_that_is_gone_can_be_unshared(base, hutch, sharer, as_user, tree):
    before = snapshot(tree)
    hutch("share", tree).ok()
    nobody = base.path / "passwd-without-agents"
    shutil.copy("/etc/passwd", nobody)
    later = harness.Hutch(base, dataclasses.replace(sharer, passwd=nobody), tree)
    later("unshare", tree).ok()
    assert snapshot(tree) == before


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_files_of_others_are_not_ones_own_to_share(hutch, sharer, tree):
    secret = tree / "roots"
    secret.write_text("x")
    secret.chmod(0o600)
    before = snapshot(tree)
    refused = hutch("share", tree)
    assert refused.code == 125 and str(secret) in refused.errors
    assert snapshot(tree) == before


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_a_group_that_the_kernel_would_take_away_is_kept(hutch, tree):
    os.chown(tree / "below", -1, BOB)
    (tree / "below").chmod(0o2750)
    before = snapshot(tree)
    refused = hutch("share", tree)
    assert refused.code == 125 and "set-group-id" in refused.errors, str(refused)
    assert snapshot(tree) == before


@pytest.mark.parametrize("path, says", [("/", "whole machine"), ("~", "your home"), ("~/share-state", "hutch keeps"),
                                        ("none", "No such file")])
def test_what_is_refused(hutch, sharer, path, says):
    hutch("shared").ok()
    refused = hutch("share", path.replace("~", str(sharer.home)))
    assert refused.code == 125 and says in refused.errors, str(refused)
    assert hutch("unshare", "none").code == 125


def test_print_says_the_commands_and_does_nothing(hutch, tree):
    before = snapshot(tree)
    said = hutch("share", "--print", tree).ok().text.splitlines()
    assert said[0] == f"setfacl -R -m u:hutch:rwX -- {tree}" and said[1].startswith("setfacl -R -d -m u:hutch:rwX")
    assert snapshot(tree) == before


def test_without_the_user_it_says_how_to_make_one(base, sharer, project):
    before_init = base.path / "passwd-before-init"
    before_init.write_text("".join(line for line in sharer.passwd.read_text().splitlines(True) if "hutch" not in line))
    refused = harness.Hutch(base, dataclasses.replace(sharer, passwd=before_init), project)("share", project)
    assert refused.code == 125 and "sudo hutch init" in refused.errors


def test_init_makes_the_users_and_deinit_removes_them(base):
    own = ("mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc"
           " && mount -t tmpfs -o mode=755 none /var/lib"
           " && sed -i -e '/^hutch:/d' -e '/^agent-/d' /etc/passwd /etc/group /etc/shadow")
    script = f"""set -e; {own}; {own_numbers()}; hutch={base.bin}/hutch
rm -f /etc/cron.allow /etc/cron.deny /etc/at.allow; printf somebody > /etc/at.deny; touch /etc/debian_version
$hutch init; $hutch init > /dev/null; $hutch init --agent bob
tr '\\n' ' ' < /etc/cron.deny; tr '\\n' ' ' < /etc/at.deny; echo
echo '{{"network": "host"}}' > /etc/open.json
$hutch run --backend user --policy /etc/open.json --cwd /var/lib/hutch/home/workspaces -- sh -c \
  'id -un; echo $HOME; umask; echo made > made; cat made; ls /var/lib/hutch || echo closed; > /etc/x || echo held'
stat -c %U:%a /var/lib/hutch/home/workspaces/made
grep -E '^(hutch|agent-bob):' /etc/passwd | cut -d: -f1,6,7
grep -c -E '^(hutch|agent-bob):' /etc/subuid || true
setpriv --reuid agent-bob --regid agent-bob --init-groups sh -c 'cd ~agent-bob/workspaces && echo hi > f && cat f'
setpriv --reuid agent-bob --regid agent-bob --init-groups ls /var/lib/hutch ~hutch/workspaces 2>&1 | grep -c denied
# What it puts in the way of root is left as it is.
mkdir /etc/victim; for who in hutch agent-bob; do
  setpriv --reuid $who --regid $who --init-groups sh -c "cd ~$who && rm -rf workspaces && ln -s /etc/victim workspaces"
done
$hutch init > /dev/null; $hutch init --agent bob > /dev/null; stat -c 'victim %U:%a' /etc/victim
setpriv --reuid hutch --regid hutch --init-groups mv /var/lib/hutch/users /var/lib/hutch/gone 2>&1 | grep -o denied
$hutch deinit --agent bob; ls -d /var/lib/hutch/users/agent-bob
$hutch deinit --remove-homes > /dev/null; tr '\\n' ' ' < /etc/at.deny; echo; wc -c < /etc/cron.deny
grep -c '^hutch:' /etc/passwd || true; ls -d /var/lib/hutch/home || true
"""
    said = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=120)
    assert said.returncode == 0, said
    lines = said.stdout.splitlines()
    for line in ("hutch agent-bob somebody hutch agent-bob ", "somebody ", "0", "hutch", "/var/lib/hutch/home", "0002",
                 "made", "closed", "held", "hutch:664", "victim root:755", "denied"):
        assert line in lines, said
    for line in ("hutch:/var/lib/hutch/home:/bin/../bin/bash",
                 "agent-bob:/var/lib/hutch/users/agent-bob:/bin/../bin/bash", "hi",
                 "2", "/var/lib/hutch/users/agent-bob"):
        assert line in lines, said
    assert lines[-1] == "0" and "No such file" in said.stderr


# Each agent another user; root's daemon makes it and removes it. In here it is the machine's own /etc that changes.
AGENTS = """
mkdir -p $HUTCH_STATE/config; echo '{"network": "host"}' > $HUTCH_STATE/config/default.json
touch /etc/debian_version; rm -f /etc/cron.allow
useradd --no-create-home --home-dir /nowhere agent-taken; $hutch agent create taken backend=user 2>&1 |
  grep -o "no agent's"
$hutch agent create one backend=user autonomousExec.enabled=true; $hutch agent create two backend=user
$hutch agent set one backend=namespace 2>&1 | grep -o 'settled when it is made'
$hutch exec one -- sh -c 'id -un; pwd; echo $HOME; umask; echo own > private; cat private'
$hutch exec one -- sh -c 'echo for all > $HUTCH_SHARED/note'; $hutch exec two -- sh -c 'cat $HUTCH_SHARED/note'
$hutch exec two -- cat /var/lib/hutch/users/agent-one/private 2>&1 | grep -o denied
$hutch exec two -- ls $HUTCH_STATE/data 2>&1 | grep -o denied
$hutch exec one -- sleep 60 & sleep 1; until pgrep -u agent-one -x sleep > /dev/null; do sleep 0.1; done
$hutch exec two -- sh -c 'ps -e | grep -c sleep || echo unseen'; one=$(pgrep -u agent-one -x sleep)
$hutch exec two -- sh -c "kill -9 $one" 2>&1 | grep -o 'No such process'
$hutch tool call one sandbox_write_file '{"path": "by-tool", "content": "text"}' > /dev/null
stat -c '%U %n' /var/lib/hutch/users/agent-one/by-tool
grep -c agent- /etc/cron.deny; grep -c agent- /etc/subuid || true
$hutch agent remove one > /dev/null; wait; kill -0 $one || echo ended
grep -c '^agent-one:' /etc/passwd || true; ls -d /var/lib/hutch/users/agent-one 2>&1 | grep -o 'No such file'
$hutch agent remove two > /dev/null; grep -c '^agent-' /etc/passwd; cat /etc/cron.deny; $hutch daemon stop
"""


def test_agents_are_users_of_their_own(base):
    own = ("mount -t tmpfs none /mnt && cp -a /etc /mnt/etc && mount --bind /mnt/etc /etc"
           " && mount -t tmpfs -o mode=755 none /var/lib")
    state = f"export HUTCH_STATE={base.path}/state-of-users; hutch={base.bin}/hutch"
    script = f"set -x; {own}; {own_numbers()}; {state}\n{AGENTS}"
    try:
        said = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=200)
    finally:
        harness.run_in(base.person("root"), [base.bin / "hutch", "daemon", "stop"],
                       env={"HUTCH_STATE": f"{base.path}/state-of-users"})
    home = "/var/lib/hutch/users/agent-one"
    wanted = ["no agent's", "settled when it is made", "agent-one", home, home, "0002", "own", "for all", "denied",
              "denied", "No such process", f"agent-one {home}/by-tool", "ended", "No such file"]
    lines = said.stdout.splitlines()
    assert [line for line in lines if line in wanted] == wanted, said.stdout + said.stderr


def test_init_takes_root(base):
    user = base.person("user")
    refused = harness.run_in(user, [base.bin / "hutch", "init", "--agent", "bob"], cwd=user.home)
    assert refused.code == 125 and refused.errors.endswith("sudo hutch init --agent bob\n")
    steps = harness.run_in(user, [base.bin / "hutch", "init", "--dry-run"], cwd=user.home).ok().text
    assert "useradd --system" in steps or "install -d" in steps
