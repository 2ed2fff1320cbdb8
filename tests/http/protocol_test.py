# HTTP itself: who may speak, what is refused, limits, garbage, and clients that behave badly.
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import threading

import pytest

from api import UnixConnection, read_some, read_to_end, wait_until
import harness

HEALTH = "GET /v1/health HTTP/1.1"


def status_of(answer):
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    assert found, answer
    return int(found.group(1))


def statuses(answer):
    return [int(code) for code in re.findall(rb"^HTTP/1\.1 (\d{3}) ", answer, re.M)]


def test_the_token_file_is_in_no_sandbox(base, as_user):
    """Also where others of its owner's files are shown: whoever reads it is the daemon's owner."""
    place = pathlib.Path(as_user.mkdir(pathlib.Path("/var/tmp") / f"hutch-token-{os.getpid()}-{as_user.name}"))
    env = {"HUTCH_STATE": str(as_user.mkdir(as_user.home / f"state-of-{place.name}"))}
    as_user.write(place / "shown", "shown")
    run = functools.partial(harness.run_in, as_user, env=env)
    program, token = base.bin / "hutch", place / "token"
    serve = [program, "serve", "--listen", "127.0.0.1:0", "--token-file", token]
    with harness.start_in(as_user, serve, env=env) as daemon:
        harness.wait_until(token.exists, "it has a token")
        run([program, "agent", "create", "looks"]).ok()
        assert run([program, "exec", "looks", "--", "cat", place / "shown"]).ok().text == "shown"
        refused = run([program, "exec", "looks", "--", "cat", token])
        assert refused.code != 0 and token.read_text().strip() not in refused.text, str(refused)
        run([program, "agent", "remove", "looks"]).ok()
        second = run([program, "serve", "--listen", "127.0.0.1:0", "--token-file", place / "second"])
        assert second.code == 125 and "a daemon runs already" in second.errors, str(second)
        one_run = [program, "run", "--wide", "--allow-read", place, "--", "cat"]
        assert run([*one_run, place / "shown"]).ok().text == "shown"
        refused = run([*one_run, token])
        assert refused.code != 0 and token.read_text().strip() not in refused.text, str(refused)
        daemon.terminate()
    shutil.rmtree(place)


def test_the_token_file_is_made_for_its_owner_alone(api):
    info = api.token_file.stat()
    assert stat.S_IMODE(info.st_mode) == 0o600
    assert info.st_uid == api.person.uid
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", api.token)


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer ", "Bearer x", "Basic {t}", "Bearer {t}x", "Bearer x{t}",
                                   "Bearer {short}"])
def test_without_the_token_nothing_is_said(api, given):
    value = given and given.format(t=api.token, short=api.token[:-1])
    for path in ["/v1/health", "/v1/agents", "/nothing", "/mcp"]:
        reply = api.get(path, headers={"Authorization": value})
        assert reply.error(401) == "unauthorized"
        assert reply.headers["www-authenticate"] == "Bearer"


def test_the_scheme_has_no_case(api):
    assert api.get("/v1/health", headers={"Authorization": f"bearer {api.token}"}).ok()["status"] == "ok"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "169.254.169.254",
                                  "[::2]", "localhost:80@evil.example", "[::1]evil.example", "127.0.0.1:"])
def test_a_name_that_was_bound_anew_is_refused(api, host):
    assert api.get("/v1/health", headers={"Host": host}).error(421) == "host_refused"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1", "[::1]:5", "127.9.9.9"])
def test_loopback_by_any_name(api, host):
    api.get("/v1/health", headers={"Host": host}).ok()


@pytest.mark.parametrize("origin", ["http://evil.example", "https://localhost.evil.example", "null", "file://",
                                    "http://evil.example:80@localhost", "chrome-extension://abc",
                                    "http://localhost:80@evil.example", "http://[::1]evil.example",
                                    "http://localhost:x", "http://127.0.0.1:80.evil.example"])
def test_pages_of_others_are_refused(api, origin):
    assert api.get("/v1/health", headers={"Origin": origin}).error(403) == "origin_refused"


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443"])
def test_pages_of_this_machine_may(api, origin):
    api.get("/v1/health", headers={"Origin": origin}).ok()


def test_the_unix_socket_speaks_both(api):
    connection = UnixConnection(api.socket_path)
    for _ in range(3):
        connection.request("GET", "/v1/health")
        answer = connection.getresponse()
        assert answer.status == 200
        assert json.loads(answer.read())["status"] == "ok"
    api("daemon", "status").ok()
    connection.request("GET", "/v1/health", headers={"Origin": "http://evil.example"})
    assert connection.getresponse().status == 403
    connection.close()


