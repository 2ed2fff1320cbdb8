# User `root` of the E2B-compatible API: of the image of a sandbox that runs, and of nothing of the host's.
import base64
import hashlib
import os
import pathlib
import urllib.parse

import harness
import pytest

import api as client
import e2b
import packages
import rootfs

pytestmark = [pytest.mark.xdist_group("e2b"),
              pytest.mark.skipif(not packages.are_there(), reason="no apt and dpkg to make a system of")]

ROOT = {"Authorization": "Basic " + base64.b64encode(b"root:").decode()}
LENT = "00000000000000fb"  # CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID


def daemon(base, owner):
    made = client.Api(base, rootfs.owner(base, owner))
    made.owner = owner
    path = packages.archive(made.state / "system.tar", made.person, packages.every_install_has())
    made("image", "import", "system", path).ok()
    path.unlink()
    return made


@pytest.fixture(scope="module", params=[name for name in rootfs.OWNERS if name != "user"])
def api(request, base):
    """A daemon with the image "system": of root, and of somebody with subordinate ids."""
    made = daemon(base, request.param)
    yield made
    made("image", "remove", "system")
    made.stop()


@pytest.fixture
def sandbox(api):
    made = e2b.Sandbox(api, "system")
    yield made
    made.kill()


def run(sandbox, line, user=None, **process):
    """(exit code, output, errors) of a line of sh, by that user."""
    process = {"cmd": "/bin/sh", "args": ["-c", line], **process}
    stream = sandbox.start("", headers=ROOT if user == "root" else None, process=process)
    try:
        _, output, errors, end = stream.run()
        assert end is not None, stream.error
        return end.get("exitCode", 0), output.decode(), errors.decode()
    finally:
        stream.close()


def ran(sandbox, line, user=None, **process):
    code, output, errors = run(sandbox, line, user, **process)
    assert code == 0, (line, code, output, errors)
    return output


def files(sandbox, method, path, body=None, user=None):
    headers = sandbox.headers({"Content-Type": "application/octet-stream"})
    named = "&username=root" if user == "root" else ""
    return sandbox.api.request(method, f"/files?path={path}{named}", body=body, headers=headers)


def home_on_host(sandbox):
    return sandbox.api.state / "data/workspace/agents" / sandbox.agent


def test_root_installs_what_the_user_then_has(sandbox):
    assert run(sandbox, "hello")[0] == 127
    output = ran(sandbox, "apt-get update && apt-get install -y hello && id -u && pwd && echo $HOME", "root")
    assert output.endswith("0\n/root\n/root\n"), output
    assert ran(sandbox, "hello; id -u") == f"hello\n{sandbox.api.person.uid or 1000}\n"
    assert ran(sandbox, "stat -c '%a %u:%g' /usr/bin/scores") == "2755 0:60\n"
    failed = run(sandbox, "apt-get install -y broken", "root")
    assert failed[0] != 0 and "it went wrong" in failed[1] + failed[2], failed
    # Until its end, over a new start of the sandbox as well.
    assert sandbox.rest("POST", "/pause", {"keepMemory": False}).status == 204
    sandbox.rest("POST", "/connect", {"timeout": 300}).ok()
    assert ran(sandbox, "hello") == "hello\n"
    other = e2b.Sandbox(sandbox.api, "system")
    assert run(other, "hello")[0] == 127
    other.kill()


def test_it_is_the_same_sandbox(sandbox):
    """Its processes, its /tmp, its network, while they go on."""
    stream = sandbox.start("", process={"cmd": "/bin/sh", "args": ["-c", "echo begun; sleep 600"]})
    pid = next(event["start"]["pid"] for event in stream.events() if "start" in event)
    ran(sandbox, "echo by the user > /tmp/script")
    assert ran(sandbox, f"cat /tmp/script; cat /proc/{pid}/comm", "root") == "by the user\nsh\n"
    namespaces = "for i in user pid net ipc uts cgroup; do stat -L -c %i /proc/self/ns/$i; done"
    assert ran(sandbox, namespaces, "root") == ran(sandbox, namespaces)
    ran(sandbox, "echo by root > /tmp/other; chmod 600 /tmp/other; echo conf > /etc/own.conf", "root")
    assert run(sandbox, "cat /tmp/other")[0] == 1
    assert ran(sandbox, "cat /etc/own.conf") == "conf\n"
    assert run(sandbox, "echo x > /etc/own.conf")[0] != 0
    ran(sandbox, f"kill {pid}", "root")
    _, _, _, end = stream.run()
    assert end["exitCode"] == 143 or end.get("error"), end
    stream.close()
    # What root leaves running is there until the sandbox's end, and is nobody's else to end.
    left = ran(sandbox, "sleep 601 >/dev/null 2>&1 & echo $!", "root").strip()
    harness.wait_until(lambda: ran(sandbox, f"cat /proc/{left}/comm") == "sleep\n", "it is executed")
    assert run(sandbox, f"kill {left}")[0] != 0 and ran(sandbox, f"cat /proc/{left}/comm") == "sleep\n"


