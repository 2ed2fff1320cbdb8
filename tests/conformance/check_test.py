# What `hutch check` says of a path is what the kernel then does, on the same table of paths, for both backends; and
# what it says of hosts.
import json
import os
import time

import pytest

PROBE = r"""
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* For each argument: may it be read, may it be written. Nothing is left behind. */
static int reads(const char *path) {
  struct stat info;
  if (stat(path, &info)) return 0;
  int fd = open(path, S_ISDIR(info.st_mode) ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd >= 0) close(fd);
  return fd >= 0;
}
static int writes(const char *path) {
  struct stat info;
  char made[4200];
  int absent = stat(path, &info) != 0;
  int directory = !absent && S_ISDIR(info.st_mode);
  snprintf(made, sizeof made, "%s%s", path, directory ? "/hutch-check-probe" : "");
  int fd = open(made, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | (absent || directory ? O_CREAT : 0), 0644);
  if (fd < 0) return 0;
  close(fd);
  if (absent || directory) unlink(made);
  return 1;
}
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) printf("%d %d\n", reads(argv[i]), writes(argv[i]));
  return 0;
}
"""

PROJECT = [
    "src/main.c",
    "secrets/key.pem",
    "secrets/deep/key.pem",
    "locked/file",
    "locked/open/file",
    "deep/a/b/file",
    "notes.txt",
    ".git/config",
    ".git/hooks/pre-commit",
    ".bashrc",
    ".mcp.json",
    "with space/file",
    "bracket[1]/file",
    "unic\u00f6de/file",
]
HOME = [".ssh/id_ed25519", ".bashrc", "other/file", "allowed/file", "allowed/denied/file", ".config/tool/settings"]
SYSTEM = [
    "/",
    "/etc",
    "/etc/passwd",
    "/usr",
    "/usr/bin/env",
    "/bin/sh",
    "/var",
    "/var/lib",
    "/tmp",
    "/tmp/new",
    "/run",
    "/home",
    "/root",
    "/dev",
    "/dev/null",
    "/dev/zero",
    "/dev/tty-none",
    "/dev/shm",
    "/dev/shm/new",
    "/dev/sda",
    "/proc/version",
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/core_pattern",
    "/sys",
    "/sys/kernel",
    "/sys/devices/system/cpu",
    "/opt",
    "/new-at-the-top",
    "/etc/new",
]

OPTIONS = {
    "the default": [],
    "more readable": ["--allow-read", "~/allowed", "--deny-read", "~/allowed/denied"],
    "more writable": ["--allow-write", "~/allowed", "--deny-write", "~/allowed/denied"],
    "hidden in the project": ["--deny-read", "secrets", "--deny-read", "notes.txt"],
    "protected in the project": ["--deny-write", "locked", "--deny-write", "deep/a/b", "--deny-write", "with space"],
    "patterns": ["--deny-read", "**/*.pem", "--deny-write", "src/*.c"],
    "a read-only project": ["--deny-write", "."],
    "a nested grant": ["--deny-read", "secrets", "--allow-read", "secrets/deep"],
    "system paths": ["--deny-read", "/var", "--deny-read", "/opt", "--allow-write", "/srv"],
    "the whole home": ["--allow-read", "~"],
}


@pytest.fixture
def place(as_user, project):
    for name in PROJECT:
        as_user.write(project / name, "content\n")
    for name in HOME:
        if not (as_user.home / name).exists():
            as_user.write(as_user.home / name, "content\n")
    (project / "link").symlink_to("src")
    (project / "link-out").symlink_to(as_user.home / ".ssh")
    return project


def paths_of(place, as_user):
    inside = [
        place,
        *(place / name for name in PROJECT),
        place / "new",
        place / "src/new",
        place / "secrets",
        place / "secrets/new",
        place / "locked",
        place / "locked/new",
        place / "deep",
        place / "deep/a",
        place / ".git",
        place / ".git/hooks",
        place / "link/main.c",
        place / "link-out/id_ed25519",
        place / "src/../notes.txt",
    ]
    home = [
        as_user.home,
        *(as_user.home / name for name in HOME),
        as_user.home / ".ssh",
        as_user.home / "new",
        as_user.home / "allowed",
    ]
    return [str(path) for path in inside + home] + [f"{place}/src/../secrets/key.pem", *SYSTEM]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_check_agrees_with_the_kernel(hutch, compile_c, place, as_user, backend, options):
    paths = paths_of(place, as_user)
    began = time.time()
    probe = compile_c(PROBE)
    seen = hutch.run(probe, *paths, options=options).ok().out.decode().splitlines()
    assert len(seen) == len(paths)
    wrong = []
    for path, line in zip(paths, seen):
        for access, value in zip(("read", "write"), line.split()):
            if access == "read" and not os.path.exists(path):
                continue  # the rule may well allow what is not there
            said = hutch("check", access, "--json", "--backend", backend, *options, path)
            assert said.code in (0, 1), str(said)
            told = json.loads(said.out)
            # The name is free in the private home; `check` is about the host's file, which stays as it is.
            if access == "write" and "the home inside is the sandbox's own" in told["why"]:
                assert said.code == 1 and os.stat(path).st_mtime < began, path
                continue
            if (said.code == 0) != (value == "1"):
                wrong.append(
                    f"{access} {path}: check says {said.code == 0}, the kernel {value == '1'}; {told['rule']}"
                )
    assert not wrong, "\n".join(wrong)