def test_options_of_serve(api, tmp_path):
    alone = api("serve", "--listen", "127.0.0.1:0")
    assert alone.code == 125 and "--token-file" in alone.errors
    open_file = api.person.write(api.state / "open-token", "x" * 40, mode=0o644)
    refused = api("serve", "--listen", "127.0.0.1:0", "--token-file", open_file)
    assert refused.code == 125 and "chmod 600" in refused.errors
    weak = api.person.write(api.state / "weak-token", "abc\n", mode=0o600)
    assert api("serve", "--listen", "127.0.0.1:0", "--token-file", weak).code == 125
    assert api("serve", "--listen", "nowhere", "--token-file", weak).code == 125


def test_a_path_that_is_not_there_and_a_method_that_is_not(api):
    assert api.get("/v1/nothing").error(404) == "not_found"
    assert api.get("/").error(404) == "not_found"
    assert api.get("/v1/agents/").error(404) == "not_found"
    reply = api.request("PUT", "/v1/agents")
    assert reply.error(405) == "method_not_allowed"
    assert reply.headers["allow"] == "GET, HEAD, POST"


def test_a_body_has_to_be_json_and_say_so(api):
    plain = {"Content-Type": "text/plain"}
    assert api.request("POST", "/v1/agents", body='{"name":"x"}', headers=plain).error(415) == "unsupported_media_type"
    as_json = {"Content-Type": "application/json; charset=utf-8"}
    for body in ["", "{", "[]", "nul", '{"name": 3}', "[" * 5000, '{"name":"x"} trailing', '{"name":"\\ud800"}']:
        assert api.request("POST", "/v1/agents", body=body, headers=as_json).status == 400, body


@pytest.mark.parametrize("name", ["..", "%2e%2e", "a%2fb", "A", "x" * 100, "a%0ab", "%ff"])
def test_names_that_are_none(api, name):
    assert api.get(f"/v1/agents/{name}").status in (400, 404)


def test_an_escape_that_is_none(api):
    for target in ["/v1/agents/%zz", "/v1/agents/%0", "/v1/agents/a%00b", "/v1/agents/x/files?path=%g0", "http://x/"]:
        assert status_of(api.say(api.head(f"GET {target} HTTP/1.1", "Connection: close"))) == 400, target


@pytest.mark.parametrize("bytes_sent", [
    b"\r\n\r\n\r\n\r\n\x00\x01\x02\x03", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"get / HTTP/1.1\r\nHost: localhost\r\n bad\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 64, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\xff" * 4096,
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
])
def test_garbage_is_refused_and_the_connection_ends(api, bytes_sent):
    answer = api.say(bytes_sent, half_close=True)
    assert answer == b"" or all(code in (400, 401, 421, 431, 501) for code in statuses(answer)), answer
    api.get("/v1/health").ok()


def test_a_wrong_chunk_is_refused(api):
    head = api.head("POST /v1/agents HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked")
    for chunks in [b"zz\r\n", b"5\r\nhelloXX0\r\n\r\n", b"ffffffffffffffffff\r\n", b"-1\r\n\r\n"]:
        assert status_of(api.say(head + chunks)) in (400, 413), chunks


def test_a_head_that_is_too_large(api):
    assert status_of(api.say(api.head(HEALTH, "X: " + "y" * 60_000))) == 431
    assert status_of(api.say(api.head(HEALTH, *[f"X{i}: y" for i in range(200)]))) == 431
    assert status_of(api.say(b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n")) == 431


def test_a_body_that_is_too_large(api):
    said = api.head("POST /v1/agents HTTP/1.1", "Content-Type: application/json", "Content-Length: 99999999")
    assert status_of(api.say(said)) == 413
    chunked = api.head("POST /v1/agents HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked")
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    assert status_of(api.say(chunked, *[piece] * 12)) == 413


def test_chunked_bodies_are_taken(api):
    body = json.dumps({"name": "chunked", "backend": "bwrap"}).encode()
    pieces = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:]))
    head = api.head("POST /v1/agents HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked",
                    "Connection: close")
    assert status_of(api.say(head + pieces + b"0\r\nTrailer: x\r\n\r\n")) == 201
    api.request("DELETE", "/v1/agents/chunked").ok()


