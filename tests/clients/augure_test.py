# Augure's containers and pool by hutch-augure, and the example program that makes, heals and runs a skill.
import json
import os
import shutil

import pytest

import harness
import sources

pytestmark = pytest.mark.xdist_group("augure")

COURSE = """
import { DockerContainer, DockerContainerPool, ensureImage } from 'hutch-augure'
import { createRequire } from 'node:module'

const reason = (promise) => promise.then(() => 'no error', (error) => error.message)
const said = { required: typeof createRequire(import.meta.url)('hutch-augure').DockerContainerPool }
const LIMITS = { trust: 'sandboxed', timeout: 60, memory: '512m', cpu: '1.0' }
await ensureImage({}, 'augure-sandbox:latest')
const pool = new DockerContainerPool({}, { image: 'augure-sandbox:latest', maxTotal: 2 })
const one = await pool.acquire({ ...LIMITS, env: { OWN: 'own' } })
said.first = [one instanceof DockerContainer, one.status, pool.stats()]
const running = one.exec('echo $OWN $GIVEN; pwd; echo err >&2; exit 3', { env: { GIVEN: 'given' }, cwd: '/tmp' })
said.busy = one.status
said.result = await running
said.late = [await reason(one.exec('echo part; sleep 30', { timeout: 0.4 })), one.status]
said.left = (await one.exec('pgrep -fc "^sleep 30"')).stdout
said.network = (await one.exec('exec 3<>/dev/tcp/192.0.2.1/80')).exitCode !== 0
await one.exec('echo mine > /tmp/mine')
await pool.release(one)
said.released = [one.status, await reason(one.exec('true'))]
const share = { host: process.env.SHARE, container: '/workspace/share', readonly: true }
const [two, three] = await Promise.all([pool.acquire({ ...LIMITS, mounts: [share] }), pool.acquire(LIMITS)])
said.fresh = (await three.exec('cat /tmp/mine')).exitCode
said.mounted = (await two.exec('cat share/file; touch share/no || echo closed', { cwd: '/workspace' })).stdout
said.full = await reason(pool.acquire(LIMITS))
said.stranger = await reason(pool.release({ id: 'x' }))
await pool.destroy(two)
said.destroyed = [two.status, pool.stats().busy]
await two.stop()
await pool.destroyAll()
said.all = [three.status, pool.stats()]
const odd = new DockerContainerPool({}, { maxTotal: 1 })
said.odd = await odd.acquire({ ...LIMITS, memory: 'much' }).then(() => 'no error', (error) => error.message)
console.log(JSON.stringify(said))
"""


@pytest.fixture(scope="module")
def place(npm, packed):
    return npm(packed["hutch-augure"], packed["hutch-sdk"])


def run_node(base, person, place, script, *words, **environment):
    home = person.home / "augure"
    if not home.exists():
        person.mkdir(home)
    environment = {"HOME": str(home), "HUTCH_STATE": str(home / "state"), "PATH": os.environ["PATH"],
                   "HUTCH_PROGRAM": str(base.bin / "hutch"), **environment}
    return harness.run_in(person, ["node", script, *words], cwd=place, env=environment, timeout=180)


def test_containers_and_their_pool(base, place, person):
    (place / "course.mjs").write_text(COURSE)
    share = person.home / "augure-share"
    person.write(share / "file", "shared\n")
    done = run_node(base, person, place, place / "course.mjs", SHARE=str(share))
    said = json.loads(done.ok().text.splitlines()[-1])
    assert said["required"] == "function"
    assert said["first"] == [True, "idle", {"idle": 0, "busy": 1, "total": 1, "maxTotal": 2}]
    assert said["busy"] == "busy"
    assert said["result"] == {"exitCode": 3, "stdout": "own given\n/tmp\n", "stderr": "err\n"}
    assert said["late"] == ["Exec timed out after 0.4s", "idle"] and said["left"] == "0\n"
    assert said["network"] is True
    assert said["released"][0] == "stopped" and "is stopped" in said["released"][1]
    assert said["fresh"] != 0 and said["mounted"] == "shared\nclosed\n"
    assert said["full"] == "Pool limit reached" and "no container of this pool" in said["stranger"]
    assert said["destroyed"] == ["stopped", 1]
    assert "much" in said["odd"]
    assert said["all"] == ["stopped", {"idle": 0, "busy": 0, "total": 0, "maxTotal": 2}]


def test_a_skill_is_made_tested_healed_and_run(base, place, person):
    for name in ("skills.mjs", "model.mjs"):
        shutil.copy(sources.ROOT / "examples/skill-loop" / name, place / name)
    done = run_node(base, person, place, place / "skills.mjs", "add numbers", "[1, 2, 3]")
    assert json.loads(done.ok().text) == {"task": "add numbers", "failures": 1, "success": True, "output": 6}
    told = [line for line in done.errors.splitlines() if not line.startswith("(")]
    assert told == ["tested: it fails", "healed", "tested: it passes"], done.errors
    wrong = run_node(base, person, place, place / "skills.mjs", "add numbers", "{}")
    assert wrong.code == 1 and json.loads(wrong.text)["success"] is False, str(wrong)
