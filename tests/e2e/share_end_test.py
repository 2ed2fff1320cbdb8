# hutch unshare: where an agent may have kept something it does not say that it is over, and else nothing is left.
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import share_test  # noqa: E402
from share_attack_test import FUSE, as_agent  # noqa: E402
from share_test import AGENT, BOB, DEFAULT, SECOND, entries, may, set_entries, snapshot  # noqa: E402

hutch, sharer, tree = share_test.hutch, share_test.sharer, share_test.tree

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be several users")


def states(hutch):
    return [(share["path"], share["state"]) for share in json.loads(hutch("shared", "--json").ok().text)]


@pytest.fixture
def agents_own(base, tree):
    """A directory of the agent's, on the same file system."""
    place = base.path / f"agents-own-{tree.parent.name[:20]}"
    place.mkdir()
    os.chown(place, AGENT, AGENT)
    place.chmod(0o700)
    return place


HIDE = """
import os, sys
tree, own = sys.argv[1:3]
os.link(tree + '/text', own + '/kept')
os.mkdir(tree + '/agents')
os.rename(tree + '/text', tree + '/agents/text')
os.chmod(tree + '/agents', 0o700 if len(sys.argv) == 3 else int(sys.argv[3], 8))
"""


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
@pytest.mark.parametrize("mode", ["700", "744"])
def test_what_an_agent_hid_in_a_directory_of_its_own_is_not_over(hutch, tree, agents_own, mode):
    hutch("share", tree).ok()
    subprocess.run(as_agent(HIDE, tree, agents_own, mode), check=True)
    for _ in range(2):
        refused = hutch("unshare", tree)
        assert refused.code == 125 and str(tree / "agents") in refused.errors, str(refused)
        assert states(hutch) == [(str(tree), "ending")]
    (tree / "agents").chmod(0o777)
    hutch("unshare", tree).ok()
    assert states(hutch) == [] and not may(AGENT, "read", agents_own / "kept")


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_a_directory_that_the_person_closed_meanwhile_is_not_over(hutch, tree):
    hutch("share", tree).ok()
    (tree / "below").chmod(0)
    refused = hutch("unshare", tree)
    assert refused.code == 125 and str(tree / "below") in refused.errors, str(refused)
    (tree / "below").chmod(0o755)
    hutch("unshare", tree).ok()
    assert not entries(tree / "below") and not entries(tree / "below/inner")


def test_another_directory_at_the_path_is_not_taken_for_the_share(base, hutch, sharer, as_user, tree):
    before = snapshot(tree)
    hutch("share", tree).ok()
    moved = tree.parent / "moved"
    tree.rename(moved)
    as_user.mkdir(tree)
    refused = hutch("unshare", tree)
    assert refused.code == 125 and "--forget" in refused.errors, str(refused)
    assert states(hutch) == [(str(tree), "ending")] and may(AGENT, "write", moved / "text")
    tree.rmdir()
    moved.rename(tree)
    over = as_user.mkdir(tree.parent / "over")
    mounted = harness.Hutch(base, dataclasses.replace(sharer, before=f"mount --bind {over} {tree}"), tree.parent)
    assert mounted("unshare", tree).code == 125 and may(AGENT, "read", tree / "text")
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before and states(hutch) == []


def test_a_file_that_an_editor_replaced_can_be_forgotten_and_is_closed(hutch, as_user, tree):
    tree.chmod(0o711)
    hutch("share", tree / "text").ok()
    as_user.write(tree / "new", "new\n", 0o600)
    set_entries(tree / "new", [(1, None, 6), (2, AGENT, 6), (4, None, 0), (0x10, None, 6), (0x20, None, 0)])
    (tree / "new").rename(tree / "text")
    assert hutch("unshare", tree / "text").code == 125 and may(AGENT, "read", tree / "text")
    hutch("unshare", "--forget", tree / "text").ok()
    assert not may(AGENT, "read", tree / "text") and states(hutch) == []


