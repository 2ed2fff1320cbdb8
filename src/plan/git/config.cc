// What git's configuration may say without harm.
#include "plan/git/config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "base/text.h"
#include "policy/git/settings.h"

namespace hutch::plan {

namespace {

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
  // git-fetch(1) passes the name of each remote to itself as an argument: "--upload-pack=..." names a program.
  if (quoted.substr(1).starts_with('-')) return std::nullopt;
  return lower(name);
}

// ssh(1) puts host and user into commands of ssh_config(5), which a shell runs; git decodes %XX before.
bool has_plain_host(std::string_view url) {
  static constexpr std::string_view kOfShell = "$`|&()<>'*?{}!~^";
  const std::size_t scheme = url.find("://");
  const bool is_url = scheme != std::string_view::npos;
  const std::string_view rest = is_url ? url.substr(scheme + 3) : url;
  const std::string_view host = rest.substr(0, rest.find_first_of(is_url ? "/" : ":/"));
  if (!is_url && !rest.substr(host.size()).starts_with(':')) return true;
  const bool decodes = is_url && !url.starts_with("http");
  return host.find_first_of(kOfShell) == std::string_view::npos && !(decodes && host.contains('%'));
}

// TRANSPORT::ADDRESS runs git-remote-TRANSPORT (gitremote-helpers(7)); a leading dash would be an option of ssh(1).
bool is_plain_url(std::string_view url) {
  return !url.empty() && !url.starts_with('-') && !url.contains("::") && !url.contains("://-") && has_plain_host(url);
}

// A remote's name or URL, or "." for this repository.
bool is_plain_remote(std::string_view value) { return value == "." || is_plain_url(value); }

// core.worktree of `directory`, the repository of a submodule: git-submodule(1) writes "../../../NAME". The value must
// lead into the work tree of the repository that has the submodule, and not into its ".git".
bool is_own_work_tree(std::string_view directory, std::string_view value) {
  static constexpr std::string_view kModules = "/.git/modules/";
  const std::size_t modules = directory.rfind(kModules);
  if (modules == std::string_view::npos || value.starts_with('/')) return false;
  std::string_view at = directory;
  while (value.starts_with("../")) {
    value.remove_prefix(3);
    at = at.substr(0, at.rfind('/'));
    if (at.empty()) return false;
  }
  const auto is_name = [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part != ".git";
  };
  return at == directory.substr(0, modules) && std::ranges::all_of(split(value, '/'), is_name);
}

// git-fetch(1) refuses another destination than a reference; git-push(1), which notes there what it has sent, does not.
bool is_plain_refspec(std::string_view value) {
  const std::size_t colon = value.rfind(':');
  const std::string_view to = colon == std::string_view::npos ? std::string_view() : value.substr(colon + 1);
  return to.empty() || (to.starts_with("refs/") && !to.contains(".."));
}

bool is_harmless(std::string_view directory, std::string_view section, std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string key = lower(trimmed(line.substr(0, equals)));
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (section == "remote" && key == "fetch") return is_plain_refspec(value);
  switch (policy::git_setting(section, key).write) {
    case policy::GitWrite::kPlain: return true;
    case policy::GitWrite::kUrl: return is_plain_url(value);
    case policy::GitWrite::kRemote: return is_plain_remote(value);
    case policy::GitWrite::kWorkTree: return is_own_work_tree(directory, value);
    case policy::GitWrite::kModuleStep: return !value.starts_with('!');
    case policy::GitWrite::kHeld: break;
  }
  return false;
}

}  // namespace

bool is_harmless_git_config(std::string_view text, std::string_view directory) {
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
    if (!is_harmless(directory, section, line)) return false;
  }
  return true;
}

// Each section is read above.
bool is_harmless_worktree_config(std::string_view text, std::string_view directory) {
  static constexpr std::array<std::string_view, 10> kOfRepository = {
      "remote", "branch", "submodule", "push", "fetch", "checkout", "extensions", "commit", "tag", "rerere"};
  if (!is_harmless_git_config(text, directory)) return false;
  return std::ranges::none_of(split(text, '\n'), [](std::string_view whole) {
    const std::string_view line = trimmed(whole);
    const auto section = line.starts_with('[') ? section_of(line) : std::nullopt;
    return section && std::ranges::find(kOfRepository, *section) != kOfRepository.end();
  });
}

}  // namespace hutch::plan
