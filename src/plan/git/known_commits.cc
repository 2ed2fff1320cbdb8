// Reads and adds to the list of commits that hutch has found at the references of a repository.
#include "plan/git/known_commits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "plan/git/authored.h"

namespace hutch::plan {

namespace {

// One line each: "u NAME", "s NAME" for a sandbox's, "l NAME" for one of those that was listed, "a MODE OBJECT PATH"
// for what a sandbox left (the path in hexadecimal), "b" when a run starts, "e" when it ends, "?" and "!" for the
// doubt.
constexpr std::string_view kUsersLine = "u ";
constexpr std::string_view kSandboxesLine = "s ";
constexpr std::string_view kListedLine = "l ";
constexpr std::string_view kAuthoredLine = "a ";

bool is_name(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, is_digit);
}

std::optional<std::string> commit_name_of(std::string_view hex) {
  for (const GitHash hash : {GitHash::kSha1, GitHash::kSha256}) {
    if (auto name = git_name_of_hex(hex, hash)) return name;
  }
  return std::nullopt;
}

}  // namespace

KnownCommits read_known_commits(std::string_view text) {
  using enum KnownCommit::Whose;
  KnownCommits known;
  if (text.size() > kKnownCommitsBytesMax || (!text.empty() && !text.ends_with('\n'))) known.is_broken = true;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::string_view rest = line.size() > 2 ? line.substr(2) : std::string_view();
    const bool is_users = line.starts_with(kUsersLine);
    if ((is_users || line.starts_with(kSandboxesLine)) && is_name(rest)) {
      known.commits.push_back({is_users ? kUsers : kSandboxes, std::string(rest)});
    } else if (line.starts_with(kAuthoredLine) && !rest.empty()) {
      known.authored.try_emplace(std::string(rest), known.commits.size());
    } else if (line.starts_with(kListedLine) && is_name(rest)) {
      known.listed.emplace(rest);
    } else if (line == "b") {
      ++known.open;
    } else if (line == "e" && known.open > 0) {
      --known.open;
    } else if (line == "?" || line == "!") {
      known.is_in_doubt = line == "?";
    } else {
      known.is_broken = true;
    }
  }
  if (known.is_broken) known.commits.clear();
  return known;
}

std::string authored_key(std::string_view path, std::uint32_t mode, std::string_view object) {
  std::array<char, 16> octal{};
  const char* end = std::to_chars(octal.data(), octal.data() + octal.size(), git_plain_mode(mode), 8).ptr;
  return cat({std::string_view(octal.data(), end), " ", to_hex(object), " ", to_hex(path)});
}

KnownCommit::Whose whose_at_start(const KnownCommits& known, OtherRuns others) {
  const bool may_be_theirs = others == OtherRuns::kSome || known.open > 0 || known.is_in_doubt;
  return may_be_theirs ? KnownCommit::Whose::kSandboxes : KnownCommit::Whose::kUsers;
}

std::string add_names(KnownCommits& known, const std::set<std::string>& found, KnownCommit::Whose whose) {
  std::set<std::string> fresh = found;
  for (const KnownCommit& commit : known.commits) fresh.erase(commit.name);
  std::string lines;
  for (const std::string& name : fresh) {
    if (!is_name(name)) continue;
    lines += cat({whose == KnownCommit::Whose::kUsers ? kUsersLine : kSandboxesLine, name, "\n"});
    known.commits.push_back({whose, name});
  }
  return lines;
}

std::string lines_of_authored(const KnownCommits& known, const std::set<GitAuthored>& authored) {
  std::string lines;
  for (const GitAuthored& one : authored) {
    const std::string key = authored_key(one.path, one.mode, one.object);
    if (!known.authored.contains(key)) lines += cat({kAuthoredLine, key, "\n"});
  }
  return lines;
}

std::string lines_of_listed(const KnownCommits& known, const std::set<std::string>& names) {
  std::string lines;
  for (const std::string& name : names) {
    if (!known.listed.contains(name)) lines += cat({kListedLine, name, "\n"});
  }
  return lines;
}

std::string lines_of_begin(const KnownCommits& known, OtherRuns others) {
  std::string lines;
  for (std::size_t i = 0; i < (others == OtherRuns::kNone ? known.open : 0); ++i) lines += kEndOfRun;
  return lines + "b\n";
}

std::vector<std::string> known_ends(const KnownCommits& known) {
  std::vector<std::string> ends;
  for (const KnownCommit& commit : known.commits) {
    const bool is_end = commit.whose == KnownCommit::Whose::kUsers || known.listed.contains(commit.name);
    if (is_end) ends.push_back(*commit_name_of(commit.name));
  }
  return ends;
}

std::vector<std::string> not_listed(const KnownCommits& known) {
  std::vector<std::string> names;
  for (const KnownCommit& commit : known.commits) {
    const bool is_one = commit.whose == KnownCommit::Whose::kSandboxes && !known.listed.contains(commit.name);
    if (is_one) names.push_back(*commit_name_of(commit.name));
  }
  return names;
}

std::string known_commits_file(std::uint64_t device, std::uint64_t inode, std::int64_t birth_ns) {
  return cat({std::to_string(device), "-", std::to_string(inode), "-", std::to_string(birth_ns)});
}

}  // namespace hutch::plan
