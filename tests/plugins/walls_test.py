# What a plugin that may do less than its agent tries, to have what the agent has: the files are the same, nothing else.
"""Each row is a script of the plugin's tool that says WON. The agent does what the attempts are about meanwhile."""

import json

import pytest

import recipes
from recipes import tool

MARK = "as-it-is-the-agents"
# What the agent runs: services of its own by every kind of socket, memory, and a process with something to find.
AGENT = f"""
import ctypes, os, socket, threading, time
os.environ["MARK"] = "{MARK}"
def serve(family, address):
    made = socket.socket(family); made.bind(address); made.listen(8)
    def answer():
        while True:
            to, _ = made.accept(); to.sendall(b"{MARK}"); to.close()
    threading.Thread(target=answer, daemon=True).start()
serve(socket.AF_UNIX, "\\0agents-own")
serve(socket.AF_INET, ("127.0.0.1", 5555))
serve(socket.AF_INET, ("0.0.0.0", 5556))
open("/dev/shm/agents", "w").write("{MARK}")
open("/tmp/agents", "w").write("{MARK}")
libc = ctypes.CDLL(None)
libc.shmget(4242, 4096, 0o1666)
try: serve(socket.AF_UNIX, os.path.expanduser("~/agents.sock"))
except OSError as error: print("no path socket", error, flush=True)
open(os.path.expanduser("~/pid"), "w").write(str(os.getpid()))
open(os.path.expanduser("~/ready"), "w").write("x")
time.sleep(600)
"""
CONNECT = "/usr/bin/python3 -c 'import socket,sys; s=socket.socket({family}); s.settimeout(5); s.connect({address}); " \
          "print(s.recv(99))' 2>/dev/null | grep -q " + MARK + " && echo WON"
INET = "socket.AF_INET"
OURS = "agen[t].py"  # no pattern finds itself
SECRET = "give[n]-to-the-agent"
EACH_PROCESS = "cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null"
BY_PATH = "curl -s --noproxy '*' -H 'Hutch-Plugin: wide' http://127.0.0.1:1022"
PROXY = "curl -s -m 5 -x {scheme}://127.0.0.1:1023 http://a.example.com/ 2>/dev/null | grep -qv -i hutch && echo WON"
HOME_SOCKET = '__import__("os").path.expanduser("~/agents.sock")'
ROWS = {
    "the agent's secret in its environment": f"env | grep -q '{SECRET}' && echo WON",
    "in the environment of any process": f"{EACH_PROCESS} | grep -qa -e '{SECRET}' -e 'as-it-i[s]-the-agents' "
                                          "&& echo WON",
    "by the bridge": f"hutch-host secrets get AGENT_KEY 2>&1 | grep -q '{SECRET}' && echo WON",
    "by the bridge, as nobody's plugin": "env -u HUTCH_PLUGIN hutch-host secrets get AGENT_KEY 2>&1 | "
                                         f"grep -q '{SECRET}' && echo WON",
    "by the bridge, as another plugin": "HUTCH_PLUGIN=wide hutch-host secrets get AGENT_KEY 2>&1 | "
                                        f"grep -q '{SECRET}' && echo WON",
    "another plugin's value": "HUTCH_PLUGIN=wide hutch-host config get key 2>&1 | grep -q of-wide && echo WON",
    "the agent's value": "env -u HUTCH_PLUGIN hutch-host config get key 2>&1 | grep -q of-the-agent && echo WON",
    "by a path of the bridge": f"for p in / /secrets /v1/secrets /config ../; do {BY_PATH}$p; done 2>&1 | "
                               f"grep -q -e '{SECRET}' -e of-wide && echo WON",
    "the agent's process by its number": f"grep -qa '{OURS}' /proc/$(cat ~/pid)/cmdline && echo WON",
    "any process of the agent's": f"grep -lqa '{OURS}' /proc/[0-9]*/cmdline 2>/dev/null && echo WON",
    "a signal to it": f"kill -0 $(cat ~/pid) 2>/dev/null && grep -qa '{OURS}' /proc/$(cat ~/pid)/cmdline && echo WON",
    "a signal to all": "(trap '' TERM; kill -TERM -1 2>/dev/null); true",
    "its abstract socket": CONNECT.format(family="socket.AF_UNIX", address='"\\0agents-own"'),
    "its socket in the home": CONNECT.format(family="socket.AF_UNIX", address=HOME_SOCKET),
    "its port": CONNECT.format(family=INET, address='("127.0.0.1", 5555)'),
    "its port on all addresses": CONNECT.format(family=INET, address='("127.0.0.1", 5556)'),
    "its port by the gateway's address": "for a in $(awk '/nameserver/ {print $2}' /etc/resolv.conf) 10.0.2.2; do " +
                                         CONNECT.format(family=INET, address='("\'$a\'", 5556)') + "; done; true",
    "its shared memory": f"grep -q {MARK} /dev/shm/agents 2>/dev/null && echo WON",
    "its temporary files": f"grep -q {MARK} /tmp/agents 2>/dev/null && echo WON",
    "its System V memory": "/usr/bin/python3 -c 'import ctypes; print(ctypes.CDLL(None).shmget(4242, 4096, 0))' | "
                           "grep -qv -- -1 && echo WON",
    "a name that the agent may reach": "getent hosts a.example.com >/dev/null && echo WON",
    "by the proxy's port": PROXY.format(scheme="http"),
    "by SOCKS": PROXY.format(scheme="socks5h"),
    "a namespace": "unshare -Ur true 2>/dev/null && echo WON",
    "the daemon's files": "ls -d {state}/agents.db {state}/secrets {state}/*.sock 2>/dev/null | grep -q . && echo WON",
    "a set-user-ID file in the home": "cp /bin/true ~/s && chmod 4755 ~/s 2>/dev/null; test -u ~/s && echo WON",
    "a task in the agent's name": "hutch-host task run x 2>&1 | grep -q '\"ok\": *true' && echo WON",
    "the agent's limits": "echo max > /sys/fs/cgroup/pids.max 2>/dev/null && echo WON",
}


