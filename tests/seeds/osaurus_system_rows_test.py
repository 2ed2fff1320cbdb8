# Osaurus: the defects B1, B3 and B6, of agents that have a machine or a system of their own.
"""As somebody who logged in in the usual way: with supplementary groups."""

import dataclasses
import os
import shutil

import pytest

import daemons
import machines
import packages
import recipes

GROUPS = "24,46,100"
IMAGE = "hutch-sandbox:latest"


@pytest.fixture(scope="module")
def groups():
    """What a login gives: a user of the machine's alone has none to give."""
    return GROUPS if os.geteuid() == 0 else ""


@pytest.fixture(scope="module")
def home(base, groups):
    """A daemon for agents that have a machine, or none yet."""
    made = daemons.Daemon(base, dataclasses.replace(base.person("user"), groups=groups))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def machine_daemon(base, groups):
    if not shutil.which("qemu-system-x86_64") or not shutil.which("tar2sqfs"):
        pytest.skip("virtual machines take qemu-system-x86 and squashfs-tools-ng")
    made = daemons.Daemon(base, dataclasses.replace(base.person("user"), groups=groups))
    archive = machines.busybox_archive(base.unused("machine-root.tar"))
    made("vm", "provision", "--root", archive, timeout=300).ok()
    yield made
    made.stop()


def test_row_b1_an_agent_with_a_machine_starts_for_who_logged_in(machine_daemon):
    """Also its directories, which virtiofsd gives it."""
    name = machine_daemon.create("backend=vm")
    machine_daemon.sh(name, "echo home > note; echo out > /output/note", timeout=180).ok()
    assert (machine_daemon.data / "workspace/agents" / name / "note").read_text() == "home\n"
    assert (machine_daemon.data / "output" / name / "note").read_text() == "out\n"
    machine_daemon("agent", "remove", name).ok()


def test_row_b3_a_reset_puts_the_packages_of_plugins_back(home):
    if not packages.are_there():
        pytest.skip("no apt and dpkg to make a system of")
    hello = packages.Package("hutch-hello", [("usr/bin/hutch-hello", b"#!/bin/sh\necho hello\n", 0o755)])
    system = packages.archive(home.state / "system.tar", home.person, [hello])
    home("image", "import", IMAGE, system).ok()
    name = home.create(f"image={IMAGE}")
    recipe = recipes.Files(home)("Greeter", dependencies=["hutch-hello"], tools=[recipes.tool("greet", "hutch-hello")])
    home("plugin", "install", recipe, "--agent", name).ok()
    home("agent", "reset", name).ok()
    assert home.tool(name, "greeter_greet")["result"]["stdout"] == "hello\n"
    [plugin] = home.json("plugin", "list", "--agent", name)
    assert plugin["state"] == "ready"
    home("agent", "remove", name).ok()
    home("image", "remove", IMAGE).ok()


def test_row_b6_a_machine_that_does_not_start_is_not_one_without_a_package_manager(home):
    name = home.create("backend=vm", "autonomousExec.enabled=true")
    refused = home.tool(name, "sandbox_install", packages=["tree"])
    assert not refused["ok"] and "package managers" not in refused["message"], refused
    assert "hutch vm provision" in refused["message"], refused
    recipe = recipes.Files(home)("Needy", dependencies=["tree"], tools=[recipes.tool("show", "tree")])
    failed = home("plugin", "install", recipe, "--agent", name)
    assert failed.code == 125 and "package managers" not in failed.errors, str(failed)
    assert "hutch vm provision" in failed.errors, str(failed)
    home("agent", "remove", name).ok()
