# Every call of src/plan/filter/descriptor_calls.cc, made on a writable, a read-only and an O_PATH descriptor.
"""The table in the sources says what is decided of each call; here each is made, on each kind of descriptor, of a file
that may be changed and of one that has got a name that may not be. What may be done is done as it is outside."""

import pathlib
import re
import sys

import harness
import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import descriptors  # noqa: E402

TABLE = harness.ROOT / "src/plan/filter/descriptor_calls.cc"
NAMES = {"plain": "plain", "denied": ".mcp.json"}
# As an error says it: by the filter, or by a kernel that does not have it.
REFUSALS = {"EPERM", "ENOSYS", "ENOTSUP", "EBADF"}


def treatments():
    """{"fchmod:descriptor": "Judged", ...} as the sources have it."""
    text = TABLE.read_text(encoding="utf-8")
    variants = {"kNumber": "descriptor", "kEmpty": "empty path", "kProc": "/proc/self/fd"}
    rows = re.findall(r'DescriptorCall\{"(\w+)", (?:(k\w+)|"([^"]+)"), k(\w+),', text)
    assert len(rows) == text.count("DescriptorCall{")
    return {f"{call}:{variants.get(named, named) or given}": said for call, named, given, said in rows}


TREATMENTS = treatments()


def test_the_table_is_tried_in_full():
    assert set(TREATMENTS) == set(descriptors.ROWS)
    assert len(TREATMENTS) >= 60
    judged = {row for row, treatment in TREATMENTS.items() if treatment in ("Judged", "Refused")}
    assert judged == set(descriptors.ATTACKS), "what is judged or refused is a case of the suite of attacks"


def make_files(as_user, place):
    """A directory for each row and kind, in which a file has the name alone."""
    rows = [row for row in descriptors.ROWS if descriptors.is_here(row)]
    for at, _ in enumerate(rows):
        for kind in descriptors.KINDS:
            as_user.write(place / f"{at}-{kind}" / "plain", "as it was\n")
    as_user.write(place / "spare", "of the spare file\n" * 1000)
    script = "import os,sys\nfor p in sys.argv[1:]: os.setxattr(p, 'user.old', b'o'); os.utime(p, (5, 5))"
    paths = [str(path) for path in place.glob("*/plain")]
    harness.run_in(as_user, ["/usr/bin/python3", "-c", script, *paths], cwd=place).ok()
    return rows


STATE = """
import os, pathlib, sys
for path in sorted(pathlib.Path().glob("*/*")):
    info = path.lstat()
    values = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    print(path.parent.name, oct(info.st_mode), info.st_uid, info.st_gid, info.st_nlink, int(info.st_mtime) < 2000,
          int(info.st_mtime), path.read_bytes()[:40], info.st_size, values, sep="|")
"""


def states(as_user, place):
    """Of each file what can be changed about it; its time of change where that is one that was set."""
    told = harness.run_in(as_user, ["/usr/bin/python3", "-c", STATE], cwd=place).ok().text
    found = {}
    for line in told.splitlines():
        name, mode, uid, gid, links, is_set, when, *rest = line.split("|")
        found[name] = (mode, uid, gid, links, when if is_set == "True" else "now", *rest)
    return found


def tried(process, place, name):
    """{(row, kind): answer}; the files have `name` by the time of the calls."""
    with process:
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        for path in place.glob("*/plain"):
            path.rename(path.parent / NAMES[name])
        out, err = process.communicate(b"\n", timeout=harness.PATIENCE)
    assert process.returncode == 0, err
    return {tuple(line.split("|")[:2]): line.split("|")[2] for line in out.decode().splitlines()}


# A process that made itself unreadable has its descriptors in a directory of root's (proc(5)).
@pytest.mark.parametrize("process", [[], ["unreadable"]], ids=["plain", "unreadable"])
@pytest.mark.parametrize("name", NAMES)
def test_each_call(hutch, as_user, project, backend, name, process):
    outside, inside = as_user.mkdir(project / "outside"), as_user.mkdir(project / "inside")
    program = as_user.write(project / "descriptors.py", (HERE / "descriptors.py").read_bytes())
    words = ["/usr/bin/python3", program, *process]
    rows = make_files(as_user, outside)
    make_files(as_user, inside)
    before = states(as_user, inside)
    expected = tried(harness.start_in(as_user, words, cwd=outside), outside, name)
    wanted = states(as_user, outside)
    argv = [hutch.program, "run", "--backend", backend, "--allow-write", project, "--", *words]
    answers = tried(harness.start_in(as_user, argv, cwd=inside), inside, name)
    now = states(as_user, inside)
    wrong = []
    for at, row in enumerate(rows):
        for kind in descriptors.KINDS:
            answer, usual = answers[row, kind], expected[row, kind]
            place = f"{at}-{kind}"
            held = answer != "ok" and now[place] == before[place]
            treatment = TREATMENTS[row]
            if treatment == "Refused":
                # Where nothing protects, file systems and kernels differ in what they answer to these.
                good = backend == "none" or held and answer in REFUSALS
            elif backend != "none" and row == "io_submit:descriptor":
                good = held and answer == "ENOSYS"  # of io_setup(2): the machine has one number of requests
            elif backend != "none" and (row == "linkat:empty path" or treatment == "Judged" and name == "denied"):
                good = held
            else:
                good = answer == usual and now[place] == wanted[place]
            if not good:
                wrong.append(f"{row} {kind}: {answer}, {usual} outside\n  {now[place]}\n  {wanted[place]}")
    assert not wrong, "\n".join(wrong)
    if backend == "none":
        assert sum(answer == "ok" for answer in answers.values()) > 60, answers
