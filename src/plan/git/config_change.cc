// Compares two configurations of a repository, setting by setting.
#include "plan/git/config_change.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <compare>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plan/git/config_text.h"

namespace hutch::plan {

namespace {

// What a new value of a setting has to be. A setting without an entry in the table does not change.
enum class NewValue {
  kWord,      // a boolean, a number, or a word of git's own
  kText,      // one line
  kProse,     // lines
  kReference, // refs/...
  kTracking,  // a refspec that fills refs/remotes/, and nothing of another remote of the user's
  kUpstream,  // "." or a remote; a remote of the user's where the user set one
  kOldRemote, // a remote that was there before; once set, it stays
  kAddress,   // of another host, for a remote or submodule without an address
  kTags,      // --tags or --no-tags
  kStep,      // submodule.NAME.update: no command; once set, it stays
};

enum class Of { kAll, kNamed };  // kNamed: in a subsection

struct ChangeableSetting {
  std::string_view section;
  std::string_view key;
  Of of = Of::kAll;
  NewValue value = NewValue::kWord;
};

// Not in the list, though they name no program: core.bare and core.worktree (where the files are), commit.gpgSign and
// what else a user relies on for safety, push.default, push.followTags, remote.*.push, pushurl and mirror (what the
// user's next push publishes, and where), remote.*.promisor and extensions.partialClone (git then fetches at any
// command), core.repositoryFormatVersion (git then reads extensions, or refuses the repository), core.logAllRefUpdates
// (without it the user's way back is gone), rerere.* (git takes resolutions of conflicts from a directory that a
// sandbox may write), fetch.pruneTags (the user's next fetch removes tags), remote.*.gh-resolved (the repository that
// gh(1) acts on).
constexpr std::array kChangeable = {
    ChangeableSetting{"user", "name", Of::kAll, NewValue::kText},
    ChangeableSetting{"user", "email", Of::kAll, NewValue::kText},
    ChangeableSetting{"author", "name", Of::kAll, NewValue::kText},
    ChangeableSetting{"author", "email", Of::kAll, NewValue::kText},
    ChangeableSetting{"committer", "name", Of::kAll, NewValue::kText},
    ChangeableSetting{"committer", "email", Of::kAll, NewValue::kText},
    // git-branch(1), git-push(1) and git-checkout(1) write these.
    ChangeableSetting{"branch", "remote", Of::kNamed, NewValue::kUpstream},
    ChangeableSetting{"branch", "merge", Of::kNamed, NewValue::kReference},
    ChangeableSetting{"branch", "rebase", Of::kNamed},
    ChangeableSetting{"branch", "description", Of::kNamed, NewValue::kProse},
    ChangeableSetting{"branch", "pushremote", Of::kNamed, NewValue::kOldRemote},
    ChangeableSetting{"branch", "vscode-merge-base", Of::kNamed, NewValue::kText},
    ChangeableSetting{"branch", "gh-merge-base", Of::kNamed, NewValue::kText},
    ChangeableSetting{"branch", "autosetupmerge"},
    ChangeableSetting{"branch", "autosetuprebase"},
    // git-remote(1)
    ChangeableSetting{"remote", "url", Of::kNamed, NewValue::kAddress},
    ChangeableSetting{"remote", "fetch", Of::kNamed, NewValue::kTracking},
    ChangeableSetting{"remote", "tagopt", Of::kNamed, NewValue::kTags},
    ChangeableSetting{"remote", "prune", Of::kNamed},
    ChangeableSetting{"remote", "skipdefaultupdate", Of::kNamed},
    ChangeableSetting{"remote", "skipfetchall", Of::kNamed},
    ChangeableSetting{"remote", "pushdefault", Of::kAll, NewValue::kOldRemote},
    // git-submodule(1)
    ChangeableSetting{"submodule", "url", Of::kNamed, NewValue::kAddress},
    ChangeableSetting{"submodule", "active", Of::kNamed},
    ChangeableSetting{"submodule", "update", Of::kNamed, NewValue::kStep},
    ChangeableSetting{"submodule", "branch", Of::kNamed, NewValue::kText},
    ChangeableSetting{"submodule", "ignore", Of::kNamed},
    ChangeableSetting{"submodule", "fetchrecursesubmodules", Of::kNamed},
    ChangeableSetting{"submodule", "active", Of::kAll, NewValue::kText},
    ChangeableSetting{"submodule", "recurse"},
    // git-sparse-checkout(1)
    ChangeableSetting{"core", "sparsecheckout"},
    ChangeableSetting{"core", "sparsecheckoutcone"},
    ChangeableSetting{"index", "sparse"},
    ChangeableSetting{"index", "version"},
    // How git works and shows things.
    ChangeableSetting{"core", "filemode"},
    ChangeableSetting{"core", "ignorecase"},
    ChangeableSetting{"core", "precomposeunicode"},
    ChangeableSetting{"core", "symlinks"},
    ChangeableSetting{"core", "autocrlf"},
    ChangeableSetting{"core", "eol"},
    ChangeableSetting{"core", "safecrlf"},
    ChangeableSetting{"core", "abbrev"},
    ChangeableSetting{"core", "quotepath"},
    ChangeableSetting{"pull", "rebase"},
    ChangeableSetting{"pull", "ff"},
    ChangeableSetting{"push", "autosetupremote"},
    ChangeableSetting{"fetch", "prune"},
    ChangeableSetting{"merge", "conflictstyle"},
    ChangeableSetting{"merge", "ff"},
    ChangeableSetting{"init", "defaultbranch", Of::kAll, NewValue::kText},
    ChangeableSetting{"rebase", "autosquash"},
    ChangeableSetting{"rebase", "autostash"},
    ChangeableSetting{"rebase", "updaterefs"},
    ChangeableSetting{"commit", "verbose"},
    ChangeableSetting{"status", "short"},
    ChangeableSetting{"status", "branch"},
    ChangeableSetting{"status", "showuntrackedfiles"},
    ChangeableSetting{"diff", "renames"},
    ChangeableSetting{"diff", "algorithm"},
    ChangeableSetting{"color", "ui"},
    ChangeableSetting{"advice", "*"},
    ChangeableSetting{"gc", "auto"},
    ChangeableSetting{"gc", "autodetach"},
    ChangeableSetting{"maintenance", "auto"},
    ChangeableSetting{"lfs", "repositoryformatversion"},
    ChangeableSetting{"lfs", "access", Of::kNamed},
    ChangeableSetting{"lfs", "locksverify", Of::kNamed},
};

struct SettingName {
  std::string section;
  std::string subsection;
  std::string key;
  auto operator<=>(const SettingName&) const = default;
  std::string text() const { return cat({section, subsection.empty() ? "" : ".", subsection, ".", key}); }
};

using SettingValues = std::vector<std::optional<std::string>>;
using SettingMap = std::map<SettingName, SettingValues>;

SettingMap by_name(const std::vector<GitConfigEntry>& entries) {
  SettingMap map;
  for (const GitConfigEntry& entry : entries) {
    map[{entry.section, entry.subsection, entry.key}].push_back(entry.value);
  }
  return map;
}

bool is_graphic(char c) { return static_cast<unsigned char>(c) > ' '; }
bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_line(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return is_graphic(c) || c == ' '; });
}