# It is told by inotify(7) when the walk has read one directory, and moves the file there from one that comes later.
EVADE = """
import ctypes, os, sys
tree, own = sys.argv[1:3]
for name in 'ABCDEF':
    os.mkdir(f'{tree}/{name}')
    for i in range(300): open(f'{tree}/{name}/{i}', 'w').close()
os.link(tree + '/text', own + '/kept')
order = [entry.name for entry in os.scandir(tree) if entry.name in 'ABCDEF']
places = [os.open(f'{tree}/{name}', os.O_RDONLY) for name in order]
os.rename(tree + '/text', f'{tree}/{order[-1]}/text')
libc = ctypes.CDLL(None)
told = libc.inotify_init()
libc.inotify_add_watch(told, f'{tree}/{order[1]}'.encode(), 0x20)
print('ready', flush=True)
os.read(told, 4096)
os.rename('text', 'text', src_dir_fd=places[-1], dst_dir_fd=places[0])
print('moved', flush=True)
"""


def test_a_file_that_is_moved_behind_the_walk_is_found(hutch, tree, agents_own):
    hutch("share", tree).ok()
    with subprocess.Popen(as_agent(EVADE, tree, agents_own), stdout=subprocess.PIPE) as mover:
        assert mover.stdout.readline() == b"ready\n"
        try:
            hutch("unshare", tree).ok()
            assert mover.stdout.readline() == b"moved\n"
        finally:
            mover.kill()
    assert not may(AGENT, "read", agents_own / "kept") and states(hutch) == []


RESTLESS = """
import os, sys
a, b = (os.open(sys.argv[1] + '/' + name, os.O_RDONLY) for name in ('a', 'b'))
print('ready', flush=True)
while True:
    os.rename('text', 'text', src_dir_fd=a, dst_dir_fd=b)
    os.rename('text', 'text', src_dir_fd=b, dst_dir_fd=a)
"""


def test_while_an_agent_moves_files_it_is_not_over(hutch, tree):
    hutch("share", tree).ok()
    subprocess.run(as_agent("import os, sys; t = sys.argv[1]; os.mkdir(t + '/a'); os.mkdir(t + '/b');"
                            "os.rename(t + '/text', t + '/a/text')", tree), check=True)
    with subprocess.Popen(as_agent(RESTLESS, tree), stdout=subprocess.PIPE) as mover:
        assert mover.stdout.readline() == b"ready\n"
        try:
            # Where it did not run for a moment, nothing was moved.
            while (refused := hutch("unshare", tree)).code == 0:
                assert not any(entries(path) for path in tree.glob("?/text"))
                hutch("share", tree).ok()
        finally:
            mover.kill()
    assert refused.code == 125 and "end what runs as hutch" in refused.errors, str(refused)
    assert states(hutch) == [(str(tree), "ending")]
    hutch("unshare", tree).ok()
    assert states(hutch) == [] and not any(entries(path) for path in tree.glob("?/text"))


def test_an_inner_share_that_ends_leaves_the_outer_one(hutch, tree):
    before = snapshot(tree)
    hutch("share", "--traverse", tree / "below/inner").ok()
    hutch("share", tree).ok()
    hutch("unshare", tree / "below/inner").ok()
    assert may(AGENT, "list", tree) and may(AGENT, "write", tree / "below/inner")
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before


def test_an_entry_on_the_way_to_a_share_is_not_the_persons_own(hutch, tree):
    before = snapshot(tree)
    hutch("share", "--traverse", tree / "below/inner").ok()
    hutch("share", "--agent", "second", tree).ok()
    hutch("unshare", tree / "below/inner").ok()
    hutch("share", tree).ok()
    hutch("unshare", "--agent", "second", tree).ok()
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before and states(hutch) == []


def test_a_way_with_a_mask_of_its_own_is_restored(hutch, tree):
    set_entries(tree, [(1, None, 7), (2, BOB, 7), (4, None, 1), (0x10, None, 5), (0x20, None, 0)])
    before = snapshot(tree)
    for first in (tree / "text", tree):
        hutch("share", "--traverse", tree / "text").ok()
        hutch("share", tree).ok()
        for path in (first, tree if first != tree else tree / "text"):
            hutch("unshare", path).ok()
        assert snapshot(tree) == before