def test_files_of_root(sandbox):
    written = files(sandbox, "POST", "/etc/app/settings", b"by root", "root")
    assert written.ok(200)[0]["path"] == "/etc/app/settings"
    assert ran(sandbox, "stat -c '%u:%g' /etc/app/settings; cat /etc/app/settings") == "0:0\nby root"
    assert files(sandbox, "POST", "/etc/app/settings", b"no").status == 403
    assert files(sandbox, "POST", "notes", b"at home", "root").ok(200)[0]["path"] == "/root/notes"
    assert files(sandbox, "GET", "/root/notes", user="root").body == b"at home"
    ran(sandbox, "chmod 700 /root", "root")
    assert files(sandbox, "GET", "/root/notes").status in (403, 404)
    listed = sandbox.call("filesystem.Filesystem/ListDir", {"path": "/root"}, ROOT).ok()["entries"]
    assert [one["path"] for one in listed] == ["/root/notes"]
    big = os.urandom(3 << 20)
    files(sandbox, "POST", "/srv/big", big, "root").ok(200)
    assert files(sandbox, "GET", "/srv/big").body == big
    assert sandbox.call("filesystem.Filesystem/Remove", {"path": "/etc/app/settings"}).status != 200
    sandbox.call("filesystem.Filesystem/Remove", {"path": "/etc/app/settings"}, ROOT).ok()


