# Debian's chromium as an agent's OS user, with copies of a person's profile: slow, and only where it is installed.
import os
import shutil

import harness
import os_user
import pytest

# It binds no socket. chromium --headless does, to hold its profile, which a sandbox of an OS user may not.
CHROMIUM = shutil.which("chromium-headless-shell")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be several users"),
              pytest.mark.skipif(CHROMIUM is None, reason="chromium-headless-shell is not installed")]

# Says whose the profile was when it was opened, and makes it somebody's.
PAGE = """<!DOCTYPE html><title>page</title><body></body><script>
document.body.textContent = "profile of " + localStorage.getItem("who");
if (location.hash) localStorage.setItem("who", location.hash.slice(1));
</script>"""


def chromium(profile, url):
    return [CHROMIUM, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={profile}", "--timeout=5000", "--dump-dom", url]


def test_two_copies_of_a_profile_at_once(base):
    keeper = os_user.keeper(base)
    hutch = harness.Hutch(base, keeper, keeper.home, "user")
    page = base.path / "page.html"
    page.write_text(PAGE)
    page.chmod(0o644)
    person = base.person("user")
    profile = person.home / "chromium-profile"
    made = harness.run_in(person, chromium(profile, f"file://{page}#person"), timeout=300)
    assert made.code == 0 and "profile of null" in made.text, str(made)
    for name in ("one", "two"):
        hutch("share", "--copy", "--into", f"profiles/{name}", profile, timeout=300).ok()
    started = [hutch.popen(*chromium(keeper.home / "profiles" / name, f"file://{page}#{name}"))
               for name in ("one", "two")]
    for name in ("one", "two"):
        harness.wait_until(lambda name=name: harness.processes_with(f"profiles/{name}"), "both run at once")
    for process in started:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and b"profile of person" in out, (out, err)
    for name in ("one", "two"):
        said = hutch.run(*chromium(keeper.home / "profiles" / name, f"file://{page}"), timeout=300).ok()
        assert f"profile of {name}" in said.text, str(said)
    said = harness.run_in(person, chromium(profile, f"file://{page}"), timeout=300).ok()
    assert "profile of person" in said.text, str(said)
    hutch("unshare", "--yes", profile).ok()
    assert not list((keeper.home / "profiles").iterdir())
