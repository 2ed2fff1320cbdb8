// The calls that the access supervisor makes for others.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "base/result.h"
#include "guest/access_arguments.h"
#include "guest/access_place.h"
#include "guest/access_umasks.h"
#include "plan/plan.h"

namespace hutch::guest {

struct LetThrough {};  // the kernel makes the call, and the mounts decide
struct Done {          // it was made
  std::int64_t value = 0;  // what it answers
};
struct Opened {
  UniqueFd file;
  sys::OnExec on_exec = sys::OnExec::kKeep;
};
using CallAnswer = std::variant<LetThrough, Done, Opened>;

class AccessCalls {
 public:
  struct Asked {
    // Whether the caller still waits: before that is sure, nothing is done in its name.
    std::function<bool(const AccessCall& call)> still_waits;
    // Told of each path that a rule forbids to change.
    std::function<void(const AccessCall& call, const std::string& path, const plan::NameRule& rule)> refused;
  };
  AccessCalls(Places& places, Umasks& umasks, std::span<const plan::NameRule> names, Asked asked)
      : places_(places), umasks_(umasks), names_(names), asked_(std::move(asked)) {}

  // An error is what the call fails with: its number, EPERM where it has none.
  Result<CallAnswer> answer(const AccessCall& call) const;

 private:
  Result<CallAnswer> open(const AccessCall& call) const;
  Result<std::optional<CallAnswer>> open_plainly(const AccessCall& call) const;
  Result<std::optional<CallAnswer>> make_plainly(const AccessCall& call, const Entry& entry) const;
  Result<CallAnswer> open_existing(const AccessCall& call, const Entry& entry, const sys::Resolved& what) const;
  Result<CallAnswer> make_file(const AccessCall& call) const;
  Result<CallAnswer> make(const AccessCall& call) const;
  Result<CallAnswer> remove(const AccessCall& call) const;
  Result<CallAnswer> rename(const AccessCall& call) const;
  Result<CallAnswer> link(const AccessCall& call) const;
  Result<CallAnswer> change(const AccessCall& call) const;
  Result<CallAnswer> ask_access(const AccessCall& call) const;
  bool is_git_config(const std::string& path) const;
  Result<CallAnswer> put_content(const AccessCall& call) const;
  Status replace(const Entry& from, const Entry& to) const;
  bool is_new_git_config(const Entry& from, const Entry& to) const;
  Status replace_git_config(const AccessCall& call, const Entry& from, const Entry& to) const;
  Status apply_change(const AccessCall& call, const Object& object) const;
  Result<std::optional<Object>> object_of(const AccessCall& call) const;
  Result<CallAnswer> unresolved(const AccessCall& call, const Error& error) const;
  Status judge(const AccessCall& call, const std::string& path) const;  // once all that it says has been read
  Status judge_rules(const AccessCall& call, const std::string& path) const;
  Status judge_name(const AccessCall& call, const std::string& path) const;
  Status judge_move(const AccessCall& call, const Entry& from, const Entry& to) const;
  Status refuse(const AccessCall& call, const std::string& path, const plan::NameRule& rule) const;
  Status take_umask(const AccessCall& call) const;

  Places& places_;
  Umasks& umasks_;
  std::span<const plan::NameRule> names_;
  Asked asked_;
};

}  // namespace hutch::guest
