# The style guide as a test: sizes with a ratchet, tokens that are banned with what to write instead, dead files.
"""Exceptions are in exceptions.json: sizes may only shrink there, everything else carries its reason."""

import json
import re

import pytest

import sources

FUNCTION_LINES = 70
FILE_LINES = 600
COLUMNS = 120
BLOB_BYTES = 100 * 1024

EXCEPTIONS = json.loads(sources.text("tests/style/exceptions.json"))

# (pattern in code, what to use instead, beginnings and ends of names where it is allowed)
BANNED = [
    (r"\bco_(await|return|yield)\b", "straight code: g++ 12 miscompiles coroutines", ()),
    (r"\bcatch\s*\(\s*\.\.\.\s*\)", "name the exception of the library at whose edge this stands", ()),
    (r"#\s*include\s*<iostream>", "sys/ or std::fprintf: iostream adds static constructors", ()),
    (r"#\s*include\s*<regex>|\bstd::regex\b", "a small parser: std::regex overflows the stack", ()),
    (r"\b(usleep|nanosleep|sleep_for|sleep_until)\s*\(|(?<![\w.>])sleep\s*\(",
     "a wait for the event itself, with a deadline", ("src/sys/",)),
    (r"(?<![\w.>])(std::)?system\s*\(|\bpopen\s*\(", "sys/process/process.h: no shell in between", ()),
    (r"\b(strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok)\s*\(", "std::string, fmt", ()),
    (r"\bstd::sto(i|l|ul|ll|ull|d|f)\b|\bato(i|l|ll|f)\s*\(", "std::from_chars: these throw, or hide errors", ()),
    (r"\bthrow\b", "Result: hutch throws nothing of its own", ()),
    (r"(?<!\w)assert\s*\(", "CHECK: it stays on in release builds", ()),
    (r"\busing\s+namespace\s+std\b", "std::", ()),
    (r"\bstd::endl\b", r"\n", ()),
    (r"\bNULL\b", "nullptr", ()),
    (r"\bnew\s+[A-Za-z_:]+\s*[({\[]|\bdelete\s+\w|\bdelete\[\]", "std::make_unique, or an owner type", ()),
    (r"\bstd::format\b|#\s*include\s*<format>", "fmt: g++ 12 has no std::format", ()),
    (r"#\s*pragma\s+GCC\s+diagnostic|//\s*NOLINT\s*$", "mend the cause", ()),
    (r"\bstd::(i|o)?fstream\b|\bfopen\s*\(", "sys/files/files.h", ("src/sys/", "_test.cc")),
    (r"\bstd::async\s*\((?!\s*std::launch::)", "std::launch::async first: the default may wait for get()", ()),
    (r"\bconst_cast\b", "a copy, or an interface that takes const", ("src/sys/", "src/guest/")),
]

# What fails in the kernel is called in src/sys alone, where the answer becomes a Result.
KERNEL_CALLS = """accept accept4 access bind chdir chmod chown chroot clone clone3 close connect dup dup2 dup3 epoll_ctl
 epoll_wait eventfd execv execve execveat execvp faccessat fchdir fchmod fchown fcntl fork fstat fstatat ftruncate
  getdents64 getpwnam getpwuid getsockopt getxattr inotify_add_watch ioctl kill killpg link linkat listen lseek
 lstat  mkdir mkdirat mknod mmap mount mount_setattr move_mount munmap open open_tree openat openat2 opendir pause
 pidfd_open  pidfd_send_signal pipe pipe2 pivot_root poll ppoll prctl pread process_vm_readv ptrace pwrite read
 readdir readlink  readlinkat readv recv recvfrom recvmsg rename renameat rmdir select send sendfile sendmsg sendto
 setgid setgroups setns  setresgid setresuid setrlimit setsid setsockopt setuid shutdown sigaction signalfd socket
 socketpair splice stat statfs  statvfs symlink symlinkat syscall tcgetattr tcsetattr tee timerfd_create truncate
 umount umount2 unlink unlinkat unshare  utimensat vfork wait4 waitid waitpid write writev""".split()