bool is_word(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return is_alphanumeric(c) || c == '-'; }) && !value.starts_with('-');
}

// git passes the name of a remote to git-fetch(1) as an argument, and makes it a part of references.
bool is_remote_name(std::string_view name) {
  static constexpr std::string_view kBegins = "-./";
  static constexpr std::string_view kWithin = "-._/+@";
  return !name.empty() && !kBegins.contains(name.front()) && !name.contains("..") &&
         std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || kWithin.contains(c); });
}

bool is_reference(std::string_view value) {
  return value.starts_with("refs/") && !value.contains("..") && std::ranges::all_of(value, is_graphic);
}

// git decodes %XX, and ssh(1) puts host and user into commands of ssh_config(5), which a shell runs.
bool is_host(std::string_view authority) {
  static constexpr std::string_view kWithin = "-._~+:@[]";
  const std::string_view host = authority.substr(authority.rfind('@') + 1);
  return !host.empty() && !host.starts_with('-') && !authority.starts_with('-') &&
         std::ranges::all_of(authority, [](char c) { return is_alphanumeric(c) || kWithin.contains(c); });
}

// https://host/path, or user@host:path for ssh(1). Not a path: git runs programs of a repository in it (git-upload-pack
// and, for a push, its hooks). Not another scheme: git runs git-remote-SCHEME (gitremote-helpers(7)).
bool is_address(std::string_view value) {
  static constexpr std::array<std::string_view, 6> kSchemes = {"https", "http", "ssh", "git", "git+ssh", "ssh+git"};
  if (!std::ranges::all_of(value, is_graphic)) return false;
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view front = value.substr(0, colon);
  const std::string_view rest = value.substr(colon + 1);
  if (rest.starts_with("//")) {
    return std::ranges::find(kSchemes, front) != kSchemes.end() && is_host(rest.substr(2, rest.find('/', 2) - 2));
  }
  const auto is_of_host = [](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '_' || c == '@'; };
  return !rest.starts_with(':') && !rest.empty() && is_host(front) && std::ranges::all_of(front, is_of_host);
}

