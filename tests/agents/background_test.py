# Commands in the background: their output is in a file of the agent's home as well.
import json

import harness


def start(daemon, agent, command):
    daemon("agent", "set", agent, "autonomousExec.enabled=true", "autonomousExec.maxCommandsPerTurn=0").ok()
    envelope = daemon.tool(agent, "sandbox_exec_background", command=command)
    assert envelope["ok"] is True and not envelope.get("warnings"), envelope
    return envelope["result"]


def end(daemon, agent, pid):
    return daemon.tool(agent, "sandbox_process", action="wait", pid=pid, timeout=30)["result"]


def test_the_log_has_both_streams_while_it_runs(daemon, any_agent):
    started = start(daemon, any_agent, "echo one; echo two >&2; while [ ! -e go ]; do sleep 0.1; done; echo three")
    log = started["log_file"]
    read = lambda: daemon.tool(any_agent, "sandbox_read_file", path=log)["result"]["content"]
    harness.wait_until(lambda: read() == "one\ntwo\n", "what it wrote is there")
    assert daemon.sh(any_agent, f"cat {log}; touch go", options=["--cwd", started["cwd"]]).ok().text == "one\ntwo\n"
    ended = end(daemon, any_agent, started["pid"])
    assert ended["exit_code"] == 0 and ended["log_file"] == log
    assert read() == "one\ntwo\nthree\n"
    polled = daemon.tool(any_agent, "sandbox_process", action="poll", pid=started["pid"])["result"]
    assert polled["log_file"] == log and polled["log_tail"].endswith("three\n")


def test_an_agent_that_takes_its_log_away_harms_itself_alone(daemon, agent):
    started = start(daemon, agent, "echo one; while [ ! -e go ]; do sleep 0.1; done; echo two; exit 4")
    log = started["log_file"]
    harness.wait_until(lambda: daemon.sh(agent, f"cat {log}").text == "one\n", "it has begun")
    daemon.sh(agent, f"rm {log}; ln -s /etc/passwd {log}; touch go", options=["--cwd", started["cwd"]]).ok()
    ended = end(daemon, agent, started["pid"])
    assert ended["exit_code"] == 4 and "two" in ended["log_tail"]


def test_a_home_without_room_is_told(daemon, agent):
    """Where no file can be made nothing is begun: the tool says why."""
    daemon("agent", "set", agent, "autonomousExec.enabled=true").ok()
    daemon.sh(agent, "chmod 555 $HOME").ok()
    envelope = daemon.tool(agent, "sandbox_exec_background", command="echo one")
    daemon.sh(agent, "chmod 755 $HOME").ok()
    if daemon.person.is_root:
        return  # whom no mode stops
    assert envelope["ok"] is False and "log file" in json.dumps(envelope)