def test_root_has_the_capabilities_that_installing_takes_and_no_more(sandbox):
    status = ran(sandbox, "cat /proc/self/status", "root")
    fields = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    assert {fields[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {LENT}
    assert {fields[name] for name in ("CapInh", "CapAmb")} == {"0" * 16}
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    own = ran(sandbox, "cat /proc/self/status")
    assert {line.split(":\t")[1] for line in own.splitlines() if line.startswith("Cap")} == {"0" * 16}
    # Of the host it is none of the users that anything belongs to there.
    assert ran(sandbox, "cat /proc/self/uid_map", "root") == ran(sandbox, "cat /proc/self/uid_map")
    outside = ran(sandbox, "cat /proc/self/uid_map", "root").split()[1]
    assert int(outside) >= rootfs.FIRST_SUBORDINATE, outside


def test_root_changes_no_file_of_the_hosts(sandbox):
    """Not by itself, not by its rights over files, and no set-user-ID file comes to lie there."""
    home = home_on_host(sandbox)
    ran(sandbox, "echo mine > ~/note; chmod 700 ~; cp /bin/sh ~/sh")
    before = os.lstat(home / "note")
    for line in ("echo x > /home/user/note", "echo x > /home/user/made", "chmod 4755 /home/user/sh",
                 "chown 0:0 /home/user/sh", "chown 42 /home/user/note", "rm /home/user/note", "rm -rf /home/user/sh",
                 "mv /home/user/note /root/", "touch /workspace/shared/x", "touch /output/x", "ln /bin/sh /home/user/y",
                 "cp /bin/sh /home/user/new && chmod 6755 /home/user/new"):
        code, _, errors = run(sandbox, line, "root")
        assert code != 0 and ("Read-only" in errors or "cross-device" in errors or "Invalid" in errors), (line, errors)
    assert files(sandbox, "POST", "/home/user/note", b"x", "root").status >= 400
    after = os.lstat(home / "note")
    assert (before.st_mode, before.st_uid, before.st_mtime_ns) == (after.st_mode, after.st_uid, after.st_mtime_ns)
    assert sorted(one.name for one in home.iterdir() if not one.name.startswith(".")) == ["note", "sh"]
    assert not os.lstat(home / "sh").st_mode & 0o6000
    assert {one.lstat().st_uid for one in home.rglob("*")} == {sandbox.api.person.uid}
    # The user's own are the user's still.
    assert ran(sandbox, "echo more >> ~/note; cat ~/note") == "mine\nmore\n"


def test_the_kernel_is_as_far_away_as_for_the_user(sandbox):
    for line in ("echo x > /proc/sys/kernel/hostname", "echo 1 > /proc/sys/vm/drop_caches",
                 "echo h > /proc/sysrq-trigger",
                 "chmod 777 /dev/null", "rm /dev/null", "cat /proc/1/root/etc/passwd", "cat < /proc/1/fd/0",
                 "cat /proc/1/environ", "cat /proc/1/maps", "echo 1000 > /proc/1/oom_score_adj", "mv /proc/1 /tmp",
                 "echo 5 > /proc/sys/user/max_user_namespaces"):
        assert run(sandbox, line, "root")[0] != 0, line
    assert ran(sandbox, "echo into > /dev/null && echo fine", "root") == "fine\n"
    assert run(sandbox, "kill -9 1", "root") is not None and ran(sandbox, "echo alive") == "alive\n"


def test_a_pause_holds_root_as_well_and_the_end_ends_it(sandbox):
    tick = "while :; do echo x >> /srv/ticks; sleep 0.05; done"
    stream = sandbox.start("", headers=ROOT, process={"cmd": "/bin/sh", "args": ["-c", tick]})
    pid = next(event["start"]["pid"] for event in stream.events() if "start" in event)
    assert pid in sandbox.pids()
    assert sandbox.rest("POST", "/pause").status == 204
    stopped = [one for one in processes(tick) if state_of(one) == "T"]
    assert stopped, [state_of(one) for one in processes(tick)]
    sandbox.rest("POST", "/connect", {"timeout": 300}).ok()
    client.wait_until(lambda: all(state_of(one) != "T" for one in processes(tick)))
    sandbox.kill()
    client.wait_until(lambda: not processes(tick))
    stream.close()


def begun(sandbox, line):
    """(stream, pid) of a line of root's that runs."""
    stream = sandbox.start("", headers=ROOT, process={"cmd": "/bin/sh", "args": ["-c", line]})
    return stream, next(event["start"]["pid"] for event in stream.events() if "start" in event)


TICK = "trap '' TERM HUP; while :; do echo x >> /srv/ticks; sleep 0.05; done"


def in_background(line):
    return f"/bin/sh -c \"{line}\" > /dev/null 2>&1 < /dev/null & "


def test_with_a_guest_that_root_kills_the_sandbox_ends(sandbox):
    """Nobody else knows what it had started, which a pause or a saved policy would otherwise not reach."""
    stream, _ = begun(sandbox, in_background(TICK) + "while [ ! -e /tmp/go ]; do :; done; kill -9 $PPID")
    client.wait_until(lambda: processes(TICK))
    go = sandbox.start("", process={"cmd": "/bin/sh", "args": ["-c", "echo > /tmp/go"]})
    go.run()  # which may be killed as well
    go.close()
    client.wait_until(lambda: not processes(TICK))
    stream.close()
    client.wait_until(lambda: begins_anew(sandbox))


def begins_anew(sandbox):
    """Not yet, while the one that was killed is still ending."""
    stream = sandbox.start("", headers=ROOT, process={"cmd": "/bin/sh", "args": ["-c", "id -u"]})
    try:
        return stream.run()[1] == b"0\n"
    finally:
        stream.close()


def test_a_guest_that_root_stops_pauses_nothing_and_the_sandbox_ends(sandbox):
    stream, _ = begun(sandbox, in_background(TICK) + "while [ ! -e /tmp/go ]; do :; done; kill -STOP $PPID; wait")
    client.wait_until(lambda: processes(TICK))
    ran(sandbox, "touch /tmp/go")
    client.wait_until(lambda: "T" in [state_of(one) for one in processes("--beside")])
    assert sandbox.rest("POST", "/pause").status >= 400
    client.wait_until(lambda: not processes(TICK))
    stream.close()


NO_DESCRIPTORS = r"""
#include <stdlib.h>
#include <sys/resource.h>
int main(int argc, char **argv) {
  struct rlimit none = {0, 0};
  return prlimit(atoi(argv[1]), RLIMIT_NOFILE, &none, 0) != 0;
}
"""


def test_a_guest_without_descriptors_leaves_nothing_running(sandbox, compiler):
    program = compiler.build(NO_DESCRIPTORS)
    files(sandbox, "POST", "/srv/none", program.read_bytes(), "root").ok(200)
    ran(sandbox, "chmod 755 /srv/none", "root")
    line = in_background(TICK) + "while [ ! -e /srv/ticks ]; do :; done; /srv/none $PPID"
    stream, _ = begun(sandbox, line)
    stream.run()
    stream.close()
    client.wait_until(lambda: not processes(TICK))


def test_root_has_nothing_go_on_that_was_paused(sandbox):
    stream = sandbox.start("", process={"cmd": "/bin/sh", "args": ["-c", TICK.replace("/srv", "/tmp")]})
    pid = next(event["start"]["pid"] for event in stream.events() if "start" in event)
    # Each goes on as another one, so that whoever looks for them one by one comes late.
    chain = f"kill -CONT {pid}; exec /bin/sh -c 'kill -CONT {pid}; /bin/sh /srv/chain & exit'"
    files(sandbox, "POST", "/srv/chain", chain.encode(), "root").ok(200)
    chains = [begun(sandbox, "/bin/sh /srv/chain; while :; do sleep 1; done")[0] for _ in range(4)]
    for _ in range(5):
        assert sandbox.rest("POST", "/pause").status == 204
        # A signal is acted on when the process returns to its own code; one that waits for the supervisor of its files,
        # which has stopped answering, does so once that goes on.
        harness.wait_until(lambda: {"T" if is_held(one) else state_of(one) for one in processes("/srv/chain") +
                                    processes(TICK.replace("/srv", "/tmp"))} == {"T"}, "all are stopped")
        sandbox.rest("POST", "/connect", {"timeout": 300}).ok()
    for one in [stream, *chains]:
        one.close()


def test_a_link_for_the_user_is_not_for_root(sandbox):
    """Its header is not signed."""
    ran(sandbox, "echo secret > /srv/own; chmod 600 /srv/own", "root")
    for path in ("/srv/own", "/srv/made"):
        for operation, method in (("read", "GET"), ("write", "POST")):
            text = f"{path}:{operation}:user:{sandbox.token}".encode()
            signed = "v1_" + base64.b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
            query = urllib.parse.urlencode({"path": path, "username": "user", "signature": signed})
            headers = {"Authorization": ROOT["Authorization"], "Content-Type": "application/octet-stream"}
            body = b"x" if method == "POST" else None
            answer = sandbox.api.request(method, f"/files?{query}", body=body, headers=headers)
            assert answer.status == 401, (path, method, answer.status, answer.body)
    assert ran(sandbox, "cat /srv/own", "root") == "secret\n"


def processes(line):
    """Those with that in their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{name}/cmdline", "rb").read().split(b"\0")
        except OSError:
            continue
        if line.encode() in words:
            found.append(name)
    return found


def is_held(pid):
    try:
        return "seccomp" in pathlib.Path(f"/proc/{pid}/wchan").read_text()
    except OSError:
        return False


def state_of(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize("template,words", [("base", "hutch image build"), ("namespace", "hutch agent install"),
                                            ("bwrap", "the host's own files")])
def test_without_an_image_the_error_says_what_there_is(api, template, words):
    sandbox = e2b.Sandbox(api, template)
    stream = sandbox.start("id", headers=ROOT)
    assert stream.run()[3] is None and stream.error["code"] == "unimplemented", stream.error
    assert "user root" in stream.error["message"] and words in stream.error["message"], stream.error
    refused = files(sandbox, "POST", "/etc/x", b"x", "root")
    assert refused.status == 501 and words in refused.json()["message"], refused.body
    sandbox.kill()


def test_with_one_user_alone_the_error_says_how_to_get_more(base):
    if os.geteuid() != 0:
        pytest.skip("root alone can be several users")
    made = daemon(base, "user")
    try:
        sandbox = e2b.Sandbox(made, "system")
        stream = sandbox.start("", headers=ROOT, process={"cmd": "/bin/sh", "args": ["-c", "id"]})
        assert stream.run()[3] is None and "subordinate ids" in stream.error["message"], stream.error
        refused = files(sandbox, "POST", "/etc/x", b"x", "root")
        assert refused.status == 501 and "usermod" in refused.json()["message"], refused.body
        sandbox.kill()
    finally:
        made("image", "remove", "system")
        made.stop()
