# Names of the host: the resolv.conf that a sandbox has, whatever the host's own is.
import pathlib
import subprocess

import pytest

PYTHON = "/usr/bin/python3"
SECONDS = 30.0  # nothing here may wait for a file

# An /etc of the test's own, below a /run of its own.
OWN_ETC = """set -e
mount -t tmpfs -o mode=755 none /mnt
cp -a /etc /mnt/etc
mount --bind /mnt/etc /etc
mount -t tmpfs -o mode=755 none /run
{change}
exec "$@"
"""

# What systemd-resolved makes of a host.
STUB = """rm /etc/resolv.conf
ln -s ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
mkdir -p /run/systemd/resolve
"""
SEARCH = "nameserver 203.0.113.53\\nsearch corp.example lab.example\\noptions edns0 trust-ad ndots:2\\n"

RESOLVE = "import dns.resolver; print(dns.resolver.resolve('good.example', 'A')[0])"


@pytest.fixture
def on_host(hutch, internet, backend):
    """on_host(change, *command, options=()): the command in a sandbox, after a script changed the host's /etc."""
    if backend == "user":
        pytest.skip("a sandbox of backend user has the host's own files")

    def run(change, *command, options=("--allow-domain", "good.example"), **kw):
        outer = [*internet.enter(hutch.cwd), "unshare", "--mount", "sh", "-c", OWN_ETC.format(change=change), "sh"]
        return hutch.run(*command, options=options, outer=outer, timeout=SECONDS, **kw)
    return run


