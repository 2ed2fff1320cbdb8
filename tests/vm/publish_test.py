# Ports of machines at this machine's loopback (network.publish): by streams of the guest's, which dials inside.
import contextlib
import socket
import struct
import time

import harness
import pytest

SERVE = "echo up; exec nc -ll -p 3000 -e {}"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def serving(machines, script):
    """A machine of that script, which says when it is up; the port out here that is 3000 in there."""
    port = free_port()
    with machines.popen("sh", "-c", script, options=["--publish", f"{port}:3000"]) as process:
        assert process.stdout.readline() == b"up\n", process.stderr.read()
        yield port, process
        process.kill()


def ask(port, what=b"", size=None, where="127.0.0.1"):
    """What comes until the end, or so much; None where nobody takes the connection or it is reset at once."""
    try:
        with socket.create_connection((where, port), 60) as stream:
            stream.sendall(what)
            stream.shutdown(socket.SHUT_WR)
            said = b""
            while size is None or len(said) < size:
                piece = stream.recv(1 << 16)
                if not piece:
                    break
                said += piece
            return said
    except OSError:  # ENOTCONN as well, of shutdown(2) on a connection that was reset
        return None


def answered(port, what, expected):
    """The server may not listen yet."""
    harness.wait_until(lambda: ask(port, what) == expected, "the port answers")


def test_a_port_is_found_at_the_loopback_and_closed_with_the_machine(machines):
    with serving(machines, SERVE.format("cat")) as (port, _):
        answered(port, b"question", b"question")
        sent = bytes(range(256)) * 4096
        assert ask(port, sent) == sent, "bytes go both ways whole, and each end by itself"
        # More than there are streams at first.
        assert [ask(port, str(i).encode()) for i in range(10)] == [str(i).encode() for i in range(10)]
        assert ask(port, b"x", where="127.0.0.2") is None, "127.0.0.1 and nothing else"
    harness.wait_until(lambda: ask(port) is None, "the port is closed with the machine")


def test_where_nobody_listens_it_is_reset(machines):
    with serving(machines, "echo up; sleep 1000") as (port, _):
        assert ask(port, b"x") is None


def test_what_is_not_read_or_never_ends_harms_nobody(machines):
    """A program that reads nothing, one that floods, and hosts that do the same: the others go on."""
    script = "nc -ll -p 3000 -e sh -c 'read word; case $word in flood) cat /dev/zero;; deaf) sleep 1000;; " \
             "*) echo \"$word\";; esac' & echo up; wait"
    with serving(machines, script) as (port, process), contextlib.ExitStack() as held:
        answered(port, b"word\n", b"word\n")

        def hold(what):
            stream = held.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            stream.sendall(what)
            return stream

        for _ in range(8):
            hold(b"flood\n")
        deaf = hold(b"deaf\n")
        deaf.settimeout(3)
        with pytest.raises(TimeoutError):
            for _ in range(64):
                deaf.sendall(bytes(1 << 20))
        assert ask(port, b"again\n") == b"again\n"
        # Many that come and go, with a reset: what they leave is no channel of the machine's for ever. What comes
        # faster than the machine answers is reset.
        for _ in range(300):
            with contextlib.suppress(ConnectionError):
                stream = socket.create_connection(("127.0.0.1", port), 60)
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                stream.close()
        # As many at once as a machine has, and more.
        many = []
        for _ in range(250):
            with contextlib.suppress(ConnectionError):
                many.append(hold(b""))
            time.sleep(0.01)
        assert len(many) > 32
        for stream in many:
            stream.close()
        answered(port, b"after\n", b"after\n")
        assert process.poll() is None, "the machine runs on"