// Where a refspec puts what it fetches; empty for one that is not plain.
std::string_view destination(std::string_view refspec) {
  if (refspec.starts_with('+')) refspec.remove_prefix(1);
  const std::size_t colon = refspec.find(':');
  if (colon == std::string_view::npos || !is_reference(refspec.substr(0, colon))) return {};
  const std::string_view to = refspec.substr(colon + 1);
  return is_reference(to) ? to : std::string_view();
}

class GitConfigChange {
 public:
  GitConfigChange(const std::vector<GitConfigEntry>& before, const std::vector<GitConfigEntry>& after,
                  WorktreeConfigs of_worktrees = WorktreeConfigs::kUnknown)
      : before_(by_name(before)), after_(by_name(after)), of_worktrees_(of_worktrees) {}

  std::set<SettingName> changed() const {
    std::set<SettingName> names;
    for (const auto& [name, values] : before_) {
      if (values_of(after_, name) != values) names.insert(name);
    }
    for (const auto& [name, values] : after_) {
      if (values_of(before_, name) != values) names.insert(name);
    }
    return names;
  }

  // Who the user is, an address, and a remote that gets something that it did not get before: pushes of a branch which
  // had another remote, or the first branch.
  bool is_told(const SettingName& name) const {
    if (name.key == "url" || name.section == "user" || name.section == "author" || name.section == "committer") {
      return true;
    }
    if (name.key == "pushremote" || name.key == "pushdefault") return true;
    if (name.section != "branch" || name.key != "remote") return false;
    const SettingValues now = values_of(after_, name);
    if (!now.empty() && before_.contains(name)) return true;
    return std::ranges::any_of(now, [&](const auto& value) { return value != "." && !has_branch(value); });
  }

  void add_lines(const SettingName& name, std::vector<std::string>& lines) const {
    const SettingValues old = values_of(before_, name);
    const SettingValues now = values_of(after_, name);
    const auto add = [&](std::string_view sign, const SettingValues& values, const SettingValues& others) {
      for (const auto& value : values) {
        if (std::ranges::find(others, value) != others.end()) continue;
        lines.push_back(cat({sign, name.text(), value ? " = " : "", value.value_or("")}));
      }
    };
    add("-", old, now);
    add("+", now, old);
  }

  bool may_change(const SettingName& name) const {
    if (name.text() == kWorktreeConfigSetting) return has_harmless_worktrees(name);
    const auto is_it = [&](const ChangeableSetting& setting) {
      return setting.section == name.section && (setting.key == name.key || setting.key == "*") &&
             (setting.of == Of::kNamed) == !name.subsection.empty();
    };
    const auto setting = std::ranges::find_if(kChangeable, is_it);
    if (setting == kChangeable.end() || !is_line(name.subsection) || name.subsection.starts_with('-')) return false;
    const SettingValues old = values_of(before_, name);
    const SettingValues now = values_of(after_, name);
    if (stays(setting->value) && !old.empty()) return false;
    // Without an address, git takes the name of a remote for one.
    const bool is_remote = name.section == "remote" && !name.subsection.empty();
    const bool has_address = is_remote_name(name.subsection) && remote_in(after_, name.subsection);
    if (is_remote && !now.empty() && !has_address) return false;
    return std::ranges::all_of(now, [&](const std::optional<std::string>& value) {
      return std::ranges::find(old, value) != old.end() || (value && fits(setting->value, name, *value));
    });
  }

 private:
  static SettingValues values_of(const SettingMap& map, const SettingName& name) {
    const auto found = map.find(name);
    return found == map.end() ? SettingValues() : found->second;
  }

  static bool remote_in(const SettingMap& map, std::string_view remote) {
    return map.contains(SettingName{"remote", std::string(remote), "url"});
  }

  bool has_branch(const std::optional<std::string>& remote) const {
    return std::ranges::any_of(before_, [&](const auto& one) {
      const SettingName& name = one.first;
      return name.section == "branch" && name.key == "remote" &&
             std::ranges::find(one.second, remote) != one.second.end();
    });
  }

  static bool stays(NewValue value) {
    using enum NewValue;
    return value == kOldRemote || value == kAddress || value == kStep;
  }