def lines_of(result):
    return [line for line in result.ok().text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("change", [f"printf '{SEARCH}' > /etc/resolv.conf",
                                    f"{STUB}printf '{SEARCH}' > /run/systemd/resolve/stub-resolv.conf",
                                    f"printf '{SEARCH}' > /etc/own; ln -sf own /etc/resolv.conf"],
                         ids=["file", "resolved", "link"])
def test_the_gateway_is_the_only_server(on_host, change):
    lines = lines_of(on_host(change, "cat", "/etc/resolv.conf"))
    assert lines == ["nameserver 127.0.0.1", "search corp.example lab.example", "options ndots:2"]


@pytest.mark.parametrize("change", ["true", f"{STUB}printf '{SEARCH}' > /run/systemd/resolve/stub-resolv.conf", STUB],
                         ids=["file", "resolved", "dangling"])
def test_a_program_that_reads_the_file_resolves(on_host, change):
    if not pathlib.Path("/usr/lib/python3/dist-packages/dns").exists():
        pytest.skip("python3-dnspython is not installed")
    assert on_host(change, PYTHON, "-c", RESOLVE).ok().text.startswith("198.18.")


def test_without_a_network_no_server_is_named(on_host):
    result = on_host(f"printf '{SEARCH}' > /etc/resolv.conf", "cat", "/etc/resolv.conf", options=("--network", "none"))
    assert lines_of(result) == []


BAD = {
    "pipe": ("rm /etc/resolv.conf; mkfifo /etc/resolv.conf", "is not a regular file"),
    "directory": ("rm /etc/resolv.conf; mkdir /etc/resolv.conf", "is not a regular file"),
    "device": ("rm /etc/resolv.conf; ln -s /dev/null /etc/resolv.conf", "is not a regular file"),
    "loop": ("ln -sf resolv.conf /etc/resolv.conf", "search domains"),
    "large": ("head -c 1048576 /dev/zero | tr '\\0' a > /etc/resolv.conf", "larger than 65536 bytes"),
    "zeroes": ("printf 'search a\\0b\\nnameserver 203.0.113.53\\n' > /etc/resolv.conf", ""),
    "absent": ("rm /etc/resolv.conf", ""),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_of_the_host_is_told_and_nothing_waits(on_host, kind):
    change, note = BAD[kind]
    result = on_host(change, "sh", "-c", "cat /etc/resolv.conf; getent hosts good.example; echo done")
    assert result.ok().text.endswith("done\n") and "search" not in result.text, str(result)
    told = [line for line in result.errors.splitlines() if "/etc/resolv.conf" in line and line.startswith("hutch: ")]
    assert bool(told) == bool(note) and note in "".join(told), str(result)


def test_the_file_cannot_be_changed(on_host):
    result = on_host("true", "sh", "-c", "echo nameserver 192.0.2.9 > /etc/resolv.conf || cat /etc/resolv.conf")
    assert "nameserver 127.0.0.1" in result.text, str(result)


def test_names_are_resolved_after_a_program_of_the_host_replaced_the_file(on_host):
    change = "(sleep 1; cp /etc/resolv.conf /etc/new; mv /etc/new /etc/resolv.conf) &"
    script = "until grep -q 203.0.113.53 /etc/resolv.conf; do sleep 0.1; done; getent hosts good.example"
    result = on_host(change, "sh", "-c", script)
    assert result.ok().text.split()[-1] == "good.example", str(result)


# --- the hosts file ---

CURL = ("curl", "-sS", "--max-time", "20", "--noproxy", "*")
REFUSED = (6, 7, 52, 55, 56)  # no address, or a reset, seen while connecting, sending or later


def hosts(*lines):
    return "printf '%s\\n' '127.0.0.1 localhost' " + " ".join(f"'{line}'" for line in lines) + " > /etc/hosts"


def test_the_hosts_file_is_the_sandboxs_own(on_host):
    script = ("cat /etc/hosts; grep -rsl secret /etc/hosts /.hutch /proc/self/root/etc/hosts; "
              "getent hosts secret.corp; true")
    result = on_host(hosts("192.168.7.7 secret.corp"), "sh", "-c", script).ok()
    assert result.text.splitlines() == ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback",
                                        "127.0.0.1 hutch"], str(result)


@pytest.mark.parametrize("network", ["rules", "none"])
def test_localhost_has_both_families_and_the_host_its_name(on_host, network):
    options = () if network == "rules" else ("--network", "none")
    script = "getent ahosts localhost | cut -d' ' -f1 | sort -u; getent hosts hutch"
    result = on_host(hosts("192.168.7.7 secret.corp"), "sh", "-c", script, options=options).ok()
    assert {"127.0.0.1", "::1"} <= set(result.text.split()) and "hutch" in result.text.split()[-1], str(result)


def test_a_name_of_the_hosts_file_is_reached_by_its_rule(on_host):
    options = ("--allow-domain", "git.corp")
    result = on_host(hosts("192.168.7.7 git.corp"), *CURL, "http://git.corp/hello", options=options)
    assert '"path": "/hello"' in result.ok().text and "192.168.7.7" in result.text, str(result)


def test_without_a_rule_it_is_refused_by_name(on_host, internet):
    result = on_host(hosts("192.168.7.7 git.corp"), *CURL, "http://git.corp/hello")
    assert result.code == 6 and "git.corp was refused" in result.errors, str(result)
    assert "--allow-domain git.corp" in result.errors and internet.log() == []


@pytest.mark.parametrize("line,name,allowed", [
    ("192.168.7.7 git.corp.example", "git.corp.example", "*.corp.example"),  # a star names nobody
    ("192.0.2.1 near.corp", "near.corp", "near.corp"),  # the host itself
    ("169.254.169.254 meta.corp", "meta.corp", "meta.corp"),
    ("192.168.7.7 git.corp", "git.corp", "git.corp:443"),  # at that port alone
], ids=["star", "host", "metadata", "port"])
def test_an_address_that_the_rule_does_not_open(on_host, internet, line, name, allowed):
    result = on_host(hosts(line), *CURL, f"http://{name}/hello", options=("--allow-domain", allowed))
    assert result.code in REFUSED, str(result)
    assert internet.log("connection") == []


def test_a_name_of_the_loopback_is_the_sandboxs(on_host):
    serve = (f"{PYTHON} -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 & server=$!; "
             "for i in $(seq 100); do curl -s --noproxy '*' http://app.test:8000/ && break; sleep 0.1; done; "
             "kill $server")
    result = on_host(hosts("127.0.0.1 app.test", "127.0.1.1 box.corp box"), "sh", "-c", f"{serve}; getent ahostsv4 box")
    assert "Directory listing" in result.text and "127.0.1.1" in result.text, str(result)
    assert "refused" not in result.errors, str(result)


SERVE = ("import http.server as h; s = h.HTTPServer(('127.0.0.1', 8000), h.SimpleHTTPRequestHandler); "
         "print('ready', flush=True); s.serve_forever()")
BY_PROXY = ("curl", "-sS", "--max-time", "20", "--noproxy", "", "--proxytunnel", "--proxy", "http://127.0.0.1:1023")


@pytest.fixture
def of_host(internet):
    """A service of the host's own loopback, at port 8000."""
    command = [*internet.enter("/usr/share/doc"), PYTHON, "-c", SERVE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as service:
        assert service.stdout.readline() == b"ready\n"
        yield
        service.kill()


@pytest.mark.parametrize("entries,reached", [
    (["app.test"], False), (["app.test:8000"], False), (["app.test", "127.0.0.1:8001"], False),
    (["app.test", "localhost"], False), (["app.test", "127.0.0.1:8000"], True), (["app.test", "127.0.0.0/8"], True),
], ids=["name", "name-and-port", "another-port", "localhost", "address", "range"])
def test_a_name_of_the_hosts_loopback_needs_the_address_too(on_host, of_host, entries, reached):
    options = [word for entry in entries for word in ("--allow-domain", entry)]
    result = on_host(hosts("127.0.0.1 app.test"), *BY_PROXY, "http://app.test:8000/", options=options)
    assert ("Directory listing" in result.text) == reached, str(result)


def test_a_hosts_file_that_others_may_write_is_no_administrators_word(on_host, internet):
    change = f"{hosts('192.168.7.7 git.corp')}; chmod 666 /etc/hosts"
    result = on_host(change, *CURL, "http://git.corp/hello", options=("--allow-domain", "git.corp"))
    assert result.code in REFUSED and internet.log("connection") == [], str(result)
    result = on_host(change, *CURL, "http://git.corp/hello",
                     options=("--allow-domain", "git.corp", "--allow-domain", "192.168.7.7"))
    assert '"path": "/hello"' in result.ok().text, str(result)


@pytest.mark.parametrize("number,found", [(50_000, True), (80_000, False)], ids=["50000", "too-large"])
def test_a_large_hosts_file(on_host, number, found):
    made = f"awk 'BEGIN {{ for (i = 0; i < {number}; i++) print \"10.1.2.3 name\" i }}' >> /etc/hosts"
    change = hosts() + "; " + made + "; echo 203.0.113.10 last.corp >> /etc/hosts"
    result = on_host(change, *CURL, "http://last.corp/hello", options=("--allow-domain", "last.corp"))
    assert ('"path": "/hello"' in result.text) == found, str(result)
    assert ("/etc/hosts of the host is not read" in result.errors) == (not found), str(result)


@pytest.mark.parametrize("change", ["rm /etc/hosts; mkfifo /etc/hosts", "rm /etc/hosts; mkdir /etc/hosts",
                                    "ln -sf hosts /etc/hosts", "ln -sf /dev/null /etc/hosts"],
                         ids=["pipe", "directory", "loop", "device"])
def test_a_bad_hosts_file_is_told_and_nothing_waits(on_host, change):
    result = on_host(change, *CURL, "http://good.example/hello")
    assert '"path": "/hello"' in result.ok().text, str(result)
    assert "/etc/hosts of the host is not read" in result.errors, str(result)


# --- search domains ---

SEARCHED = "echo search corp.example lab.example >> /etc/resolv.conf"
# The request names the host that the connection is made to: the gateway compares the two.
FETCH = (*CURL, "-H", "Host: git.lab.example", "http://git/hello")


def test_a_short_name_is_found_in_the_domain_that_has_it(on_host):
    options = ("--allow-domain", "*.corp.example", "--allow-domain", "git.lab.example")
    result = on_host(f"{SEARCHED}; {hosts('203.0.113.10 git.lab.example')}", *FETCH, options=options)
    assert '"path": "/hello"' in result.ok().text and "refused" not in result.errors, str(result)


def test_a_short_name_is_found_past_a_domain_that_is_refused(on_host):
    options = ("--allow-domain", "git.lab.example")
    result = on_host(f"{SEARCHED}; {hosts('203.0.113.10 git.lab.example')}", *FETCH, options=options)
    assert '"path": "/hello"' in result.ok().text and "refused" not in result.errors, str(result)


def test_a_short_name_is_refused_as_what_it_stands_for(on_host):
    result = on_host("echo search corp.example >> /etc/resolv.conf", *FETCH)
    assert result.code == 6 and "git.corp.example was refused" in result.errors, str(result)
    assert "hutch: git was refused" not in result.errors, str(result)


@pytest.mark.parametrize("name,told", [("good.example", []), ("other.example", ["other.example"])])
def test_a_name_that_is_tried_on_the_way_is_not_told(on_host, name, told):
    change = f"{SEARCHED}; echo options ndots:5 >> /etc/resolv.conf" if not told else SEARCHED
    result = on_host(change, *CURL, f"http://{name}/hello")
    assert (result.code == 0) == (not told), str(result)
    refused = [line for line in result.errors.splitlines() if " was refused" in line]
    assert [line.split()[1] for line in refused] == told, str(result)
