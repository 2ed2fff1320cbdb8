# The attacks that hutch ships run as whoever types `hutch selftest --attacks`, root too: others may not use them.
import os
import pathlib
import sys
import threading
import types

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent / "suite")]
import arena as arenas  # noqa: E402
from rig import Rig  # noqa: E402


class Watched(Rig):
    """Somebody else is faster: whatever directory everybody may write to has a link by the attacks' name at once."""

    def __init__(self, directory, victim):
        here = directory / "attacks/escape"
        here.mkdir(parents=True)
        (directory / "attacks/attempts").write_text("#!/bin/true\n")
        super().__init__(directory / "hutch", "user", here, directory)
        self.victim = victim

    def place_of_os_user(self, arena):
        own = super().place_of_os_user(arena)
        assert own.stat().st_mode & 0o777 == 0o777
        (own / "attack").symlink_to(self.victim)
        return own

    def hutch(self, person, cwd):
        return types.SimpleNamespace(run=lambda program, *_, **__: (program, cwd))


@pytest.fixture
def victim(tmp_path):
    made = tmp_path / "victim"
    made.write_text("as it was")
    made.chmod(0o600)
    return made


def test_nothing_is_written_where_everybody_writes(tmp_path, victim):
    rig = Watched(tmp_path, victim)
    with rig.arena() as arena:
        program, cwd = rig.attack(arena, "whiteout", "any", {})
        assert pathlib.Path(program).read_text() == "#!/bin/true\n" and os.access(program, os.X_OK)
        assert (cwd / "attack").is_symlink()
        for above in pathlib.Path(program).parents:
            if above == tmp_path:
                break
            assert above.stat().st_mode & 0o022 == 0, above
    assert victim.read_text() == "as it was" and victim.stat().st_mode & 0o777 == 0o600


def test_an_attempt_that_leaves_a_link_for_the_next_one(tmp_path, victim):
    rig = Watched(tmp_path, victim)
    rig.backend = "namespace"
    with rig.arena() as arena:
        (arena.project / "attack").symlink_to(victim)
        program, _ = rig.attack(arena, "whiteout", "any", {})
        assert pathlib.Path(program).read_text() == "#!/bin/true\n"
    assert victim.read_text() == "as it was" and victim.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["a link", "a link to nothing", "a file"])
def test_what_is_there_already_is_not_written(tmp_path, victim, kind, base):
    place = tmp_path / "known-name"
    if kind == "a file":
        place.write_text("somebody's")
    else:
        place.symlink_to(victim if kind == "a link" else tmp_path / "absent")
    with pytest.raises(FileExistsError):
        arenas.write_new(base.person("root" if os.geteuid() == 0 else "user"), place, "secret")
    assert victim.read_text() == "as it was" and not (tmp_path / "absent").exists()


def test_a_directory_that_becomes_a_link_is_not_opened_to_everybody(tmp_path):
    """What is taken away at the end is walked through; meanwhile an attempt puts links where directories were."""
    top, secret = tmp_path / "top", tmp_path / "secret"
    secret.mkdir(mode=0o700)
    ended = threading.Event()

    def swap():
        while not ended.is_set():
            (top / "d").rmdir()
            (top / "d").symlink_to(secret)
            (top / "d").unlink()
            (top / "d").mkdir()

    (top / "d").mkdir(parents=True)
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(3000):
            arenas.make_removable(top)
    finally:
        ended.set()
        thread.join()
    assert secret.stat().st_mode & 0o777 == 0o700
    (top / "closed/under").mkdir(parents=True)
    (top / "closed").chmod(0)
    arenas.remove_tree(top)
    assert not top.exists()
