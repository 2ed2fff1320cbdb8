# Names of anonymous namespaces: each belongs to one file of its folder, since those are compiled together.
"""Of two functions with one name a call would choose by its arguments, and neither file would say so."""

import collections
import re

import pytest

import sources

TESTS = ("_test.cc", "_testing.cc")
DIRECTIVE = re.compile(r"^[ \t]*#.*(?:\\\n.*)*", re.MULTILINE)
NAMESPACE = re.compile(r"\s*(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*|\s*extern\s+\"\"\s*")
PREFIX = re.compile(r"\s*(?:template\s*<[^{};]*?>\s*(?=[\w\[])|\[\[[^\]]*\]\]\s*|requires\s+[\w:]+<[^<>]*>\s*)+")
CONSTANT_INSIDE = re.compile(r"^[ \t]+(?:static\s+)?const(?:expr|init)?\b[^;={(]*?\b(k[A-Z]\w*)\s*[={\[]", re.MULTILINE)
ADVICE = "the files of a folder are compiled as one unit, where functions of one name silently become overloads"


def declarations(source):
    """[(scope, head, body)] of what stands at namespace level; scope: "anonymous" or "named"."""
    source = DIRECTIVE.sub("", source)
    scopes, head, last, found = [], "", 0, []
    for mark in re.finditer(r"[{};]", source):
        inside = bool(scopes) and scopes[-1][0] == "inside"
        if not inside:
            head += source[last:mark.start()]
        last = mark.end()
        if mark.group() == "{":
            opened = None if inside else NAMESPACE.fullmatch(head)
            if opened:
                named = opened.group(1) or "extern" in head
                scopes.append(("named" if named else "anonymous", "", 0))
                head = ""
            else:
                scopes.append(("inside", head, mark.end()))
        elif mark.group() == "}" and scopes:
            kind, opened_head, start = scopes.pop()
            if kind != "inside":
                head = ""
            elif not scopes or scopes[-1][0] != "inside":
                if sources.kind_of(opened_head, []) == "function":
                    found.append((scope_of(scopes), opened_head, ""))
                    head = ""
                else:
                    head = opened_head + "{" + source[start:mark.start()] + "}"
        elif mark.group() == ";" and not inside:
            bare, brace, body = head.partition("{")
            found.append((scope_of(scopes), bare + brace, body.rpartition("}")[0]))
            head = ""
    return found


def scope_of(scopes):
    return "anonymous" if any(kind == "anonymous" for kind, *_ in scopes) else "named"


def outside_of_angles(text):
    """`text` without what stands between < and >, of a declaration's beginning."""
    kept, depth = "", 0
    for at, letter in enumerate(text):
        if letter == "<":
            depth += 1
        elif letter == ">" and depth and text[at - 1] != "-":
            depth -= 1
        elif not depth:
            kept += letter
    return kept


