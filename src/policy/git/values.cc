// Chooses settings of git by a table, and writes them into a new configuration.
#include "policy/git/values.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/glob.h"

namespace hutch::policy {

namespace {

struct HeldSetting {
  std::string_view section;
  std::string_view key;
};

constexpr std::array<HeldSetting, 37> kHeldInside = {{
    {"user", "name"},
    {"user", "email"},
    {"user", "useconfigonly"},
    {"author", "name"},
    {"author", "email"},
    {"committer", "name"},
    {"committer", "email"},
    {"init", "defaultbranch"},
    {"core", "autocrlf"},
    {"core", "eol"},
    {"core", "safecrlf"},
    {"core", "quotepath"},
    {"core", "whitespace"},
    {"core", "commentchar"},
    {"core", "abbrev"},
    {"safe", "directory"},
    {"url", "insteadof"},
    {"url", "pushinsteadof"},
    {"pull", "rebase"},
    {"pull", "ff"},
    {"push", "default"},
    {"push", "autosetupremote"},
    {"fetch", "prune"},
    {"merge", "conflictstyle"},
    {"merge", "ff"},
    {"rebase", "autosquash"},
    {"rebase", "autostash"},
    {"rebase", "updaterefs"},
    {"branch", "autosetuprebase"},
    {"branch", "sort"},
    {"diff", "algorithm"},
    {"diff", "renames"},
    {"rerere", "enabled"},
    {"commit", "cleanup"},
    {"i18n", "commitencoding"},
    {"i18n", "logoutputencoding"},
    {"submodule", "recurse"},
}};

// People keep passwords in "https://TOKEN@host/". "git@host:" and "ssh://git@host/" contain only a user name.
bool holds_password(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return false;
  const std::string_view rest = url.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const std::size_t at = authority.rfind('@');
  if (at == authority.npos) return false;
  return !url.starts_with("ssh://") || authority.substr(0, at).contains(':');
}

// gitremote-helpers(7): "helper::address" runs a program.
bool names_helper(std::string_view url) { return url.contains("::"); }

bool may_be_held(const GitEntry& entry) {
  const auto is_it = [&](const HeldSetting& held) { return held.section == entry.section && held.key == entry.key; };
  if (std::ranges::none_of(kHeldInside, is_it)) return false;
  if ((entry.section == "url") == entry.subsection.empty()) return false;
  for (const std::string* text : {&entry.subsection, &entry.value}) {
    if (text->contains('\0') || holds_password(*text) || names_helper(*text)) return false;
  }
  return !entry.subsection.contains('\n');
}

std::string git_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string git_values(std::span<const GitEntry> entries) {
  std::string text;
  for (const GitEntry& entry : entries) {
    if (!may_be_held(entry)) continue;
    const std::string name = entry.subsection.empty() ? "" : cat({" ", git_quoted(entry.subsection)});
    const std::string one = cat({"[", entry.section, name, "]\n\t", entry.key, " = ", git_quoted(entry.value), "\n"});
    if (text.size() + one.size() <= kGitValuesBytesMax) text += one;
  }
  return text;
}

std::optional<std::string> included_for(std::string_view condition, std::string_view home, std::string_view base) {
  static constexpr std::string_view kDirectory = "gitdir:";
  if (!condition.starts_with(kDirectory)) return std::nullopt;
  const std::string_view said = condition.substr(kDirectory.size());
  if (said.empty()) return std::nullopt;
  std::string pattern;
  if (said.starts_with("~/")) {
    pattern = cat({escape_wildcards(home), said.substr(1)});
  } else if (said.starts_with("./")) {
    pattern = cat({escape_wildcards(base), said.substr(1)});
  } else {
    pattern = said.starts_with('/') ? std::string(said) : cat({"/**/", said});
  }
  if (pattern.ends_with('/')) pattern += "**";
  return check_pattern(pattern) ? std::optional(std::move(pattern)) : std::nullopt;
}

}  // namespace hutch::policy
