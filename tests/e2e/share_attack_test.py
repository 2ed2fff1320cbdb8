# hutch share and unshare against an agent that works in the tree meanwhile, and against what people do to it by hand.
import contextlib
import dataclasses
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import share_test  # noqa: E402
from share_test import AGENT, BOB, DEFAULT, entries, may, set_entries, snapshot  # noqa: E402

hutch, sharer, tree = share_test.hutch, share_test.sharer, share_test.tree

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be several users")


def as_agent(code, *words, uid=AGENT):
    """A Python program as the agent, outside of any sandbox."""
    drop = ["/usr/bin/setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    return [*drop, "/usr/bin/python3", "-c", code, *map(str, words)]


def test_what_was_set_by_hand_meanwhile_does_not_keep_the_agents_entry(hutch, tree):
    hutch("share", tree).ok()
    own = [(0x01, None, 6), (0x02, AGENT, 6), (0x02, BOB, 4), (0x04, None, 0), (0x10, None, 6), (0x20, None, 0)]
    set_entries(tree / "text", own)
    hutch("share", tree).ok()
    hutch("unshare", tree).ok()
    assert (0x02, AGENT) not in entries(tree / "text"), entries(tree / "text")


def test_a_default_list_of_the_agents_keeps_nothing(hutch, as_user, sharer, tree):
    """In a directory of its own the agent decides what later files begin with."""
    tree.chmod(0o755)
    hutch("share", tree).ok()
    code = ("import os, struct, sys\nos.mkdir(sys.argv[1])\n"
            "rows = [(1, 7, 0xffffffff), (2, 4, 1), (2, 7, os.getuid()),"
            " (4, 0, 0xffffffff), (16, 7, 0xffffffff), (32, 0, 0xffffffff)]\n"
            "raw = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *row) for row in rows)\n"
            "os.setxattr(sys.argv[1], 'system.posix_acl_default', raw); os.chmod(sys.argv[1], 0o777)")
    subprocess.run(as_agent(code, tree / "agents"), check=True)
    subprocess.run([*as_agent("", uid=sharer.uid)[:6], "sh", "-c", f"echo secret > {tree}/agents/persons"], check=True)
    hutch("share", tree).ok()
    hutch("unshare", tree).ok()
    assert not may(AGENT, "read", tree / "agents/persons"), entries(tree / "agents/persons")


def test_later_files_are_no_more_open_than_before(hutch, sharer, tree):
    drop = as_agent("", uid=sharer.uid)[:6]
    before = snapshot(tree)
    tree.chmod(0o777)
    for mask in (0o022, 0o077):
        hutch("share", tree, wrap=["sh", "-c", f'umask {mask:o}; exec "$@"', "sh"]).ok()
        name = tree / f"made-{mask:o}"
        subprocess.run([*drop, "sh", "-c", f"umask {mask:o}; echo secret > {name}"], check=True)
        assert not may(BOB, "write", name), oct(name.stat().st_mode)
        assert mask == 0o022 or not may(BOB, "read", name), oct(name.stat().st_mode)
        assert may(AGENT, "write", name) and may(sharer.uid, "write", name)
        name.unlink()
        hutch("unshare", tree).ok()
    tree.chmod(0o700)
    assert snapshot(tree) == before


LEASE = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, lambda *_: None)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o666)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('ready', flush=True)
time.sleep(120)
"""


@pytest.mark.parametrize("verb", ["share", "unshare"])
def test_a_lease_of_the_agents_does_not_keep_a_share(hutch, tree, verb):
    hutch("share", tree).ok()
    with subprocess.Popen(as_agent(LEASE, tree / "leased\x1b[31m"), stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"ready\n"
        try:
            done = hutch(verb, tree)
        finally:
            holder.kill()
    assert done.code == 0 and b"\x1b" not in done.err, str(done)


def rename_as_agent(before, after):
    subprocess.run(as_agent("import os, sys; os.rename(sys.argv[1], sys.argv[2])", before, after), check=True)


def test_a_nested_share_for_reading_that_the_agent_renames(hutch, tree):
    hutch("share", tree).ok()
    hutch("share", "--read-only", tree / "below").ok()
    assert not may(AGENT, "write", tree / "below/inner")
    rename_as_agent(tree / "below", tree / "renamed")
    subprocess.run(as_agent("import os, sys; os.mkdir(sys.argv[1])", tree / "below"), check=True)
    for words in ([tree], ["--read-only", tree / "below"], [tree]):
        refused = hutch("share", *words)
        assert refused.code == 125 and "--forget" in refused.errors, str(refused)
        assert not may(AGENT, "write", tree / "renamed/inner")
    (tree / "below").rmdir()
    (tree / "renamed").rename(tree / "below")
    hutch("share", tree).ok()
    assert not may(AGENT, "write", tree / "below/inner") and may(AGENT, "read", tree / "below/inner")


def test_a_share_for_reading_that_is_moved_into_another_for_writing(hutch, as_user, tree):
    """By unsharing that one it would be the outer's, for writing."""
    as_user.mkdir(tree / "work")
    hutch("share", tree).ok()
    hutch("share", tree / "work").ok()
    hutch("share", "--read-only", tree / "below").ok()
    # A directory goes to another one with who may write it alone: its ".." changes (rename(2)).
    (tree / "below").rename(tree / "work/below")
    hutch("unshare", tree / "work").ok()
    assert not may(AGENT, "write", tree / "work/below/inner")


