# An agent with an image: what it changes of its system stays until it is reset, and lies in a layer of its own.
import json

import daemons
import harness
import pytest
import rootfs


@pytest.fixture(params=rootfs.OWNERS)
def agents(request, base, system):
    """A daemon (daemons.Daemon) with the image "small", whose /srv anybody may write; of root, of a user alone, and of
    one with subordinate ids."""
    person = rootfs.owner(base, request.param)
    made = daemons.Daemon(base, person)
    made.owner = request.param
    made("image", "import", "small", archive(made, system)).ok()
    yield made
    for name in [one["name"] for one in made.json("agent", "list")]:
        made("agent", "remove", name).ok()
    for name in [one["name"] for one in made.json("image", "list")]:
        made("image", "remove", name).ok()
    made.stop()


def archive(agents, system, name="small.tar", release=b"NAME=small\n", passwd=b"root:x:0:0::/root:/bin/sh\n"):
    path = agents.state / name
    path.unlink(missing_ok=True)
    made = rootfs.Rootfs(path, agents.person)
    for directory in ("./bin", "./etc", "./tmp"):
        made.directory(directory)
    made.directory("./srv", mode=0o1777)
    made.file("./bin/sys", system).file("./etc/os-release", release, mode=0o644)
    if passwd is not None:
        made.file("./etc/passwd", passwd, mode=0o644)
    return made.close()


def sys(agents, name, *words):
    return agents.exec(name, "/bin/sys", *words)


def uid(agents):
    return 1000 if agents.person.is_root else agents.person.uid


def layer(agents, name):
    return agents.data / "layers" / name


def test_what_is_changed_stays_over_a_stop_and_goes_with_a_reset(agents):
    name = agents.create("image=small")
    assert agents.json("agent", "show", name)["image"] == "small:latest"
    sys(agents, name, "write", "/srv/note", "kept").ok()
    sys(agents, name, "write", f"/workspace/agents/{name}/own", "home").ok()
    agents("agent", "stop", name).ok()
    assert sys(agents, name, "cat", "/srv/note").ok().text == "kept"
    assert sys(agents, name, "cat", "/etc/os-release").ok().text == "NAME=small\n"
    agents("agent", "reset", name).ok()
    assert not layer(agents, name).exists()
    assert sys(agents, name, "cat", "/srv/note").text == "No such file or directory\n"
    assert sys(agents, name, "cat", f"/workspace/agents/{name}/own").ok().text == "home"


def test_the_image_and_another_agent_do_not_see_it(agents):
    first, second = agents.create("image=small"), agents.create("image=small")
    sys(agents, first, "write", "/srv/note", "x").ok()
    assert sys(agents, second, "cat", "/srv/note").text == "No such file or directory\n"
    assert not (agents.data / "images/small:latest/root/srv/note").exists()


def test_what_was_removed_of_the_image_stays_removed(agents):
    if agents.owner != "user":
        pytest.skip("the system is not the command's own")
    name = agents.create("image=small")
    sys(agents, name, "remove", "/etc/os-release").ok()
    agents("agent", "stop", name).ok()
    assert sys(agents, name, "cat", "/etc/os-release").text == "No such file or directory\n"
    agents("agent", "reset", name).ok()
    assert sys(agents, name, "cat", "/etc/os-release").ok().text == "NAME=small\n"


def test_the_user_has_the_agents_name(agents):
    name = agents.create("image=small")
    for _ in range(2):  # the second start finds the line
        number = uid(agents)
        lines = sys(agents, name, "cat", "/etc/passwd").ok().text.splitlines()
        assert lines == [f"agent-{name}:x:{number}:{number}::/workspace/agents/{name}:/bin/sh",
                         "root:x:0:0::/root:/bin/sh"]
        assert sys(agents, name, "cat", "/etc/group").ok().text == f"agent-{name}:x:{number}:\n"
        agents("agent", "stop", name).ok()
    owner = number if agents.owner == "user" else 0
    assert sys(agents, name, "stat", "/etc/passwd").ok().text == f"100644 {owner}:{owner}\n"
    assert sys(agents, name, "stat", "/etc/group").ok().text == f"100644 {owner}:{owner}\n"
    assert sys(agents, name, "id").ok().text == f"{number}:{number}\n"


def test_a_link_in_the_place_of_the_users_leads_nowhere(agents, system):
    target = agents.person.write(agents.state / "victim", "outside\n")
    path = archive(agents, system, "linked.tar", passwd=None)
    made = rootfs.Rootfs(path, agents.person, "a")
    made.link("./etc/passwd", str(target)).close()
    agents("image", "import", "linked", path).ok()
    name = agents.create("image=linked")
    sys(agents, name, "id").ok()
    assert target.read_text() == "outside\n"


def test_remove_deletes_the_layer_whoever_its_files_belong_to(agents):
    name = agents.create("image=small")
    sys(agents, name, "write", "/srv/note", "x").ok()
    # Overlay's own directory is nobody's to look into (mode 000).
    assert (layer(agents, name) / "kept/work").exists()
    assert str(layer(agents, name)) in agents("agent", "remove", name).ok().text
    assert not layer(agents, name).exists()
    assert [one for one in (agents.data / "layers").iterdir()] == []


