#!/usr/bin/env python3
# What a command of the unmodified e2b package costs on hutch, beside the same against a server that runs nothing.
"""usage: ./dev bench e2b [--json] [--rounds N] [--template NAME]

One Node process calls `sandbox.commands.run('true')` in turn on hutch and on an empty mock of the API, which answers at
once. The package comes from npm. The bar: at the median hutch takes 2 ms more than the mock.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import measure
from measure import Case

import api as client  # behind measure, which says where it lies
import harness

PACKAGE = "e2b@2.51.0"
SCRIPTS = pathlib.Path(__file__).parent
MOCK, HUTCH, LOGIN = "run('true'), an empty mock", "run('true'), hutch", "the same by a login shell each time"


def main():
    options = parse()
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SystemExit(f"no {program}: apt-get install npm")
    base = harness.Base()
    try:
        place = base.path / "npm"
        place.mkdir()
        (place / "package.json").write_text('{"name": "bench", "private": true, "type": "module"}')
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", PACKAGE], cwd=place, check=True)
        api = client.Api(base, base.person("root" if os.geteuid() == 0 else "user"))
        try:
            medians = run(api, place, options)
        finally:
            api.stop()
    finally:
        base.remove()
    more = f"{medians['hutch'] - medians['mock']:.2f} ms more"
    cases = [Case(MOCK, medians["mock"], "ms"), Case(HUTCH, medians["hutch"], "ms", MOCK, more),
             Case(LOGIN, medians["login"], "ms", HUTCH)]
    if options.json:
        measure.print_json("e2b", cases)
    else:
        measure.print_table(f"{PACKAGE}, {options.template}: median of {options.rounds} in turn", cases, MOCK)
    return 0


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench e2b", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=301, help="how often each case is timed")
    parser.add_argument("--template", default="base", help="that the sandbox is made of")
    return parser.parse_args()


def run(api, place, options):
    for name in ("e2b_calls.mjs", "e2b_mock.mjs"):
        shutil.copy(SCRIPTS / name, place / name)
    with subprocess.Popen(["node", place / "e2b_mock.mjs"], stdout=subprocess.PIPE, text=True) as mock:
        try:
            settings = {"hutch": f"http://127.0.0.1:{api.port}", "key": api.token, "template": options.template,
                        "mock": f"http://127.0.0.1:{mock.stdout.readline().strip()}", "rounds": options.rounds}
            environment = {"PATH": os.environ["PATH"], "SETTINGS": json.dumps(settings),
                           "E2B_VALIDATE_API_KEY": "false"}
            done = subprocess.run(["node", place / "e2b_calls.mjs"], cwd=place, env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True)
            return json.loads(done.stdout)
        finally:
            mock.terminate()


if __name__ == "__main__":
    sys.exit(main())