GLOBAL_CALL = re.compile(r"(?<![\w>:])::(" + "|".join(KERNEL_CALLS) + r")\s*\(")
PLAIN_CALL = re.compile(r"(?<![\w:.>~])(fork|vfork|execve|execvp|execv|waitpid|waitid|unshare|setns|umount2|pivot_root"
                        r"|ptrace|prctl|ioctl|fcntl|dup2|dup3|pipe2|syscall|setrlimit|setresuid|openat)\s*\(")
KERNEL_CALLS_ALLOWED = {"src/base/unique_fd.h": "close"}

BOOL_PARAMETER = re.compile(r"(\w*)\s*\(((?:[^()]|\([^()]*\))*)\)")
COMMENTED = {".cc": "// ", ".h": "// ", ".c": "// ", ".py": "# ", ".sh": "# ", ".cmake": "# ", "CMakeLists.txt": "# "}


def report(found):
    assert not found, "\n" + "\n".join(found)


def ratchet(kind, sizes, limit, advice):
    """Nothing above `limit` but what is listed, and what is listed may only shrink."""
    listed, found = EXCEPTIONS[kind], []
    for key, size in sizes.items():
        most = listed.get(key, limit)
        if size > most:
            found.append(f"{key}: {size} lines, at most {most}: {advice}")
    for key, most in listed.items():
        size = sizes.get(key, 0)
        if size < most:
            found.append(f"{key}: now {size} lines; write that, or nothing when it is at most {limit}, into "
                         f"tests/style/exceptions.json ({kind}: {most})")
    report(found)


def test_functions_are_short():
    sizes = {}
    for name in sources.cpp("src/") + sources.cpp("tests/"):
        for function, _, lines in sources.functions(name):
            key = f"{name}:{function}"
            sizes[key] = max(lines, sizes.get(key, 0))
    assert not sources.cpp() or len(sizes) > 10, "the reader of functions finds none"
    ratchet("function_lines", sizes, FUNCTION_LINES, "split it by what it does")


def lines_of(names):
    return {name: sources.text(name).count("\n") for name in names}


def test_files_are_short():
    names = sources.matching(".cc", ".h", ".py", ".sh", ".c", ".cmake")
    ratchet("file_lines", lines_of(names), FILE_LINES, "split it by what it does")


def test_lines_fit():
    found = []
    for name in sources.matching(".cc", ".h", ".c", ".py", ".sh", ".cmake", "CMakeLists.txt", "dev"):
        for number, line in enumerate(sources.text(name).split("\n"), 1):
            if len(line) > COLUMNS:
                found.append(f"{name}:{number}: {len(line)} columns, at most {COLUMNS}")
            if "\t" in line or line != line.rstrip():
                found.append(f"{name}:{number}: a tab, or space at the end")
    report(found)


def test_first_line_says_what_the_file_is_for():
    found = []
    for name in sources.every():
        mark = next((mark for suffix, mark in COMMENTED.items() if name.endswith(suffix)), None)
        lines = sources.text(name).split("\n")
        if mark is None or lines == [""]:
            continue
        first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        if not first.startswith(mark) or len(first) < 12:
            found.append(f"{name}: the first line is a comment that says what the file is for")
    report(found)


def banned_in(name):
    for pattern, instead, allowed in BANNED:
        if any(name.startswith(place) or name.endswith(place) for place in allowed):
            continue
        for match in re.finditer(pattern, sources.code(name)):
            yield sources.line_of(sources.code(name), match.start()), match.group(0).strip(), instead


def test_banned_tokens():
    found = []
    for name in sources.cpp():
        for line, token, instead in banned_in(name):
            if f"{name}:{token}" not in EXCEPTIONS["banned"]:
                found.append(f"{name}:{line}: {token}: use {instead}")
    report(found)


def kernel_calls_in(code):
    for pattern in (GLOBAL_CALL, PLAIN_CALL):
        for match in pattern.finditer(code):
            yield sources.line_of(code, match.start()), match.group(1)


def test_only_sys_calls_the_kernel():
    found = []
    for name in sources.cpp():
        if name.startswith("src/sys/") or name.endswith(("_test.cc", "_testing.cc", "_testing.h")):
            continue
        for line, call in kernel_calls_in(sources.code(name)):
            if KERNEL_CALLS_ALLOWED.get(name) != call:
                found.append(f"{name}:{line}: {call}(): only src/sys calls the kernel; add a wrapper there")
    report(found)


