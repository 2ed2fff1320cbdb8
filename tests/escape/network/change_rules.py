# Takes the network's rules, routes and addresses away from inside.
# none: succeeds as root
import subprocess

import attack

for command in (
    ["nft", "flush", "ruleset"],
    ["nft", "delete", "table", "inet", "hutch"],
    ["nft", "add", "table", "inet", "mine"],
    ["ip", "link", "set", "lo", "down"],
    ["ip", "addr", "add", "203.0.113.77/32", "dev", "lo"],
    ["ip", "link", "add", "mine", "type", "dummy"],
    ["sysctl", "-w", "net.ipv4.ip_unprivileged_port_start=0"],
):
    try:
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            attack.succeeded(" ".join(command))
    except FileNotFoundError:
        pass
attack.held()
