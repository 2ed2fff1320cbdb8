# What commands of an agent leave in its repositories for the user's own git.
"""hutch looks when a command has ended, before anybody hears of its end. Each case runs on "none" too, where it
stays."""

import itertools

import harness
import pytest

NUMBERS = itertools.count(1)
STEPS = ".git/rebase-merge/git-rebase-todo"
REBASE = f"mkdir -p .git/rebase-merge; echo 'exec ./evil' > {STEPS}"
INDEX_THAT_LEADS_OUT = (
    "cp .git/index .git/old; oid=$(echo evil | git hash-object -w --stdin); "
    "printf '100644 %s\\taaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n' $oid | GIT_INDEX_FILE=.git/new git update-index "
    "--index-info; python3 - <<'END'\n"
    "import hashlib\n"
    "text = open('.git/new', 'rb').read()[:-20].replace(b'a' * 28, b'../' + b'a' * 25)\n"
    "open('.git/index', 'wb').write(text + hashlib.sha1(text).digest())\n"
    "END")
PLACES = {
    "a prepared rebase": (REBASE, STEPS),
    "a link where git writes": ("ln -sf ../victim .git/COMMIT_EDITMSG || true", ".git/COMMIT_EDITMSG"),
    "an index that leads out": (INDEX_THAT_LEADS_OUT, ".git/index"),
    "in a repository that it makes": (f"git init -q new; cd new; {REBASE}", f"new/{STEPS}"),
}


# Its own home is the agent's alone; in a directory of the user's a supervisor makes each change.
WHERE = [("none", "home"), ("bwrap", "home"), ("bwrap", "given"), ("namespace", "home"), ("namespace", "given")]


@pytest.fixture(params=WHERE, ids=lambda where: "-".join(where))
def repository(daemon, request):
    """An agent, and the directory of its repository: the user has committed there."""
    backend, place = request.param
    given = daemon.person.mkdir(daemon.state / f"given-{next(NUMBERS)}") if place == "given" else None
    name = daemon.create(f"backend={backend}", "autonomousExec.enabled=true", *([f"dir={given}"] if given else []))
    directory = given or daemon.data / "workspace/agents" / name
    daemon.sh(name, "true").ok()
    outside(daemon, directory, "git init -q -b main; git config user.name A; git config user.email a@b.example; "
                               "git commit -q --allow-empty -m first")
    # It holds from the next start on: the repository was not there before.
    daemon("agent", "stop", name).ok()
    yield name, directory, backend
    daemon("agent", "remove", name).ok()


def outside(daemon, directory, script):
    return harness.run_in(daemon.person, ["/bin/sh", "-ec", script], cwd=directory).ok().text


def quarantined(daemon):
    place = daemon.data / "quarantine"
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


def is_there(path):
    return path.is_symlink() or path.exists()


@pytest.mark.parametrize("place", PLACES)
def test_it_is_gone_when_the_command_has_ended(daemon, repository, place):
    name, directory, backend = repository
    script, path = PLACES[place]
    before = (directory / path).read_bytes() if (directory / path).exists() else None
    daemon.sh(name, script).ok()
    now = directory / path
    stays = is_there(now) and (now.is_symlink() or now.read_bytes() != before)
    assert stays == (backend == "none"), quarantined(daemon)


def test_what_is_written_after_its_end_is_found_by_the_next(daemon, repository):
    name, directory, backend = repository
    script = f"rm -f go; (while [ ! -e go ]; do sleep 0.05; done; {REBASE}; touch done; sleep 300) >/dev/null 2>&1 &"
    daemon.sh(name, script).ok()
    outside(daemon, directory, "touch go; i=0; while [ ! -e done ]; do sleep 0.1; i=$((i+1)); [ $i -lt 300 ]; done")
    daemon.sh(name, "true").ok()
    assert is_there(directory / STEPS) == (backend == "none")


def test_what_is_written_at_last_is_found_by_the_stop(daemon, repository):
    name, directory, backend = repository
    daemon.sh(name, f"(while [ ! -e go ]; do sleep 0.05; done; {REBASE}; touch done; sleep 300) >/dev/null 2>&1 &").ok()
    outside(daemon, directory, "touch go; i=0; while [ ! -e done ]; do sleep 0.1; i=$((i+1)); [ $i -lt 300 ]; done")
    daemon("agent", "stop", name).ok()
    assert is_there(directory / STEPS) == (backend == "none")


def test_a_process_that_takes_hutchs_name_is_something_that_runs(daemon, repository):
    name, directory, backend = repository
    program = ("import ctypes, os, pathlib, time\n"
               "if os.fork(): os._exit(0)\n"
               "os.setsid(); [os.close(fd) for fd in range(3)]\n"
               "ctypes.CDLL(None).prctl(15, b'hutch-guest', 0, 0, 0)\n"
               "while not os.path.exists('go'): time.sleep(0.05)\n"
               "os.makedirs('.git/rebase-merge', exist_ok=True)\n"
               f"pathlib.Path('{STEPS}').write_text('exec ./evil\\n')\n"
               "pathlib.Path('done').touch()\n")
    daemon.exec(name, "python3", "-c", program).ok()
    outside(daemon, directory, "touch go; i=0; while [ ! -e done ]; do sleep 0.1; i=$((i+1)); [ $i -lt 300 ]; done")
    daemon.sh(name, "true").ok()
    assert is_there(directory / STEPS) == (backend == "none")


