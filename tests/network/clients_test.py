# The programs that people run, none of which has to know of the gateway: what is allowed works, what is not is refused.
import pathlib

import pytest

import internet_services as services

NO_VARIABLES = "unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY\n"


@pytest.fixture(params=["captured", "variables"])
def client(request, hutch, internet):
    """client(script, expected): the script, with HOST in it, reaches good.example and prints `expected`; with
    other.example it fails, and no server has seen it. With and without the variables of proxies."""
    before = NO_VARIABLES if request.param == "captured" else ""

    def check(script, expected, options=()):
        options = ["--allow-domain", "good.example", *options]
        allowed = hutch.sh(before + script.replace("HOST", "good.example"), options=options).ok()
        assert expected in allowed.text, str(allowed)
        internet.forget()
        denied = hutch.sh(before + script.replace("HOST", "other.example"), options=options)
        assert denied.code != 0, str(denied)
        assert "hutch: other.example" in denied.errors and " was refused: " in denied.errors, str(denied)
        assert internet.log() == []
    return check


def test_curl(client):
    client("curl -fsS --max-time 30 http://HOST/hello", '"path": "/hello"')


def test_curl_over_tls(client, internet, with_ca):
    client(f"curl -fsS --max-time 30 --cacert {internet.ca} https://HOST/hello", '"tls": true',
           options=with_ca)


def test_git_over_https(client, internet, repository, with_ca):
    url = f"https://HOST/git/{repository}/tiny.git"
    client(f"cd /tmp && GIT_SSL_CAINFO={internet.ca} git clone -q {url} c && cat c/file", "content\n",
           options=with_ca)


@pytest.fixture(scope="session")
def ssh_server(internet):
    services.ssh_server(internet)


def test_git_over_ssh(client, internet, repository, ssh_server, as_user, project):
    services.need("ssh")
    key = as_user.write(project / "key", (internet.directory / "ssh_user_key").read_bytes(), mode=0o600)
    # A connection that is shared (ControlMaster) would want a Unix socket.
    ssh = f"ssh -F none -i {key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    where = internet.www / "git" / repository / "tiny.git"
    client(f"cd /tmp && GIT_SSH_COMMAND='{ssh}' git clone -q ssh://root@HOST{where} c && cat c/file", "content\n")


@pytest.fixture(scope="session")
def python_index(internet):
    services.python_index(internet)


def test_pip(client, python_index):
    if not pathlib.Path("/usr/lib/python3/dist-packages/pip").exists():
        pytest.skip("pip is not installed")
    client("""/usr/bin/python3 -m pip download -q --disable-pip-version-check --no-cache-dir --retries 0 --no-deps \
              --index-url http://HOST/pip/simple/ --trusted-host HOST -d /tmp/got tiny-package && ls /tmp/got""",
           "tiny_package-1.0-py3-none-any.whl")


@pytest.fixture(scope="session")
def npm_registry(internet):
    services.npm_registry(internet, ["good.example", "other.example"])


def test_npm(client, npm_registry):
    services.need("npm")
    client("""mkdir /tmp/n && cd /tmp/n && npm install --silent --no-audit --no-fund --fetch-retries 0 \
              --registry http://HOST/npm-HOST/ tiny-package && ls node_modules""", "tiny-package")


@pytest.fixture(scope="session")
def apt_repository(internet):
    services.apt_repository(internet)


# A root of its own, so that no setting of this machine and no right of root is needed.
APT = """mkdir -p /tmp/apt/etc/apt/preferences.d /tmp/apt/lists/partial /tmp/apt/archives/partial && cd /tmp/apt &&
echo 'deb [trusted=yes] http://HOST/apt ./' > etc/apt/sources.list && touch status &&
cat > conf <<'EOF' &&
Dir "/tmp/apt";
Dir::State "/tmp/apt";
Dir::State::status "/tmp/apt/status";
Dir::Cache "/tmp/apt";
Dir::Etc "etc/apt";
Dir::Log "/tmp/apt";
APT::Sandbox::User "";
Acquire::Retries "0";
EOF
APT_CONFIG=conf apt-get -q update --error-on=any && APT_CONFIG=conf apt-get -q download tiny-package && ls"""


def test_apt(client, apt_repository):
    services.need("apt-get")
    client(APT, "tiny-package_1.0_all.deb")


FETCH = """import java.net.*;
public class Fetch {
  public static void main(String[] words) throws Exception {
    URLConnection connection = new URL(words[0]).openConnection();
    System.out.println(new String(connection.getInputStream().readAllBytes()));
  }
}
"""


def test_java(client, as_user, project):
    services.need("java", "javac")
    as_user.write(project / "Fetch.java", FETCH)
    client("java -XX:TieredStopAtLevel=1 Fetch.java http://HOST/hello", '"path": "/hello"')


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_static_program_with_its_own_resolver(client, compile_c, transport):
    source = pathlib.Path(__file__).with_name("own_resolver.c").read_text(encoding="utf-8")
    program = compile_c(source, "own_resolver")
    client(f"{program} {transport} HOST 7", "hello\n")


def test_netcat(client):
    services.need("nc")
    client("out=$(echo hello | nc -N -w 30 HOST 7) && echo $out", "hello end of input")


@pytest.fixture(scope="session")
def database(internet):
    services.database(internet)


def test_psql(client, database):
    client("psql -h HOST -U t -d postgres -Atc 'select 41 + 1'", "42\n")