def names_of(head, body):
    """[(name, what it is an alias of)] of a declaration; None where it is no alias."""
    head = PREFIX.sub("", head + " ", count=1).strip()
    if not head or re.match(r"(static_assert|using\s+namespace|using\s+enum|friend|extern\s+template)\b", head):
        return []
    if alias := re.match(r"(?:using\s+(\w+)|namespace\s+(\w+))\s*=\s*(.*)", head, re.DOTALL):
        return [(alias.group(1) or alias.group(2), " ".join(alias.group(3).split()))]
    if using := re.match(r"using\s+((?:\w+::)+(\w+))$", head):
        return [(using.group(2), using.group(1))]
    if test := re.match(r"(?:TYPED_)?TEST(?:_F|_P)?\((\w+), (\w+)\)", head):
        return [(f"TEST {test.group(1)}.{test.group(2)}", None)]
    if re.match(r"[A-Z][A-Z_]+\(", head):
        return []  # a macro of the tests' library
    if enum := re.match(r"enum\s+(class\s+|struct\s+)?(\w+)?", head):
        own = [(enum.group(2), None)] if enum.group(2) else []
        inner = [] if enum.group(1) else re.findall(r"(?:^|,)\s*(\w+)", body)
        return own + [(name, None) for name in inner]
    if kind := re.match(r"(?:class|struct|union)\s+(\w+)(?!\s*::)\s*(?:final\b\s*)?(?:[:{]|$)", head):
        return [(kind.group(1), None)]
    plain = re.split(r"(?<![=!<>])=(?!=)|\{", outside_of_angles(head), maxsplit=1)[0].strip()
    if "operator" in plain or re.match(r"(class|struct|union)\b", plain):
        return []
    pointer = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(", plain)
    named = pointer or re.search(r"([\w~:]+)\s*\(", plain) or re.search(r"([\w:]+)\s*(?:\[[^\]]*\]\s*)*$", plain)
    return [(named.group(1), None)] if named and "::" not in named.group(1) else []


def own_names(source):
    """{name: what it is an alias of, or None} of the anonymous namespaces, and of `static` and `using` beside them."""
    return {name: alias for scope, head, body in declarations(source)
            if scope == "anonymous" or re.match(r"\s*(static|using)\b", head)
            for name, alias in names_of(head, body)}


def shared_names(source):
    return {name for scope, head, body in declarations(source) if scope == "named"
            for name, alias in names_of(head, body) if alias is None}


def clashes(files, headers=()):
    """Of {file: source} and the folder's headers: the names that are not of one file alone."""
    owners, found = collections.defaultdict(list), []
    for file, source in files.items():
        for name, alias in own_names(source).items():
            owners[name].append((file, alias))
    declared = {name: header for header, source in dict(headers).items() for name in shared_names(source)}
    for name, owned in owners.items():
        first, others = owned[0], owned[1:]
        # An alias that is repeated word for word means the same in both.
        found += [f"{other}: {name} is in {first[0]} too: {ADVICE}" for other, alias in others
                  if alias is None or alias != first[1]]
        if name in declared and first[1] is None:
            found.append(f"{first[0]}: {name} is what {declared[name]} declares: {ADVICE}")
    return found


def shadowed(files):
    """Constants of functions that have the name of another file's anonymous constant: -Wshadow in a common unit."""
    owners = {name: file for file, source in files.items() for name in own_names(source)}
    return [f"{file}: {name} hides the one of {owners[name]}: {ADVICE}" for file, source in files.items()
            for name in CONSTANT_INSIDE.findall(source) if owners.get(name, file) != file]


def by_folder(names):
    folders = collections.defaultdict(dict)
    for name in names:
        folders[name.split("/")[1]][name] = sources.code(name)
    return folders


def test_anonymous_names_are_of_one_file():
    library = by_folder(name for name in sources.matching(".cc", under="src/") if not name.endswith(TESTS))
    headers = by_folder(name for name in sources.matching(".h", under="src/") if not name.endswith("_testing.h"))
    found = [clash for folder, files in library.items()
             for clash in clashes(files, headers[folder]) + shadowed(files)]
    assert not found, "\n" + "\n".join(found)


def test_anonymous_names_of_unit_tests_are_of_one_file():
    folders = by_folder(sources.matching(*TESTS, under="src/"))
    found = [clash for files in folders.values() for clash in clashes(files) + shadowed(files)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("source, names", [
    ("Result<int> f(int a = g(1)) { return a; }", ["f"]),
    ("void f(const X& x);", ["f"]),
    ("template <class T, int N = 3>\nstd::map<int, T> f(T t) {\n  for (;;) {}\n}", ["f"]),
    ("X::X() : a_(1), b_{2} {}\nint X::f() const { return 1; }", []),
    ("constexpr std::array<int, 2> kA = {1, 2};\nconst char* const kB[] = {};\nint c{3};", ["kA", "kB", "c"]),
    ("constexpr std::function<void(int)> kF = {};\nint (*g)(int) = nullptr;", ["kF", "g"]),
    ("struct S;\nclass C final : public B<S> {\n  int f();\n  int v_ = 0;\n};", ["S", "C"]),
    ("struct P {\n  int a;\n} constexpr;", ["P"]),
    ("enum class E : int { kA, kB };\nenum F { kC = 1, kD };", ["E", "F", "kC", "kD"]),
    ("using Json = nlohmann::json;\nusing std::chrono::seconds;\nnamespace fs = std::filesystem;",
     ["Json", "seconds", "fs"]),
    ("TEST(Suite, Name) { int x = f(); }\nINSTANTIATE_TEST_SUITE_P(A, B, C);", ["TEST Suite.Name"]),
    ("[[noreturn]] auto f() -> std::pair<int, int> { return {}; }\nbool operator==(A a, B b);", ["f"]),
])
def test_names_are_seen(source, names):
    whole = "namespace hutch {\nnamespace {\n" + source + "\n}\nint outside() { return 1; }\n}"
    assert sorted(own_names(whole)) == sorted(names)


def test_static_names_are_seen():
    assert list(own_names("namespace a {\nstatic int f() { return 1; }\nint g();\n}")) == ["f"]


@pytest.mark.parametrize("first, second, clash", [
    ("int f(int a) { return a; }", "int f(long a) { return 2; }", True),
    ("constexpr int kMax = 1;", "struct kMax {};", True),
    ("using J = a::B;", "using J =\n    a::B;", False),
    ("using J = a::B;", "using J = a::C;", True),
    ("using J = a::B;", "int J = 1;", True),
    ("using a::B;", "using a::B;", False),
    ("using a::B;", "using b::B;", True),
    ("int f();", "int g();", False),
])
def test_clashes_are_seen(first, second, clash):
    files = {"a.cc": "namespace {\n" + first + "\n}", "b.cc": "namespace {\n" + second + "\n}"}
    found = clashes(files)
    assert bool(found) == clash
    assert all("a.cc" in one and "b.cc" in one and "one unit" in one for one in found)


def test_names_of_headers_are_seen():
    header = {"a.h": "namespace hutch {\nclass A {\n  int f();\n};\nint g(int);\n}"}
    assert not clashes({"b.cc": "namespace {\nint f();\n}"}, header)
    assert len(clashes({"b.cc": "namespace {\nint g();\n}"}, header)) == 1


@pytest.mark.parametrize("inside, hidden", [
    ("static constexpr std::size_t kMax = 8;", True),
    ("const std::map<int, int> kMax{};", True),
    ("constexpr char kMax[] = {};", True),
    ("const int other = kMax;", False),
    ("if (a < kMax) b = 1;", False),
    ("static constexpr int kMin = 8;", False),
])
def test_constants_that_hide_another_files_are_seen(inside, hidden):
    files = {"a.cc": "namespace {\nconstexpr int kMax = 1;\n}", "b.cc": "int f() {\n  " + inside + "\n}"}
    assert bool(shadowed(files)) == hidden
    assert not shadowed({"b.cc": files["a.cc"] + files["b.cc"]})
