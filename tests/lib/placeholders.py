# What every backend holds of secrets that are bound to hosts, in an agent that reaches good.example of tests' internet.
"""is_put_in(daemon, agent) asserts it; the agent has /usr/bin/python3, and its policy the internet's authority."""

import json

VALUE = "sk-3cRet-value-0123456789"
# What the server was sent, as it tells in its answer; without the proxies of the environment.
ASK = """
import os, sys, urllib.error, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
token = os.environ.get("TOKEN", "")
for url in sys.argv[1:]:
    request = urllib.request.Request(url.replace("TOKEN", token), headers={"X-Key": token})
    try: print(opener.open(request, timeout=60).read().decode(), flush=True)
    except urllib.error.HTTPError as error: print(error.code, flush=True)
    except Exception as error: print("failed", error, flush=True)
"""


def asks(daemon, agent, *urls):
    said = daemon.exec(agent, "/usr/bin/python3", "-c", ASK, *urls, timeout=300).ok().text
    return [json.loads(line) if line.startswith("{") else line for line in said.splitlines()]


def policy_of(internet, **network):
    return json.dumps({"network": {"deniedDomains": [], "tlsTerminate": {"extraCaCertPaths": [str(internet.ca)]},
                                   **network}})


def is_put_in(daemon, agent):
    daemon("secret", "set", "--agent", agent, "--host", "good.example", "TOKEN", stdin=VALUE.encode()).ok()
    stand_in = daemon.sh(agent, 'printf %s "$TOKEN"', timeout=300).ok().text
    assert stand_in.startswith("hutch-") and len(stand_in) == len(VALUE) and VALUE not in stand_in
    by_tls, plain = asks(daemon, agent, "https://good.example/x?q=TOKEN", "http://good.example/")
    record = daemon("audit", "--json").ok().text
    assert not isinstance(by_tls, str) and not isinstance(plain, str), (by_tls, plain, record)
    assert by_tls["headers"]["x-key"] == VALUE and by_tls["path"] == f"/x?q={VALUE}", by_tls
    assert plain["headers"]["x-key"] == stand_in, plain
    assert daemon.sh(agent, "env; cat /proc/*/environ 2>/dev/null; true").ok().text.count(VALUE) == 0
    assert VALUE not in record and agent in record