  bool fits(NewValue kind, const SettingName& name, std::string_view value) const {
    switch (kind) {
      case NewValue::kWord: return is_word(value);
      case NewValue::kText: return is_line(value) && !value.starts_with('-');
      case NewValue::kProse:
        return std::ranges::all_of(value, [](char c) { return is_graphic(c) || c == ' ' || c == '\n' || c == '\t'; });
      case NewValue::kReference: return is_reference(value);
      case NewValue::kTracking: return is_tracking(value, name.subsection);
      case NewValue::kUpstream: {
        if (value == ".") return true;
        const bool was_set = before_.contains(name);
        return is_remote_name(value) && remote_in(after_, value) && (!was_set || remote_in(before_, value));
      }
      case NewValue::kOldRemote: return is_remote_name(value) && remote_in(before_, value);
      case NewValue::kAddress: return is_address(value) && (name.section != "remote" || is_new_remote(name.subsection));
      case NewValue::kTags: return value == "--tags" || value == "--no-tags";
      case NewValue::kStep: return value == "checkout" || value == "rebase" || value == "merge" || value == "none";
    }
    return false;
  }

  // git-remote(1) renames a remote first, and its references then. Those of another remote of the user's stay that
  // remote's; "*" stands for any text, slashes included.
  bool is_tracking(std::string_view refspec, std::string_view remote) const {
    const std::string_view to = destination(refspec);
    const std::string_view fixed = to.substr(0, to.find('*'));
    return to.starts_with("refs/remotes/") && std::ranges::none_of(before_, [&](const auto& one) {
             const SettingName& name = one.first;
             if (name.section != "remote" || name.subsection.empty() || name.subsection == remote) return false;
             const std::string others = cat({"refs/remotes/", name.subsection, "/"});
             return fixed.starts_with(others) || (fixed.size() < to.size() && others.starts_with(fixed));
           });
  }

  // git-sparse-checkout(1) sets it, once and to this value.
  bool has_harmless_worktrees(const SettingName& name) const {
    const bool is_set = values_of(after_, name) == SettingValues{"true"};
    return of_worktrees_ == WorktreeConfigs::kHarmless && is_set && !before_.contains(name);
  }

  // A file that is included can name a remote of the user's, too.
  bool is_new_remote(const std::string& remote) const {
    return std::ranges::none_of(before_, [&](const auto& one) {
      const SettingName& name = one.first;
      const bool includes = name.section == "include" || name.section == "includeif";
      return includes || (name.section == "remote" && name.subsection == remote);
    });
  }

  const SettingMap before_;
  const SettingMap after_;
  const WorktreeConfigs of_worktrees_;
};

// Settings of different names can depend on their order, too (include.path, credential.*).
std::vector<GitConfigEntry> without(std::vector<GitConfigEntry> entries, const std::set<SettingName>& names) {
  std::erase_if(entries, [&](const GitConfigEntry& entry) {
    return names.contains({entry.section, entry.subsection, entry.key});
  });
  return entries;
}

}  // namespace

std::optional<std::string> held_git_config_change(std::string_view before, std::string_view after,
                                                  std::string_view beside, WorktreeConfigs of_worktrees) {
  if (std::max({before.size(), after.size(), beside.size()}) > kGitConfigChangeBytesMax) {
    return std::string(kUnreadableGitConfig);
  }
  auto old = read_git_config(before);
  auto now = read_git_config(after);
  const auto more = read_git_config(beside);
  if (!old || !now || !more) return std::string(kUnreadableGitConfig);
  old->insert(old->end(), more->begin(), more->end());
  now->insert(now->end(), more->begin(), more->end());
  const GitConfigChange change(*old, *now, of_worktrees);
  const std::set<SettingName> names = change.changed();
  for (const SettingName& name : names) {
    if (!change.may_change(name)) return name.text();
  }
  const auto kept = without(*old, names);
  const auto left = without(*now, names);
  const auto differs = std::ranges::mismatch(kept, left);
  if (differs.in1 == kept.end()) return std::nullopt;
  return SettingName{differs.in1->section, differs.in1->subsection, differs.in1->key}.text();
}

bool is_told_git_config_change(std::string_view before, std::string_view after) {
  const auto old = read_git_config(before);
  const auto now = read_git_config(after);
  if (!old || !now) return true;
  const GitConfigChange change(*old, *now);
  return std::ranges::any_of(change.changed(), [&](const SettingName& name) { return change.is_told(name); });
}

std::optional<std::vector<std::string>> told_git_config_changes(std::string_view before, std::string_view after) {
  const auto old = read_git_config(before);
  const auto now = read_git_config(after);
  if (!old || !now) return std::nullopt;
  const GitConfigChange change(*old, *now);
  std::vector<std::string> lines;
  for (const SettingName& name : change.changed()) {
    if (change.is_told(name)) change.add_lines(name, lines);
  }
  return lines;
}

}  // namespace hutch::plan
