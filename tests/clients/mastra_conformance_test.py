# LocalSandbox of @mastra/core and HutchSandbox side by side: the same cases, the same answers; and policies by hash.
import json
import pathlib

import pytest

from mastra import run_node

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mastra")]  # its packages take a minute to come

# Where they answer otherwise: what HutchSandbox says, and why (docs/from/mastra.md, or clients/mastra/README.md).
DIFFERS = {"the sandbox's time limit holds": [False, True]}


def test_both_classes_answer_the_same(api, provider):
    base = api.person.mkdir(api.person.home / "mastra-conformance")
    script = pathlib.Path(__file__).with_name("mastra_conformance.mjs").read_text()
    said = run_node(api, provider, script, BASE=str(base), HUTCH_PROGRAM=str(api.program))
    other = {name: answers for name, answers in said.items() if answers[0] != answers[1] and name not in DIFFERS}
    assert not other, json.dumps(other, indent=1)
    assert not {name: said[name] for name, wanted in DIFFERS.items() if said[name][1] != wanted}
    threw = {name: answers for name, answers in said.items() if "threw" in str(answers[1])}
    assert not threw and len(said) > 50, threw


POLICIES_COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import * as path from 'node:path'

const { BASE: base, POLICIES: place } = process.env
const files = () => { try { return readdirSync(place).sort() } catch { return [] } }
const of = (nativeSandbox, dir = 'work') => new HutchSandbox({ workingDirectory: path.join(base, dir), nativeSandbox })
const said = {}
const same = [of({ readOnlyPaths: ['/srv'] }), of({ readOnlyPaths: ['/srv'] })]
for (const one of same) await one._start()
said.same = [files().length, statSync(path.join(place, files()[0])).mode & 0o777]
const others = [of({}), of({ allowNetwork: true }), of({}, 'elsewhere')]
for (const one of others) await one._start()
said.others = files().length
for (const one of others) await one._destroy()
said.left = files().length
await same[0]._destroy()
said.kept = [files().length, (await same[1].executeCommand('echo works')).stdout]
await same[1]._stop()
said.again = (await same[1].executeCommand('echo again')).stdout
// Somebody has written something else into it: the next start says what is meant.
const [file] = files()
const text = readFileSync(path.join(place, file), 'utf8')
writeFileSync(path.join(place, file), '{"network": "outbound", "filesystem": {"allowWrite": ["/"]}}')
await same[1]._stop()
await same[1]._start()
said.mended = readFileSync(path.join(place, file), 'utf8') === text
await same[1]._destroy()
said.gone = files()
// Made and destroyed at once, over and over: each that is made starts.
const round = async () => {
  const one = of({ readOnlyPaths: ['/srv'] })
  await one._start()
  const result = await one.executeCommand('echo up')
  await one._destroy()
  return result.stdout
}
said.rounds = []
for (let i = 0; i < 4; i++) said.rounds.push(...await Promise.all([round(), round(), round(), round()]))
said.over = files()
console.log(JSON.stringify(said))
process.exit(0)
"""


def test_sandboxes_of_the_same_settings_share_a_policy_by_its_hash(api, provider):
    base = api.person.mkdir(api.person.home / "mastra-policies")
    place = api.state / "config" / "mastra"
    said = run_node(api, provider, POLICIES_COURSE, BASE=str(base), POLICIES=str(place), HUTCH_PROGRAM=str(api.program))
    assert said["same"] == [1, 0o600] and said["others"] == 4 and said["left"] == 1
    assert said["kept"] == [1, "works\n"] and said["again"] == "again\n"
    assert said["mended"] is True and said["gone"] == []
    assert said["rounds"] == ["up\n"] * 16 and said["over"] == []
