# The list of layers: includes point down, and the programs beside hutch itself are a few folders alone.
import collections
import re

import pytest

import sources

LAYERS = {
    "cli": 7, "tui": 7,
    "server": 6, "client": 6, "api": 6,
    "service": 5,
    "tool": 4, "plugin": 4, "bridge": 4,
    "sandbox": 3,
    "backend": 2, "egress": 2, "approval": 2, "store": 2, "secret": 2,
    "plan": 1, "wire": 1, "host": 1,
    "policy": 0, "sys": 0, "base": 0,
}
GUEST_MAY = {"base", "sys", "plan", "wire", "guest"}
# Programs of their own: nothing includes them, and they may include these alone.
PROGRAMS = {"guest": GUEST_MAY, "inspect": {"base", "sys", "policy", "wire", "inspect"},
            "unpack": {"base", "sys", "unpack"}, "helper": {"base", "sys", "plan", "wire", "host", "helper"}}

# Beside each other means strangers, but for these.
BESIDE = {
    "policy": ["base/"],
    "sys": ["base/"],
    "host": ["plan/facts.h", "plan/path_facts.h", "plan/id_map.h", "plan/setup/os_user.h",
             "plan/setup/os_user_numbers.h", "plan/plan.h", "plan/paths/name_files.h", "plan/paths/checked_files.h",
             "plan/git/files.h"],
    "wire": ["plan/plan.h", "plan/filter/bpf.h", "plan/git/objects.h"],
    "cli": ["tui/"],
}

# The parts of a folder, lowest first: a file includes those of its own part and of lower ones. "" is the folder
# itself.
# A test may include any of them, because it makes what its part is given.
PARTS = {
    "sys": ["", "files", "net", "process"],
    "policy": ["", "obeyed", "git", "network", "document"],
    "plan": ["filter", "git", "", "paths", "setup", "make"],
    "host": ["", "machine", "paths"],
    "tool": ["", "files"],
    "sandbox": ["questions", "tree", "io", "run", "resident", "pool"],
    "service": ["common", "image", "os_user", "vm", "git", "prepare", "questions", "explain", "live", "share", "pool",
                "agent", "task", "plugins", "bridge", "run"],
    "server": ["mcp", "protocol", "e2b", "state", "rpc", "http", "e2b_api", "mcp_api", "daemon"],
    "guest": ["places", "git", "setup", "file", "calls", "machine", ""],
}
FILES_IN_A_PART_MAX = 40

# These judge, and must do so on any system: no kernel header, none of the C library's system calls.
KERNEL_FREE = ("policy", "plan")
KERNEL_HEADERS = ("linux/", "sys/", "asm/", "unistd.h", "sched.h", "fcntl.h", "poll.h", "signal.h", "pwd.h", "grp.h")

OURS = set(LAYERS) | set(PROGRAMS)


def folder_of(path):
    return path.split("/")[1]


def project_includes():
    for name in sources.cpp():
        for line, path, quoted in sources.includes(name):
            if quoted:
                yield name, line, path


def fault(name, line, path):
    """Why this include is not allowed, or None."""
    here, there = folder_of(name), path.split("/")[0]
    if "/" not in path or there not in OURS:
        return "an include of ours is written from src/ on: \"folder/file.h\""
    if here == there:
        return subfolder_fault(name, path) if here == "backend" else part_fault(name, path)
    if there in PROGRAMS:
        return f"{there} is a program, nothing includes it"
    if here in PROGRAMS:
        may = PROGRAMS[here]
        return None if there in may else f"{here} may include {', '.join(sorted(may))} alone"
    if LAYERS[there] < LAYERS[here]:
        return None
    if LAYERS[there] > LAYERS[here]:
        return f"{here} (layer {LAYERS[here]}) may not include {there} (layer {LAYERS[there]}): includes point down"
    allowed = BESIDE.get(here, [])
    if any(path.startswith(prefix) for prefix in allowed):
        return None
    return f"{here} and {there} are beside each other in layer {LAYERS[here]}" + \
        (f"; of it, {here} may include {', '.join(allowed)}" if allowed else "")


def part_of(path):
    parts = path.split("/")[1:-1]
    return parts[0] if parts else ""


def part_fault(name, path):
    order = PARTS.get(folder_of(name))
    if order is None or name.endswith(("_test.cc", "_testing.cc")):
        return None
    here, there = part_of(name.removeprefix("src/")), part_of(path)
    if there not in order or here not in order:
        return f"give {here if here not in order else there} its place in PARTS"
    if order.index(there) <= order.index(here):
        return None
    there = there or "what lies beside the parts"
    return f"{folder_of(name)}/{here or '.'} may not include {there}: includes point down"


