// Writes docs/obeyed.md from the list.
#include "policy/obeyed/page.h"

#include "base/text.h"
#include "policy/obeyed/obeyed.h"

namespace hutch::policy {

namespace {

constexpr std::string_view kTableHead = "\n| name | program | what it does | documented in |\n|---|---|---|---|\n";

constexpr std::string_view kIntroduction =
    R"(Programs outside of the sandbox act on these files: a shell, git, an editor, or the next coding agent. A sandbox
that could write them would run its commands outside. Each name counts at any depth of a writable directory. A
name that is a directory stands for all that is in it.

Names are not held below `node_modules`, because packages bring such files along and no session starts there;
those marked (1) are held there too. A directory that is moved out of `node_modules` is copied file by file.

`filesystem.allowObeyed` in a [policy](policy.md#never-writable) lifts names of this list for a project:
`"allowObeyed": [".npmrc", ".husky"]`. `--allow-write PATH` lifts one path for one run.

To add a name: one line in `src/policy/obeyed/obeyed.cc`, with the program, what the program does, and where it is
documented. Raise `kObeyedVersion`, and run the unit tests of `policy` with `HUTCH_ACCEPT=1` to renew this page.
)";

constexpr std::string_view kTold = R"(
## Told

These texts only instruct, and ordinary work writes them. The sandbox may write them. At the end of the run hutch
prints what changed, because the next session reads it.
)";

constexpr std::string_view kInHomes = R"(
## In a home

If a sandbox may write your home itself, these names in it are held too, and each directory of your `PATH`. hutch
asks for each of them, and so it does for the names above in the home's own directory. Without anybody to answer they
stay closed. An `allowWrite` entry that names the file lifts it.
)";

std::string linked(std::string_view source) {
  return source.starts_with("https://") ? cat({"<", source, ">"}) : std::string(source);
}

void add_table(std::string& page, ObeyedTreatment treatment) {
  page += kTableHead;
  for (const ObeyedFile& file : obeyed_files()) {
    if (file.treatment != treatment) continue;
    const std::string_view everywhere = file.scope == ObeyedScope::kEverywhere ? " (1)" : "";
    page += cat({"| `", file.name, "`", everywhere, " | ", file.reader, " | ", file.reason, " | ", linked(file.source),
                 " |\n"});
  }
}

}  // namespace

std::string obeyed_page() {
  std::string page = cat({"# Files that other programs obey\n\nVersion ", std::to_string(kObeyedVersion),
                          ". This page is made from `src/policy/obeyed/obeyed.cc`.\n\n"});
  page += kIntroduction;
  page +=
      "\n## Held\n\nA program runs or trusts what these files say. hutch refuses the write and prints the remedy.\n";
  add_table(page, ObeyedTreatment::kHeld);
  page += kTold;
  add_table(page, ObeyedTreatment::kTold);
  page += kInHomes;
  page += kTableHead;
  for (const ObeyedInHome& file : obeyed_in_home()) {
    page += cat({"| `~/", file.name, "` | ", file.reader, " | ", file.reason, " | ", linked(file.source), " |\n"});
  }
  return page;
}

}  // namespace hutch::policy
