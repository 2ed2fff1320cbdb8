// Shows more, or less, of the host's files in a sandbox that runs (guest/calls/widen.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/make/hiding.h"
#include "plan/make/widening.h"
#include "wire/message.h"

namespace hutch::sandbox {

// What a guest needs to join a sandbox that runs; its init is `init` by the host's number, and by descriptor `pidfd`.
struct JoinedNamespaces {
  UniqueFd user;
  UniqueFd mounts;
  pid_t init = 0;
  UniqueFd pidfd{};
};

// Each call waits for a process that it starts, for some milliseconds, and for limits::kWidenWait at most.
class Widener {
 public:
  // `guest_program`: by O_PATH, from the start of the sandbox on. By its path another sandbox may have put another
  // program there meanwhile. `user` and `mounts` are the sandbox's namespaces.
  Widener(UniqueFd guest_program, UniqueFd user, UniqueFd mounts)
      : guest_program_(std::move(guest_program)), user_(std::move(user)), mounts_(std::move(mounts)) {}

  int guest_program() const { return guest_program_.get(); }
  int user() const { return user_.get(); }
  int mounts() const { return mounts_.get(); }

  Result<wire::Widened> show(const plan::Widening& widening);
  // The mounts that hide each of these places by now.
  Result<wire::Covered> cover(const std::vector<plan::Hiding>& hidings);
  // `own`: of the widening whose place was made, else nothing.
  Status uncover(const std::vector<std::uint64_t>& mounts, const std::vector<std::string>& own = {});
  // The tree that the widening makes, attached nowhere.
  Result<UniqueFd> hand_over(const plan::Widening& widening);
  // The sandbox's own root without what is mounted in it, attached nowhere.
  Result<UniqueFd> hand_root();

 private:
  struct Answer {
    wire::ToHost message;
    UniqueFd tree;
  };
  template <class Wanted>
  Result<Wanted> run(const wire::ToGuest& task, UniqueFd* tree = nullptr);
  Result<Answer> ask(const wire::ToGuest& task);

  UniqueFd guest_program_;
  UniqueFd user_;
  UniqueFd mounts_;
};

}  // namespace hutch::sandbox
