// What holds for a session: the answers that were given for it, and whether its sandboxes are off. In memory alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace hutch::service {

// A terminal's session, told by its leader.
struct TerminalSession {
  int leader = 0;
  std::uint64_t started = 0;  // sys::start_of
  bool operator==(const TerminalSession&) const = default;
};

// What a session is called: HUTCH_SESSION where that is set, else the terminal's; nothing where there is neither.
std::optional<std::string> session_id(const std::optional<std::string>& variable,
                                      const std::optional<TerminalSession>& terminal);
// Of an id that is a terminal's.
std::optional<TerminalSession> terminal_of(std::string_view session);

// Of this process.
std::optional<std::string> own_session();

// Any thread may use it.
class Sessions {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  struct State {
    std::optional<policy::Switch> enabled;  // absent: as the policy says
    std::vector<std::string> grants;        // "example.org:443", sorted
  };

  // `is_alive` of a terminal's leader.
  explicit Sessions(std::function<bool(const TerminalSession&)> is_alive) : is_alive_(std::move(is_alive)) {}

  State state(const std::string& session, Moment now);
  Status grant(const std::string& session, const std::string& target, Moment now);
  Status set_enabled(const std::string& session, std::optional<policy::Switch> enabled, Moment now);
  // From all sessions; for every port where none is named. How many grants it was.
  std::size_t revoke(std::string_view target);

  // Whether anything is kept: a session's end, or twelve hours without use where only its name is known, forgets it.
  bool empty(Moment now);

 private:
  struct Session {
    std::optional<policy::Switch> enabled;
    std::set<std::string, std::less<>> grants;
    Moment used{};
  };
  Result<Session*> find_or_make(const std::string& session, Moment now);
  void forget_ended(Moment now);

  const std::function<bool(const TerminalSession&)> is_alive_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

}  // namespace hutch::service
