# The home that a policy hides: inside, a private one that tools can write, which goes with the sandbox.
"""What the host has there stays hidden, and nothing that is written there lands on the host."""

import json
import os
import shutil

import caller
import harness
import pytest

# What tools make in a home at their first start.
DIRECTORIES = [
    ".gradle", ".m2/repository", ".local/share/pnpm", ".local/state", ".local/bin", ".config/tool", ".composer",
    ".dotnet", ".nuget/packages", ".gem", ".bundle", ".bun", ".deno", ".rustup", ".yarn", ".ivy2", ".sbt",
    ".pub-cache", ".ipython/profile_default", ".jupyter", ".android", ".gnupg", ".cache/pip", ".npm/_cacache",
    ".cargo/registry", "go/pkg/mod",
]
CACHES = {".cache", ".npm", ".cargo", "go"}
POM = ("<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId>"
       "<version>1</version></project>")


pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["namespace", "bwrap"])
def backend(request):
    return request.param


@pytest.fixture
def home(as_user, project):
    """A home of its own, with files that are nobody else's business."""
    made = as_user.mkdir(project.parent / f"{project.name}-home")
    as_user.write(made / "secret", "words of the host")
    as_user.write(made / ".bashrc", "the host's own\n")
    as_user.write(made / ".ssh" / "id_test", "a key of the host")
    return made


@pytest.fixture
def place(as_user, home):
    """A project in it, below a directory for projects."""
    return as_user.mkdir(home / "src" / "p")


@pytest.fixture
def run(hutch, home, place):
    def call(script, *options, cwd=place, env=None):
        return hutch.run("sh", "-c", script, options=options, cwd=cwd, env={"HOME": str(home), **(env or {})})

    return call