@pytest.mark.parametrize("how", ["taken back later", "forgotten"])
def test_a_share_that_was_moved_is_not_said_to_be_taken_back(hutch, tree, how):
    set_entries(tree / "below", [(1, None, 7), (2, BOB, 7), (4, None, 5), (0x10, None, 7), (0x20, None, 0)], DEFAULT)
    before = snapshot(tree)
    hutch("share", tree).ok()
    moved = tree.parent / "moved"
    tree.rename(moved)
    refused = hutch("unshare", tree)
    assert refused.code == 125 and "is not at" in refused.errors and "--forget" in refused.errors, str(refused)
    assert len(json.loads(hutch("shared", "--json").ok().text)) == 1
    if how == "taken back later":
        moved.rename(tree)
        hutch("unshare", tree).ok()
        assert snapshot(tree) == before
        return
    said = hutch("unshare", "--forget", tree).ok()
    assert "what was moved away" in said.errors, str(said)
    assert json.loads(hutch("shared", "--json").ok().text) == []


def test_a_bind_mount_below_is_elsewhere(base, hutch, sharer, as_user, tree):
    outside = as_user.mkdir(tree.parent / "outside", 0o700)
    as_user.write(outside / "secret", "x", 0o600)
    place = as_user.mkdir(tree / "mounted")
    bound = harness.Hutch(base, dataclasses.replace(sharer, before=f"mount --bind {outside} {place}"), tree)
    said = bound("share", tree).ok()
    assert not may(AGENT, "read", outside / "secret") and "left out" in said.errors, str(said)


# Its server is gone; or it serves somebody else alone, not even root.
FUSE = "mount -i -t fuse -o fd=9,rootmode=40000,user_id={0},group_id={0} dead {1}"
MOUNTED = {"dead": "exec 9<>/dev/fuse && " + FUSE + " && exec 9>&-", "others": "exec 9<>/dev/fuse && " + FUSE}


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="no FUSE here")
@pytest.mark.parametrize("kind", MOUNTED)
def test_what_is_mounted_below_and_cannot_be_looked_at_is_elsewhere(base, hutch, sharer, as_user, tree, kind):
    place = as_user.mkdir(tree / "mounted")
    before = snapshot(tree)
    serves = as_user.uid if kind == "dead" else BOB
    mounted = harness.Hutch(base, dataclasses.replace(sharer, before=MOUNTED[kind].format(serves, place)), tree)
    said = mounted("share", tree).ok()
    assert may(AGENT, "write", tree / "text") and may(AGENT, "write", tree / "below/inner"), str(said)
    said = mounted("unshare", tree).ok()
    assert snapshot(tree) == before and not may(AGENT, "read", tree / "text"), str(said)


