#!/usr/bin/env python3
# What the egress gateway costs: streams, new connections, memory and the start, beside the plain loopback.
"""usage: ./dev bench net [--json] [--rounds N] [--bytes N] [--connections N]

Server and clients are one small C program in a network namespace of the benchmark's own. "direct" is the loopback
there, "captured" a program in a sandbox that knows of no proxy, "CONNECT" one that uses the proxy's port. All of a
group are taken in turn within one run.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time

import measure
from measure import Case, harness

ADDRESS, PORT, PROXY = "203.0.113.1", "7000", "1023"
INSIDE = "HUTCH_BENCH_INSIDE"


def main():
    options = parse()
    if os.environ.get(INSIDE) != "1":
        # Ports of closed connections are free again at once; the machine's own network is not touched.
        new = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
        os.execvpe(new[0], [*new, "--", sys.executable, "-B", *sys.argv], {**os.environ, INSIDE: "1"})
    prepare_namespace()
    base = harness.Base()
    try:
        measure_all(base, options)
    finally:
        base.remove()
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench net", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=7, help="how often each case is taken")
    parser.add_argument("--bytes", type=int, default=2_000_000_000, help="of a stream")
    parser.add_argument("--connections", type=int, default=1000, help="of a round")
    return parser.parse_args()


def prepare_namespace():
    for command in (["ip", "link", "set", "lo", "up"], ["ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo"]):
        subprocess.run(command, check=True)
    for name, value in (("tcp_tw_reuse", "1"), ("ip_local_port_range", "2000 65000")):
        with open(f"/proc/sys/net/ipv4/{name}", "w", encoding="ascii") as setting:
            setting.write(value)


class Bench:
    def __init__(self, base, options):
        self.options = options
        self.person = base.person("root" if os.geteuid() == 0 else "user")
        self.project = self.person.mkdir(self.person.home / "projects" / "bench")
        self.net = measure.compile_static("net.c", self.project / "net")
        self.hutch = [str(base.bin / "hutch"), "run"]
        self.server = subprocess.Popen([self.net, "serve", ADDRESS, PORT], stdout=subprocess.PIPE)
        assert self.server.stdout.readline() == b"ready\n"

    def stop(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def sandboxed(self, *words):
        return [*self.hutch, "--allow-domain", ADDRESS, "--", *words]

    def seconds(self, command):
        ran = harness.run_in(self.person, command, cwd=self.project, timeout=600)
        if ran.code != 0:
            sys.exit(f"bench: {ran}")
        return float(ran.text)

    def in_turn(self, commands):
        """The median of what each command prints, taken one after another, round by round."""
        times = {name: [] for name in commands}
        for _ in range(self.options.rounds):
            for name, command in commands.items():
                times[name].append(self.seconds(command))
        return {name: statistics.median(taken) for name, taken in times.items()}

    def three_ways(self, *words):
        own = [str(self.net), *words]
        return self.in_turn({"direct": own, "captured": self.sandboxed(*own), "CONNECT": self.sandboxed(*own, PROXY)})


def measure_all(base, options):
    bench = Bench(base, options)
    try:
        groups = [streams(bench, 1), streams(bench, 8), connections(bench, 1), connections(bench, 8), latency(bench),
                  opened(bench), idle(bench), start(bench)]
    finally:
        bench.stop()
    for title, cases in groups:
        if options.json:
            measure.print_json("net", cases)
        else:
            measure.print_table(title, cases)


def streams(bench, count):
    bytes_in_all = bench.options.bytes
    taken = bench.three_ways("stream", ADDRESS, PORT, str(bytes_in_all), str(count))
    name = f"{count} stream{'s' if count > 1 else ''}"
    return f"{name}, GB/s (ratio: of direct)", [
        Case(f"{name} {way}", bytes_in_all / seconds / 1e9, "GB/s", f"{name} direct" if way != "direct" else "")
        for way, seconds in taken.items()]


def connections(bench, clients):
    count = bench.options.connections
    taken = bench.three_ways("connect", ADDRESS, PORT, str(count), str(clients))
    name = f"new connections, {clients} at a time"
    cases = [Case(f"{name} {way}", count / seconds, "/s", f"{name} direct" if way != "direct" else "",
                  note=f"({seconds / count * clients * 1e3:.3f} ms each)") for way, seconds in taken.items()]
    return f"{name}, of one byte each", cases


def latency(bench, count=5000):
    taken = bench.three_ways("rtt", ADDRESS, PORT, str(count), "1")
    return "round trip on an open connection", [
        Case(f"round trip {way}", seconds / count * 1e6, "us", "round trip direct" if way != "direct" else "")
        for way, seconds in taken.items()]


def opened(bench, requests=4000):
    """HTTP/2 requests of one client to nghttpd, without and with a rule that has TLS opened."""
    certify(bench.project)
    serve = ["nghttpd", "--address", ADDRESS, "7443", "server.key", "server.pem"]
    policy = bench.person.write(bench.project / "opened.json", json.dumps({"network": {
        "allowedDomains": [], "deniedDomains": [], "rules": [{"host": f"{ADDRESS}:7443", "methods": ["GET"]}],
        "tlsTerminate": {"extraCaCertPaths": [str(bench.project / "server.pem")]}}}))
    load = ["h2load", "-n", str(requests), "-c", "1", "-m", "10", f"https://{ADDRESS}:7443/page"]
    bench.person.write(bench.project / "page", "x" * 1000)
    ways = {"TLS direct": load, "TLS passed on": bench.sandboxed(*load),
            "TLS opened": [*bench.hutch, "--policy", str(policy), "--", *load]}
    with subprocess.Popen([*serve, "-d", str(bench.project)], cwd=bench.project, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        time.sleep(1)
        try:
            taken = {name: [] for name in ways}
            for _ in range(bench.options.rounds):
                for name, command in ways.items():
                    taken[name].append(requests_a_second(bench, command))
        finally:
            server.kill()
    return "TLS, requests a second, ten at a time", [
        Case(name, statistics.median(rates), "/s", "" if name == "TLS direct" else "TLS direct")
        for name, rates in taken.items()]


def requests_a_second(bench, command):
    ran = harness.run_in(bench.person, command, cwd=bench.project, timeout=120)
    found = re.search(r"([0-9.]+) req/s", ran.text)
    if not found or "errored, 0 timeout" not in ran.text or " 0 failed" not in ran.text:
        sys.exit(f"bench: {ran}")
    return float(found[1])


def certify(directory):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", "server.key", "-out", "server.pem", "-subj", "/CN=bench", "-days", "2", "-addext",
                    f"subjectAltName=IP:{ADDRESS}"], cwd=directory, check=True, capture_output=True)


def idle(bench, count=100):
    """What hutch itself holds with that many open connections that do nothing."""
    command = bench.sandboxed(str(bench.net), "idle", ADDRESS, PORT, str(count))
    with harness.start_in(bench.person, command, cwd=bench.project) as process:
        assert process.stdout.readline() == b"open\n", process.stderr.read()
        time.sleep(0.5)
        kilobytes = private_memory(process.pid)
        process.stdin.close()
        process.wait()
    return "memory", [Case(f"gateway with {count} idle connections", kilobytes / 1024, "MiB")]


def private_memory(pid):
    """Of hutch, which the gateway is a part of: what no other process shares (proc(5), smaps_rollup)."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        return sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))


def start(bench):
    turns = measure.compile_static("turns.c", bench.project / "turns")
    floor = measure.compile_static("floor.c", bench.project / "floor")
    commands = {"start without a network": [*bench.hutch, "--network", "none", "--", str(floor), "true"],
                "start with a domain list": [*bench.hutch, "--allow-domain", "*.good.example", "--allow-domain",
                                             ADDRESS, "--", str(floor), "true"]}
    taken = measure.time_in_turn(turns, bench.person, bench.project, commands, 41)
    cases = [Case(name, taken[name], "ms", "" if index == 0 else "start without a network")
             for index, name in enumerate(commands)]
    return "start", cases


if __name__ == "__main__":
    sys.exit(main())
