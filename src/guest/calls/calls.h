// The calls that the access supervisor makes for others.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "guest/calls/judged_files.h"
#include "guest/calls/replaced_files.h"
#include "guest/calls/turns.h"
#include "guest/calls/umasks.h"
#include "guest/git/configs.h"
#include "guest/git/made_repositories.h"
#include "guest/git/wall.h"
#include "guest/git/worked_repositories.h"
#include "guest/places/access_arguments.h"
#include "guest/places/access_place.h"
#include "plan/plan.h"
#include "wire/access.h"

namespace hutch::guest {

struct LetThrough {};  // the kernel makes the call, and the mounts decide
struct Done {          // it was made
  std::int64_t value = 0;  // what it answers
};
struct Opened {
  UniqueFd file;
  sys::OnExec on_exec = sys::OnExec::kKeep;
};
// Nothing was done: the host is to be told of a repository first. Then the call begins anew.
struct FirstChange {
  wire::Repository repository;
};
using CallAnswer = std::variant<LetThrough, Done, Opened, FirstChange>;

// An error of the call itself.
inline Status call_error(int error) { return fail(Error::from_errno("the call", error)); }

inline sys::OnExec on_exec(const AccessCall& call) {
  return (call.flags & O_CLOEXEC) != 0 ? sys::OnExec::kClose : sys::OnExec::kKeep;
}

// A set-user-ID program in the host's files would act outside of the sandbox with this user's rights. The call fails
// instead of dropping the bit, so that the caller notices. S_ISGID is ordinary for a directory.
inline constexpr mode_t kGiveRights = S_ISUID | S_ISGID;

// What tells the sandbox's own repositories from the user's.
struct OwnRepositories {
  const plan::GuardedNames& names;
  const MadeRepositories& repositories;
};
// Whether it is the name of the configuration of a repository that the sandbox has made, or that lies in a place of the
// agent's own.
bool is_own_git_config_of(const OwnRepositories& own, const Entry& entry);
// Whether a file of that name is judged by its content, and by no rule about its path.
bool is_judged_by_content(const OwnRepositories& own, const Entry& entry, plan::JudgedFile kind);

class AccessCalls {
 public:
  struct Asked {
    // Whether the caller still waits: before that is sure, nothing is done in its name.
    std::function<bool(const AccessCall& call)> still_waits;
    // Told of each path that a rule forbids to change.
    std::function<void(const AccessCall& call, const std::string& path, const plan::NameRule& rule)> refused;
    // Called for each text that the next session reads as instructions, before it changes.
    std::function<void(const AccessCall& call, const std::string& path, const plan::NameRule& rule)> instructs;
    ReplacedFiles::Tell replaced;  // of what git does with protected files
    // Called for each program with S_ISUID or S_ISGID that was there before and gets another name.
    std::function<void(const AccessCall& call, const std::string& path)> gives_rights;
    // Called for each directory that has become a repository; absent: the directory itself is not the sandbox's.
    std::function<void(std::string directory, const std::optional<plan::RepositoryIdentity>& identity)> made_repository;
    // Called when a repository has moved, with a directory above it or by itself.
    std::function<void(const std::string& from, const std::string& to)> moved_repository;
    // Called when an operation that the host has been told of is gone.
    std::function<void(const std::string& path)> ended_operation;
    Turns& turns;
  };
  // What the supervisor remembers from call to call.
  struct Memory {
    Umasks& umasks;
    JudgedFiles& judged;
    GitConfigs& configs;
    ReplacedFiles& replaced;
    MadeRepositories& repositories;
    WorkedRepositories& worked;
  };
  AccessCalls(Places& places, Memory memory, const plan::GuardedNames& names, Asked asked)
      : places_(places),
        umasks_(memory.umasks),
        judged_(memory.judged),
        configs_(memory.configs),
        replaced_(memory.replaced),
        repositories_(memory.repositories),
        worked_(memory.worked),
        names_(names),
        asked_(std::move(asked)) {}

  // An error is what the call fails with: its number, EPERM where it has none. No turn is held afterwards.
  Result<CallAnswer> answer(const AccessCall& call) const;

