# TLS that is opened: whom the programs of a sandbox trust, which requests get through, and what is left closed.
import json
import os
import pathlib
import shutil
import signal

import pytest

from caller import running
from harness import wait_until

DIRECT = "curl -sS --max-time 30 --noproxy '*' "
CURL = "curl -sS --max-time 30 "
URL = "https://good.example"
RULE = {"host": "good.example", "methods": ["GET"], "paths": ["/repos/**"]}
both_ways = pytest.mark.parametrize("curl", [DIRECT, CURL], ids=["captured", "proxy"])


@pytest.fixture
def opened(hutch, internet, project, as_user):
    """opened(script, allow=(), rules=(...), exclude=()): a shell script under those rules."""
    def run(script, rules=(RULE,), allow=(), exclude=(), options=(), **more):
        policy = {"network": {"allowedDomains": list(allow), "deniedDomains": [], "rules": list(rules), "tlsTerminate":
                              {"extraCaCertPaths": [str(internet.ca)], "excludeDomains": list(exclude)}}}
        file = as_user.write(project / "rules.json", json.dumps(policy))
        return hutch.sh(script, options=["--policy", str(file), *options], **more)
    return run


def answer(result):
    return json.loads(result.ok().out)


@both_ways
def test_an_allowed_request(opened, curl):
    got = answer(opened(curl + URL + "/repos/x"))
    assert (got["path"], got["tls"], got["headers"]["host"]) == ("/repos/x", True, "good.example")


@both_ways
@pytest.mark.parametrize("request_line", ["-X POST -d x " + URL + "/repos/x", URL + "/users/x"], ids=["method", "path"])
def test_a_refused_request(opened, internet, curl, request_line):
    result = opened(curl + "-i --suppress-connect-headers " + request_line)
    head = result.ok().text.partition("\r\n\r\n")[0].lower().splitlines()
    assert " 403" in head[0] and "x-proxy-error: blocked-by-rule" in head, str(result)
    assert "good.example:443 was refused: " in result.errors, str(result)
    assert internet.log("request") == []


