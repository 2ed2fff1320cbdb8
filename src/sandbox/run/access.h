// The supervisor of a sandbox's file changes and sockets, as the host keeps it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "sandbox/io/outcome.h"
#include "sandbox/run/access_requests.h"
#include "sandbox/run/widener.h"
#include "sys/process/process.h"
#include "wire/access.h"
#include "wire/connection.h"

namespace hutch::sandbox {

// What is needed to start one. Made before anything runs in the sandbox: what the host does from then on, by another
// sandbox too, moves and replaces nothing of it.
struct AccessRules {
  UniqueFd guest_program{};  // by O_PATH; none where the plan has no supervisor
  plan::GuardedNames names{};
  plan::FileQuestions questions = plan::FileQuestions::kNone;
  std::vector<std::string> hidden{};
  std::vector<wire::SupervisedMount> supervised{};
  std::vector<UniqueFd>
      sources{};  // of those that are wire::SupervisedMount::Descriptor::kHeld, among the host's mounts
  std::string data{};  // hutch's data directory: the supervisors of one user take turns by a file there
  plan::CommittedFiles committed = plan::CommittedFiles::kHeldBack;
  AllowedBy allowed_by = AllowedBy::kOption;
  // Completes what is told of a change of `path`; absent: nobody knows more.
  std::function<void(Refusal& told, const std::string& path)> explain{};
  // Told of each repository before the sandbox's first change there, and of each that has moved (wire::Repository);
  // absent: nobody wants to know.
  std::function<void(const wire::Repository& repository)> works_in{};
};
// Opens what it names. `data` is hutch's data directory.
Result<AccessRules> access_rules(const std::string& guest_program, const plan::SandboxPlan& plan,
                                 const std::string& data, plan::CommittedFiles committed);

class AccessSupervisor {
 public:
  struct Heard {
    std::vector<Refusal> refusals;
    std::vector<SocketRequest> requests;
    std::vector<FileRequest> files;
  };
  // Says something to the sandbox's own guest.
  using TellGuest = std::function<Status(const wire::ToGuest& message)>;
  // Called before the first call that may change something, and before the first one after each park().
  using BeforeChange = std::function<void()>;
  // `descriptors` came with wire::Supervise. Its process starts with the first call that the kernel holds for it, or
  // with the first method that needs it: most commands change nothing that is supervised. It starts at once where the
  // guest could not send the roots of the supervised mounts. Ends with its owner.
  static Result<AccessSupervisor> await(AccessRules rules, std::vector<UniqueFd> descriptors, TellGuest tell_guest,
                                        BeforeChange before_change);

  // To poll(2) for reading; -1 once it has gone.
  int fd() const;
  // Whether something was told while something else was waited for.
  bool has_heard() const {
    return wants_change_ || !repositories_.empty() || !told_.refusals.empty() || !told_.requests.empty() ||
           !told_.files.empty();
  }
  // What it has told since. Where it has gone, or could not be started, every change of a supervised file fails from
  // then on, and that is what is told.
  Heard hear();
  // Has the guest judge the files that the sandbox has written, and name or refuse them. Waits as refuse() does.
  Status settle() { return works() ? have_heeded({wire::Settle{}}) : Status(); }
  // Settles, and makes no change from then on, until a call wants one or go_on(). Waits as refuse() does.
  Status park();
  void go_on();
  // Whether the next change will be announced by BeforeChange.
  bool is_parked() const { return awaited_ || parked_; }
  // An answer that comes too late is none.
  void answer(std::uint64_t id, const SocketAnswer& answer);
  // Has what is granted shown first. An error says why it could not be; the answer is no then.
  Status answer(std::uint64_t id, const FileAnswer& answer);
  // What was granted at `path`, or below it, ends; what is open there stays open.
  Status narrow(const std::string& path);
  // These names are refused from here on, and no others, and these places are asked about. Waits, for
  // limits::kWidenWait at most, until no call is made by earlier ones any more.
  Status refuse(const wire::Names& names);
  // Hides these places for as long as the sandbox runs, or uncover() says so. Of one that could not be hidden, or not
  // wherever the sandbox sees it, its error says why.
  Result<wire::Covered> cover(const std::vector<plan::Hiding>& hidings);
  Status uncover(const std::vector<std::uint64_t>& mounts);
  // As Widener has it.
  Result<UniqueFd> hand_root() { return widener_.hand_root(); }
  // Without the init, which it does not know.
  Result<JoinedNamespaces> hand_namespaces() const;
  // Until a grant has had its time, and which.
  std::optional<std::chrono::milliseconds> time_left() const;
  std::optional<std::string> over() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    std::string path;  // of the host
    std::string shown_at{};  // empty: it is one for changes
    std::uint64_t mount = 0;  // by which it is shown
    std::vector<std::string> own{};  // where its place was made
    std::optional<Clock::time_point> until;
  };
  // What the process will have.
  struct Awaited {
    AccessRules rules;
    UniqueFd listener;
    UniqueFd tree;
    std::vector<UniqueFd> roots;
  };
  AccessSupervisor(Awaited awaited, Widener widener, TellGuest tell_guest, BeforeChange before_change)
      : awaited_(std::move(awaited)),
        widener_(std::move(widener)),
        tell_guest_(std::move(tell_guest)),
        before_change_(std::move(before_change)) {}
  bool works() const { return connection_ && !parked_; }
  Status await_call();
  Status start();
  Status start_if_awaited() { return awaited_ ? start() : Status(); }
  Status receive();
  Status take(wire::ToHost message);
  void lose(const Error& error);
  void tell_repositories();
  Status have_heeded(std::initializer_list<wire::ToGuest> messages);
  Status announce_covers(wire::Covers::Change change);
  Result<UniqueFd> carry_out(const FileGrant& grant);
  bool prolong(const FileGrant& grant);
  Status end(const std::function<bool(const Held& held)>& which);
  void send(const wire::ToGuest& message, const UniqueFd& descriptor);

  std::optional<Awaited> awaited_;  // until it starts
  AllowedBy allowed_by_ = AllowedBy::kOption;
  std::function<void(Refusal& told, const std::string& path)> explain_;
  std::function<void(const wire::Repository& repository)> works_in_;
  sys::ChildProcess process_;
  std::optional<wire::Connection> connection_;
  UniqueFd listener_;  // from its start on, while there is a connection
  bool parked_ = false;  // it makes no change
  bool wants_change_ = false;  // a call waits for go_on()
  std::vector<wire::Repository> repositories_;  // which works_in_ is to be told of
  Widener widener_;
  TellGuest tell_guest_;
  BeforeChange before_change_;
  std::vector<Held> held_;
  std::vector<std::uint64_t> covers_;
  Heard told_;
  int to_heed_ = 0;
  int heeded_ = 0;
};

// What a sandbox's own guest tells of: sockets alone, whose refusals are all alike. An error where it tells of a file:
// that is for the supervisor, which says each once.
Result<Refusal> refusal_of_guest(const wire::Refused& refused);

}  // namespace hutch::sandbox