 private:
  Result<CallAnswer> make_call(const AccessCall& call) const;
  Result<CallAnswer> open(const AccessCall& call) const;
  Result<std::optional<CallAnswer>> open_plainly(const AccessCall& call) const;
  Result<std::optional<CallAnswer>> make_plainly(const AccessCall& call, const Entry& entry) const;
  struct OpenedFile {
    UniqueFd file;
    sys::Resolved what;
  };
  using OpenSame =
      std::function<Result<OpenedFile>(int flags)>;  // ESTALE, ENOENT: the name leads to another file by now
  Result<CallAnswer> open_existing(const AccessCall& call, const Entry& entry, const OpenSame& open_same) const;
  Result<OpenedFile> open_named(const Entry& entry, const sys::Resolved& what, int flags) const;
  Result<OpenedFile> open_object(const Object& object, int flags) const;
  Result<CallAnswer> hand_over_made(const AccessCall& call, const Entry& entry, UniqueFd file) const;
  Result<UniqueFd> open_for_reading(const Entry& entry, UniqueFd made, const sys::Resolved& what, int flags) const;
  Status give_for_writing(const UniqueFd& file, const sys::Resolved& what) const;
  Result<CallAnswer> make_file(const AccessCall& call) const;
  Result<CallAnswer> make(const AccessCall& call) const;
  Result<CallAnswer> remove(const AccessCall& call) const;
  Result<CallAnswer> rename(const AccessCall& call) const;
  Result<CallAnswer> link(const AccessCall& call) const;
  Result<CallAnswer> change(const AccessCall& call) const;
  Result<CallAnswer> change_own(const AccessCall& call) const;
  Result<CallAnswer> ask_access(const AccessCall& call) const;
  // Absent: the file is not judged by its content.
  Result<std::optional<CallAnswer>> open_judged(const AccessCall& call, const Entry& entry) const;
  // What git does with a protected file. Absent: the call is judged as any other.
  Result<std::optional<CallAnswer>> open_replaced(const AccessCall& call, const Entry& entry) const;
  Result<std::optional<CallAnswer>> link_replaced(const AccessCall& call, const Entry& entry) const;
  Result<std::optional<CallAnswer>> remove_replaced(const AccessCall& call, const Entry& entry) const;
  std::optional<std::string> protected_target(const ReplacedFiles::Wanted& wanted, std::string_view text) const;
  std::optional<ReplacedFiles::Wanted> replaceable(const AccessCall& call, const Entry& entry) const;
  // Before a new name is made by what was seen last: judge_made() looks again. A call that takes something away by it,
  // or whose other name nobody judges again, looks at once.
  Result<MadeName> judge_git(const AccessCall& call, const Entry& entry, MadeOf what,
                             Places::Outlook outlook = Places::Outlook::kLast) const;
  Status judge_made(const AccessCall& call, const Entry& entry, const MadeName& made) const;
  using JudgeGit = std::function<Status(const Entry& there)>;
  Status judge_outside(const AccessCall& call, const Entry& entry, const Result<std::optional<Outside>>& outside,
                       const JudgeGit& judge_there) const;
  Status keep_made(const AccessCall& call, const Entry& entry, const MadeName& made) const;  // or takes it back
  Status judge_git_link(const AccessCall& call, const std::string& path, std::string_view text) const;
  Status judge_special(const AccessCall& call, const std::string& path) const;  // a pipe, socket or device
  Status judge_link(const AccessCall& call, const Entry& entry) const;
  Status judge_removal(const AccessCall& call, const Entry& entry) const;
  Status refuse_git(const AccessCall& call, const std::string& path) const;
  bool is_git_config(const std::string& path) const;
  Result<CallAnswer> put_content(const AccessCall& call) const;
  bool is_own_git_config(const Entry& entry) const;
  bool is_new_git_config(const Entry& from, const Entry& to) const;
  Status replace_git_config(const AccessCall& call, const Entry& from, const Entry& to) const;
  Status replace_kept_config(const AccessCall& call, const Entry& from, const Entry& to,
                             const plan::NameRule& rule) const;
  bool is_config_lock(const Entry& entry) const;
  // Fails for a lock that git outside has made, or may make at this moment.
  Status judge_lock(const AccessCall& call, const Entry& entry, const sys::Resolved& what) const;
  Status judge_lock(const AccessCall& call, const Entry& entry) const;
  // Fails for a file that has a protected name as well.
  Status judge_linked(const AccessCall& call, const Entry& entry, const sys::Resolved& what) const;
  Status keep_lock(const Entry& entry, const UniqueFd& made) const;
  bool is_kept(const Entry& entry) const;  // without it git would look for another repository
  Status apply_change(const AccessCall& call, const Object& object) const;
  Result<std::optional<Object>> object_of(const AccessCall& call) const;
  Result<CallAnswer> unresolved(const AccessCall& call, const Error& error) const;
  Status judge(const AccessCall& call, const std::string& path) const;  // once all that it says has been read
  Status judge_rules(const AccessCall& call, const std::string& path) const;
  Status take_turn(const AccessCall& call, const std::string& path) const;
  // An error: the call is to be made in a turn, or the host to be told of the repository first.
  Status want_turn(const AccessCall& call, const std::string& path) const;
  Status announce_move(const AccessCall& call, const Entry& from, const Entry& to) const;
  void tell_moved(const Entry& from, const Entry& to) const;
  void tell_exchanged(const Entry& one, const Entry& other) const;
  Status outlive_turn(const Entry& entry) const;
  void tell_instructions(const AccessCall& call, const std::string& path) const;
  Status judge_name(const AccessCall& call, const std::string& path) const;
  Status judge_move(const AccessCall& call, const Entry& from, const Entry& to) const;
  void tell_rights(const AccessCall& call, mode_t mode, const std::string& path) const;
  Status refuse(const AccessCall& call, const std::string& path, const plan::NameRule& rule) const;
  Status take_umask(const AccessCall& call) const;

  Places& places_;
  Umasks& umasks_;
  JudgedFiles& judged_;
  GitConfigs& configs_;
  ReplacedFiles& replaced_;
  MadeRepositories& repositories_;
  WorkedRepositories& worked_;
  const plan::GuardedNames& names_;
  Asked asked_;
  mutable std::optional<wire::Repository> untold_;  // which the host has to be told of before the call
  mutable bool wants_turn_ = false;  // a call without a turn led to a name that git knows
};

}  // namespace hutch::guest