def test_a_tree_that_its_owner_moved_behind_a_link_can_be_ended(hutch, as_user, tree):
    hutch("share", tree).ok()
    moved = tree.parent / "disk2"
    tree.rename(moved)
    tree.symlink_to(moved)
    refused = hutch("unshare", tree)
    assert refused.code == 125 and "--forget" in refused.errors and states(hutch), str(refused)
    hutch("unshare", "--forget", tree).ok()
    assert states(hutch) == []


@pytest.mark.parametrize("above", ["a file", "a link"])
def test_a_share_below_what_became_something_else_can_be_ended(hutch, as_user, tree, above):
    inner = tree / "below/deep"
    as_user.mkdir(inner)
    hutch("share", "--traverse", inner).ok()
    (tree / "below").rename(tree / "was")
    if above == "a file":
        as_user.write(tree / "below", "x")
    else:
        (tree / "below").symlink_to(tree / "was")
    refused = hutch("unshare", inner)
    assert refused.code == 125 and "--forget" in refused.errors, str(refused)
    hutch("unshare", "--forget", inner).ok()
    assert states(hutch) == []


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_what_one_agent_made_for_another_is_told(hutch, tree):
    tree.chmod(0o755)
    hutch("share", tree).ok()
    hutch("share", "--agent", "second", tree).ok()
    assert may(AGENT, "make", tree / "of-one")
    said = hutch("unshare", "--agent", "second", tree).ok()
    assert "1 files of others" in said.errors and may(SECOND, "read", tree / "of-one"), str(said)


def test_an_entry_made_by_hand_outlives_two_agents(hutch, tree):
    tree.chmod(0o755)
    rows = [(1, None, 7), (2, AGENT, 5), (2, BOB, 6), (4, None, 4), (0x10, None, 4), (0x20, None, 0)]
    set_entries(tree / "below", rows)
    before = snapshot(tree)
    for order in ((tree / "below", tree), (tree, tree / "below")):
        hutch("share", "--agent", "second", tree).ok()
        hutch("share", tree / "below").ok()
        for path in order:
            hutch("unshare", path).ok()
        assert snapshot(tree) == before


def test_a_file_that_was_moved_between_two_shares_gets_its_list_back(hutch, as_user, tree):
    tree.chmod(0o755)
    first, second = as_user.mkdir(tree / "first"), as_user.mkdir(tree / "second")
    file = as_user.write(first / "file", "x", 0o640)
    set_entries(file, [(1, None, 6), (2, BOB, 6), (4, None, 4), (0x10, None, 4), (0x20, None, 0)])
    before = (file.stat().st_mode, entries(file))
    hutch("share", first).ok()
    hutch("share", second).ok()
    file.rename(second / "file")
    hutch("unshare", first).ok()
    hutch("unshare", second).ok()
    assert ((second / "file").stat().st_mode, entries(second / "file")) == before


@pytest.mark.parametrize("how", ["linked", "moved"])
def test_an_entry_of_one_share_is_not_the_persons_own_in_another(hutch, as_user, tree, how):
    tree.chmod(0o755)
    first, second = as_user.mkdir(tree / "first"), as_user.mkdir(tree / "second")
    file = as_user.write(first / "file", "x", 0o600)
    hutch("share", first).ok()
    os.link(file, second / "file") if how == "linked" else file.rename(second / "file")
    hutch("share", second).ok()
    hutch("unshare", first).ok()
    hutch("unshare", second).ok()
    assert not entries(second / "file")


# Two directories of the agent's whose new files are for its group: by a default list, and by the set-group-id bit.
GROUPED = """
import os, struct, sys
tree = sys.argv[1]
os.mkdir(tree + '/listed')
os.mkdir(tree + '/bit')
none = 0xffffffff
rows = [(1, none, 7), (4, none, 7), (8, os.getgid(), 7), (16, none, 7), (32, none, 0)]
packed = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', tag, rights, who) for tag, who, rights in rows)
os.setxattr(tree + '/listed', 'system.posix_acl_default', packed)
os.removexattr(tree + '/bit', 'system.posix_acl_default')
os.chmod(tree + '/bit', 0o2777)
"""
LINK = "import os, sys\nfor name in ('listed', 'bit'): os.link(f'{sys.argv[1]}/{name}/new', f'{sys.argv[2]}/{name}')"