def inspectors_of(process):
    """The hutch-inspect processes among what a process has started."""
    found, left = [], [process.pid]
    while left:
        pid = left.pop()
        try:
            children = [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                        for child in (task / "children").read_text(encoding="ascii").split()]
            if pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == "hutch-inspect\n":
                found.append(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        left += children
    return found


SLOW_POST = """python3 -u - <<'EOF2'
import socket, ssl
made = socket.create_connection(("good.example", 443))
made = ssl.create_default_context().wrap_socket(made, server_hostname="good.example")
made.sendall(b"GET /repos/x HTTP/1.1\\r\\nHost: good.example\\r\\n")
print("begun")
try: print("ended", made.recv(1))
except OSError as error: print("ended", error)
EOF2
"""


def test_hutch_inspect_is_killed(hutch, internet, project, as_user):
    """What it had is cut, and said to be; what comes after finds the authority that the sandbox trusts."""
    policy = {"network": {"allowedDomains": [], "deniedDomains": [], "rules": [RULE],
                          "tlsTerminate": {"extraCaCertPaths": [str(internet.ca)]}}}
    file = as_user.write(project / "rules.json", json.dumps(policy))
    with running(hutch, SLOW_POST + DIRECT + URL + "/repos/x", "--policy", str(file)) as (caller, process):
        assert process.stdout.readline() == b"begun\n"
        [first] = inspectors_of(process)
        os.kill(first, signal.SIGKILL)
        assert caller.refusal() == \
            "good.example:443 was refused: a connection was cut: hutch-inspect, which read it, has ended"
        assert process.stdout.readline().startswith(b"ended")
        got = json.loads(process.stdout.read())
        assert (got["path"], got["tls"]) == ("/repos/x", True)
        assert process.wait() == 0


@pytest.fixture
def removable(hutch):
    """The path of hutch-inspect; it is put back."""
    program = hutch.program.with_name("hutch-inspect")
    kept = program.rename(program.with_name("kept"))
    shutil.copy(kept, program)
    yield program
    kept.rename(program)


@pytest.mark.parametrize("url, seen", [(URL, "000"), ("http://good.example", "502")], ids=["tls", "plain-by-proxy"])
def test_no_hutch_inspect_starts_again(hutch, internet, project, as_user, removable, url, seen):
    """What cannot be read is refused, and says why."""
    policy = {"network": {"allowedDomains": [], "deniedDomains": [], "rules": [RULE],
                          "tlsTerminate": {"extraCaCertPaths": [str(internet.ca)]}}}
    file = as_user.write(project / "rules.json", json.dumps(policy))
    script = f"echo up; read line; {DIRECT if url == URL else CURL} -o /dev/null -w '%{{http_code}}\\n' {url}/repos/x"
    with running(hutch, script, "--policy", str(file)) as (caller, process):
        assert process.stdout.readline() == b"up\n"
        removable.unlink()
        for pid in inspectors_of(process):
            os.kill(pid, signal.SIGKILL)
        process.stdin.write(b"\n")
        process.stdin.flush()
        refusal = caller.refusal()
        assert "its requests cannot be read: " in refusal and "hutch-inspect" in refusal
        assert process.stdout.readline() == f"{seen}\n".encode()
    assert internet.log("request") == []


def test_headers_are_set_and_removed(opened):
    rule = {**RULE, "headers": {"set": {"X-Team": "blue"}, "remove": ["Cookie"]}}
    headers = answer(opened(DIRECT + "-H 'Cookie: a=b' -H 'X-Team: red' " + URL + "/repos/x", rules=[rule]))["headers"]
    assert headers["x-team"] == "blue" and "cookie" not in headers


PYTHON = """python3 - <<'EOF2'
import urllib.request, urllib.error
print(urllib.request.urlopen("https://good.example/repos/x").status)
try: urllib.request.urlopen("https://good.example/repos/x", data=b"x")
except urllib.error.HTTPError as error: print(error.code, error.headers["X-Proxy-Error"])
EOF2"""


@pytest.mark.parametrize("before", ["unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY; ", ""],
                         ids=["captured", "proxy"])
def test_python(opened, before):
    said = opened(before + PYTHON).ok().text.split()
    assert said[:2] == ["200", "403"] and said[2] not in ("", "None")


NODE = """node -e '
const https = require("https");
const get = (options) => new Promise((done) => https.request(options, (answer) => {
  answer.resume(); answer.on("end", () => done(answer.statusCode)); }).on("error", (e) => done(e.message)).end());
(async () => {
  console.log(await get({host: "good.example", path: "/repos/x"}));
  console.log(await get({host: "good.example", path: "/repos/x", method: "DELETE"}));
})();'"""


@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_node(opened):
    assert opened(NODE).ok().text.split() == ["200", "403"]


def test_git(opened, internet, repository):
    clone = f"cd /tmp && git clone -q {URL}/git/{repository}/tiny.git cloned && cat cloned/file"
    assert opened(clone, rules=[{**RULE, "paths": ["/git/**"]}]).ok().text == "content\n"
    internet.forget()
    assert opened(clone).code == 128
    assert internet.log("request") == []


def test_http_2(opened, internet, http2_server):
    url = f"https://good.example:{http2_server}/http2/file"
    rule = {**RULE, "paths": ["/http2/*"]}
    result = opened(f"{DIRECT} --http2 -w '%{{http_version}} %{{http_code}}\\n' {url}", rules=[rule])
    assert result.ok().text == "two\n2 200\n"
    refused = opened(f"{DIRECT} --http2 -X POST -d x -o /dev/null -w '%{{http_version}} %{{http_code}}\\n' {url}",
                     rules=[rule])
    assert refused.ok().text == "2 403\n"


@pytest.fixture(scope="session")
def http2_server(internet):
    """The port of good.example at which nghttpd listens."""
    if shutil.which("nghttpd") is None:
        pytest.skip("nghttpd is not installed")
    (internet.www / "http2").mkdir()
    (internet.www / "http2/file").write_text("two\n")
    internet.start("nghttpd", "-d", internet.www, "8444", internet.directory / "server.key",
                   internet.directory / "server.pem")
    wait_until(lambda: internet.listens(8444), "nghttpd listens")
    return 8444


def test_what_has_no_rules_stays_closed(opened, internet, with_ca):
    options = list(with_ca)
    url = " https://api.good.example/anything"
    assert opened(DIRECT + url, allow=["api.good.example"], options=options).code == 60  # not an authority of this host
    got = answer(opened(f"{DIRECT} --cacert {internet.ca} {url}", allow=["api.good.example"], options=options))
    assert got["path"] == "/anything"


def test_an_excluded_host_stays_closed(opened, internet, with_ca):
    result = opened(f"{DIRECT} --cacert {internet.ca} -X POST -d x https://api.good.example/",
                    allow=["api.good.example"], exclude=["api.good.example"],
                    options=with_ca)
    assert answer(result)["method"] == "POST"


def test_a_client_that_trusts_the_real_authority_alone(opened, internet, with_ca):
    result = opened(f"{DIRECT} --cacert {internet.ca} {URL}/repos/x", options=with_ca)
    assert result.code == 60, str(result)
    assert internet.log("request") == []


def test_a_server_with_the_wrong_certificate(opened, internet):
    result = opened(DIRECT + "-o /dev/null -w '%{http_code}' https://wrong.example/", rules=[{"host": "wrong.example"}])
    assert result.ok().text == "502", str(result)
    assert internet.log("request") == []


@pytest.fixture
def place(backend):
    """Of the sandbox's own files: an OS user's root directory is the machine's."""
    return "/tmp/.hutch" if backend == "user" else "/.hutch"


def test_the_stores_cannot_be_changed(opened, place):
    script = """for file in PLACE/ca.pem PLACE/ca-bundle.pem /etc/ssl/certs/ca-certificates.crt; do
                  test -r $file || echo unreadable $file
                  (echo x >> $file) 2>/dev/null && echo written $file
                  rm -f $file 2>/dev/null && echo removed $file
                done; touch PLACE/x 2>/dev/null && echo made; mv PLACE PLACE-gone 2>/dev/null && echo moved
                grep -c BEGIN PLACE/ca.pem"""
    assert opened(script.replace("PLACE", place)).text == "1\n"


def test_the_system_store_is_covered(opened, place):
    store = "/etc/ssl/certs/ca-certificates.crt"
    result = opened(f"test -e {store} || exit 9; cmp {store} {place}/ca-bundle.pem")
    if result.code == 9:
        pytest.skip("this machine keeps its authorities elsewhere")
    assert result.code == 0, str(result)


def test_a_variable_of_the_caller_holds(opened, place):
    assert opened("echo $SSL_CERT_FILE $CURL_CA_BUNDLE", options=["--env", "SSL_CERT_FILE=/x"]).ok().text == \
        f"/x {place}/ca-bundle.pem\n"


def test_without_rules_nothing_is_there(hutch):
    script = "ls /.hutch; ls -d /tmp/.hutch; env | grep -c -e SSL_CERT -e CA_BUNDLE"
    result = hutch.sh(script, options=["--allow-domain", "good.example"])
    assert set(result.text.split()) <= {"hosts", "resolv.conf", "0"} and result.text.endswith("0\n"), result.text


def test_the_callers_own_store_of_authorities(hutch, internet, project, as_user):
    file = as_user.write(project / "rules.json", json.dumps(
        {"network": {"allowedDomains": [], "deniedDomains": [], "rules": [RULE]}}))
    command = DIRECT + "-o /dev/null -w '%{http_code}' " + URL + "/repos/x"
    assert hutch.sh(command, options=["--policy", str(file)]).ok().text == "502"
    known = hutch.sh(command, options=["--policy", str(file)], env={"SSL_CERT_FILE": str(internet.ca)})
    assert known.ok().text == "200", str(known)


JAVA_FETCH = """import java.net.*;
public class Fetch {
  public static void main(String[] words) throws Exception {
    try {
      System.out.println(new String(new URL(words[0]).openStream().readAllBytes()));
    } catch (javax.net.ssl.SSLHandshakeException error) {
      System.out.println("not trusted");
    }
  }
}
"""
JAVAS = sorted({os.path.realpath(path) for path in pathlib.Path("/usr/lib/jvm").glob("*/bin/java")}) or ["java"]


@pytest.mark.parametrize("java", JAVAS)
def test_java_trusts_it_as_well(opened, as_user, project, java):
    if shutil.which(java) is None or shutil.which("javac") is None:
        pytest.skip("java is not installed")
    as_user.write(project / "Fetch.java", JAVA_FETCH)
    run = f"{java} -XX:TieredStopAtLevel=1 Fetch.java "
    assert answer(opened(run + URL + "/repos/x"))["tls"]
    assert opened(run + "https://other.example/", allow=["other.example"]).ok().text == "not trusted\n"


@pytest.mark.parametrize("java", JAVAS)
def test_the_store_of_java_holds_what_the_machine_trusts(opened, java):
    keytool = pathlib.Path(java).parent / "keytool"
    if not keytool.exists() or not os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
        pytest.skip("java is not installed")
    count = f"{keytool} -list -cacerts -storepass changeit | grep -c trustedCertEntry"
    result = opened(f"{count}; grep -c BEGIN $SSL_CERT_FILE")
    listed, bundled = map(int, result.ok().text.split())
    assert listed == bundled > 1
