# ./dev release, in a small repository of its own.
import subprocess
import sys

import pytest

import sources

sys.path.insert(0, str(sources.ROOT / "tools"))
import shell  # noqa: E402
from verbs import release  # noqa: E402


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(shell, "ROOT", str(tmp_path))
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "A")
        monkeypatch.setenv(f"{name}_EMAIL", "a@b.example")
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(hutch VERSION 0.1.0)\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\nAll of them.\n")
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/README.md").write_text("Notes.\n")
    for name in release.PACKAGES:
        (tmp_path / "clients" / name).mkdir(parents=True)
        (tmp_path / "clients" / name / "package.json").write_text('{\n  "version": "0.1.0"\n}\n')
    note(tmp_path, "a.fixed.md", "A fault\nis mended.")
    note(tmp_path, "b.added.md", "A verb.")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(project, *words):
    return subprocess.run(["git", "-C", project, *words], check=True, capture_output=True, text=True).stdout


def commit(project):
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "x")


def note(project, name, text):
    (project / "changes" / name).write_text(text)


def test_a_release_moves_the_notes_and_sets_the_version(project):
    assert release.run(["0.2.0"]) == 0
    changes = (project / "CHANGELOG.md").read_text()
    assert "## [0.2.0] - 20" in changes and "### Added\n\n- A verb.\n\n### Fixed\n\n- A fault is mended.\n" in changes
    assert "VERSION 0.2.0)" in (project / "CMakeLists.txt").read_text()
    assert all('"0.2.0"' in (project / "clients" / one / "package.json").read_text() for one in release.PACKAGES)
    assert [one.name for one in (project / "changes").iterdir()] == ["README.md"]
    assert git(project, "status", "--porcelain") == "" and git(project, "tag").split() == ["v0.2.0"]
    note(project, "c.security.md", "A hole.")
    commit(project)
    release.run(["1.0.0"])
    changes = (project / "CHANGELOG.md").read_text()
    assert changes.startswith("# Changes\n\nAll of them.\n\n## [1.0.0]") and "## [0.2.0]" in changes


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "1", "v1.0.0", "1.0.0-rc1", "01.0.0", ""])
def test_other_versions_are_refused(project, version):
    with pytest.raises(shell.Failed):
        release.run([version])
    assert git(project, "tag") == "" and "VERSION 0.1.0" in (project / "CMakeLists.txt").read_text()


@pytest.mark.parametrize("name, text",
                         [("x.md", "a"), ("x.better.md", "a"), ("x.fixed.txt", "a"), ("x.fixed.md", " \n")])
def test_other_notes_are_refused(project, name, text):
    note(project, name, text)
    with pytest.raises(shell.Failed, match="changes/x"):
        release.run(["--show"])


def test_without_notes_or_with_changes_nothing_is_released(project):
    (project / "more").write_text("")
    with pytest.raises(shell.Failed, match="not committed"):
        release.run(["0.2.0"])
    (project / "more").unlink()
    for one in ("a.fixed.md", "b.added.md"):
        (project / "changes" / one).unlink()
    commit(project)
    with pytest.raises(shell.Failed, match="nothing to release"):
        release.run(["0.2.0"])


def test_the_projects_own_notes_are_in_order(capsys):
    release.run(["--show"])
    assert capsys.readouterr().out.startswith("## Unreleased")