@pytest.mark.parametrize("again", [False, True])
def test_what_a_directory_of_the_agents_gave_its_group_is_taken_back(hutch, sharer, tree, agents_own, again):
    hutch("share", tree).ok()
    subprocess.run(as_agent(GROUPED, tree), check=True)
    made = f"umask 002; for d in {tree}/listed {tree}/bit; do echo new > $d/new; mkdir $d/below; done"
    subprocess.run(sharer.command(["/bin/sh", "-c", made]), check=True)
    subprocess.run(as_agent(LINK, tree, agents_own), check=True)
    if again:
        hutch("share", tree).ok()
    hutch("unshare", tree).ok()
    for name in ("listed", "bit"):
        assert (tree / name / "new").stat().st_gid != AGENT and not may(AGENT, "write", agents_own / name)
        assert (tree / name / "below").stat().st_gid != AGENT and not entries(tree / name / "below")
    assert not may(AGENT, "read", agents_own / "listed")


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_what_somebody_else_has_in_a_list_keeps_no_group_of_the_agents(hutch, sharer, tree, agents_own):
    """A list that names somebody is written down when its tree is shared again."""
    hutch("share", tree).ok()
    names_bob = f"os.mkdir(tree + '/bit'); rows = [(1, -1, 7), (2, {BOB}, 4), (4, -1, 7), (16, -1, 7), (32, -1, 0)]"
    subprocess.run(as_agent(GIVES.format(rows=names_bob, mode="0o2777"), tree), check=True)
    subprocess.run(sharer.command(["/bin/sh", "-c", f"echo new > {tree}/bit/new"]), check=True)
    subprocess.run(as_agent(LINK_ONE, tree / "bit/new", agents_own / "new"), check=True)
    hutch("share", tree).ok()
    hutch("unshare", tree).ok()
    assert (2, BOB) in entries(agents_own / "new") and not may(AGENT, "read", agents_own / "new")


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="no FUSE here")
@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_what_an_agent_mounted_over_a_part_is_not_over(base, hutch, sharer, as_user, tree, agents_own):
    """By fusermount(1), which is for whoever may write the directory."""
    as_user.mkdir(tree / "persons")
    hutch("share", tree).ok()
    subprocess.run(as_agent(LINK_ONE, tree / "below/inner", agents_own / "kept"), check=True)
    serves = [FUSE.format(as_user.uid, tree / "persons"), FUSE.format(AGENT, tree / "below")]
    before = " && ".join(["exec 9<>/dev/fuse", serves[0], "exec 9<>/dev/fuse", serves[1]])
    refused = harness.Hutch(base, dataclasses.replace(sharer, before=before), tree)("unshare", tree)
    assert refused.code == 125 and f"mounted something at {tree / 'below'}, over" in refused.errors, str(refused)
    assert states(hutch) == [(str(tree), "ending")] and not may(AGENT, "read", tree / "text")
    hutch("unshare", tree).ok()
    assert states(hutch) == [] and not may(AGENT, "read", agents_own / "kept")


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_what_an_agent_may_do_by_a_mode_and_a_name_of_its_own_is_said(hutch, as_user, tree, agents_own):
    for name, mode in (("open", 0o644), ("closed", 0o640), ("known", 0o644)):
        as_user.write(tree / name, "text\n", mode)
    os.link(tree / "known", agents_own / "known")
    hutch("share", tree).ok()
    for name in ("open", "closed"):
        subprocess.run(as_agent(LINK_ONE, tree / name, agents_own / name), check=True)
    said = hutch("unshare", "--json", tree).ok()
    assert [one["openLinks"] for one in json.loads(said.text)] == [1], str(said)
    assert may(AGENT, "read", agents_own / "open") and not may(AGENT, "read", agents_own / "closed")