@contextlib.contextmanager
def moving(script, place):
    """An agent does that there all the while."""
    with subprocess.Popen(as_agent(script, place), stdout=subprocess.PIPE) as mover:
        try:
            assert mover.stdout.readline() == b"ready\n"
            yield
        finally:
            mover.kill()


RENAMES = """
import os, sys
top = os.open(sys.argv[1], os.O_RDONLY)
# Deeper than what is held open: the walk has to come back by "..".
at = top
names = []
os.mkdir("a", dir_fd=at)
at = os.open("a", os.O_RDONLY, dir_fd=at)
base = at
for _ in range(90):
    os.mkdir("d", dir_fd=at)
    at = os.open("d", os.O_RDONLY, dir_fd=at)
for n in range(8000):
    os.mkdir(f"x{n}", dir_fd=at)
os.mkdir("b", dir_fd=base)
other = os.open("b", os.O_RDONLY, dir_fd=base)
mid = base
for _ in range(20):
    mid = os.open("d", os.O_RDONLY, dir_fd=mid)
print("ready", flush=True)
while True:
    os.rename("d", "e", src_dir_fd=mid, dst_dir_fd=other)
    os.rename("e", "d", src_dir_fd=other, dst_dir_fd=mid)
"""


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_an_agent_that_moves_deep_directories_is_not_said_to_be_out(hutch, tree):
    """What is behind such a directory may have been missed; with its end it can be said."""
    hutch("share", tree).ok()
    with subprocess.Popen(as_agent(RENAMES, tree), stdout=subprocess.PIPE) as mover:
        assert mover.stdout.readline() == b"ready\n"
        try:
            moving = hutch("unshare", tree)
        finally:
            mover.kill()
    assert moving.code == 0 or "again" in moving.errors, str(moving)
    assert moving.code == 0 or len(json.loads(hutch("shared", "--json").ok().text)) == 1
    if moving.code != 0:
        hutch("unshare", tree).ok()
    assert not may(AGENT, "read", tree / "text")


def test_a_program_of_the_persons_alone_is_not_the_agents_to_run_as_the_person(hutch, tree):
    (tree / "program").chmod(0o4700)
    before = snapshot(tree)
    hutch("share", tree).ok()
    # By way of a shell: what setpriv(1) itself starts it starts with root's capabilities still.
    ran = subprocess.run([*as_agent("")[:6], "sh", "-c", 'exec "$0"', tree / "program"], check=False)
    assert ran.returncode != 0 and may(AGENT, "read", tree / "program"), oct((tree / "program").stat().st_mode)
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before


def test_odd_modes_names_and_kinds_are_restored(hutch, as_user, tree):
    for mode in (0o000, 0o200, 0o4755, 0o6755, 0o2755, 0o1777, 0o444, 0o070, 0o007):
        as_user.write(tree / f"file-{mode:o}", "x", mode)
        if mode != 0o007:  # everybody else may hide something there from its owner
            as_user.mkdir(tree / f"dir-{mode:o}", mode)
            os.chmod(tree / f"dir-{mode:o}", mode)
        os.chmod(tree / f"file-{mode:o}", mode)
    for name in ("new\nline", "esc\x1b[31m", os.fsdecode(b"\xff\xfe"), "-rf", " ", "a" * 255):
        as_user.write(tree / name, "x", 0o640)
    os.mkfifo(tree / "fifo", 0o600)
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(tree)
        listener.bind("socket")
        os.chdir("/")
    set_entries(tree / "file-444", [(1, None, 4), (2, AGENT, 4), (4, None, 4), (0x10, None, 4), (0x20, None, 4)])
    set_entries(tree / "below", [(1, None, 7), (2, AGENT, 5), (2, BOB, 7), (4, None, 5), (0x10, None, 5),
                                 (0x20, None, 0)], DEFAULT)
    before = snapshot(tree)
    for words in ([], ["--read-only"], []):
        hutch("share", *words, tree).ok()
    hutch("unshare", tree).ok()
    after = snapshot(tree)
    assert {k: (before[k], after[k]) for k in before if before[k] != after[k]} == {}


