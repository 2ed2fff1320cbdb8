// Reads and adds to the list of commits that hutch has found at the references of a repository.
#include "plan/known_commits.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::plan {

namespace {

// One line each: "u NAME", "s NAME" for a sandbox's, "b" when a run starts, "e" when it ends, "x" if its references
// could not all be read.
constexpr std::string_view kUsersLine = "u ";
constexpr std::string_view kSandboxesLine = "s ";

bool is_name(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, is_digit);
}

std::string new_lines(const KnownCommits& known, const std::set<std::string>& found, std::string_view line) {
  std::set<std::string_view> before;
  for (const KnownCommit& commit : known.commits) before.insert(commit.name);
  std::string lines;
  for (const std::string& name : found) {
    if (!before.contains(name) && is_name(name)) lines += cat({line, name, "\n"});
  }
  return lines;
}

}  // namespace

KnownCommits read_known_commits(std::string_view text) {
  using enum KnownCommit::Whose;
  KnownCommits known;
  if (text.size() > kKnownCommitsBytesMax || (!text.empty() && !text.ends_with('\n'))) known.is_broken = true;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::string_view name = line.size() > 2 ? line.substr(2) : std::string_view();
    const bool is_users = line.starts_with(kUsersLine);
    if ((is_users || line.starts_with(kSandboxesLine)) && is_name(name)) {
      known.commits.push_back({is_users ? kUsers : kSandboxes, std::string(name)});
    } else if (line == "b") {
      ++known.open;
    } else if (line == "e" && known.open > 0) {
      --known.open;
    } else {
      known.is_broken = true;
    }
  }
  if (known.is_broken) known.commits.clear();
  return known;
}

std::string lines_at_start(const KnownCommits& known, const std::set<std::string>& found, OtherRuns others) {
  const bool may_be_theirs = others == OtherRuns::kSome || known.open > 0;
  std::string lines = new_lines(known, found, may_be_theirs ? kSandboxesLine : kUsersLine);
  // Those that were killed have ended.
  const std::size_t ended = others == OtherRuns::kNone ? known.open : 0;
  for (std::size_t i = 0; i < ended; ++i) lines += kEndOfRun;
  return lines + "b\n";
}

std::string lines_of_run(const KnownCommits& known, const std::set<std::string>& found, References references) {
  if (references == References::kTooMany) return "x\n";
  return new_lines(known, found, kSandboxesLine);
}

std::string known_commits_file(std::uint64_t device, std::uint64_t inode, std::int64_t birth_ns) {
  return cat({std::to_string(device), "-", std::to_string(inode), "-", std::to_string(birth_ns)});
}

}  // namespace hutch::plan