def test_a_layer_does_not_come_under_another_image(agents, system):
    name = agents.create("image=small")
    sys(agents, name, "write", "/srv/note", "x").ok()
    agents("agent", "stop", name).ok()
    agents("image", "remove", "--force", "small").ok()
    refused = sys(agents, name, "id")
    assert refused.code == 125 and "there is no image small:latest" in refused.errors
    agents("image", "import", "small", archive(agents, system, release=b"NAME=other\n")).ok()
    refused = sys(agents, name, "id")
    assert refused.code == 125 and f"hutch agent reset {name}" in refused.errors, str(refused)
    agents("agent", "reset", name).ok()
    assert sys(agents, name, "cat", "/etc/os-release").ok().text == "NAME=other\n"


def test_the_same_archive_again_is_the_same_image(agents, system):
    name = agents.create("image=small")
    sys(agents, name, "write", "/srv/note", "kept").ok()
    agents("agent", "stop", name).ok()
    agents("image", "remove", "--force", "small").ok()
    agents("image", "import", "small", agents.state / "small.tar").ok()
    assert sys(agents, name, "cat", "/srv/note").ok().text == "kept"


def test_an_image_in_use_is_not_removed(agents):
    name = agents.create("image=small")
    refused = agents("image", "remove", "small")
    assert refused.code != 0 and name in refused.errors and "--force" in refused.errors
    assert sys(agents, name, "id").ok()
    agents("agent", "set", name, "image=").ok()
    agents("image", "remove", "small").ok()


def test_set_takes_an_image_at_the_next_start(agents):
    name = agents.create()
    agents.exec(name, "/bin/true").ok()
    agents("agent", "set", name, "image=small").ok()
    agents("agent", "stop", name).ok()
    assert sys(agents, name, "cat", "/etc/os-release").ok().text == "NAME=small\n"
    agents("agent", "set", name, "image=").ok()
    agents("agent", "stop", name).ok()
    assert agents.exec(name, "/bin/true").ok()


@pytest.mark.parametrize("setting, says", [("image=none", "there is no image none:latest"), ("image=../x", "no name"),
                                           ("image=small backend=bwrap", "backend=namespace")])
def test_what_cannot_be_is_said_at_once(agents, setting, says):
    refused = agents("agent", "create", "bad", *setting.split())
    assert refused.code != 0 and says in refused.errors, str(refused)
    assert "bad" not in [one["name"] for one in agents.json("agent", "list")]


def test_tools_work_on_it(agents):
    name = agents.create("image=small", "autonomousExec.enabled=true")
    assert agents.tool(name, "sandbox_write_file", path="note", content="hello")["ok"]
    assert "hello" in json.dumps(agents.tool(name, "sandbox_read_file", path="note"))
    # No shell is in it: the command is not found, and no command of the host's is there in its place.
    answer = agents.tool(name, "sandbox_exec", command="true")
    assert answer.get("exit_code", answer.get("result", {}).get("exit_code")) in (126, 127), answer


def test_a_killed_daemon_leaves_a_layer_that_starts_again(agents):
    name = agents.create("image=small")
    sys(agents, name, "write", "/srv/note", "kept").ok()
    agents.kill()
    assert sys(agents, name, "cat", "/srv/note").ok().text == "kept"


def test_what_a_removal_left_behind_is_removed(agents):
    name = agents.create("image=small")
    sys(agents, name, "write", "/srv/note", "x").ok()
    agents("agent", "stop", name).ok()
    layer(agents, name).rename(agents.data / "layers" / f".{name}.gone")
    sys(agents, name, "write", "/srv/other", "x").ok()
    agents("agent", "reset", name).ok()
    assert [one for one in (agents.data / "layers").iterdir()] == []


def test_a_layer_whose_manifest_is_damaged_is_an_error(agents):
    name = agents.create("image=small")
    sys(agents, name, "id").ok()
    agents("agent", "stop", name).ok()
    manifest = layer(agents, name) / "image.json"
    whole = manifest.read_text()
    for text in ("", "[]", whole[:40], whole.replace('"many"', '"all"').replace('"one"', '"all"')):
        manifest.write_text(text)
        assert sys(agents, name, "id").code == 125
    manifest.write_text(whole)
    sys(agents, name, "id").ok()


def test_root_of_the_host_owns_nothing_of_it(agents):
    if agents.owner != "root":
        pytest.skip("for root of the host")
    name = agents.create("image=small")
    sys(agents, name, "write", "/srv/note", "x").ok()
    status = (layer(agents, name) / "kept/files/etc/passwd").stat()
    assert status.st_uid not in (0, 1000)
    assert harness.run_in(agents.person, ["/bin/ls", layer(agents, name) / "kept/files/srv"]).ok().text == "note\n"
