# What a holder of an E2B key, or of a sandbox's token, can take of the daemon: its memory, its sandboxes.
import base64
import concurrent.futures
import contextlib
import json
import socket
import sqlite3
import struct
import time

import pytest

import api as client
import e2b
import harness

MAL, BOB = "0123456789abcdef0123", "fedcba9876543210fedc"
MB = 1 << 20
# What a key has all in all is less; what the allocator keeps for its threads comes on top.
GROWTH_MAX = 320 * MB


@pytest.fixture
def keyed(api):
    """The module's daemon with two keys, `mal` and `bob`."""
    keys = api.state / "config" / "api-keys"
    api.person.write(keys, f"mal {MAL}\nbob {BOB}\n", mode=0o600)
    yield api
    for key in (MAL, BOB):
        for one in e2b.rest(api, "GET", "/v2/sandboxes?limit=1000", key=key).ok():
            e2b.rest(api, "DELETE", f"/sandboxes/{one['sandboxID']}", key=key)
    keys.unlink()


def memory_of(api):
    text = harness.pathlib.Path(f"/proc/{api.process.pid}/status").read_text()
    return {name: int(text.split(f"{name}:")[1].split()[0]) << 10 for name in ("VmRSS", "VmHWM")}


@contextlib.contextmanager
def bounded(api):
    """What is done inside never has the daemon hold more than GROWTH_MAX more than before, and bob is served."""
    harness.pathlib.Path(f"/proc/{api.process.pid}/clear_refs").write_text("5")  # the peak begins anew
    before = memory_of(api)["VmRSS"]
    bob = e2b.Sandbox(api, key=BOB)
    yield
    assert bob.run("echo of bob")[1] == b"of bob\n"
    text = base64.b64encode(b"x" * 300_000)
    body = {"path": "/tmp/of-bob"}
    assert bob.call("filesystem.Filesystem/Stat", body).json()["code"] == "not_found"
    assert bob.run(f"echo {text.decode()[:100_000]} | wc -c")[1] == b"100001\n"
    grown = memory_of(api)["VmHWM"] - before
    assert grown < GROWTH_MAX, f"{grown >> 20} MB more"


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def begin_many(sandbox, count, line):
    """So many processes that nobody follows."""
    def begin(_):
        stream = sandbox.start(line)
        pid = next(stream)["event"]["start"]["pid"]
        stream.close()
        return pid

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(begin, range(count)))


def test_unread_output_of_many_processes(keyed):
    with bounded(keyed):
        sandboxes = [e2b.Sandbox(keyed, key=MAL) for _ in range(2)]
        # 400 MB that the bound of a single process would keep.
        pids = [begin_many(sandbox, 100, "head -c 3000000 /dev/zero; echo; sleep 1000") for sandbox in sandboxes]
        fast = sandboxes[0].start("head -c 20000000 /dev/zero")
        # Whoever reads loses nothing, and is not held up by what nobody reads.
        assert len(fast.run()[1]) == 20_000_000
        time.sleep(1)
    # Of each the end is there still, for the one that comes back.
    again = sandboxes[1].stream("process.Process/Connect", {"process": {"pid": pids[1][-1]}})
    next(again)
    out = base64.b64decode(next(again)["event"]["data"]["stdout"])
    assert out.endswith(b"\0") or out.endswith(b"\n")
    again.close()


