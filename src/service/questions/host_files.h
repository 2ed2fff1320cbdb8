// The files of the host that a sandbox sees, or changes, beyond what its plan says: by what somebody answers, and by
// rules that are new.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/paths/paths.h"
#include "plan/facts.h"
#include "sandbox/questions/questions.h"
#include "sandbox/run/access.h"
#include "service/prepare/prepare.h"
#include "service/questions/file_question.h"
#include "sys/files/tree.h"

namespace hutch::service {

// All of it on the thread that keeps the sandbox.
class HostFiles {
 public:
  struct Settings {
    const plan::HostFacts& facts;
    const Prepared& prepared;
    // The rules as they are by now.
    std::function<Result<FilesNow>()> look;
    sandbox::Questions* questions = nullptr;  // where somebody may be asked
    sandbox::AllowedBy allowed_by = sandbox::AllowedBy::kOption;
  };
  explicit HostFiles(const Settings& settings);
  ~HostFiles();
  HostFiles(const HostFiles&) = delete;
  HostFiles& operator=(const HostFiles&) = delete;

  // For the sandbox.
  sandbox::FileJudge judge();

  // Sets a function that is called once for each `root`, before `root` or anything below it may be changed.
  void tell_before_change(std::function<void(const std::string& root)> tell) { before_change_ = std::move(tell); }

  // The rules have changed. What answers saved is theirs from here on; what they show is shown once somebody looks for
  // it, what they hide goes at once, and so does the right to change what they close. An error says what can still be
  // read although a rule hides it; the sandbox has told of it as well.
  Status replace(FilesNow now, const policy::Asks& asks);
  // What the rules say of it, without an answer.
  FileOutcome outcome(approval::Kind kind, const std::string& path) const;
  // What answers opened there, and below it, is closed again. How many answers it was.
  std::size_t revoke(const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  using Wanted = sandbox::FileWanted;
  struct Granted {
    Wanted wanted = Wanted::kLook;
    std::optional<Clock::time_point> until;
    bool saved = false;
  };
  using Grants = std::map<std::string, Granted>;
  // What a request comes to on the host.
  struct Target {
    std::string path;  // canonical
    plan::SeenPath seen;
    std::string parent;
  };

  void begin(sandbox::FileHold hold);
  void settle(const sandbox::FileRequest& request, const sandbox::SettleFile& settle);
  std::optional<Target> find(const sandbox::FileRequest& request) const;
  FileOutcome look_at_rules(Wanted wanted, const std::string& path) const;
  bool look_again();  // where it cannot, it has told of it
  Status take(FilesNow now);
  Status refuse() const;
  Status hide();
  Status cover(const std::vector<plan::Hiding>& wanted);
  Status uncover(const std::vector<plan::Hiding>& wanted);
  void tell_visible(const std::string& path, const std::string& why) const;
  void close(const policy::Rule& before, std::vector<plan::NameRule>& names) const;
  std::optional<sandbox::FileGrant> open(const sandbox::FileRequest& request, const Target& target);
  sandbox::FileAnswer answer(const sandbox::FileRequest& request, const Target& target, approval::Visibility visibility,
                             const approval::Effect& effect);
  std::optional<sandbox::FileGrant> place_of(const sandbox::FileRequest& request, const Target& target,
                                             approval::Visibility visibility, const std::string& root) const;
  bool was_open(Wanted wanted, const Target& target, const FileOutcome& judged) const;
  bool is_up_to_the_user(const Target& target, Wanted wanted) const;
  const Grants::value_type* granted(const std::string& path, Wanted wanted, const FileOutcome& judged);
  void take(const std::string& path, Wanted wanted, const approval::Effect& effect);
  std::optional<sandbox::FileGrant> grant(const sandbox::FileRequest& request, const Target& target,
                                          approval::Visibility visibility) const;
  void tell_change(Wanted wanted, const std::string& root);
  plan::PlanInput input() const;
  plan::Widening widening(const plan::SeenPath& seen, plan::Access access) const;
  std::optional<plan::Widening> whole(const plan::SeenPath& seen, plan::Access access) const;

  const plan::HostFacts facts_;
  const policy::Policy policy_;
  const plan::SandboxPlan plan_;
  const std::vector<policy::Rule> rules_at_start_;
  const plan::PathFacts paths_at_start_;
  const std::function<Result<FilesNow>()> look_;
  std::vector<policy::Rule> rules_;
  plan::PathFacts paths_;  // what is at the paths of the rules
  plan::GuardedNames names_;  // not to be written
  policy::Asks asks_;
  sandbox::Questions* questions_ = nullptr;
  sandbox::AllowedBy allowed_by_ = sandbox::AllowedBy::kOption;
  sandbox::FileHold hold_;
  Grants granted_;
  std::set<std::pair<std::string, Wanted>> opened_;  // by rules that came since
  // What was visible at the start and is hidden by now: the mounts that lie on it.
  struct Hidden {
    std::vector<plan::MountStep> steps;
    std::vector<std::uint64_t> mounts;
  };
  std::map<std::string, Hidden> hidden_;  // by path
  std::function<void(const std::string& root)> before_change_;
  std::set<std::string> told_of_change_;
  std::set<std::pair<std::string, Wanted>> refused_;  // to this command, which would ask for ever
  std::shared_ptr<HostFiles*> self_;  // null once this has gone: an answer may come later
};

}  // namespace hutch::service