def born_ns(path):
    """What Python's os.stat does not tell (statx(2))."""
    done = subprocess.run(["stat", "-c", "%.9W", path], capture_output=True, text=True, check=True)
    seconds, _, fraction = done.stdout.strip().partition(".")
    return int(seconds) * 10**9 + int(fraction)


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="no FUSE here")
@pytest.mark.parametrize("as_user", ["user"], indirect=True)
def test_a_users_own_file_system_is_not_believed_what_it_says_of_itself(hutch, as_user, tree, agents_own):
    """fusermount(1) mounts it for all to see where fuse.conf has user_allow_other."""
    hutch("share", tree).ok()
    subprocess.run(as_agent(LINK_ONE, tree / "text", agents_own / "kept"), check=True)
    words = [tree.stat().st_ino, born_ns(tree), as_user.uid, as_user.gid]
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={AGENT},group_id={AGENT},allow_other"
    subprocess.run(["mount", "-i", "-t", "fuse", "-o", options, "impostor", tree], check=True, pass_fds=[device])
    program = harness.ROOT / "tests/lib/impostor.py"
    try:
        with subprocess.Popen([sys.executable, program, *map(str, [device, *words])], pass_fds=[device]) as server:
            os.close(device)
            refused = hutch("unshare", tree)
            server.kill()
    finally:
        subprocess.run(["umount", "--lazy", tree], check=True)
    assert refused.code == 125 and "is not at" in refused.errors, str(refused)
    hutch("unshare", tree).ok()
    assert not may(AGENT, "read", agents_own / "kept")


LINK_ONE = "import os, sys; os.link(*sys.argv[1:3])"
# The list, and the group, of a new directory of the agent's.
GIVES = """
import os, struct, sys
tree = sys.argv[1]
{rows}
packed = struct.pack('<I', 2) + b''.join(struct.pack('<HHi', tag, rights, who) for tag, who, rights in rows)
os.setxattr(tree + '/bit', 'system.posix_acl_default', packed)
os.chmod(tree + '/bit', {mode})
"""
IN_GROUP = ["/usr/bin/setpriv", f"--reuid={SECOND}", f"--regid={SECOND}", f"--groups={AGENT}"]


@pytest.mark.parametrize("as_user", ["user"], indirect=True)
@pytest.mark.parametrize("how", ["listed", "bit"])
@pytest.mark.parametrize("again", [False, True])
def test_what_an_agent_gave_the_agents_common_group_is_taken_back(hutch, sharer, tree, agents_own, how, again):
    """The users of agents with a name are in the group of the user hutch (hutch init --agent)."""
    hutch("share", "--agent", "second", tree).ok()
    entry = f"(8, {AGENT}, 7), " if how == "listed" else ""
    rows = f"os.mkdir(tree + '/bit'); rows = [(1, -1, 7), (4, -1, 7), {entry}(16, -1, 7), (32, -1, 0)]"
    mode = "0o777" if how == "listed" else f"(os.chown(tree + '/bit', -1, {AGENT}), 0o2777)[1]"
    make = ["/usr/bin/python3", "-c", GIVES.format(rows=rows, mode=mode), tree]
    subprocess.run([*IN_GROUP, *make], check=True)
    subprocess.run(sharer.command(["/bin/sh", "-c", f"echo new > {tree}/bit/new; mkdir {tree}/bit/below"]), check=True)
    agents_own.chmod(0o777)
    os.link(tree / "bit/new", agents_own / "new")
    in_group = [*IN_GROUP, "sh", "-c", 'echo more >> "$0"', agents_own / "new"]
    assert subprocess.run(in_group, check=False).returncode == 0
    if again:
        hutch("share", "--agent", "second", tree).ok()
    hutch("unshare", tree).ok()
    assert subprocess.run(in_group, check=False).returncode != 0
    assert (tree / "bit/below").stat().st_gid != AGENT and (8, AGENT) not in entries(tree / "bit/below", DEFAULT)


def test_a_group_that_was_the_agents_before_stays(hutch, as_user, tree):
    os.chown(tree / "text", as_user.uid, AGENT)
    before = snapshot(tree)
    for _ in range(2):
        hutch("share", tree).ok()
    hutch("unshare", tree).ok()
    assert (tree / "text").stat().st_gid == AGENT and snapshot(tree) == before