def bool_parameters(code):
    """Functions declared or defined with a bare bool parameter."""
    for match in BOOL_PARAMETER.finditer(code):
        if match.group(1) in ("if", "while", "for", "switch", "return", "catch", "sizeof"):
            continue
        if re.search(r"(^|,)\s*(const\s+)?bool(\s*&)?\s+\w+\s*(=[^,]*)?(,|$)", match.group(2)):
            yield sources.line_of(code, match.start()), match.group(1)


def test_no_bool_parameters():
    found = []
    for name in sources.cpp():
        for line, function in bool_parameters(sources.code(name)):
            if f"{name}:{function}" not in EXCEPTIONS["bool_parameter"]:
                found.append(f"{name}:{line}: {function}() takes a bool: an enum class or an options struct says more")
    report(found)


def test_todo_form():
    found = []
    for name in sources.matching(".cc", ".h", ".c", ".py", ".sh", ".cmake", ".md"):
        if name.startswith("tests/style/") or name == "HACKING.md":
            continue
        for number, line in enumerate(sources.text(name).split("\n"), 1):
            if re.search(r"\b(FIXME|XXX|HACK)\b|\bTODO\b(?!\((someday|cleanup|security)\): \w)", line):
                found.append(f"{name}:{number}: write TODO(someday): ..., TODO(cleanup): ... or TODO(security): ...")
    report(found)


def test_headers():
    """#pragma once, and no JSON library in a header."""
    found = []
    for name in sources.cpp():
        if name.endswith(".h") and "#pragma once" not in sources.text(name):
            found.append(f"{name}: #pragma once is missing")
        for line, path, _ in sources.includes(name):
            if path == "nlohmann/json.hpp" and name.endswith(".h"):
                found.append(f"{name}:{line}: nlohmann costs seconds in every file: <nlohmann/json_fwd.hpp>")
    report(found)


def test_no_dead_headers():
    used = {(path, name) for name in sources.cpp("src/") + sources.cpp("tests/")
            for _, path, quoted in sources.includes(name) if quoted}
    found = []
    for header in sources.matching(".h", under="src/"):
        path = header[len("src/"):]
        users = [name for used_path, name in used if used_path == path and name != header[:-2] + ".cc"]
        if not users and header not in EXCEPTIONS["dead_header"]:
            found.append(f"{header}: nobody includes it")
    report(found)


def test_no_blobs():
    """The description of the HTTP API is a text that grows with it."""
    sizes = {name: (sources.ROOT / name).stat().st_size for name in sources.every()}
    most = {name: EXCEPTIONS["blob"].get(name, BLOB_BYTES) for name in sizes}
    report([f"{name}: {size} bytes, at most {most[name]}" for name, size in sizes.items() if size > most[name]])


def test_exceptions_are_needed():
    """An exception for a file that is gone is removed."""
    found = [f"tests/style/exceptions.json: {kind}: {key}: there is no such file"
             for kind, entries in EXCEPTIONS.items() for key in entries
             if not (sources.ROOT / key.split(":")[0]).exists()]
    report(found)


@pytest.mark.parametrize("code, calls", [
    ("int x = ::open(p, 0);", ["open"]), ("sys::open(p);", []), ("hutch::sys::mount(p);", []), ("x.read(b);", []),
    ("  prctl(PR_SET_NAME);", ["prctl"]), ("sys::fork();", []), ("if (::read(fd, b, n) < 0) {", ["read"]),
])
def test_kernel_calls_are_seen(code, calls):
    assert [call for _, call in kernel_calls_in(code)] == calls


@pytest.mark.parametrize("code, seen", [
    ("void f(bool quick);", True), ("int g(int a, bool b = false) {", True), ("bool h(int a);", False),
    ("if (const bool ok = f(); ok) {", False), ("explicit operator bool() const;", False),
    ("F(std::optional<bool> x)", False),
])
def test_bool_parameters_are_seen(code, seen):
    assert bool(list(bool_parameters(code))) == seen
