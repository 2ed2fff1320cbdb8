// The commands of this user that run now.
#include "service/live/live_runs.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "sandbox/questions/question_socket.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/signals.h"

namespace hutch::service {

namespace {

using tool::Value;

constexpr std::string_view kReload = "{\"v\":1,\"type\":\"reload\"}";
constexpr std::chrono::milliseconds kAnswerWait{2000};
// What is new may have to be hidden in many places.
constexpr std::chrono::milliseconds kRunReloadWait{15000};

std::vector<Answered> ask_each_run(const std::string& directory, const std::string& line, std::string_view awaited,
                                   std::chrono::milliseconds wait, std::vector<LiveRun>& late);
Result<std::optional<Answered>> await(LiveRun& run, std::string_view awaited,
                                      std::chrono::steady_clock::time_point until);
std::string text_at(const Value& value, std::string_view key);
Result<std::optional<LiveRun>> connect(int directory, const std::string& name);

}  // namespace

Result<int> LiveRun::pid() const { return TRY(sys::peer_of(socket_.get())).pid; }

// Lines are short, and a run that reads nothing gets no more.
// One that has just ended is an error of the call, not the end of this process.
Status LiveRun::send(std::string_view line) const {
  const sys::BrokenPipeHeld held;
  return sys::write_all(socket_.get(), line);
}

Result<std::optional<std::string>> LiveRun::line(std::chrono::steady_clock::time_point until) {
  for (;;) {
    const std::size_t end = held_.find('\n');
    if (end != std::string::npos) {
      std::string line = held_.substr(0, end);
      held_.erase(0, end + 1);
      return std::optional(std::move(line));
    }
    if (held_.size() > limits::kControlLineBytesMax) return fail(Error::invalid("a line of more than 1 MiB"));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wait{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) return std::optional<std::string>();
    std::array<char, 16384> chunk;
    const auto count = sys::read_some(socket_.get(), chunk);
    if (!count && count.error().sys_errno == EAGAIN) continue;
    if (!count || *count == 0) return std::optional<std::string>();
    held_.append(chunk.data(), *count);
  }
}

LiveRun::Lines LiveRun::ready() {
  Lines ready;
  std::array<char, 16384> chunk;
  const auto count = sys::read_some(socket_.get(), chunk);
  ready.ended = count ? *count == 0 : count.error().sys_errno != EAGAIN;
  held_.append(chunk.data(), count.value_or(0));
  for (std::size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n')) {
    ready.lines.push_back(held_.substr(0, end));
    held_.erase(0, end + 1);
  }
  if (held_.size() > limits::kControlLineBytesMax) ready.ended = true;
  return ready;
}

std::vector<LiveRun> live_runs(const std::string& directory) {
  std::vector<LiveRun> runs;
  const auto opened = sys::open(directory, sys::Open::kReadDirectory);
  if (!opened) return runs;
  const auto entries = sys::names_in(opened->get(), directory);
  if (!entries) return runs;
  for (const sys::TreeEntry& entry : *entries) {
    if (entry.name.starts_with('.') || !entry.name.ends_with(sandbox::kRunSocketSuffix)) continue;
    auto run = connect(opened->get(), entry.name);
    if (run && *run) runs.push_back(std::move(**run));
  }
  std::ranges::sort(runs, {}, &LiveRun::id);
  return runs;
}

std::int64_t Answered::number(std::string_view key) const {
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return 0;
  const auto found = object->find(key);
  const auto* number = found == object->end() ? nullptr : found->second.get<std::int64_t>();
  return number == nullptr ? 0 : *number;
}

std::vector<Answered> ask_runs(const std::string& directory, const std::string& line, std::string_view awaited) {
  std::vector<LiveRun> late;
  return ask_each_run(directory, line, awaited, kAnswerWait, late);
}

std::vector<std::string> reload_runs(const std::string& directory) {
  std::vector<std::string> notes;
  std::vector<LiveRun> late;
  for (const Answered& answered : ask_each_run(directory, std::string(kReload), "reloaded", kRunReloadWait, late)) {
    const std::string process = cat({"process ", std::to_string(answered.pid)});
    if (!answered.error.empty()) notes.push_back(cat({process, " goes on as it was: ", printable(answered.error)}));
    const auto* object = answered.value.get<Value::Object>();
    const auto left = object == nullptr ? Value::Object::const_iterator() : object->find("left");
    const auto* list = object == nullptr || left == object->end() ? nullptr : left->second.get<Value::List>();
    for (const Value& one : list == nullptr ? Value::List() : *list) {
      const auto* text = one.get<std::string>();
      if (text != nullptr) notes.push_back(cat({process, ": ", printable(*text), " holds from the next start on"}));
    }
  }
  for (const LiveRun& run : late) {
    notes.push_back(cat({"process ", std::to_string(run.pid().value_or(0)), " has not said yet that it holds there"}));
  }
  return notes;
}

void tell_of_saved_policy(const std::string& directory, std::string_view except) {
  for (const LiveRun& run : live_runs(directory)) {
    if (run.id() != except) (void)run.send(cat({kReload, "\n"}));
  }
}

namespace {

// `late` are those that have not answered in time, and are still there.
std::vector<Answered> ask_each_run(const std::string& directory, const std::string& line, std::string_view awaited,
                                   std::chrono::milliseconds wait, std::vector<LiveRun>& late) {
  std::vector<LiveRun> runs = live_runs(directory);
  for (const LiveRun& run : runs) (void)run.send(cat({line, "\n"}));
  std::vector<Answered> answers;
  const auto until = std::chrono::steady_clock::now() + wait;
  for (LiveRun& run : runs) {
    const auto answered = await(run, awaited, until);
    if (answered && *answered) answers.push_back(**answered);
    if (answered && !*answered && std::chrono::steady_clock::now() >= until) late.push_back(std::move(run));
  }
  return answers;
}

Result<std::optional<Answered>> await(LiveRun& run, std::string_view awaited,
                                      std::chrono::steady_clock::time_point until) {
  for (;;) {
    const auto line = TRY(run.line(until));
    if (!line) return std::optional<Answered>();
    Answered answered{.run = run.id(), .pid = TRY(run.pid())};
    answered.value = TRY(tool::parse_value(*line, limits::kControlLineBytesMax));
    const std::string type = text_at(answered.value, "type");
    if (type == "error") answered.error = text_at(answered.value, "message");
    if (type == "error" || type == awaited) return std::optional(std::move(answered));
  }
}

std::string text_at(const Value& value, std::string_view key) {
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return {};
  const auto found = object->find(key);
  const auto* text = found == object->end() ? nullptr : found->second.get<std::string>();
  return text == nullptr ? std::string() : *text;
}

// Nobody listens at a name that is there: its run was killed. It got the name after it listened, so none is new.
Result<std::optional<LiveRun>> connect(int directory, const std::string& name) {
  auto socket = sys::connect_beneath(directory, name);
  if (!socket && socket.error().sys_errno == ECONNREFUSED) sys::forget_beneath(directory, name);
  if (!socket) return std::optional<LiveRun>();
  const sys::Peer peer = TRY(sys::peer_of(socket->get()));
  if (peer.uid != sys::user_id()) return std::optional<LiveRun>();
  return std::optional(LiveRun(name.substr(0, name.size() - sandbox::kRunSocketSuffix.size()), std::move(*socket)));
}

}  // namespace

}  // namespace hutch::service