@contextlib.contextmanager
def mounted(*words):
    """Or the test is skipped."""
    done = subprocess.run(["mount", "-t", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"mount: {done.stderr}")
    try:
        yield
    finally:
        subprocess.run(["umount", words[-1]], check=True)


def test_a_file_system_with_another_number_is_the_same(hutch, as_user, tree):
    """Such are btrfs and overlayfs: each mount gets a number that is free."""
    tree.chmod(0o711)
    lower, upper, work, place, other = (as_user.mkdir(tree / name, 0o755)
                                        for name in ("lower", "upper", "work", "disk", "other"))
    layers = ("overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}", "none", place)
    shared = place / "shared"
    with mounted(*layers):
        number = place.stat().st_dev
        as_user.mkdir(shared, 0o755)
        as_user.write(shared / "text", "x", 0o600)
        set_entries(shared / "text", [(1, None, 6), (2, BOB, 6), (4, None, 6), (0x10, None, 4), (0x20, None, 0)])
        before = snapshot(shared)
        hutch("share", shared).ok()
    with mounted("tmpfs", "none", other), mounted(*layers):
        if place.stat().st_dev == number:
            pytest.skip("it got the same number again")
        hutch("share", "--read-only", shared).ok()
        hutch("unshare", shared).ok()
        assert snapshot(shared) == before and states(hutch) == []


def test_a_name_that_an_agent_moved_away_is_told_where_there_are_others(hutch, as_user, tree, agents_own):
    outside = as_user.mkdir(tree.parent / "outside", 0o700)
    os.link(tree / "text", outside / "text")
    tree.chmod(0o711)
    hutch("share", tree).ok()
    subprocess.run(as_agent("import os, sys; os.rename(sys.argv[1] + '/text', sys.argv[2] + '/kept')", tree,
                            agents_own), check=True)
    said = hutch("unshare", tree).ok()
    assert "1 files that had other names as well are not in it any more" in said.errors, str(said)
    assert may(AGENT, "read", agents_own / "kept")


def test_the_list_of_a_file_with_several_names_outlives_one_of_two_shares(hutch, as_user, tree):
    for name in ("a", "b"):
        as_user.mkdir(tree / name, 0o755)
    as_user.write(tree / "b/file", "x", 0o600)
    set_entries(tree / "b/file", [(1, None, 7), (2, BOB, 2), (4, None, 4), (0x10, None, 3), (0x20, None, 4)])
    os.link(tree / "b/file", tree / "a/file")
    before = snapshot(tree)
    # Which of the names it is known by is said by the order in the directory.
    for last in ("a", "b"):
        hutch("share", tree).ok()
        hutch("share", "--read-only", tree / last / "file").ok()
        hutch("unshare", tree).ok()
        hutch("unshare", tree / last / "file").ok()
        assert snapshot(tree) == before


def test_while_another_agent_moves_files_it_is_not_over(hutch, tree):
    """They may do it together: what the one is to keep the other moves behind the walk."""
    for name in ("a", "b"):
        (tree / "below" / name).mkdir()
        shutil.chown(tree / "below" / name, tree.stat().st_uid, tree.stat().st_gid)
    (tree / "below/inner").rename(tree / "below/a/text")
    hutch("share", "--traverse", "--agent", "second", tree / "below").ok()
    hutch("share", tree).ok()
    with subprocess.Popen(as_agent(RESTLESS, tree / "below", uid=SECOND), stdout=subprocess.PIPE) as mover:
        assert mover.stdout.readline() == b"ready\n"
        try:
            while (refused := hutch("unshare", tree)).code == 0:
                hutch("share", tree).ok()
        finally:
            mover.kill()
    assert refused.code == 125 and "again and again" in refused.errors, str(refused)
    assert (str(tree), "ending") in states(hutch)
    hutch("unshare", tree).ok()
    assert not any(AGENT in [who for _, who in entries(path)] for path in tree.glob("below/?/text"))


@pytest.mark.skipif(not shutil.which("chattr"), reason="e2fsprogs")
def test_a_file_that_cannot_be_changed_back_keeps_none_of_the_others_open(hutch, tree):
    before = snapshot(tree)
    hutch("share", tree).ok()
    if subprocess.run(["chattr", "+i", tree], capture_output=True, check=False).returncode != 0:
        pytest.skip("a file system without that attribute")
    try:
        refused = hutch("unshare", tree)
        assert refused.code == 125 and str(tree) in refused.errors and states(hutch) == [(str(tree), "ending")]
        assert not entries(tree / "text") and not entries(tree / "below/inner")
    finally:
        subprocess.run(["chattr", "-i", tree], check=True)
    hutch("unshare", tree).ok()
    assert snapshot(tree) == before
