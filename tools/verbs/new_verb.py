# ./dev new-verb NAME: the files of a new command, wired in, with tests, so that it builds and runs at once.
"""What it writes is a verb that says hello to its own name: the places to fill in are marked by what they lack."""

import os
import re
import shutil

from shell import Failed, call, path, say

HELP = "start a new command: src/cli/machine/NAME.{h,cc}, src/service/run/NAME.{h,cc} and tests, wired in, building"
USAGE = "usage: ./dev new-verb NAME"

NEW_FILES = {
    "src/service/run/{file}.h": """\
// {verb}: says what it was asked for.
#pragma once

#include <string>

#include "base/result.h"

namespace hutch::service {{

struct {type}Request {{
  std::string subject;
}};

// The story of the verb: everything between the command line and the answer.
Result<std::string> {name}(const {type}Request& request);

}}  // namespace hutch::service
""",
    "src/service/run/{file}.cc": """\
// {verb}.
#include "service/run/{file}.h"

#include "base/text.h"

namespace hutch::service {{

Result<std::string> {name}(const {type}Request& request) {{
  if (request.subject.empty()) return fail(Error::invalid("{verb}: no subject; write: hutch {verb} SUBJECT"));
  return cat({{"{verb}: ", printable(request.subject)}});
}}

}}  // namespace hutch::service
""",
    "src/service/run/{file}_test.cc": """\
// {verb}, without a command line.
#include "service/run/{file}.h"

#include <gtest/gtest.h>

namespace hutch::service {{
namespace {{

TEST({type}, NamesItsSubject) {{
  const auto answer = {name}({{.subject = "a\\tb"}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "{verb}: a\\\\x09b");
}}

TEST({type}, RefusesNothing) {{
  const auto answer = {name}({{.subject = ""}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kInvalidArgument);
}}

}}  // namespace
}}  // namespace hutch::service
""",
    "src/cli/machine/{file}.h": """\
// hutch {verb}.
#pragma once

#include <string>

namespace hutch::cli {{

// The exit code: 0, or 125 after one line on stderr.
int {name}(const std::string& subject);

}}  // namespace hutch::cli
""",
    "src/cli/machine/{file}.cc": """\
// hutch {verb}.
#include "cli/machine/{file}.h"

#include "base/text.h"
#include "service/run/{file}.h"
#include "sys/io.h"

namespace hutch::cli {{

int {name}(const std::string& subject) {{
  static constexpr int kFailed = 125;
  const Result<std::string> answer = service::{name}({{.subject = subject}});
  if (!answer) {{
    (void)sys::write_all(2, cat({{"hutch: ", answer.error().message, "\\n"}}));
    return kFailed;
  }}
  return sys::write_all(1, *answer + "\\n") ? 0 : kFailed;
}}

}}  // namespace hutch::cli
""",
    "tests/e2e/{file}_test.py": """\
# hutch {verb}, as a person types it.


def test_names_its_subject(hutch):
    assert hutch("{verb}", "something").ok().text == "{verb}: something\\n"


def test_says_what_is_missing(hutch):
    result = hutch("{verb}")
    assert result.code == 125 and result.out == b"" and result.err.count(b"\\n") == 1
""",
}

# (file, the line before which it goes, what goes there)
INSERTIONS = [
    ("src/cli/options/arguments.h", "struct HelpArguments {{",
     "struct {type}Arguments {{\n  std::string subject;\n}};\n\n"),
    ("src/cli/options/option_values.h", "Result<Arguments> finish_help(",
     "Result<Arguments> finish_{name}(Draft&& draft);\n"),
    ("src/cli/options/option_values.cc", "Result<Arguments> finish_help(", """\
Result<Arguments> finish_{name}(Draft&& draft) {{
  return Arguments({type}Arguments{{join(draft.words, " ")}});
}}

"""),
    ("src/cli/options/verbs.cc", "constexpr std::array kHelpSynopsis", """\
constexpr std::array k{type}Synopsis = {{Text("hutch {verb} SUBJECT")}};
"""),
    ("src/cli/options/verbs.cc", "    Verb{{\"help\",", """\
    Verb{{"{verb}", "say what it was asked for", k{type}Synopsis, "Says SUBJECT.", {{}}, {{}}, {{}},
         OptionsEnd::kAtDashes, finish_{name}}},
"""),
    ("src/cli/main.cc", "#include \"cli/machine/run.h\"", "#include \"cli/machine/{file}.h\"\n"),
    ("src/cli/main.cc", "  int operator()(const HelpArguments&", """\
  int operator()(const {type}Arguments& arguments) const {{ return {name}(arguments.subject); }}
"""),
    ("docs/commands.md", "## hutch help", "## hutch {verb}\n\n    hutch {verb} SUBJECT\n\nSays SUBJECT.\n\n"),
]

VARIANT = (r"HelpArguments,\s+VersionArguments>;", "{type}Arguments, HelpArguments, VersionArguments>;")


def run(arguments):
    if len(arguments) != 1 or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", arguments[0]):
        raise Failed(f"{USAGE}: NAME is of small letters, digits and single dashes", 2)
    verb = arguments[0]
    name = verb.replace("-", "_")
    words = {"verb": verb, "file": name, "name": name, "type": "".join(part.capitalize() for part in verb.split("-"))}
    targets = {path(place.format(**words)): text.format(**words) for place, text in NEW_FILES.items()}
    taken = [target for target in targets if os.path.exists(target)]
    if taken:
        raise Failed(f"there already is {os.path.relpath(taken[0], path())}", 2)
    edited = edits(words)
    for target, text in {**targets, **edited}.items():
        with open(target, "w", encoding="utf-8") as opened:
            opened.write(text)
    lay_out([target for target in {**targets, **edited} if target.endswith((".cc", ".h"))])
    for target in sorted({**targets, **edited}):
        say(os.path.relpath(target, path()))
    return 0


def edits(words):
    """The new texts of the files that know every verb; nothing is written when one of them looks otherwise."""
    texts = {}
    for file, anchor, addition in INSERTIONS:
        text = texts.get(path(file)) or read(path(file))
        at = text.find(anchor.format(**words))
        if at < 0:
            raise Failed(f"{file} has no line '{anchor.format(**words)}' to go before; add by hand:\n"
                         + addition.format(**words))
        texts[path(file)] = text[:at] + addition.format(**words) + text[at:]
    variant = path("src/cli/options/arguments.h")
    texts[variant], count = re.subn(VARIANT[0], VARIANT[1].format(**words), texts[variant])
    if count != 1:
        raise Failed("src/cli/options/arguments.h: the variant Arguments does not end as it used to")
    return texts


def read(file):
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def lay_out(files):
    if shutil.which("clang-format-19"):
        call(["clang-format-19", "-i", *files])
