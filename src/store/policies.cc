// Reading and changing default.json and projects.json.
#include "store/policies.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "host/paths/paths.h"
#include "policy/defaults.h"
#include "policy/document/edit.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::store {

namespace {

Result<std::optional<std::string>> text_if_there(const std::string& path);

}  // namespace

Result<Coverage> Policies::coverage(const std::string& directory) const {
  const auto projects = TRY(text_if_there(projects_file()));
  if (!projects) return Coverage();
  const std::vector<std::string> paths = TRY_CTX(policy::project_paths(*projects), projects_file());
  Coverage found{policy::covering_path(paths, directory)};
  found.exact = found.project && is_within(*found.project, directory);
  return found;
}

Result<HeldPolicy> Policies::holding(const std::string& directory) const {
  const Files files = TRY(read());
  if (files.projects) {
    const std::vector<std::string> paths = TRY_CTX(policy::project_paths(*files.projects), projects_file());
    if (const auto path = policy::covering_path(paths, directory)) {
      return HeldPolicy{TRY(policy::project_entry(*files.projects, *path)), projects_file(), path};
    }
  }
  return default_of(files);
}

Result<HeldPolicy> Policies::before_change(Scope scope, const std::string& directory) const {
  return begin(TRY(read()), scope, directory);
}

Result<HeldPolicy> Policies::change(Scope scope, const std::string& directory, const Change& change) const {
  const UniqueFd held = TRY(lock());
  const Files files = TRY(read());
  if (files.defaults) TRY(policy::check_policy_text(*files.defaults, default_file()));
  if (files.projects) TRY(policy::check_projects_text(*files.projects, projects_file()));
  HeldPolicy entry = TRY(begin(files, scope, directory));
  entry.text = TRY(change(entry.text));
  if (!entry.project) {
    TRY(policy::check_policy_text(entry.text, default_file()));
    TRY(write(default_file(), entry.text));
    return entry;
  }
  const std::string projects = TRY(policy::with_project(files.projects.value_or("{}"), *entry.project, entry.text));
  TRY(policy::check_projects_text(projects, projects_file()));
  TRY(write(projects_file(), projects));
  return entry;
}

Result<std::size_t> Policies::add_projects(std::string_view projects) const {
  const UniqueFd held = TRY(lock());
  const Files files = TRY(read());
  std::string text = files.projects.value_or("{}");
  TRY(policy::check_projects_text(text, projects_file()));
  std::vector<std::string> own = TRY(policy::project_paths(text));
  const std::vector<std::string> given = TRY(policy::project_paths(projects));
  for (const std::string& path : given) {
    if (std::ranges::find(own, path) != own.end()) {
      return fail({Code::kConflict, 0, cat({projects_file(), ": \"", printable(path), "\" is there already"})});
    }
    const std::string policy = TRY(policy::project_entry(projects, path));
    text = TRY(policy::with_project(text, path, policy));
  }
  TRY(policy::check_projects_text(text, projects_file()));
  TRY(write(projects_file(), text));
  return given.size();
}

std::vector<std::string> Policies::errors() const {
  std::vector<std::string> found;
  const auto note = [&](const Status& status) {
    if (!status) found.push_back(status.error().message);
  };
  const auto check = [&](const std::string& path, auto checker) -> Status {
    const auto text = TRY(text_if_there(path));
    return text ? checker(*text, path) : Status();
  };
  note(check(default_file(), policy::check_policy_text));
  note(check(projects_file(), policy::check_projects_text));
  return found;
}

Result<Policies::Files> Policies::read() const {
  return Files{TRY(text_if_there(default_file())), TRY(text_if_there(projects_file()))};
}

// A file of its own: those that are replaced are another file each time.
Result<UniqueFd> Policies::lock() const {
  TRY(sys::make_private_directories(directory_));
  UniqueFd file = TRY(sys::open_journal(directory_ + "/lock"));
  TRY(sys::lock_journal(file.get()));
  return file;
}

// A link, to where a person keeps their settings, stays one.
Status Policies::write(const std::string& path, std::string_view text) const {
  const host::CanonicalPath target = TRY(host::canonical_path(path));
  return sys::replace_file(target.path, text);
}

Result<HeldPolicy> Policies::default_of(const Files& files) const {
  if (files.defaults && first_) {
    return HeldPolicy{TRY(policy::default_with_first(*first_, *files.defaults)), default_file(), std::nullopt};
  }
  if (files.defaults) return HeldPolicy{*files.defaults, default_file(), std::nullopt};
  return HeldPolicy{first_.value_or(std::string(policy::default_policy_text())), "", std::nullopt};
}

Result<HeldPolicy> Policies::begin(const Files& files, Scope scope, const std::string& directory) const {
  // What others find there is not begun with somebody's first policy.
  if (scope == Scope::kDefault) {
    return HeldPolicy{files.defaults.value_or(std::string(policy::default_policy_text())), default_file(), {}};
  }
  HeldPolicy entry = TRY(default_of(files));
  std::optional<std::string> covering;
  if (files.projects) {
    const std::vector<std::string> paths = TRY_CTX(policy::project_paths(*files.projects), projects_file());
    covering = policy::covering_path(paths, directory);
  }
  if (covering) entry.text = TRY(policy::project_entry(*files.projects, *covering));
  const bool keep = covering && (scope == Scope::kProject || is_within(*covering, directory));
  entry.project = keep ? *covering : directory;
  entry.file = projects_file();
  return entry;
}

namespace {

Result<std::optional<std::string>> text_if_there(const std::string& path) {
  auto text = sys::regular_file_text(path, limits::kJsonBytesMax);
  if (text) return std::optional(std::move(*text));
  if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return std::optional<std::string>();
  return fail(std::move(text).error());
}

}  // namespace

}  // namespace hutch::store
