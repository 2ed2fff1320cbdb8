// The work trees of submodules' repositories.
#include "service/git/module_trees.h"

#include <optional>
#include <string_view>

#include "base/text.h"
#include "service/git/work_tree.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::string_view kBelowModules = "/.git/modules/";
constexpr std::size_t kModuleLinkMax = 4096;

// By the text alone; empty where it leads above the root.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return {};
    } else {
      parts.pop_back();
    }
  }
  std::string found;
  for (const std::string_view part : parts) found += cat({"/", part});
  return found;
}

bool has_component(std::string_view path, std::string_view name) {
  for (const std::string_view part : split(path, '/')) {
    if (part == name) return true;
  }
  return false;
}

// Whether the ".git" file of `tree` leads to `directory`.
bool leads_back(const std::string& tree, const std::string& directory) {
  static constexpr std::string_view kGitLinkKey = "gitdir: ";
  const auto text = sys::regular_file_text(cat({tree, "/.git"}), kModuleLinkMax);
  if (!text || !text->starts_with(kGitLinkKey)) return false;
  std::string_view link = std::string_view(*text).substr(kGitLinkKey.size());
  while (link.ends_with('\n')) link.remove_suffix(1);
  return without_dots(link.starts_with('/') ? std::string(link) : cat({tree, "/", link})) == directory;
}

}  // namespace

GitModuleTree git_module_tree(const std::string& directory) {
  using enum GitModuleTree::Leads;
  const std::size_t modules = directory.find(kBelowModules);
  const std::string named = modules == std::string::npos ? std::string() : git_work_tree(directory);
  if (named.empty()) return {};
  const std::string above = directory.substr(0, modules);
  GitModuleTree found{.leads = kElsewhere, .tree = without_dots(named)};
  const std::string& tree = found.tree;
  if (tree == above || !is_within(tree, above) || has_component(tree.substr(above.size()), ".git")) return found;
  for (std::size_t end = tree.find('/', above.size() + 1);; end = tree.find('/', end + 1)) {
    const std::string path = tree.substr(0, end);
    const auto status = sys::status_of(path);
    if (!status || !*status) {
      found.leads = kNone;
      return found;
    }
    if ((*status)->kind == sys::EntryKind::kSymlink) {
      found.leads = kLink;
      found.link = path;
      return found;
    }
    if (end == std::string::npos) break;
  }
  if (leads_back(tree, directory)) found.leads = kOwn;
  return found;
}

void GitModuleTrees::remember(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    GitModuleTree tree = git_module_tree(directory);
    if (!tree.tree.empty()) users_.emplace(directory, std::move(tree));
  }
}

void GitModuleTrees::moved(const std::string& from, const std::string& to) {
  std::map<std::string, GitModuleTree> now;
  std::map<std::string, std::string> absolute;
  for (auto& [directory, path] : absolute_) absolute.insert_or_assign(path_after_move(directory, from, to), path);
  for (auto& [directory, tree] : users_) {
    if (is_within(tree.tree, from)) absolute.emplace(path_after_move(directory, from, to), tree.tree);
    tree.tree = path_after_move(tree.tree, from, to);
    tree.link = path_after_move(tree.link, from, to);
    now.insert_or_assign(path_after_move(directory, from, to), std::move(tree));
  }
  users_ = std::move(now);
  absolute_ = std::move(absolute);
}

// A sandbox cannot change the work tree of a repository of the user's, but what is at that path.
std::vector<GitModuleTrees::Found> GitModuleTrees::look(const std::vector<std::string>& directories) const {
  using enum GitModuleTree::Leads;
  std::vector<Found> found;
  for (const std::string& directory : directories) {
    GitModuleTree now = git_module_tree(directory);
    if (now.leads != kLink && now.leads != kElsewhere) continue;
    const auto before = users_.find(directory);
    const auto absolute = absolute_.find(directory);
    const bool is_absolute = absolute != absolute_.end() && absolute->second == now.tree;
    const bool is_users = before != users_.end() && (before->second.tree == now.tree || is_absolute);
    if (is_users && (now.leads == kElsewhere || before->second.link == now.link)) continue;
    std::string path = is_users ? now.link : cat({directory, "/config"});
    found.push_back({directory, std::move(path), std::move(now.tree)});
  }
  return found;
}

}  // namespace hutch::service
