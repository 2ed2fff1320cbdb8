// The commands of this user that run by `hutch run` now, as other programs find them: by their sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tool/value.h"

namespace hutch::service {

// A connection to one of them.
class LiveRun {
 public:
  LiveRun(std::string id, UniqueFd socket) : id_(std::move(id)), socket_(std::move(socket)) {}

  const std::string& id() const { return id_; }
  int fd() const { return socket_.get(); }
  // The process, as the kernel knows it.
  Result<int> pid() const;

  Status send(std::string_view line) const;
  // The next line that it sends, without its end; absent when it has ended, or nothing came by then.
  Result<std::optional<std::string>> line(std::chrono::steady_clock::time_point until);
  // What is there already, after poll(2); `ended` says that no more will come.
  struct Lines {
    std::vector<std::string> lines;
    bool ended = false;
  };
  Lines ready();

 private:
  std::string id_;
  UniqueFd socket_;
  std::string held_;
};

// All of them, by their ids, but those that do not answer. Sockets that a killed run left behind are removed. Absent
// directory: nothing runs.
std::vector<LiveRun> live_runs(const std::string& directory);

// What each of them says to a line: its own line of the type `awaited`, or an error. One that does not answer within
// two seconds is left out.
struct Answered {
  std::string run;
  int pid = 0;
  tool::Value value{};
  std::string error{};  // what it could not do
  std::int64_t number(std::string_view key) const;
};
std::vector<Answered> ask_runs(const std::string& directory, const std::string& line, std::string_view awaited);

// Each reads the user's policies again. What is new there and holds from the next start on alone, and why one could not
// do so: lines for a person.
std::vector<std::string> reload_runs(const std::string& directory);

// Each of them, but `except`, reads the user's policies again; it is not waited for.
void tell_of_saved_policy(const std::string& directory, std::string_view except);

}  // namespace hutch::service
