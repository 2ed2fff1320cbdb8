// The supervisor of a sandbox's file changes and sockets, as the host keeps it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/widening.h"
#include "sandbox/outcome.h"
#include "sandbox/widener.h"
#include "sys/process.h"
#include "wire/connection.h"

namespace hutch::sandbox {

// What is needed to start one.
struct AccessRules {
  std::string guest_program;
  std::vector<plan::NameRule> names;
  plan::FileQuestions questions = plan::FileQuestions::kNone;
  std::vector<std::string> hidden{};
  std::vector<wire::SupervisedMount> supervised{};
};
// `guest_program` may be empty where the plan has none.
AccessRules access_rules(std::string guest_program, const plan::SandboxPlan& plan);

// A process of the sandbox wants to change a file that no rule lets it change, or to look at one that is hidden. `path`
// is hostile, as the sandbox sees it.
using FileWanted = wire::FileAsked::Wanted;
struct FileRequest {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;
  std::string path;
  FileWanted wanted = FileWanted::kLook;
};

// What is opened: to be seen at its own path, and to be changed by the supervisor. Neither: the answer is no.
struct FileGrant {
  struct Changes {
    plan::Widening in;
    std::string only;  // the path, and what is below it, that may be changed there
  };
  std::optional<plan::Widening> shown;
  std::optional<Changes> changed;
  std::optional<std::chrono::steady_clock::time_point> until;
};
struct FileAnswer {
  std::optional<FileGrant> grant;
  std::optional<Refusal> refusal;
};
using SettleFile = std::function<void(const FileAnswer& answer)>;
using JudgeFile = std::function<void(const FileRequest& request, SettleFile settle)>;

// How what holds in a sandbox is changed while it runs.
struct FileHold {
  std::function<Status(const std::string& path)> narrow;  // takes back what was granted there
  std::function<void(const std::vector<plan::NameRule>& names)> refuse;  // these names, and no others
};

// Who says so.
struct FileJudge {
  JudgeFile judge{};  // absent: nothing is granted
  std::function<void(FileHold hold)> begins{};
};

// A process of the sandbox wants to connect to a Unix socket that is none of the sandbox's own.
struct SocketRequest {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;  // a thread, as this process numbers it
  std::string path;  // absolute; where `error` is 0 canonical, as the sandbox sees it
  int error = 0;  // what the sandbox's own files answer; 0: something is there
};

// `file` is a descriptor (O_PATH) of the socket's file, which it is connected to; else `error` is the errno of the
// call, and `refusal` what a person is told.
struct SocketAnswer {
  UniqueFd file;
  int error = 0;
  std::optional<Refusal> refusal;
};

// Who says which sockets of the host a sandbox may connect to. `settle` is called once, now or later, on the thread
// that asked.
using SettleSocket = std::function<void(const SocketAnswer& answer)>;
using JudgeSocket = std::function<void(const SocketRequest& request, SettleSocket settle)>;

class AccessSupervisor {
 public:
  struct Heard {
    std::vector<Refusal> refusals;
    std::vector<SocketRequest> requests;
    std::vector<FileRequest> files;
  };
  // `descriptors` came with wire::Supervise. Ends with its owner, and with the thread that starts it.
  static Result<AccessSupervisor> start(const AccessRules& rules, std::vector<UniqueFd> descriptors);

  // To poll(2) for reading; -1 once it has gone.
  int fd() const { return connection_ ? connection_->fd() : -1; }
  // What it has told since. Where it has gone, every change of a supervised file fails from then on, and that is what
  // is told.
  Heard hear();
  // An answer that comes too late is none.
  void answer(std::uint64_t id, const SocketAnswer& answer);
  // Has what is granted shown first. An error says why it could not be; the answer is no then.
  Status answer(std::uint64_t id, const FileAnswer& answer);
  // What was granted at `path`, or below it, ends; what is open there stays open.
  Status narrow(const std::string& path);
  // These names are refused from here on, and no others.
  void refuse(const std::vector<plan::NameRule>& names);
  // As Widener has it.
  Result<UniqueFd> hand_root() { return widener_.hand_root(); }
  // Until a grant has had its time, and which.
  std::optional<std::chrono::milliseconds> time_left() const;
  std::optional<std::string> over() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    std::string path;  // of the host
    std::string shown_at{};  // empty: it is one for changes
    std::vector<std::string> own{};  // where its place was made
    std::optional<Clock::time_point> until;
  };
  AccessSupervisor(sys::ChildProcess process, wire::Connection connection, Widener widener)
      : process_(std::move(process)), connection_(std::move(connection)), widener_(std::move(widener)) {}
  Result<Heard> receive();
  Result<UniqueFd> carry_out(const FileGrant& grant);
  bool prolong(const FileGrant& grant);
  Status end(const std::function<bool(const Held& held)>& which);
  void send(const wire::ToGuest& message, const UniqueFd& descriptor);

  sys::ChildProcess process_;
  std::optional<wire::Connection> connection_;
  Widener widener_;
  std::vector<Held> held_;
};

// How a refusal that a guest tells of is told to a person.
Refusal refusal_of(const wire::Refused& refused);

}  // namespace hutch::sandbox
