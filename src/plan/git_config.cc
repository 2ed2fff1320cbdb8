// What git's configuration may say without harm.
#include "plan/git_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "base/text.h"

namespace hutch::plan {

namespace {

enum class Value { kAny, kUrl };

struct Setting {
  std::string_view section;
  std::string_view key;
  Value value = Value::kAny;
};

constexpr std::array kHarmless = {
    Setting{"core", "repositoryformatversion"},
    Setting{"core", "filemode"},
    Setting{"core", "bare"},
    Setting{"core", "logallrefupdates"},
    Setting{"core", "symlinks"},
    Setting{"core", "ignorecase"},
    Setting{"core", "precomposeunicode"},
    Setting{"core", "autocrlf"},
    Setting{"core", "eol"},
    Setting{"extensions", "objectformat"},
    Setting{"extensions", "partialclone"},
    Setting{"user", "name"},
    Setting{"user", "email"},
    Setting{"remote", "url", Value::kUrl},
    Setting{"remote", "pushurl", Value::kUrl},
    Setting{"remote", "fetch"},
    Setting{"remote", "tagopt"},
    Setting{"remote", "prune"},
    Setting{"remote", "promisor"},
    Setting{"remote", "partialclonefilter"},
    Setting{"branch", "remote"},
    Setting{"branch", "merge"},
    Setting{"branch", "rebase"},
    Setting{"branch", "pushremote"},
    Setting{"branch", "description"},
    Setting{"submodule", "url", Value::kUrl},
    Setting{"submodule", "active"},
    Setting{"pull", "rebase"},
    Setting{"pull", "ff"},
    Setting{"push", "default"},
    Setting{"push", "autosetupremote"},
    Setting{"fetch", "prune"},
    Setting{"init", "defaultbranch"},
    Setting{"rebase", "autosquash"},
    Setting{"rebase", "autostash"},
    Setting{"commit", "gpgsign"},
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// `[section]` or `[section "name"]`, alone on its line.
std::optional<std::string> section_of(std::string_view line) {
  if (!line.ends_with(']')) return std::nullopt;
  const std::string_view inner = line.substr(1, line.size() - 2);
  const std::size_t space = inner.find(' ');
  const std::string_view name = inner.substr(0, space);
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  if (name.empty() || !std::ranges::all_of(name, is_plain)) return std::nullopt;
  if (space == std::string_view::npos) return lower(name);
  const std::string_view quoted = inner.substr(space + 1);
  const bool whole = quoted.size() >= 2 && quoted.starts_with('"') && quoted.ends_with('"');
  if (!whole || quoted.substr(1, quoted.size() - 2).find_first_of("\"\\]") != std::string_view::npos) {
    return std::nullopt;
  }
  return lower(name);
}

// TRANSPORT::ADDRESS runs git-remote-TRANSPORT (gitremote-helpers(7)); a leading dash would be an option of ssh(1).
bool is_plain_url(std::string_view url) {
  return !url.empty() && !url.starts_with('-') && !url.contains("::") && !url.contains("://-");
}

bool is_harmless(std::string_view section, std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string key = lower(trimmed(line.substr(0, equals)));
  const std::string_view value = trimmed(line.substr(equals + 1));
  const auto found = std::ranges::find_if(
      kHarmless, [&](const Setting& setting) { return setting.section == section && setting.key == key; });
  if (found == kHarmless.end()) return false;
  return found->value != Value::kUrl || is_plain_url(value);
}

}  // namespace

bool is_harmless_git_config(std::string_view text) {
  if (text.size() > kGitConfigBytesMax) return false;
  std::string section;
  for (const std::string_view whole : split(text, '\n')) {
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
    // A backslash escapes, or continues on the next line; quotes and comments hide: no such value is looked through.
    const bool plain =
        std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\t'; });
    if (!plain || line.contains('\\')) return false;
    if (line.starts_with('[')) {
      const auto found = section_of(line);
      if (!found) return false;
      section = *found;
      continue;
    }
    if (line.contains('"') || line.contains('#') || line.contains(';')) return false;
    if (!is_harmless(section, line)) return false;
  }
  return true;
}

}  // namespace hutch::plan