def listing(directory):
    """Each name below it with its content, without following links."""
    found = {}
    for above, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(above, name)
            plain = os.path.isfile(path) and not os.path.islink(path)
            with open(path, "rb") if plain else open(os.devnull, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


@pytest.mark.parametrize("above", ["shown", "hidden"])
def test_tools_make_their_directories(run, home, place, above):
    before = listing(home)
    options = [] if above == "shown" else ["--deny-read", str(home.parent), "--allow-read", str(place)]
    script = "".join(f"mkdir -p ~/{name} && echo words > ~/{name}/file && rm -r ~/{name} || echo ~/{name}; "
                     for name in DIRECTORIES)
    result = run(script + "mkdir ~/kept; touch ~/kept/file", *options).ok()
    assert result.text == "" and "hutch:" not in result.errors, str(result)
    assert listing(home) == before


def test_it_is_empty_and_shows_what_the_policy_shows(run, home):
    names = set(run("ls -A ~").ok().text.split())
    assert names == CACHES | {"src"}
    assert run("ls -A ~/.cache ~/go ~/.npm ~/.cargo | grep -v : ; pwd; stat -c %a ~").ok().text.split() == [
        str(home / "src/p"), "700"]


@pytest.mark.parametrize("way", [
    "{home}/secret", "{home}/.ssh/id_test", "/proc/self/root{home}/secret", "/proc/1/root{home}/secret",
    "/proc/self/cwd/../../secret", "{home}/../{name}/secret", "../../secret",
    "/proc/self/root/proc/self/root{home}/secret",
])
def test_nothing_of_the_hosts_home_shows(run, home, way):
    path = way.format(home=home, name=home.name)
    result = run(f"cat {path}; cat {path}/..; exec 3< {path}; true")
    assert "host" not in result.text, str(result)
    assert b"host" not in run("grep -r host ~ /proc/self/fdinfo 2>/dev/null").out


def test_no_mount_leads_to_the_hosts_home(run, home, place):
    """Of what is mounted in the home only the project comes from the host."""
    lines = [line.split() for line in run("cat /proc/self/mountinfo").ok().text.splitlines()]
    below = {fields[4]: fields[fields.index("-") + 1] for fields in lines if fields[4].startswith(str(home))}
    assert {path for path, kind in below.items() if kind != "tmpfs" or path == str(home)} <= {str(place), str(home)}
    assert below[str(home)] == "tmpfs"


def test_what_is_written_there_does_not_land_on_the_host(run, home):
    before = listing(home)
    names = [".bashrc", ".profile", ".gitconfig", ".config/git/config", ".ssh/authorized_keys", ".local/bin/git",
             ".config/autostart/x.desktop", "secret"]
    script = "; ".join(f"mkdir -p $(dirname ~/{name}) && echo inside > ~/{name} && cat ~/{name}" for name in names)
    assert run(script).ok().text.split() == ["inside"] * len(names)
    assert listing(home) == before


def test_it_is_no_other_sandboxes(hutch, run, home, place):
    with hutch.popen("sh", "-c", "echo mine > ~/mine && echo up && read line && cat ~/mine", cwd=place,
                     env={"HOME": str(home)}) as process:
        harness.wait_until(lambda: process.stdout.readline() == b"up\n", "it has written")
        assert run("ls -A ~; cat ~/mine").text.split().count("mine") == 0
        out, _ = process.communicate(b"\n", timeout=harness.PATIENCE)
        assert out == b"mine\n"
    assert not (home / "mine").exists()


def test_it_has_a_bound_that_explain_tells(run, hutch, home, place, backend):
    options = ["--backend", backend, "--tmp-size", "8M"]
    told = hutch("explain", *options, cwd=place, env={"HOME": str(home)}).ok().text
    assert f"{home} is the sandbox's own: empty at the start, writable, at most 8M, gone at the end" in told
    result = run("head -c 16000000 /dev/zero > ~/big || echo full; stat -c %s ~/big", "--tmp-size", "8M").ok()
    assert result.text.split() == ["full", str(8 << 20)]
    usual = hutch("explain", "--backend", backend, cwd=place, env={"HOME": str(home)}).ok().text
    assert f"{home} is the sandbox's own" in usual and "a half of the memory" not in usual


def test_all_private_directories_together_have_a_half_of_the_memory(hutch, home, place, backend):
    told = hutch("explain", "--json", "--backend", backend, cwd=place, env={"HOME": str(home)}).ok()
    mounts = json.loads(told.out)["plan"]["mounts"]
    sizes = {step["target"]: step["size"] for step in mounts if step["kind"] == "tmpfs"}
    assert sizes[str(home)] > 0 and sizes[str(home)] == sizes["/tmp"]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert sum(sizes[target] for target in (str(home), "/tmp", "/dev/shm")) <= memory // 2


def test_check_tells_it(hutch, home, place, backend):
    def verdict(access, path):
        result = hutch("check", access, str(path), "--backend", backend, "--json", cwd=place, env={"HOME": str(home)})
        return json.loads(result.out)["allowed"]

    assert verdict("write", home / ".m2/repository") and verdict("write", home / "new") and verdict("read", home)
    assert not verdict("read", home / "secret") and not verdict("write", home / "secret")
    assert not verdict("write", home / "src/other") and verdict("write", place / "new")


def test_what_is_shown_in_it_stays_as_it_was(run, home, as_user):
    as_user.write(home / ".config/tool/settings", "shown")
    script = ("cat ~/.config/tool/settings; mkdir ~/.config/other && touch ~/.config/other/f && echo made; "
              "echo x > ~/.config/tool/settings || echo refused; touch ~/.config/tool/new || echo refused")
    assert run(script, "--allow-read", "~/.config/tool").ok().text.split() == ["shownmade", "refused", "refused"]
    assert listing(home / ".config") == {"tool": b"", "tool/settings": b"shown"}


def test_what_may_be_written_in_it_is_the_hosts(run, home, as_user):
    as_user.mkdir(home / ".m2")
    run("echo kept > ~/.m2/file", "--allow-write", "~/.m2").ok()
    assert (home / ".m2/file").read_text() == "kept\n"


def test_beside_a_project_in_a_directory_of_projects_nothing_is_made(run, home):
    """It would be lost: `git worktree add ../x` has to fail."""
    result = run("mkdir ../x || echo refused; mv ~/src ~/other || echo refused; echo here > file")
    assert result.text.split() == ["refused", "refused"] and (home / "src/p/file").exists()
    refused = f'writing {home}/src/x was refused: filesystem.denyRead[3] "~" denies it; --allow-write {home}/src/x'
    assert refused in run("mkdir ../x").errors
    run("git init -q ../x", "--allow-write", "../x").ok()
    assert (home / "src/x/.git").is_dir()


def test_names_are_held_where_directories_above_are_moved(run, home, as_user):
    """Those that are the sandbox's own in the private home."""
    deep = as_user.mkdir(home / ".local/src/p")
    as_user.mkdir(deep / "sub")
    script = ("mv ~/.local ~/moved; mkdir -p ~/.local/src/p; cd ~/moved/src/p && echo x > .mcp.json || echo refused; "
              "echo x > sub/.envrc || echo refused; echo x > plain; mv ~/moved/src ~/again; cd ~/again/p; "
              "mkdir .git && mkdir .git/hooks && echo x > .git/hooks/pre-commit || echo refused")
    result = run(script, cwd=deep)
    assert result.text.split() == ["refused"] * 3, str(result)
    left = listing(deep)
    assert "plain" in left and not {".mcp.json", "sub/.envrc", ".git/hooks/pre-commit"} & set(left)


def test_a_denied_file_of_the_project_stays_denied(run, home, place, as_user):
    as_user.write(place / "closed", "words of the host")
    as_user.write(place / "fixed", "as it was")
    script = "cat closed; echo x > fixed; rm -f closed fixed; mv ../p ../q; rm -rf ~/src ~/.cache; cat closed; true"
    result = run(script, "--deny-read", "closed", "--deny-write", "fixed")
    assert "host" not in result.text
    assert (place / "fixed").read_text() == "as it was" and (place / "closed").read_text() == "words of the host"


def test_nobody_is_asked_about_what_is_new_there(hutch, home, place):
    """A file of the host's that is hidden there is a question as ever."""
    env = {"HOME": str(home)}
    script = "mkdir -p ~/.m2 && echo new > ~/.m2/file && cat ~/.m2/file; cat ~/secret || echo refused"
    with caller.running(hutch, script, cwd=place, env=env) as (outside, process):
        question = outside.line("question")
        assert (question["kind"], question["path"]) == ("read", str(home / "secret"))
        outside.say(type="answer", id=question["id"], choice="session")
        out, err = process.communicate(timeout=harness.PATIENCE)
    assert out.decode() == "new\nwords of the host", err
    assert not (home / ".m2").exists()


@pytest.mark.parametrize("value", ["", "relative", "/nonexistent", "/absent/home", "link", "file", "/"])
def test_a_home_that_is_none(hutch, home, place, as_user, value):
    before = listing(home)
    (home.parent / f"{home.name}-link").symlink_to(home / "secret")
    given = {"link": str(home.parent / f"{home.name}-link"), "file": str(home / "secret")}.get(value, value)
    options = ["--deny-read", str(home)]
    script = f"cat {home}/secret; cat {home}/.ssh/id_test; echo x > {home}/new; echo here > file"
    result = hutch.run("sh", "-c", script, options=options, cwd=place, env={"HOME": given})
    assert "host" not in result.text, str(result)
    assert result.code == 125 or (place / "file").exists(), str(result)
    left = listing(home)
    left.pop("src/p/file", None)
    assert left == before


def test_a_home_by_a_link(hutch, home, place, backend):
    link = home.parent / f"{home.name}-link"
    link.symlink_to(home)
    before = listing(home)
    script = f"cat ~/secret; mkdir -p {home}/.m2/x && echo made"
    result = hutch.run("sh", "-c", script, cwd=place, env={"HOME": str(link)})
    assert result.ok().text == "made\n" and listing(home) == before


def test_the_home_as_the_project(run, home):
    """Then it is the host's own, as somebody insisted."""
    run("echo words > ~/file", "--wide", cwd=home).ok()
    assert (home / "file").read_text() == "words\n"


def test_a_project_above_the_home(run, home, as_user):
    """The home lies in it, and stays hidden."""
    before = listing(home)
    above = as_user.mkdir(home / "inner")
    as_user.write(above / "home" / "secret", "words of the host")
    script = ("cat ~/secret; mkdir -p ~/.m2 && echo made; mv home other || echo held; rmdir home || echo held; "
              "echo x > f")
    result = run(script, "--wide", cwd=above, env={"HOME": str(above / "home")})
    assert result.ok().text.split() == ["made", "held", "held"], str(result)
    left = listing(above)
    assert left == {"f": b"x\n", "home": b"", "home/secret": b"words of the host"}
    shutil.rmtree(above)
    assert listing(home) == before


def test_a_home_on_a_mount_of_its_own(hutch, home, place, as_user):
    """One of the host's lies on the home, and one in it."""
    if not as_user.is_root:
        pytest.skip("root alone mounts")
    script = ('mount -t tmpfs home "$0" && mkdir -p "$0/src/p" "$0/in" && echo host > "$0/secret" && '
              'mount -t tmpfs in "$0/in" && echo host > "$0/in/secret" && cd "$0/src/p" && "$@"; code=$?; '
              'ls -A "$0" >&2; exit $code')
    mount = ["unshare", "-m", "sh", "-c", script, str(home)]
    result = hutch.run("sh", "-c", "cat ~/secret ~/in/secret; mkdir -p ~/in/x ~/.m2 && echo made", wrap=mount,
                       env={"HOME": str(home)})
    assert result.ok().text == "made\n", str(result)
    assert result.errors.split()[-3:] == ["in", "secret", "src"]


# --allow-write of what is absent.


@pytest.mark.parametrize("name", [".m2", ".local/share/pnpm/store", "new.d/"])
def test_a_directory_that_an_option_names_is_made(run, home, as_user, name):
    result = run(f"echo kept > ~/{name}/file", "--allow-write", f"~/{name}").ok()
    made = home / name
    assert f"hutch: made {made}, which --allow-write names" in result.errors
    assert (made / "file").read_text() == "kept\n"
    for path in [made, *made.parents]:
        if path == home:
            break
        assert (path.stat().st_uid, path.stat().st_mode & 0o7777) == (as_user.uid, 0o700)
    assert "made" not in run("true", "--allow-write", f"~/{name}").ok().errors


@pytest.mark.parametrize("name", [".bashrc-of-mine.sh", ".npmrc", ".config/autostart", ".profile", ".zsh_history"])
def test_what_is_no_directory_or_is_obeyed_is_not_made(run, home, name):
    before = listing(home)
    result = run("true", "--allow-write", f"~/{name}").ok()
    assert "absent, so nothing is allowed by it: --allow-write" in result.errors, str(result)
    assert listing(home) == before


def test_it_is_not_made_by_a_link(run, home, as_user):
    as_user.mkdir(home / "there")
    (home / "link").symlink_to(home / "there")
    before = listing(home)
    result = run("true", "--allow-write", "~/link/x")
    assert result.code == 125 and f"name {home}/there/x itself" in result.errors, str(result)
    assert listing(home) == before


def test_it_is_not_made_in_another_users_directory(run, home, as_user):
    if os.geteuid() != 0:
        pytest.skip("root alone makes directories of others")
    other = as_user.mkdir(home / "other")
    other.chmod(0o777)
    os.chown(other, 65533, 65533)
    result = run("true", "--allow-write", "~/other/x")
    assert result.code == 125 and f"{other} belongs to another user" in result.errors, str(result)
    assert os.listdir(other) == []


def test_explain_makes_nothing(hutch, home, place, backend):
    before = listing(home)
    options = ["--backend", backend, "--allow-write", "~/.m2"]
    told = hutch("explain", *options, cwd=place, env={"HOME": str(home)}).ok().text
    assert f"mkdir -p {home}/.m2 first" in told and listing(home) == before


def test_an_entry_of_a_policy_says_what_to_do(run, home, place, as_user):
    policy = as_user.write(place / "policy.json", json.dumps({"filesystem": {
        "denyRead": ["~"], "allowRead": [".", "~/.m2"], "allowWrite": [".", "~/.m2", "~/.m2/below", "~/.npmrc"]}}))
    result = run("mkdir -p ~/.m2/x && echo made", "--policy", str(policy)).ok()
    lines = [line for line in result.errors.splitlines() if "absent" in line]
    assert lines == ['hutch: absent, so nothing is allowed by it: filesystem.allowWrite[1] "~/.m2"; '
                     f"mkdir -p {home}/.m2 first"], str(result)
    assert result.text == "made\n" and not (home / ".m2").exists()


# Programs.


@pytest.mark.skipif(not shutil.which("mvn", path=harness.PATH), reason="Maven is not installed")
def test_maven_starts(run, place, as_user):
    as_user.write(place / "pom.xml", POM)
    # Java asks the user database for the home first.
    result = run("mvn -B -o -q validate", env={"HOME": "/root"} if as_user.is_root else None)
    assert result.code == 0, str(result)


@pytest.mark.skipif(not shutil.which("pnpm", path=harness.PATH), reason="pnpm is not installed")
def test_pnpm_starts(run, place, as_user):
    as_user.write(place / "package.json", '{"name": "a", "version": "1.0.0"}')
    result = run("pnpm install --offline")
    assert result.code == 0, str(result)


@pytest.mark.skipif(not shutil.which("ipython3", path=harness.PATH), reason="IPython is not installed")
def test_ipython_has_its_history(run):
    result = run("ipython3 -c 'print(6 * 7)' && ls -A ~/.ipython")
    assert "42" in result.text and "profile_default" in result.text, str(result)