NETWORK = """{"network": {
  "allowedDomains": ["*.example.com", "localhost:8080", "10.0.0.0/8:443", "b\u00fccher.example"],
  "deniedDomains": ["bad.example.com", "*:25"],
  "deniedDomainReasons": {"bad.example.com": "no pastes"},
  "rules": [{"host": "api.example.org", "methods": ["GET"]}],
  "hostPorts": [5432]%s}}"""

# (host, verdict, what the rule is)
HOSTS = [
    ("a.example.com", "allowed", 'network.allowedDomains "*.example.com"'),
    ("A.B.EXAMPLE.com.:80", "allowed", 'network.allowedDomains "*.example.com"'),
    ("example.com", "ask", "default"),
    ("bad.example.com", "denied", 'network.deniedDomains "bad.example.com"'),
    ("a.example.com:25", "denied", 'network.deniedDomains "*:25"'),
    ("b\u00dcCHER.example", "allowed", 'network.allowedDomains "b\u00fccher.example"'),
    ("xn--bcher-kva.example", "allowed", 'network.allowedDomains "b\u00fccher.example"'),
    ("api.example.org", "allowed", 'network.rules "api.example.org"'),
    ("other.example.org", "ask", "default"),
    ("localhost:8080", "allowed", 'network.allowedDomains "localhost:8080"'),
    ("localhost:5432", "allowed", "network.hostPorts 5432"),
    ("127.0.0.1:5432", "allowed", "network.hostPorts 5432"),
    ("127.0.0.1:8080", "ask", "default"),
    ("10.1.2.3", "allowed", 'network.allowedDomains "10.0.0.0/8:443"'),
    ("0x0a010203", "allowed", 'network.allowedDomains "10.0.0.0/8:443"'),
    ("10.1.2.3:80", "ask", "default"),
    ("2852039166", "ask", "default"),
    ("[::ffff:169.254.169.254]:80", "ask", "default"),
    ("[64:ff9b::c0a8:101]:443", "ask", "default"),
    ("192.0.2.1", "ask", "default"),
]


@pytest.mark.parametrize("host, verdict, rule", HOSTS)
def test_check_connect(hutch, as_user, project, host, verdict, rule):
    as_user.write(project / "policy.json", NETWORK % "")
    said = hutch("check", "--json", "--policy", "policy.json", "connect", host)
    told = json.loads(said.out)
    assert (told["verdict"], told["rule"]) == (verdict, rule), told
    assert said.code == (0 if verdict == "allowed" else 1) and told["allowed"] == (verdict == "allowed")
    plain = hutch("check", "--policy", "policy.json", "connect", host)
    assert plain.code == said.code and plain.out.decode().startswith(f"{verdict}: connect {host}"), str(plain)
    if not set(host) & set(".:"):
        return  # a word without them is a path to explain
    explained = json.loads(hutch("explain", "--json", "--policy", "policy.json", host).ok().out)["hosts"]
    assert explained == [told]


def test_check_connect_says_the_reason(hutch, as_user, project):
    as_user.write(project / "policy.json", NETWORK % "")
    assert b"no pastes" in hutch("check", "--policy", "policy.json", "connect", "bad.example.com").out


def test_check_connect_of_a_strict_list(hutch, as_user, project):
    as_user.write(project / "policy.json", NETWORK % ', "strictAllowlist": true')
    said = hutch("check", "--json", "--policy", "policy.json", "connect", "other.example.org")
    assert said.code == 1 and json.loads(said.out)["rule"] == "network.strictAllowlist"


def test_check_connect_by_options(hutch, project):
    assert hutch("check", "connect", "a.org").code == 1
    allowed = hutch("check", "--allow-domain", "a.org", "connect", "a.org")
    assert allowed.code == 0 and b'--allow-domain "a.org"' in allowed.out
    assert hutch("check", "--allow-domain", "a.org:80", "connect", "a.org").code == 1
    assert hutch("check", "--network", "outbound", "connect", "a.org").code == 0
    assert hutch("check", "--network", "outbound", "--deny-domain", "a.org", "connect", "a.org").code == 1
    assert hutch("check", "--network", "outbound", "connect", "192.168.0.1").code == 1
    assert hutch("check", "--network", "none", "connect", "a.org").code == 1
    assert hutch("check", "--allow-host-port", "5432", "connect", "localhost:5432").code == 0


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.9", "[::1]"])
def test_check_connect_to_this_hosts_loopback(hutch, project, host):
    """A rule by name opens it only for programs that use the proxy: other connections end at the sandbox's own."""
    for options in ([], ["--allow-domain", host]):
        said = hutch("check", *options, "connect", f"{host}:8766")
        assert b"--allow-host-port 8766" in said.out, said
    said = hutch("check", "--allow-host-port", "8766", "connect", f"{host}:8766")
    assert said.code == 0 and b"proxy" not in said.out


def test_explain_tells_the_network(hutch, as_user, project):
    extra = ', "parentProxy": {"https": "http://user:s3cret@proxy.example:3128"}, "publish": ["8080:3000"]'
    as_user.write(project / "policy.json", NETWORK % extra)
    text = hutch("explain", "--policy", "policy.json").ok().out.decode()
    for part in ("deny bad.example.com: no pastes", "allow *.example.com", "allow api.example.org, TLS opened",
                 "port 5432 of this host", "127.0.0.1:8080", "http://proxy.example:3128 (with credentials)"):
        assert part in text, part
    printed = hutch("explain", "--json", "--policy", "policy.json").ok().out.decode()
    network = json.loads(printed)["network"]
    assert network["mode"] == "rules" and network["publish"] == [{"host": 8080, "sandbox": 3000}]
    assert network["parent_proxy"]["https"] == {"url": "http://proxy.example:3128", "credentials": True}
    assert "s3cret" not in text + printed
