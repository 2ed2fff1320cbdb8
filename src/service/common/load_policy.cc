// Finding and reading the policy of a request.
#include "service/common/load_policy.h"

#include <cerrno>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "host/paths/paths.h"
#include "host/state_dirs.h"
#include "policy/defaults.h"
#include "policy/document/edit.h"
#include "policy/document/presets.h"
#include "policy/document/reader.h"
#include "policy/rules.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

Result<LoadedPolicy> load(const PlaceRequest& request, const plan::HostFacts& facts,
                          const std::vector<std::string>& environment);
Result<LoadedPolicy> load_named(const std::string& typed, const plan::HostFacts& facts);
Result<std::optional<LoadedPolicy>> load_project(const std::string& directory, const plan::HostFacts& facts);
Result<std::optional<LoadedPolicy>> load_default(const std::string& directory, const plan::HostFacts& facts,
                                                 const std::optional<std::string>& first);
Result<std::optional<std::string>> text_if_there(const std::string& path);

}  // namespace

Result<LoadedPolicy> load_policy(const PlaceRequest& request, const plan::HostFacts& facts,
                                 const std::vector<std::string>& environment) {
  LoadedPolicy loaded = TRY(load(request, facts, environment));
  loaded.policy.enabled = request.enabled.value_or(loaded.policy.enabled);
  return loaded;
}

std::string config_directory(const plan::HostFacts& facts, const std::vector<std::string>& environment) {
  const auto lookup = [&](const char* name) -> std::optional<std::string> {
    const std::string prefix = cat({name, "="});
    for (const std::string& entry : environment) {
      if (entry.starts_with(prefix)) return entry.substr(prefix.size());
    }
    return std::nullopt;
  };
  return host::state_dirs(facts.uid, facts.home, lookup).config;
}

namespace {

Result<LoadedPolicy> load(const PlaceRequest& request, const plan::HostFacts& facts,
                          const std::vector<std::string>& environment) {
  if (request.policy) return LoadedPolicy{*request.policy, facts.cwd, {}};
  if (request.policy_file) return load_named(*request.policy_file, facts);
  const std::string directory = config_directory(facts, environment);
  if (auto project = TRY(load_project(directory, facts))) return std::move(*project);
  if (auto fallback = TRY(load_default(directory, facts, request.first_policy))) return std::move(*fallback);
  if (request.first_policy) {
    return LoadedPolicy{TRY(policy::read_policy(*request.first_policy, "firstPolicy")), facts.cwd, {}};
  }
  return LoadedPolicy{policy::default_policy(), facts.cwd, {}};
}

// A file of a preset's name is meant by "./name": one that lies in a project could be a stranger's. A plain word that
// is no file was meant as a preset.
Result<LoadedPolicy> load_named(const std::string& typed, const plan::HostFacts& facts) {
  if (const policy::Preset* preset = policy::find_preset(typed)) {
    return LoadedPolicy{TRY(policy::read_policy(std::string(preset->text), typed)), facts.cwd, {}};
  }
  const std::string path = TRY_CTX(policy::absolute_path(typed, facts.home, facts.cwd), "--policy");
  const auto text = sys::regular_file_text(path, limits::kJsonBytesMax);
  if (!text && text.error().sys_errno == ENOENT && policy::may_be_preset(typed)) {
    return fail(policy::no_preset(typed, "--policy"));
  }
  if (!text && text.error().sys_errno == ENOENT) {
    return fail(Error::not_found(cat({"--policy: ", printable(path), ": there is no such file"})));
  }
  if (!text) return fail(Error{text.error().code, text.error().sys_errno, cat({"--policy: ", text.error().message})});
  return LoadedPolicy{TRY(policy::read_policy(*text, printable(typed))), facts.cwd, {path}};
}

Result<std::optional<std::string>> text_of_home(const std::string& path, const plan::HostFacts& facts) {
  auto text = text_if_there(path);
  if (!text && text.error().sys_errno == EACCES && is_within(path, facts.home)) {
    return fail(std::move(text).error().with_context(cat({"HOME is ", printable(facts.home)})));
  }
  return text;
}

Result<std::optional<LoadedPolicy>> load_project(const std::string& directory, const plan::HostFacts& facts) {
  const std::string path = directory + "/projects.json";
  const std::optional<std::string> text = TRY(text_of_home(path, facts));
  if (!text) return std::optional<LoadedPolicy>();
  std::optional<policy::Policy> policy = TRY(policy::read_project(*text, path, facts.cwd));
  if (!policy) return std::optional<LoadedPolicy>();
  std::string project = policy->project.value_or(facts.cwd);
  return std::optional(LoadedPolicy{std::move(*policy), std::move(project), {path}});
}

Result<std::optional<LoadedPolicy>> load_default(const std::string& directory, const plan::HostFacts& facts,
                                                 const std::optional<std::string>& first) {
  const std::string path = directory + "/default.json";
  std::optional<std::string> text = TRY(text_if_there(path));
  if (!text) return std::optional<LoadedPolicy>();
  // An answer for all projects makes the file of the built-in policy, which nobody has chosen by that.
  if (first) text = TRY_CTX(policy::default_with_first(*first, *text), "firstPolicy");
  return std::optional(LoadedPolicy{TRY(policy::read_policy(*text, path)), facts.cwd, {path}});
}

// A file that is there and cannot be read is an error: without it the sandbox could be wider than was asked for.
Result<std::optional<std::string>> text_if_there(const std::string& path) {
  auto text = sys::regular_file_text(path, limits::kJsonBytesMax);
  if (text) return std::optional(std::move(*text));
  if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return std::optional<std::string>();
  return fail(std::move(text).error());
}

}  // namespace

}  // namespace hutch::service
