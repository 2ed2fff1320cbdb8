# One daemon, very many commands and very many sandboxes: memory and descriptors stay flat, and nothing is left.
import os
import threading

import pytest

import daemons
import frames
import harness

MIB = 1 << 20
PEOPLE = ["root", "user"] if os.geteuid() == 0 else ["user"]
EXECS, EXECS_LONG = 2000, 100_000
SANDBOXES, SANDBOXES_LONG = 40, 1000
CLIENTS = 4


@pytest.fixture(params=PEOPLE)
def daemon(request, base):
    made = daemons.Daemon(base, base.person(request.param))
    yield made
    made.stop()


class Client:
    """One connection; its calls have to succeed."""

    def __init__(self, daemon):
        self.wire = frames.connect(daemon.socket)
        self.wire.end.settimeout(300)
        self.null = os.open(os.devnull, os.O_RDWR)

    def __call__(self, verb, descriptors=(), **arguments):
        kind, answer = frames.call(self.wire, verb, descriptors=descriptors, **arguments)
        assert kind == "result", (verb, arguments, answer)
        return answer

    def exec(self, agent, *command):
        end = self("exec", [self.null] * 3, agent=agent, arguments=list(command), streams=7)
        assert end["exit_code"] == 0, end

    def close(self):
        self.wire.close()
        os.close(self.null)


def share(items, work, daemon):
    """`work(client, item)` of each, by several clients at once."""
    left, errors = list(items), []

    def one():
        client = Client(daemon)
        try:
            while left and not errors:
                work(client, left.pop())
        except (AssertionError, IndexError, OSError) as error:
            errors.append(error)
        finally:
            client.close()

    threads = [threading.Thread(target=one) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not [error for error in errors if not isinstance(error, IndexError)], errors


def held(pid):
    return daemons.descriptors(pid), daemons.threads(pid)


def expect_held(pid, before):
    harness.wait_until(
        lambda: all(now <= was for now, was in zip(held(pid), before)),
        f"descriptors and threads: {before} before, {held(pid)} now",
    )


def many_execs(daemon, count):
    agent = daemon.create()
    # With the supervisor of its files and the mark of a change, which stay: a command that ends within a call counts as
    # one that may have made one, so that they come in one of many runs.
    daemon.sh(agent, "touch x").ok()
    share(range(500), lambda client, _: client.exec(agent, "/bin/true"), daemon)
    pid = daemon.pid()
    before, memory = held(pid), daemons.memory(pid)
    share(range(count), lambda client, _: client.exec(agent, "/bin/true"), daemon)
    assert daemon.pid() == pid
    expect_held(pid, before)
    grown = daemons.memory(pid) - memory
    print(f"{count} execs: {grown // 1024} KiB more than {memory // 1024} KiB")
    assert grown < 8 * MIB
    assert not [one for one in daemon.processes(agent).values() if one["running"]]


def many_sandboxes(daemon, count):
    agent = daemon.create()
    daemon.exec(agent, "true").ok()
    pid = daemon.pid()
    before, memory = held(pid), daemons.memory(pid)
    names = [f"s{number}" for number in range(count)]

    def begin(client, name):
        client("agent.create", agent=name)
        client.exec(name, "/bin/true")
        client("process.spawn", agent=name, arguments=["sleep", "10000"])

    share(names, begin, daemon)
    assert daemon.guests() >= count
    each = (daemons.memory(pid) - memory) / count
    print(f"{count} sandboxes: {each / 1024:.0f} KiB, {(held(pid)[0] - before[0]) / count:.1f} descriptors each")
    # A twentieth of it are the names that git knows, which are judged in each agent's own places.
    assert each < MIB * 9 / 16
    share(names[:: max(1, count // 50)], lambda client, name: client.exec(name, "/bin/true"), daemon)
    share(names, lambda client, name: client("agent.remove", agent=name), daemon)
    assert daemon.pid() == pid
    expect_held(pid, before)
    # What malloc(3) keeps of many threads is no leak, and goes back a while after.
    harness.wait_until(lambda: daemons.memory(pid) - memory < 64 * MIB, f"{daemons.memory(pid) - memory} bytes more")
    print(f"{(daemons.memory(pid) - memory) // 1024} KiB are kept")
    daemon.exec(agent, "true").ok()


def test_some_execs(daemon):
    many_execs(daemon, EXECS)


def test_some_sandboxes(daemon):
    many_sandboxes(daemon, SANDBOXES)


@pytest.mark.slow
def test_a_hundred_thousand_execs(daemon):
    many_execs(daemon, EXECS_LONG)


@pytest.mark.slow
def test_a_thousand_sandboxes_at_once(daemon):
    many_sandboxes(daemon, SANDBOXES_LONG)
