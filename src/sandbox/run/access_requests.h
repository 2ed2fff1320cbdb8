// What a sandbox asks about files and sockets of the host, who says what it gets, and how what holds in it is changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/make/hiding.h"
#include "plan/make/widening.h"
#include "sandbox/io/outcome.h"
#include "wire/message.h"

namespace hutch::sandbox {

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
  // As AccessSupervisor has them.
  std::function<Status(const wire::Names& names)> refuse;
  std::function<Result<wire::Covered>(const std::vector<plan::Hiding>& hidings)> cover;
  std::function<Status(const std::vector<std::uint64_t>& mounts)> uncover;
  std::function<void(const Refusal& refusal)> tell;
};

// Who says so.
struct FileJudge {
  JudgeFile judge{};  // absent: nothing is granted
  std::function<void(FileHold hold)> begins{};
  // A command begins in a sandbox that stays: what was refused to an earlier one is a question again.
  std::function<void()> command_begins{};
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

}  // namespace hutch::sandbox