def test_a_registry_that_is_broken_says_so(hutch, sharer, tree):
    hutch("share", tree).ok()
    place = sharer.home / "share-state/data/shares.db"
    whole = place.read_bytes()
    place.write_bytes(b"x" * 8192)
    try:
        for words in (["unshare", tree], ["share", tree], ["shared"]):
            done = hutch(*words)
            assert done.code == 125 and "shares.db" in done.errors, str(done)
    finally:
        place.write_bytes(whole)
    hutch("unshare", tree).ok()


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_what_two_people_shared_is_over_when_both_took_it_back(base, hutch, sharer, tree):
    root = harness.Hutch(base, dataclasses.replace(sharer, name="root", uid=0, home=base.person("root").home), tree)
    set_entries(tree / "text", [(1, None, 6), (2, BOB, 4), (4, None, 0), (0x10, None, 4), (0x20, None, 0)])
    before = snapshot(tree)
    root("share", tree).ok()
    hutch("share", tree).ok()
    root("unshare", tree).ok()
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before


def test_a_number_that_is_anothers_now_is_told_and_gets_nothing_more(base, hutch, sharer, tree):
    tree.chmod(0o711)
    hutch("share", tree / "text").ok()
    others = base.path / "passwd-of-another"
    others.write_text(sharer.passwd.read_text().replace(f"hutch:x:{AGENT}:", "gone:x:61399:")
                      .replace(f"agent-second:x:{61302}:", f"agent-second:x:{AGENT}:"))
    others.chmod(0o644)
    later = harness.Hutch(base, dataclasses.replace(sharer, passwd=others), tree)
    assert json.loads(later("shared", "--json").ok().text)[0]["userGone"] is True
    assert "that user is gone" in later("shared").ok().text
    for path in (tree / "text", tree / "below"):
        refused = later("share", "--agent", "second", path)
        assert refused.code == 125 and "hutch unshare" in refused.errors, str(refused)
    later("unshare", tree / "text").ok()
    later("share", "--agent", "second", tree / "text").ok()
    later("unshare", tree / "text").ok()


CHANGE = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
with mmap.mmap(file, 4) as content: content[:] = b'evil'
"""


@pytest.mark.parametrize("what", [0o4755, 0o2755, 0o6700, "capabilities"])
def test_what_runs_with_more_rights_is_not_the_agents_to_change(hutch, as_user, tree, what):
    """By mmap(2) it keeps its bits, and whoever may run it is its owner, or root, by what the agent put there."""
    place = as_user.write(tree / "helper", "good", 0o755)
    if what == "capabilities":
        os.setxattr(place, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
    else:
        place.chmod(what)
    for _ in range(2):
        hutch("share", tree).ok()
        assert may(AGENT, "read", place) and may(AGENT, "write", tree / "text")
        assert subprocess.run(as_agent(CHANGE, place), capture_output=True, check=False).returncode != 0
        assert place.read_text() == "good" and (what == "capabilities" or place.stat().st_mode & 0o6000)


LINK = """
import os, sys
place, to = sys.argv[1:3]
if os.path.lexists(place): os.rename(place, place + '-was')
os.symlink(to, place)
"""


def test_a_link_of_the_agents_in_a_typed_path_leads_nowhere(base, hutch, sharer, as_user, tree):
    secrets = as_user.mkdir(tree.parent / "secrets", 0o700)
    as_user.write(secrets / "key", "KEY\n", 0o600)
    hutch("share", tree).ok()
    hutch("share", "--read-only", tree / "below").ok()
    subprocess.run(as_agent(LINK, tree / "below", secrets), check=True)
    subprocess.run(as_agent(LINK, tree / "docs", secrets), check=True)
    root = harness.Hutch(base, dataclasses.replace(sharer, name="root", uid=0, home=base.person("root").home), tree)
    for who in (hutch, root):
        for words in (["--read-only", tree / "below"], [tree / "docs"], [tree / "docs/key"], ["--print", tree / "docs"],
                      ["--copy", "--into", "x", tree / "docs"]):
            refused = who("share", *words)
            assert refused.code == 125 and "symbolic link" in refused.errors, str(refused)
    assert not entries(secrets) and not entries(secrets / "key")
    # What it was is not at that path any more; where the link leads is another share.
    hutch("share", secrets).ok()
    refused = hutch("unshare", tree / "below")
    assert refused.code == 125 and "is not at" in refused.errors, str(refused)
    assert hutch("unshare", tree / "docs").code == 125
    assert may(AGENT, "read", secrets / "key")


def test_a_link_of_ones_own_that_the_agent_moved_leads_nowhere(hutch, as_user, tree):
    secrets = as_user.mkdir(tree.parent / "secrets", 0o700)
    (tree / "own").symlink_to(secrets)
    if as_user.uid:
        os.lchown(tree / "own", as_user.uid, as_user.uid)
    hutch("share", tree).ok()
    rename_as_agent(tree / "own", tree / "docs")
    refused = hutch("share", tree / "docs")
    assert refused.code == 125 and "symbolic link" in refused.errors and not entries(secrets), str(refused)


@pytest.mark.parametrize("to", ["tree", "../{parent}/tree", "{absolute}"])
def test_a_link_of_ones_own_in_a_typed_path_is_followed(hutch, as_user, tree, to):
    tree.chmod(0o711)
    link = tree.parent / "link"
    link.symlink_to(to.format(parent=tree.parent.name, absolute=tree))
    if as_user.uid:
        os.lchown(link, as_user.uid, as_user.uid)
    hutch("share", f"{tree.parent}/./link/../link//below").ok()
    assert [one["path"] for one in json.loads(hutch("shared", "--json").ok().text)] == [str(tree / "below")]
    hutch("unshare", link / "below").ok()


RENAMES_ONE = """
import itertools, os, sys
tree = sys.argv[1]
names = [tree + '/linked'] + [f'{tree}/d{i:02}/zz' for i in range(20)]
print('ready', flush=True)
at = names[0]
for name in itertools.cycle(names[1:] + names[:1]):
    os.rename(at, name)
    at = name
