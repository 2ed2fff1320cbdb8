// The socket on which a run offers its questions to other programs of the same user, by the lines of wire/control.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/questions/audience.h"
#include "sys/process/readiness.h"

namespace hutch::sandbox {

// In the directory of the runs' sockets: held by whoever answers questions of every run, so that one that starts waits
// for them to connect.
inline constexpr std::string_view kAttendingFile = "attending";
inline constexpr std::string_view kRunSocketSuffix = ".sock";

// Everything that is read and written is bounded, and no client is waited for: one that does not read what it is sent,
// or sends a line that is too long, is let go.
class QuestionSocket : public Audience {
 public:
  struct Settings {
    std::string directory;  // made where it is not there, and this user's alone
    wire::ControlRun run;
  };
  static Result<std::unique_ptr<QuestionSocket>> open(Settings settings);
  QuestionSocket(Settings settings, UniqueFd directory, UniqueFd listener, sys::Epoll epoll);
  ~QuestionSocket() override;
  QuestionSocket(const QuestionSocket&) = delete;
  QuestionSocket& operator=(const QuestionSocket&) = delete;

  // What is done with a line: an error is told to whoever sent it. `tell` sends a line of one's own to them.
  using Tell = std::function<void(const std::string& line)>;
  using Handle = std::function<Status(const wire::ControlInput& input, std::string_view by, const Tell& tell)>;
  void handle_by(Handle handle) { handle_ = std::move(handle); }
  // What is open when a client comes.
  void list_by(std::function<std::vector<wire::ControlQuestion>()> list) { list_ = std::move(list); }

  int fd() const { return epoll_.fd(); }
  Status step();

  bool is_attached() const override;
  void asked(const wire::ControlQuestion& question) override;
  void answered(const approval::Desk::Closed& closed) override;

 private:
  struct Client {
    std::uint64_t key = 0;
    UniqueFd socket;
    std::string name;     // "process 4711"
    std::string held;     // a part of a line
    std::string waiting;  // what it was not ready to take
    bool attends = false;
    bool watched_for_writing = false;
    bool deaf = false;  // nothing can be sent to it any more; what it has said is read
    bool gone = false;
  };
  Status accept();
  void greet(Client& client);
  void serve(Client& client, const sys::Readiness& ready);
  void read(Client& client);
  void take(Client& client, std::string_view line);
  void send(Client& client, std::string_view line);
  void write_waiting(Client& client);
  void tell_all(const std::string& line);
  void forget_gone();

  const Settings settings_;
  const UniqueFd directory_;
  const UniqueFd listener_;
  const std::string name_;
  sys::Epoll epoll_;
  Handle handle_;
  std::function<std::vector<wire::ControlQuestion>()> list_;
  std::uint64_t last_key_ = 0;  // 0 is the listener's
  std::map<std::uint64_t, Client> clients_;
};

}  // namespace hutch::sandbox
