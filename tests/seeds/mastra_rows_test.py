# Mastra's LocalSandbox: rows 1 to 67, by one program that takes the package from its file.
import os

import pytest

import api as client
from mastra import run_node
from seed_pages import rows, says

DIFFERS = {
    1: "./dev clients && hutch clients install mastra",
    7: "The network is closed unless the options or a policy open it.",
    18: "PATH is your program's, followed by the sandbox's own directories.",
    19: "The environment has more than PATH: what commands in hutch need",
    24: "isolation: 'none' fails with the setting that permits it: hutch settings set security.sandboxOnly false",
    27: "the default is namespace",
    32: "accepted; the logger says that it has no meaning on Linux",
    33: "added to the other settings, not in their place",
    34: "hides /opt, /snap and directories of PATH in the home, as there",
    35: "hutch, HutchSandbox",
    49: "results: timedOut, killed, stdoutTruncated, stdoutDroppedBytes; maxRetainedBytes",
    56: "HutchSandbox.detectIsolation(): namespace, else bwrap, else why not",
    58: "The home is hidden.",
    62: "a policy in hutch's configuration, shared by its hash",
    65: "where no sandbox can read or change it",
    67: "Mounts of object stores (S3, GCS) are not there.",
}


@pytest.mark.parametrize("row, sentence", rows(DIFFERS))
def test_what_differs_is_told(row, sentence):
    says("mastra", sentence)


COURSE = """
import { HutchSandbox } from 'hutch-mastra'
import { existsSync } from 'node:fs'

process.chdir(process.env.BASE)
const reason = (work) => Promise.resolve().then(work).then(() => 'no error', (error) => error.message)
const sandbox = new HutchSandbox({ workingDirectory: './work', env: { GIVEN: 'given' } })
const run = async (line) => (await sandbox.executeCommand(line)).stdout
const said = { row_36: [sandbox.status] }
said.row_2 = await run('echo works')
said.row_36.push(sandbox.status)
said.row_7 = (await sandbox.executeCommand('curl', ['-sf', 'http://good.invalid/'])).success
said.row_18 = (await run('echo $PATH')).trim().startsWith(process.env.PATH.split(':')[0])
said.row_19 = await run('env | grep -c -e ^COURSE_SECRET= -e ^E2B_; echo $GIVEN')
said.row_24 = await reason(() => new HutchSandbox({ isolation: 'none' })._start())
said.row_27 = (await sandbox.getInfo()).metadata.isolation
said.row_32 = await reason(() => new HutchSandbox({ nativeSandbox: { seatbeltProfilePath: '/x.sb' } }).id)
said.row_33 = await reason(() => new HutchSandbox({ nativeSandbox: { bwrapArgs: ['--die-with-parent'] } }).id)
said.row_34 = await reason(() => new HutchSandbox({ nativeSandbox: { allowSystemBinaries: false } }).id)
said.row_35 = [sandbox.name, sandbox.provider]
const { timedOut, killed, stdoutTruncated, stderrDroppedBytes } = await sandbox.executeCommand('true')
said.row_49 = [timedOut, killed, stdoutTruncated, stderrDroppedBytes]
said.row_56 = HutchSandbox.detectIsolation().available
said.row_58 = [(await sandbox.executeCommand(`cat ${process.env.HIDDEN}`)).success,
  (await sandbox.executeCommand('cat /etc/os-release')).success]
said.row_65 = existsSync('.sandbox-profiles')
said.row_67 = [typeof sandbox.mount, typeof sandbox.mounts]
await sandbox._destroy()
said.row_36.push(sandbox.status)
console.log(JSON.stringify(said))
process.exit(0)
"""
EXPECTED = {
    "row_2": "works\n",
    "row_7": False,
    "row_18": True,
    "row_19": "0\ngiven\n",
    "row_27": "namespace",
    "row_32": "no error",
    "row_33": "no error",
    "row_34": "no error",
    "row_35": ["HutchSandbox", "hutch"],
    "row_36": ["pending", "running", "destroyed"],
    "row_49": [False, False, False, 0],
    "row_56": True,
    "row_58": [False, True],
    "row_65": False,
    "row_67": ["function", "object"],
}


@pytest.fixture(scope="module")
def said(base, person, provider):
    api = client.Api(base, person)
    hidden = person.write(person.home / "of-mastra", "hidden")
    place = person.mkdir(person.home / "mastra-rows")
    path = f"/usr/bin:{os.environ['PATH']}"
    try:
        yield run_node(api, provider, COURSE, BASE=str(place), HIDDEN=str(hidden), PATH=path, COURSE_SECRET="x",
                       HUTCH_PROGRAM=str(base.bin / "hutch"))
    finally:
        api.stop()


@pytest.mark.slow  # its packages take a minute to come
@pytest.mark.parametrize("row", sorted(EXPECTED))
def test_what_is_there(said, row):
    assert said[row] == EXPECTED[row]


@pytest.mark.slow
def test_row_24_none_names_the_setting(said):
    assert "hutch settings set security.sandboxOnly false" in said["row_24"]
