// Reads the values of the user's configuration of git.
#include "host/paths/git_person.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/paths/looker.h"
#include "host/paths/paths.h"
#include "policy/decide.h"
#include "policy/git/obeyed.h"
#include "policy/git/values.h"
#include "policy/glob.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::host {

namespace {

constexpr std::size_t kPersonFilesMax = 64;
constexpr int kPersonDepthMax = 10;  // git's own limit

std::string place_of_file(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

// The rules about reading, each also by the path that its own leads to.
class ReadRules {
 public:
  ReadRules(const std::vector<policy::Rule>& rules, const std::string& home) {
    const auto real = canonical_path(home);
    homes_ = {home, real ? real->path : home};
    for (const policy::Rule& rule : rules) {
      if (rule.verb != policy::Verb::kDenyRead && rule.verb != policy::Verb::kAllowRead) continue;
      may_hide_ = may_hide_ || (rule.verb == policy::Verb::kDenyRead && !is_about_home(rule.path));
      rules_.push_back(rule);
    }
    if (!may_hide_) return;
    for (std::size_t i = 0, size = rules_.size(); i < size; ++i) {
      const auto leads = rules_[i].match == policy::Match::kLiteral ? canonical_path(rules_[i].path)
                                                                    : Result<CanonicalPath>(CanonicalPath());
      if (!leads || leads->path.empty() || leads->path == rules_[i].path) continue;
      rules_.push_back(rules_[i]);
      rules_.back().path = leads->path;
    }
  }

  // By any of the names by which it is reached.
  bool hides(const std::string& file) const {
    if (!may_hide_) return false;
    if (hides_as(file)) return true;
    const auto found = Looker().resolve(file, FinalLink::kFollow);
    if (!found) return false;
    const auto is_hidden = [&](const Hop& hop) { return hides_as(hop.at); };
    return hides_as(found->path) || std::ranges::any_of(found->hops, is_hidden);
  }

 private:
  bool is_about_home(std::string_view path) const {
    return std::ranges::any_of(homes_, [&](const std::string& home) { return is_within(home, path); });
  }

  // As decide() does it: where a pattern matches, the rule is about that path.
  bool hides_as(const std::string& path) const {
    std::vector<policy::Rule> matched;
    for (const policy::Rule& rule : rules_) {
      if (rule.match == policy::Match::kLiteral) continue;
      for (std::string at = path; !at.empty(); at = place_of_file(at)) {
        if (!policy::matches_path(rule.path, at)) continue;
        matched.push_back(rule);
        matched.back().path = at;
        break;
      }
    }
    std::vector<const policy::Rule*> covering;
    for (const policy::Rule& rule : matched) covering.push_back(&rule);
    for (const policy::Rule& rule : rules_) {
      if (rule.match == policy::Match::kLiteral && is_within(path, rule.path)) covering.push_back(&rule);
    }
    const policy::Judgement judgement = policy::judge(covering);
    if (judgement.view != policy::View::kHidden || judgement.read_rule == nullptr) return false;
    const bool is_in_home = std::ranges::any_of(homes_, [&](const std::string& home) { return is_within(path, home); });
    return !is_in_home || !is_about_home(judgement.read_rule->path);
  }

  std::array<std::string, 2> homes_;  // as it is called, and where it is
  std::vector<policy::Rule> rules_;
  bool may_hide_ = false;
};

class GitPersonReader {
 public:
  explicit GitPersonReader(const GitPersonSearch& search)
      : search_(search), rules_(search.rules, search.home), repository_(repository_above()) {}

  GitPerson read() {
    const std::string by_xdg = variable("XDG_CONFIG_HOME");
    const std::string xdg = by_xdg.empty() ? cat({search_.home, "/.config"}) : by_xdg;
    const std::string global = variable("GIT_CONFIG_GLOBAL");
    const std::string system = variable("GIT_CONFIG_SYSTEM");
    if (variable("GIT_CONFIG_NOSYSTEM").empty()) follow(system.empty() ? "/etc/gitconfig" : system, 0);
    if (global.empty()) follow(cat({xdg, "/git/config"}), 0);
    follow(global.empty() ? cat({search_.home, "/.gitconfig"}) : global, 0);
    std::string excludes = cat({xdg, "/git/ignore"});
    // The entries contain the variables above, as settings that include a file, and the usual name of the excludes.
    for (policy::GitEntry& entry : policy::git_entries_of(search_.environment)) {
      if (entry.section != "include" && entry.value != excludes) entries_.push_back(std::move(entry));
    }
    GitPerson person;
    person.values = policy::git_values(entries_);
    for (const policy::GitEntry& entry : entries_) {
      const bool names = entry.section == "core" && entry.subsection.empty() && entry.key == "excludesfile";
      if (names) excludes = policy::obeyed_path(entry.value, search_.home, search_.project).value_or("");
    }
    person.excludes = excludes_text(excludes).value_or("");
    return person;
  }

 private:
  std::string variable(std::string_view name) const {
    for (const std::string_view line : search_.environment) {
      if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
        return std::string(line.substr(name.size() + 1));
      }
    }
    return {};
  }

  // All of the text comes into the sandbox. A link that a sandbox can have made leads to what that may not read.
  std::optional<std::string> excludes_text(const std::string& path) const {
    if (path.empty() || !path.starts_with('/')) return std::nullopt;
    const auto found = Looker().resolve(path, FinalLink::kFollow);
    if (!found || found->type != plan::FileType::kFile) return std::nullopt;
    const auto is_sandboxes = [&](const Hop& hop) {
      return is_within(hop.at, search_.project) ||
             std::ranges::any_of(search_.writable, [&](const std::string& place) { return is_within(hop.at, place); });
    };
    if (std::ranges::any_of(found->hops, is_sandboxes)) return std::nullopt;
    if (rules_.hides(path)) return std::nullopt;
    const auto exact = sys::open_exact(found->path);
    if (!exact) return std::nullopt;
    const std::string same = cat({"/proc/self/fd/", std::to_string(exact->get())});
    auto text = sys::regular_file_text(same, policy::kGitValuesBytesMax);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }

  void follow(const std::string& file, int depth) {
    if (++files_ > kPersonFilesMax || depth > kPersonDepthMax) return;
    if (rules_.hides(file)) return;
    const auto text = sys::regular_file_text(file, policy::kGitValuesBytesMax);
    if (!text) return;
    for (policy::GitEntry& entry : policy::git_entries(*text)) {
      if (includes(entry, file)) {
        const auto path = policy::obeyed_path(entry.value, search_.home, place_of_file(file));
        if (path) follow(*path, depth + 1);
      }
      entries_.push_back(std::move(entry));
    }
  }

  bool includes(const policy::GitEntry& entry, const std::string& file) const {
    if (entry.key != "path") return false;
    if (entry.section == "include") return entry.subsection.empty();
    if (entry.section != "includeif") return false;
    const auto pattern = policy::included_for(entry.subsection, search_.home, place_of_file(file));
    return pattern && policy::matches_path(*pattern, repository_);
  }

  // The directory of the repository that contains the project, or of its worktree; empty if there is none.
  std::string repository_above() const {
    static constexpr std::string_view kLink = "gitdir: ";
    static constexpr std::size_t kLinkBytesMax = 4096;
    for (std::string at = search_.project; !at.empty(); at = place_of_file(at)) {
      std::string git = cat({at, "/.git"});
      const auto status = sys::status_of(git);
      if (!status || !*status) continue;
      if ((*status)->kind != sys::EntryKind::kFile) return git;
      const auto text = sys::regular_file_text(git, kLinkBytesMax);
      if (!text || !text->starts_with(kLink)) return git;
      const std::string_view link = std::string_view(*text).substr(kLink.size());
      return policy::obeyed_path(link.substr(0, link.find('\n')), search_.home, at).value_or(git);
    }
    return {};
  }

  const GitPersonSearch& search_;
  const ReadRules rules_;
  const std::string repository_;
  std::size_t files_ = 0;
  std::vector<policy::GitEntry> entries_;
};

}  // namespace

bool is_hidden_by_rule(const std::vector<policy::Rule>& rules, const std::string& home, const std::string& file) {
  return ReadRules(rules, home).hides(file);
}

GitPerson git_person(const GitPersonSearch& search) { return GitPersonReader(search).read(); }

}  // namespace hutch::host
