// What holds for a session.
#include "service/live/sessions.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "egress/events.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"
#include "sys/terminal.h"

namespace hutch::service {

namespace {

constexpr std::size_t kIdBytesMax = 256;
constexpr std::size_t kTargetBytesMax = 512;
constexpr std::size_t kSessionsMax = 1024;
constexpr std::size_t kGrantsMax = 1024;
constexpr std::chrono::hours kUnusedMax{12};
constexpr std::string_view kNamed = "name:";
constexpr std::string_view kTerminal = "terminal:";

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<std::string> session_id(const std::optional<std::string>& variable,
                                      const std::optional<TerminalSession>& terminal) {
  if (variable && !variable->empty()) return cat({kNamed, *variable});
  if (!terminal) return std::nullopt;
  return cat({kTerminal, std::to_string(terminal->leader), ":", std::to_string(terminal->started)});
}

std::optional<TerminalSession> terminal_of(std::string_view session) {
  if (!session.starts_with(kTerminal)) return std::nullopt;
  session.remove_prefix(kTerminal.size());
  const std::size_t colon = session.find(':');
  TerminalSession terminal;
  if (colon == std::string_view::npos || !read_number(session.substr(0, colon), terminal.leader) ||
      !read_number(session.substr(colon + 1), terminal.started)) {
    return std::nullopt;
  }
  return terminal;
}

std::optional<std::string> own_session() {
  std::optional<TerminalSession> terminal;
  const auto leader = sys::terminal_session();
  const auto started = leader ? sys::start_of(*leader) : std::nullopt;
  if (started) terminal = TerminalSession{*leader, *started};
  return session_id(sys::environment_variable("HUTCH_SESSION"), terminal);
}

Sessions::State Sessions::state(const std::string& session, Moment now) {
  const std::scoped_lock lock(mutex_);
  forget_ended(now);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return {};
  found->second.used = now;
  return {found->second.enabled, {found->second.grants.begin(), found->second.grants.end()}};
}

Status Sessions::grant(const std::string& session, const std::string& target, Moment now) {
  if (target.empty() || target.size() > kTargetBytesMax) return fail(Error::invalid("no host and port to grant"));
  const std::scoped_lock lock(mutex_);
  Session& kept = *TRY(find_or_make(session, now));
  if (kept.grants.size() >= kGrantsMax) return fail({Code::kConflict, 0, "the session has too many grants"});
  kept.grants.insert(target);
  return {};
}

Status Sessions::set_enabled(const std::string& session, std::optional<policy::Switch> enabled, Moment now) {
  const std::scoped_lock lock(mutex_);
  Session& kept = *TRY(find_or_make(session, now));
  kept.enabled = enabled;
  // What was allowed before it was off is asked again once it is on.
  if (enabled == policy::Switch::kDisabled) kept.grants.clear();
  return {};
}

std::size_t Sessions::revoke(std::string_view target) {
  const std::scoped_lock lock(mutex_);
  std::size_t count = 0;
  for (auto& [id, session] : sessions_) {
    count +=
        std::erase_if(session.grants, [&](const std::string& granted) { return egress::is_named(granted, target); });
  }
  return count;
}

bool Sessions::empty(Moment now) {
  const std::scoped_lock lock(mutex_);
  forget_ended(now);
  return sessions_.empty();
}

Result<Sessions::Session*> Sessions::find_or_make(const std::string& session, Moment now) {
  if (session.empty() || session.size() > kIdBytesMax) {
    return fail(
        Error::invalid(cat({"a session's name (HUTCH_SESSION) is 1 to ", std::to_string(kIdBytesMax), " bytes"})));
  }
  forget_ended(now);
  if (!sessions_.contains(session) && sessions_.size() >= kSessionsMax) {
    return fail({Code::kConflict, 0, "too many sessions"});
  }
  Session& kept = sessions_[session];
  kept.used = now;
  return &kept;
}

void Sessions::forget_ended(Moment now) {
  std::erase_if(sessions_, [&](const auto& entry) {
    const auto terminal = terminal_of(entry.first);
    if (terminal) return !is_alive_(*terminal);
    return now - entry.second.used > kUnusedMax;
  });
}

}  // namespace hutch::service