@pytest.fixture(params=["namespace", "bwrap"], scope="module")
def place(daemon, request):
    name = daemon.create(f"backend={request.param}", "autonomousExec.enabled=true")
    network = {"network": {"allowedDomains": ["a.example.com"]}}
    path = daemon.person.write(daemon.state / f"policy-{name}.json", json.dumps(network))
    daemon("agent", "set", name, f"policy={path}").ok()
    daemon("secret", "set", "--agent", name, "--via", "environment", "AGENT_KEY", stdin=b"given-to-the-agent").ok()
    files = recipes.Files(daemon)
    daemon("plugin", "install", files("Narrow", tools=[tool("run", 'sh -c "$PARAM_SCRIPT"; true', script="string")],
                                      permissions={"network": "none"}), "--agent", name, timeout=180).ok()
    daemon("plugin", "install", files("Wide", tools=[tool("run", 'sh -c "$PARAM_SCRIPT"; true', script="string")]),
           "--agent", name, timeout=180).ok()
    daemon("plugin", "config", "set", "wide", "key=of-wide", "--agent", name).ok()
    daemon.sh(name, "hutch-host config set key of-the-agent").ok()
    daemon.sh(name, "cat > agent.py", stdin=AGENT.encode()).ok()
    daemon.detach(name, "exec /usr/bin/python3 agent.py")
    daemon.sh(name, "for i in $(seq 100); do test -e ready && break; sleep 0.1; done; test -e ready").ok()
    yield name
    daemon("plugin", "remove", "narrow")
    daemon("plugin", "remove", "wide")
    daemon("agent", "remove", name).ok()


@pytest.mark.parametrize("attempt", ROWS)
def test_the_plugin_has_none_of_it(daemon, place, attempt):
    script = ROWS[attempt].replace("{state}", str(daemon.state))
    answer = daemon.tool(place, "narrow_run", script=script)
    assert "WON" not in answer["result"]["stdout"], answer
    # What the attempt was about is still there.
    assert daemon.sh(place, "kill -0 $(cat pid)").code == 0


THE_AGENTS = ["the agent's secret in its environment", "its abstract socket", "its port", "its port on all addresses",
              "its shared memory", "its temporary files", "its System V memory", "the agent's process by its number",
              "a signal to it", "a name that the agent may reach"]


@pytest.mark.parametrize("attempt", THE_AGENTS)
def test_in_the_agents_own_sandbox_it_is_there(daemon, place, attempt):
    """Else the rows above show nothing."""
    assert "WON" in daemon.sh(place, ROWS[attempt]).text
