// Brings the user's values of git into a sandbox.
#include "service/git/files.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/paths/git_person.h"
#include "host/paths/outer_repository.h"
#include "policy/rules.h"
#include "service/common/load_policy.h"
#include "service/git/commits.h"
#include "store/settings_file.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

host::GitPerson person_in(const plan::HostFacts& facts, const host::PathQuestion& question, const Caller& caller,
                          plan::CommittedFiles committed) {
  std::vector<std::string> writable;
  for (const policy::Rule& rule : question.rules) {
    if (rule.verb == policy::Verb::kAllowWrite) writable.push_back(rule.path);
  }
  host::GitPerson person =
      host::git_person({facts.home, question.project, caller.environment, std::move(writable), question.rules});
  // git-gc(1) writes the logs of every worktree's HEAD, which fails in a linked one.
  const auto& repository = question.repository;
  const bool is_linked = repository && repository->kind == host::OuterRepository::Kind::kLinkedWorktree;
  if (is_linked) person.values += "[gc]\n\tauto = 0\n";
  // Where a supervisor judges what git writes, a file that lands is another one than git has written, with its content
  // and its time.
  const bool lands = question.names == host::PathQuestion::Names::kAlways && committed == plan::CommittedFiles::kLand;
  if (lands) person.values += "[core]\n\ttrustctime = false\n\tcheckStat = minimal\n";
  return person;
}

}  // namespace

plan::CommittedFiles committed_files(const plan::HostFacts& facts) {
  const auto settings = store::SettingsFile(config_directory(facts, sys::own_environment())).read();
  return settings && settings->security.git_brings_committed ? plan::CommittedFiles::kLand
                                                             : plan::CommittedFiles::kHeldBack;
}

std::vector<plan::HomeFile> git_home_files(const plan::HostFacts& facts, const host::PathQuestion& question,
                                           const Caller& caller, plan::CommittedFiles committed) {
  // An agent's home is a directory that persists.
  if (caller.residence != nullptr) return {};
  host::GitPerson person = person_in(facts, question, caller, committed);
  std::vector<plan::HomeFile> files;
  if (!person.values.empty()) files.push_back({".gitconfig", std::move(person.values)});
  if (!person.excludes.empty()) files.push_back({".config/git/ignore", std::move(person.excludes)});
  return files;
}

void add_git_of_person(std::vector<plan::CoveredFile>& covered, std::vector<std::string>& environment,
                       const plan::HostFacts& facts, const host::PathQuestion& question, const Caller& caller,
                       plan::CommittedFiles committed) {
  static constexpr std::string_view kValues = "/run/hutch.gitconfig";
  static constexpr std::string_view kExcludes = "/run/hutch.gitignore";
  if (host::is_hidden_by_rule(question.rules, facts.home, cat({facts.home, "/.gitconfig"}))) return;
  host::GitPerson person = person_in(facts, question, caller, committed);
  if (!person.excludes.empty()) {
    person.values += cat({"[core]\n\texcludesFile = ", kExcludes, "\n"});
    covered.push_back({std::string(kExcludes), "gitignore", std::move(person.excludes)});
  }
  if (person.values.empty()) return;
  // The variable takes the place of the machine's own file, which may name filters and certificates. git fails on a
  // file that it may not read.
  const bool is_machines_hidden = host::is_hidden_by_rule(question.rules, facts.home, "/etc/gitconfig");
  std::string values = cat({is_machines_hidden ? "" : "[include]\n\tpath = /etc/gitconfig\n", person.values});
  covered.push_back({std::string(kValues), "gitconfig", std::move(values)});
  environment.insert(environment.begin(), cat({"GIT_CONFIG_SYSTEM=", kValues}));
}

}  // namespace hutch::service