def test_commands_and_their_words(keyed):
    mal = e2b.Sandbox(keyed, key=MAL)
    words = ["sleep 1000"] + ["x" * 100_000] * 10
    codes = []
    with bounded(keyed):
        for _ in range(60):
            stream = mal.start("", process={"cmd": "/bin/sh", "args": ["-c", *words]})
            event = next(stream, None)
            codes.append("started" if event else stream.error["code"])
            stream.close()
    assert codes[0] == "started" and codes[-1] == "resource_exhausted"
    # What has ended has given it back.
    for pid in mal.pids():
        mal.call("process.Process/SendSignal", {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"})
    client.wait_until(lambda: mal.pids() == [])
    assert next(mal.start("", process={"cmd": "/bin/sh", "args": ["-c", *words]}))["event"]["start"]


def test_messages_that_take_many_times_their_bytes(keyed):
    mal = e2b.Sandbox(keyed, key=MAL)
    # As values some 40 times as much.
    junk = b'{"process":{"cmd":"sleep","args":["1000"]},"stdin":false,"junk":[' + b"{}," * 1_300_000 + b"{}]}"
    small = b'{"process":{"cmd":"sleep","args":["1000"]},"stdin":false,"junk":[' + b"{}," * 50_000 + b"{}]}"

    def call(body):
        stream = mal.stream("process.Process/Start", None, body=struct.pack(">BI", 0, len(body)) + body)
        event = next(stream, None)
        return stream, "started" if event else stream.error["code"]

    with bounded(keyed), concurrent.futures.ThreadPoolExecutor(24) as pool:
        assert {code for _, code in pool.map(call, [junk] * 24)} == {"resource_exhausted"}
        # Of one that is taken nothing is kept while its stream goes on: three at once would be all there is room for.
        began = [call(small) for _ in range(12)]
        assert {code for _, code in began} == {"started"}
        reply = mal.call("filesystem.Filesystem/Stat", {"path": "/tmp", "junk": [{}] * 1_000_000})
        assert reply.status == 429 and reply.json()["code"] == "resource_exhausted"
    for stream, _ in began:
        stream.close()


def test_answers_that_nobody_reads(keyed):
    mal = e2b.Sandbox(keyed, key=MAL)
    mal.run("mkdir /tmp/d; cd /tmp/d; p=$(printf 'x%.0s' $(seq 200)); seq 15000 | sed s/$/$p/ | xargs touch;"
            " head -c 100000000 /dev/zero > /tmp/large")
    body = json.dumps({"path": "/tmp/d"}).encode()
    fields = [f"{name}: {value}" for name, value in mal.headers().items() if value]
    listing = keyed.head("POST /filesystem.Filesystem/ListDir HTTP/1.1", *fields, "Content-Type: application/json",
                         f"Content-Length: {len(body)}", token=False) + body
    file = keyed.head("GET /files?path=/tmp/large HTTP/1.1", *fields, token=False)
    with contextlib.ExitStack() as stack, bounded(keyed):
        for request in [listing, file] * 40:
            plain = stack.enter_context(keyed.raw())
            plain.sendall(request)
        time.sleep(8)
    # And there are answers again afterwards.
    call = lambda: mal.call("filesystem.Filesystem/ListDir", {"path": "/tmp/d"})
    client.wait_until(lambda: call().status == 200)
    assert len(call().ok()["entries"]) == 15_000


def test_watchers_of_many_large_directories(keyed):
    with bounded(keyed):
        codes = []
        for _ in range(2):
            mal = e2b.Sandbox(keyed, key=MAL)
            mal.run("mkdir /tmp/d; cd /tmp/d; p=$(printf 'x%.0s' $(seq 200)); seq 10000 | sed s/$/$p/ | xargs touch")
            codes += [mal.call("filesystem.Filesystem/CreateWatcher", {"path": "/tmp/d"}).json().get("code")
                      for _ in range(12)]
    assert codes[0] is None and codes[-1] == "resource_exhausted", codes
    # What is gone has given it back.
    mal.kill()
    mal = e2b.Sandbox(keyed, key=MAL)
    assert mal.call("filesystem.Filesystem/CreateWatcher", {"path": "/tmp"}).ok()["watcherId"]


def test_a_listing_that_is_too_much_says_of_what(keyed):
    mal = e2b.Sandbox(keyed, key=MAL)
    mal.run("mkdir /tmp/d; cd /tmp/d; t=$(printf 'y%.0s' $(seq 4000)); for i in $(seq 1700); do ln -s $t $i; done")
    for method in ("ListDir", "CreateWatcher"):
        said = mal.call(f"filesystem.Filesystem/{method}", {"path": "/tmp/d"}).json()
        assert said["code"] == "invalid_argument" and "1700 entries" in said["message"], said
        assert "more than one answer holds" in said["message"] and "20000" not in said["message"], said


def test_one_key_has_half_of_all_sandboxes(base, api):
    """499 are copies of the record of one, which are there with the next daemon."""
    own = client.Api(base, api.person)
    try:
        own.person.write(own.state / "config" / "api-keys", f"mal {MAL}\nbob {BOB}\n", mode=0o600)
        first = e2b.Sandbox(own, key=MAL, timeout=3600)
        own.process.terminate()
        own.process.wait()
        with sqlite3.connect(next(own.state.rglob("hutch.db"))) as file:
            for table, columns in (("agents", "name, folded, id, record"),
                                   ("e2b_sandboxes", "id, owner, template, token, started_ms, end_ms, paused,"
                                                     " pauses_at_end, resumes, metadata, variables")):
                row = file.execute(f"SELECT {columns} FROM {table}").fetchone()
                for number in range(499):
                    new = f"i{number:019d}"
                    copy = [str(value).replace(first.id, new) if isinstance(value, str) else value for value in row]
                    if table == "agents":
                        copy[2] = f"{number:0{len(row[2])}d}"
                        copy[3] = copy[3].replace(row[2], copy[2])
                    file.execute(f"INSERT INTO {table} ({columns}) VALUES ({','.join('?' * len(copy))})", copy)
        own.process = harness.start_in(own.person, [own.program, "serve", "--listen", f"127.0.0.1:{own.port}",
                                                    "--token-file", own.token_file],
                                       env=own.environment(), stderr=own.log, stdout=own.log)
        harness.wait_until(lambda: listens(own.port), "it serves again")
        refused = e2b.rest(own, "POST", "/v2/sandboxes", {"templateID": "base"}, key=MAL)
        assert refused.status == 429 and "500 sandboxes" in refused.json()["message"], refused.body
        assert e2b.Sandbox(own, key=BOB).run("echo x")[1] == b"x\n"
        assert e2b.rest(own, "DELETE", f"/sandboxes/i{0:019d}", key=MAL).status == 204
        assert e2b.Sandbox(own, key=MAL).run("echo x")[1] == b"x\n"
    finally:
        own.stop()