def subfolder_fault(name, path):
    """backend/bwrap and backend/namespace are strangers too; the files above them may include each."""
    here, there = name.split("/")[2:-1], path.split("/")[1:-1]
    if here and there and here[0] != there[0]:
        return f"backend/{here[0]} may not include backend/{there[0]}"
    return None


def test_every_folder_of_src_has_a_layer():
    unknown = {folder_of(name) for name in sources.cpp()} - OURS
    assert not unknown, f"give these a layer in this file and in CMakeLists.txt: {', '.join(sorted(unknown))}"


def test_includes_point_down():
    found = [f"{name}:{line}: \"{path}\": {fault(name, line, path)}"
             for name, line, path in project_includes() if fault(name, line, path)]
    assert not found, "\n" + "\n".join(found)


def test_no_part_is_a_heap():
    """As many files as a reader takes in at once; tests lie beside what they test, and do not count."""
    count = collections.Counter(name.rsplit("/", 1)[0] for name in sources.cpp("src/")
                                if not name.endswith(("_test.cc", "_testing.cc")))
    found = [f"{folder}: {files} files" for folder, files in sorted(count.items()) if files > FILES_IN_A_PART_MAX]
    assert not found, "\ndivide these by what they do:\n" + "\n".join(found)


@pytest.mark.parametrize("folder", KERNEL_FREE)
def test_no_kernel_header(folder):
    found = [f"{name}:{line}: <{path}>: {folder} compiles without Linux headers"
             for name in sources.cpp(f"src/{folder}/") if not name.endswith("_test.cc")
             for line, path, quoted in sources.includes(name) if not quoted and path.startswith(KERNEL_HEADERS)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name, path, allowed", [
    ("src/cli/machine/run.cc", "service/run/run.h", True),
    ("src/service/run/run.cc", "cli/machine/run.h", False),
    ("src/backend/bwrap/start.cc", "backend/namespace/start.h", False),
    ("src/backend/all.cc", "backend/bwrap/start.h", True),
    ("src/backend/all.cc", "egress/gateway.h", False),
    ("src/policy/load.cc", "sys/files/files.h", False),
    ("src/policy/load.cc", "base/text.h", True),
    ("src/host/probe.cc", "plan/facts.h", True),
    ("src/host/probe.cc", "plan/make/make_plan.h", False),
    ("src/guest/main.cc", "policy/policy.h", False),
    ("src/guest/main.cc", "wire/frame.h", True),
    ("src/inspect/main.cc", "policy/policy.h", True),
    ("src/inspect/main.cc", "egress/gateway.h", False),
    ("src/egress/gateway.cc", "inspect/tls.h", False),
    ("src/sandbox/exec.cc", "guest/apply.h", False),
    ("src/base/text.cc", "text.h", False),
    ("src/service/run/run.cc", "service/prepare/prepare.h", True),
    ("src/service/prepare/prepare.cc", "service/run/run.h", False),
    ("src/service/prepare/prepare_test.cc", "service/run/run.h", True),
    ("src/service/new/new.cc", "service/common/request.h", False),
    ("src/sys/io.cc", "sys/files/files.h", False),
    ("src/guest/main.cc", "guest/calls/access.h", True),
])
def test_the_rule_itself(name, path, allowed):
    """Each kind of violation is seen, so that a quiet test above means something."""
    assert (fault(name, 1, path) is None) == allowed


NAMESPACE = re.compile(r"(?:inline )?namespace ([\w:]*) ?\{")
TYPE = re.compile(r"(?:struct|class|enum class|union) (\w+)(?![\w:])(?!.*;$)")


def test_a_type_of_a_namespace_is_one():
    """Two of one name are one to the linker, which takes the inline functions of either (one definition rule)."""
    places = collections.defaultdict(set)
    for name in sources.cpp("src/"):
        around = []
        for line in sources.text(name).split("\n"):
            if opens := NAMESPACE.match(line):
                around.append(opens[1])
            elif line.startswith("}  // namespace") and around:
                around.pop()
            elif (found := TYPE.match(line)) and "" not in around:
                places["::".join([*around, found[1]])].add(name)
    assert len(places) > 500, "the reader of types finds none"
    found = [f"{of}: in {' and '.join(sorted(names))}: give one another name, or put it into an unnamed namespace"
             for of, names in places.items() if len(names) > 1]
    assert not found, "\n" + "\n".join(sorted(found))
