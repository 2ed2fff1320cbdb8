// A machine and a user for tests of plans.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/make/make_plan.h"
#include "plan/make/widening.h"
#include "policy/defaults.h"

namespace hutch::plan {

// A machine and a user that are the same everywhere.
class World {
 public:
  World() {
    facts.uid = 1000;
    facts.gid = 1000;
    facts.user = "u";
    facts.home = "/home/u";
    facts.cwd = "/home/u/p";
    facts.root = {{"bin", FileType::kSymlink, "usr/bin"}, {"boot", FileType::kDirectory, ""},
                  {"dev", FileType::kDirectory, ""},      {"etc", FileType::kDirectory, ""},
                  {"home", FileType::kDirectory, ""},     {"lost+found", FileType::kDirectory, ""},
                  {"proc", FileType::kDirectory, ""},     {"root", FileType::kDirectory, ""},
                  {"run", FileType::kDirectory, ""},      {"sock", FileType::kOther, ""},
                  {"sys", FileType::kDirectory, ""},      {"tmp", FileType::kDirectory, ""},
                  {"usr", FileType::kDirectory, ""},      {"var", FileType::kDirectory, ""}};
    facts.proc_names = {"cpuinfo", "sys", "kcore", "keys", "sysrq-trigger", "irq"};
    for (const RootEntry& entry : facts.root) {
      if (entry.type != FileType::kSymlink) see("/" + entry.name, entry.type);
    }
    directory("/home/u");
    directory("/home/u/p");
    directory("/sys/devices/system");
    environment = {"PATH=/home/u/.local/bin:/usr/bin", "TERM=xterm", "SECRET=x", "LANG=C.UTF-8"};
    place(policy::Place::kProc, "/proc");
    place(policy::Place::kSys, "/sys");
    place(policy::Place::kDevices, "/dev");
    place(policy::Place::kPrivate, "/tmp");
    place(policy::Place::kPrivate, "/run");
  }

  void directory(const std::string& path) { see(path, FileType::kDirectory); }
  void file(const std::string& path) { see(path, FileType::kFile); }
  void pipe(const std::string& path) { see(path, FileType::kOther); }
  void link(const std::string& path, const std::string& text) { see(path, FileType::kSymlink, text); }

  void rule(policy::Verb verb, const std::string& path, policy::Origin origin = policy::Origin::kPolicy) {
    rules.push_back({.verb = verb, .origin = origin, .path = path, .text = path, .where = std::string(name_of(verb))});
  }
  void place(policy::Place what, const std::string& path) {
    rules.push_back({.verb = policy::Verb::kPlace,
                     .origin = policy::Origin::kBuiltIn,
                     .place = what,
                     .path = path,
                     .where = "built in"});
  }

  // As the built-in policy has it.
  void workspace() {
    rule(policy::Verb::kDenyRead, "/home");
    rule(policy::Verb::kDenyRead, "/root");
    rule(policy::Verb::kAllowRead, "/home/u/p");
    rule(policy::Verb::kAllowWrite, "/home/u/p");
    for (const char* name : {"/home/u/.cache", "/home/u/.npm"}) place(policy::Place::kPrivate, name);
  }

  Result<SandboxPlan> plan() {
    PathFacts paths;
    for (const auto& [path, one] : seen_) paths.seen.push_back(one);
    return make_plan({.policy = policy,
                      .rules = rules,
                      .facts = facts,
                      .paths = paths,
                      .project = facts.cwd,
                      .cwd = cwd.empty() ? facts.cwd : cwd,
                      .typed_cwd = typed,
                      .network = network,
                      .trust = trust,
                      .shares = shares,
                      .covered_files = covered,
                      .image = image ? &*image : nullptr,
                      .os_user = os_user ? &*os_user : nullptr,
                      .supervision = supervision,
                      .questions = questions,
                      .limits = limits,
                      .caller_environment = environment,
                      .environment = options,
                      .backend = "namespace"});
  }

  // What opens `path` in a running sandbox.
  Widening widening(const std::string& path, Access access) {
    PathFacts paths;
    for (const auto& [at, one] : seen_) paths.seen.push_back(one);
    const SandboxPlan present = plan().value();
    return plan_widening({.policy = policy,
                          .rules = rules,
                          .facts = facts,
                          .paths = paths,
                          .project = facts.cwd,
                          .cwd = facts.cwd,
                          .limits = limits,
                          .caller_environment = {},
                          .environment = {}},
                         present, seen_.at(path), access);
  }

  HostFacts facts;
  policy::Policy policy = policy::default_policy();
  std::vector<policy::Rule> rules;
  NetworkKind network = NetworkKind::kNone;
  TrustInput trust;
  std::vector<CoveredFile> covered;
  std::optional<ImageInput> image;
  std::optional<OsUserInput> os_user;
  Supervision supervision = Supervision::kNone;
  FileQuestions questions = FileQuestions::kNone;
  std::vector<Share> shares;
  ResourceLimits limits;
  std::string cwd;
  TypedPath typed;
  std::vector<std::string> environment;
  std::vector<std::string> options;

 private:
  void see(const std::string& path, FileType type, const std::string& text = {}) {
    const std::uint64_t inode = 100 + seen_.size();
    seen_[path] = {.path = path, .type = type, .identity = {1, inode}, .link = text};
  }

  std::map<std::string, SeenPath> seen_;
};

}  // namespace hutch::plan