def test_a_tool_writes_none_either(daemon, repository):
    name, directory, backend = repository
    daemon.tool(name, "sandbox_write_file", path=STEPS, content="exec ./evil\n")
    assert is_there(directory / STEPS) == (backend == "none")


def test_the_users_own_rebase_stays(daemon, repository):
    name, directory, _ = repository
    before = quarantined(daemon)
    daemon.sh(name, "touch a").ok()
    outside(daemon, directory, REBASE)
    daemon.sh(name, "touch b").ok()
    daemon("agent", "stop", name).ok()
    assert is_there(directory / STEPS) and quarantined(daemon) == before


def test_it_is_told(daemon, repository):
    name, directory, backend = repository
    daemon.sh(name, REBASE).ok()
    if backend == "none":
        return
    said = daemon("log", "--json", "-n", "100").ok().text
    assert f"{STEPS}, which the command wrote, names a program that git would run" in said


def test_what_a_background_command_left_ends_and_the_users_rebase_stays(daemon, repository):
    name, directory, _ = repository
    before = quarantined(daemon)
    assert daemon.tool(name, "sandbox_read_file", path="absent")["ok"] is False
    daemon.sh(name, "(sleep 0.2) >/dev/null 2>&1 &").ok()
    # It is looked for once a second.
    outside(daemon, directory, f"sleep 3; {REBASE}")
    daemon.sh(name, "true").ok()
    assert is_there(directory / STEPS) and quarantined(daemon) == before


def test_a_files_tool_beside_a_background_command_is_none_of_its_processes(daemon, repository):
    """The agent's first file server starts beside a process that a command left, and stays."""
    name, directory, _ = repository
    before = quarantined(daemon)
    daemon.sh(name, "(while [ ! -e go ]; do sleep 0.05; done) >/dev/null 2>&1 &").ok()
    assert daemon.tool(name, "sandbox_write_file", path="a", content="b")["ok"]
    # It is looked for once a second.
    outside(daemon, directory, f"touch go; sleep 3; {REBASE}")
    daemon.sh(name, "true").ok()
    assert is_there(directory / STEPS) and quarantined(daemon) == before


def test_the_users_rebase_stays_after_a_files_tool(daemon, repository):
    name, directory, _ = repository
    before = quarantined(daemon)
    daemon.sh(name, "true").ok()
    daemon.tool(name, "sandbox_write_file", path="a", content="b")
    outside(daemon, directory, REBASE)
    daemon.sh(name, "true").ok()
    assert is_there(directory / STEPS) and quarantined(daemon) == before


LINKS = "mkdir -p {victim}/bin {victim}/other/.git/rebase-merge; ln -s /etc/hostname {victim}/bin/tool; " \
        "echo 'exec ./mine' > {victim}/other/.git/rebase-merge/git-rebase-todo"


def test_what_a_link_leads_to_is_the_users(daemon, repository):
    """A repository that the sandbox made becomes a link to a directory outside."""
    name, directory, _ = repository
    victim = directory.parent / f"{name}-victim"
    outside(daemon, directory, LINKS.format(victim=victim))
    daemon.sh(name, "git init -q --bare p/bin; git init -q r").ok()
    daemon.sh(name, f"mv p p_old; ln -s {victim} p; mv r r_old; ln -s {victim}/other r").ok()
    daemon("agent", "stop", name).ok()
    assert (victim / "bin/tool").is_symlink()
    assert (victim / "other" / STEPS).read_text() == "exec ./mine\n"


RACE = """
import os, time
for i in range(2000): os.symlink('x', 'p/hooks/l%d' % i)
if os.fork(): os._exit(0)
os.setsid(); [os.close(fd) for fd in range(3)]
until = time.time() + 20
while os.path.lexists('p/hooks/l0') and time.time() < until: pass
os.rename('p/zz', 'p/old'); os.symlink(VICTIM, 'p/zz')
open('done', 'w').close()
time.sleep(60)
"""


def test_a_directory_that_becomes_a_link_during_the_look(daemon, repository):
    name, directory, backend = repository
    victim = directory.parent / f"{name}-victim"
    outside(daemon, directory, f"mkdir -p {victim}/.ssh; echo mine > {victim}/.ssh/id_test")
    daemon.sh(name, "git init -q --bare p; rm -rf p/hooks; mkdir -p p/hooks p/zz/.ssh; ln -s x p/zz/.ssh/id_test; "
                    f"exec python3 -c \"{RACE.replace('VICTIM', repr(str(victim)))}\"", timeout=120)
    daemon.sh(name, "true", timeout=120).ok()
    daemon("agent", "stop", name).ok()
    assert (victim / ".ssh/id_test").read_text() == "mine\n"


def test_a_directory_that_cannot_be_listed_is_told(daemon, repository):
    name, directory, backend = repository
    if daemon.person.is_root or backend == "none":
        return  # root lists every directory; without isolation nobody looks
    daemon.sh(name, f"mkdir p; git init -q p/n; cd p/n; {REBASE}; cd ../..; chmod 0311 p").ok()
    said = daemon("log", "--json", "-n", "100").ok().text
    outside(daemon, directory, "chmod 0755 p")
    assert f"hutch cannot look below {directory}/p" in said


def test_a_directory_that_completes_a_repository(daemon, repository):
    name, directory, backend = repository
    daemon.sh(name, f"mkdir x; cd x; cp ../.git/HEAD .; mkdir refs rebase-merge; echo 'exec ./evil' > {STEPS[5:]}").ok()
    daemon.tool(name, "sandbox_write_file", path="x/objects/a", content="")
    assert is_there(directory / "x" / STEPS[5:]) == (backend == "none")
