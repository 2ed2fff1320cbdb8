# A value of which a program has written the beginning when somebody looks.
import json
import time

import pytest

VALUE = "sk-3cRet-value-0123456789"
HALF = 'V=$(hutch-host secrets get TOKEN); printf "it is %s" "${V:0:18}"; sleep 4; printf "%s\\n" "${V:18}"'


@pytest.fixture
def maker(daemon):
    name = daemon.create("autonomousExec.enabled=true")
    daemon("secret", "set", "--agent", name, "TOKEN", stdin=VALUE.encode()).ok()
    yield name
    daemon("agent", "remove", name).ok()


def test_of_a_process_that_goes_on(daemon, maker):
    """As of one that prints much: what has come out by then ends where a buffer was full."""
    started = daemon.tool(maker, "sandbox_exec_background", command=HALF)
    pid = started["result"]["pid"]
    for _ in range(12):
        looked = json.dumps(daemon.tool(maker, "sandbox_process", action="poll", pid=pid))
        assert VALUE[:10] not in looked, looked
        time.sleep(0.5)


def test_of_a_command_that_takes_too_long(daemon, maker):
    looked = json.dumps(daemon.tool(maker, "sandbox_exec", command=HALF, timeout=2))
    assert "it is" in looked and VALUE[:10] not in looked, looked


def test_of_the_file_that_it_writes(daemon, maker):
    daemon.tool(maker, "sandbox_exec_background", command=f"({HALF}) > half")
    time.sleep(2)
    looked = json.dumps(daemon.tool(maker, "sandbox_read_file", path="half"))
    assert "it is" in looked and VALUE[:10] not in looked, looked
