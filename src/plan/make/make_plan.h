// make_plan: policy, rules and facts in, the flat list of steps out. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "plan/path_facts.h"
#include "plan/plan.h"
#include "plan/trust.h"
#include "policy/policy.h"
#include "policy/rules.h"

namespace hutch::plan {

// A directory of the host at another place of the sandbox, or a file. The first directory of `target` is the sandbox's
// own: the host's of that name is not there.
struct Share {
  std::string source;  // canonical; empty: none, but a directory of the sandbox's own, which goes with it
  std::string target;  // absolute
  Access access = Access::kReadWrite;
  Identity identity{};
  MakeTarget kind = MakeTarget::kDirectory;  // or kFile, which a socket is as well
  bool operator==(const Share&) const = default;
};

// A file of the sandbox's own that covers a host file, whichever file has that name when the sandbox starts.
struct CoveredFile {
  std::string target;  // canonical; made if it lies in a private directory; skipped if it is hidden or absent
  std::string name;  // below kTrustDirectory, where hutch puts the file itself
  std::string content;
};

// A file of the sandbox's own in its private home.
struct HomeFile {
  std::string name;  // below the home
  std::string content;
};

// A root file system of the sandbox's own.
struct ImageInput {
  std::string root;  // canonical: the image's files; of kEngine its name
  Identity identity{};
  std::string layer;  // canonical: what keeps the changes; empty: they go with the sandbox
  IdMap ids{};
  std::string account{};  // what whoami says; empty: what the image does
  std::string home{};  // of `account`
  std::vector<std::string> environment{};  // "NAME=VALUE", of its configuration: below everything else
  // kInstall: by root of the image, in the root of a sandbox beside this one. kEngine: an engine of containers has it,
  // and makes the kernel's file systems as well; kEngineInstall: the same, by root of the image.
  enum class Use { kLive, kInstall, kEngine, kEngineInstall } use = Use::kLive;
  bool is_engines() const { return use == Use::kEngine || use == Use::kEngineInstall; }
  bool is_install() const { return use == Use::kInstall || use == Use::kEngineInstall; }
};

// A sandbox that is an OS user of the machine: files are the kernel's to judge, by owner, mode and list (acl(5)).
struct OsUserInput {
  std::vector<std::uint32_t> groups{};  // besides its own; who it is, PlanInput::facts say
  // kVirtual: of another machine than this one, whose files are its own but for PlanInput::shares.
  enum class Machine { kThis, kVirtual } machine = Machine::kThis;
};

// Whether names are to be held wherever they turn up, by a supervisor of file changes.
enum class Supervision { kNone, kNames };

// What a command has in its environment before anything is asked for: what a person's programs expect, or PATH.
enum class BaseEnvironment { kPerson, kPathAlone };

struct PlanInput {
  const policy::Policy& policy;
  const std::vector<policy::Rule>& rules;  // as host::look_at_paths() gives them
  const HostFacts& facts;
  const PathFacts& paths;
  std::string project;  // canonical
  std::string cwd;  // canonical; where the command starts
  TypedPath typed_cwd{};  // as a person typed it
  NetworkKind network = NetworkKind::kNone;
  TrustInput trust{};
  std::vector<Share> shares{};
  std::vector<CoveredFile> covered_files{};
  std::vector<HomeFile> home_files{};  // skipped if the sandbox sees the host's home, or a read rule names the file
  const ImageInput* image = nullptr;  // null: the host's own files are what the sandbox sees
  const OsUserInput* os_user = nullptr;  // null: the sandbox is the caller
  Supervision supervision = Supervision::kNone;
  FileQuestions questions = FileQuestions::kNone;  // nothing where there is no supervisor
  std::vector<policy::Rule> patterns{};  // rules with a wildcard, before anybody looked at what exists
  ObeyedPlaces obeyed{};
  std::vector<NameRule> names{};  // the sandbox may not write these in any work tree
  ResourceLimits limits;
  std::vector<std::string> caller_environment;  // "K=V" each
  std::vector<std::string> environment;  // of the command line: "K=V", or "K" to pass the caller's own
  BaseEnvironment base_environment = BaseEnvironment::kPerson;
  std::string backend{};  // the name, for HUTCH_BACKEND
  std::string command{};  // the first word of the command, for a note when it is hidden
};

Result<SandboxPlan> make_plan(const PlanInput& input);

// Whether the sandbox changes nothing at or below these paths of the host but by its supervisor: nothing of them is
// writable past it, and the sandbox reaches no service of the host, which could write for it.
bool supervises_changes(const SandboxPlan& plan, std::span<const std::string> paths);

}  // namespace hutch::plan