def test_the_body_is_sent_when_it_is_asked_for(api):
    body = b'{"name": "continued"}'
    with api.raw() as plain:
        plain.sendall(api.head("POST /v1/agents HTTP/1.1", "Content-Type: application/json", "Expect: 100-continue",
                               f"Content-Length: {len(body)}", "Connection: close"))
        assert status_of(read_some(plain, b"\r\n\r\n")) == 100
        plain.sendall(body)
        assert status_of(read_to_end(plain)) == 201
    api.request("DELETE", "/v1/agents/continued").ok()
    # Refused before anything of a body is asked for.
    answer = api.say(api.head("POST /v1/agents HTTP/1.1", "Expect: 100-continue", "Content-Length: 9", token=False))
    assert statuses(answer) == [401]
    assert status_of(api.say(api.head(HEALTH, "Expect: tea"))) == 417


def test_requests_in_a_row(api):
    many = b"".join(api.head(HEALTH) for _ in range(50)) + api.head(HEALTH, "Connection: close")
    assert statuses(api.say(many)) == [200] * 51


def test_one_byte_at_a_time(api):
    with api.raw() as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in api.head(HEALTH, "Connection: close"):
            plain.sendall(bytes([byte]))
        assert status_of(read_to_end(plain)) == 200


def test_http_1_0_is_closed_after_its_answer(api):
    answer = api.say(f"GET /v1/health HTTP/1.0\r\nAuthorization: Bearer {api.token}\r\n\r\n".encode())
    assert status_of(answer) == 200 and b"chunked" not in answer


def test_a_client_that_has_said_all_is_still_answered(api):
    assert status_of(api.say(api.head(HEALTH), half_close=True)) == 200


def test_a_client_that_goes_in_the_middle(api):
    for piece in [b"", b"GE", api.head(HEALTH)[:-3],
                  api.head("POST /v1/agents HTTP/1.1", "Content-Type: application/json", "Content-Length: 50") + b"{"]:
        assert api.say(piece, half_close=True) == b""
    api.get("/v1/health").ok()


@pytest.mark.slow
def test_slow_heads_end(api):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(api.raw()) for _ in range(20)]
        for plain in slow:
            plain.sendall(b"GET /v1/health HT")
        api.get("/v1/health").ok()
        for plain in slow:
            assert statuses(read_to_end(plain)) == [408]


def test_a_hundred_connections_at_once(api):
    results = []

    def ask():
        connection = api.connection()
        results.extend(api.get("/v1/health", connection=connection).status for _ in range(5))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [200] * 500
    wait_until(lambda: api.get("/v1/health").ok()["connections"] <= 3)


def test_whoever_fills_the_port_keeps_nobody_from_the_unix_socket(base):
    """Without any token: the daemon's user goes on, and whoever comes by TCP is told what there is."""
    from api import Api
    own = Api(base, base.person("user" if os.geteuid() else "root"), {"daemon": {"maxConnections": 3}})
    held = []
    try:
        held += [own.raw() for _ in range(3)]
        wait_until(lambda: own.get("/v1/health").status == 503)
        assert own.get("/v1/health").error(503) == "busy"
        held += [own.raw() for _ in range(40)]
        for _ in range(5):
            own("agent", "list").ok()
        for plain in held:
            plain.close()
        wait_until(lambda: is_served(own))
    finally:
        for plain in held:
            plain.close()
        own.stop()


def is_served(api):
    try:
        return api.get("/v1/health").status == 200
    except OSError:
        return False


def test_nothing_stays_open(api):
    def descriptors():
        return len(os.listdir(f"/proc/{api.process.pid}/fd"))

    api.get("/v1/health").ok()
    before = wait_until(descriptors)
    for _ in range(200):
        api.say(b"GET / HTTP/1.1\r\n\r\n")
    wait_until(lambda: descriptors() <= before + 2)


def test_the_daemon_leaves_while_clients_wait(base):
    from api import Api
    own = Api(base, base.person("user" if os.geteuid() else "root"))
    plain, stream = own.raw(), own.raw()
    stream.sendall(own.head("GET /v1/events HTTP/1.1", "Accept: text/event-stream"))
    read_some(stream, b"ready")
    own.stop()
    assert own.process.returncode == 0
    assert read_to_end(plain) == b""
    read_to_end(stream)
    plain.close()
    stream.close()


def test_curl_agrees(api):
    command = ["curl", "-sS", "-H", f"Authorization: Bearer {api.token}", f"http://127.0.0.1:{api.port}/v1/health"]
    if harness.shutil.which("curl") is None:
        pytest.skip("no curl")
    assert json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["status"] == "ok"