"""


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_a_file_with_names_outside_that_the_agent_renames_stays_for_reading(hutch, as_user, tree):
    outside = as_user.write(tree.parent / "store", "shared by many", 0o600)
    os.link(outside, tree / "linked")
    for number in range(20):
        directory = as_user.mkdir(tree / f"d{number:02}")
        for file in range(40):
            as_user.write(directory / f"f{file}", "x", 0o600)
    hutch("share", tree).ok()
    with moving(RENAMES_ONE, tree):
        for _ in range(15):
            hutch("share", tree)
    assert not may(AGENT, "write", outside), entries(outside)


def test_links_are_counted_only_while_no_agent_may_write(hutch, as_user, tree):
    """For reading alone it stays, though both names are in the tree by now: the agent might be moving one."""
    outside = as_user.write(tree.parent / "store", "shared by many", 0o600)
    os.link(outside, tree / "linked")
    hutch("share", tree).ok()
    outside.unlink()
    os.link(tree / "linked", tree / "again")
    hutch("share", tree).ok()
    assert not may(AGENT, "write", tree / "linked")
    hutch("share", "--read-only", tree).ok()
    hutch("share", tree).ok()
    assert may(AGENT, "write", tree / "linked")


EXCHANGES = """
import ctypes, os, sys
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None)
own = []
for i in range(40):
    name = f'own{i}'
    os.close(os.open(name, os.O_RDWR | os.O_CREAT, 0o600))
    os.chmod(name, 0)
    own.append(name.encode())
def exchange(a, b):
    libc.renameat2(-100, a, -100, b, 2)
print('ready', flush=True)
while True:
    for name in own:
        exchange(name, b'innocent'); exchange(name, b'linked'); exchange(name, b'linked'); exchange(name, b'innocent')
"""


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_a_file_that_cannot_be_opened_is_no_other_by_its_name(hutch, as_user, tree):
    outside = as_user.write(tree.parent / "store", "shared by many", 0o600)
    work = as_user.mkdir(tree / "work")
    os.link(outside, work / "linked")
    for number in range(60):
        os.link(outside, tree.parent / f"store-{number}")
    as_user.write(work / "innocent", "x", 0o600)
    hutch("share", tree).ok()
    with moving(EXCHANGES, work):
        for _ in range(40):
            hutch("share", tree)
    assert not entries(outside).get((2, AGENT), 0) & 2, entries(outside)
