// One sandbox of the E2B-compatible API.
#include "server/e2b/sandbox.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "store/agent_record.h"
#include "sys/files/journal.h"

namespace hutch::server {

namespace {

constexpr std::size_t kEndedMax = 64;  // that are remembered
constexpr std::uint64_t kEndedBytesMax = 8 << 20;
constexpr std::uint64_t kEndedWordsMax = 256 << 10;
constexpr std::size_t kRunningMax = 1000;
constexpr std::size_t kWatchersMax = 64;
constexpr std::size_t kLinesMax = 1000;
constexpr std::size_t kLineBytesMax = 2048;
constexpr std::size_t kLinesBytesMax = 128 << 10;
constexpr std::size_t kVariablesBytesMax = 1 << 20;

}  // namespace

std::int64_t now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::string E2bSandbox::agent_of(const std::string& id) { return cat({store::kE2bAgentPrefix, id}); }

store::E2bRecord E2bSandbox::record() const {
  const std::scoped_lock lock(mutex_);
  return record_;
}

store::E2bRecord E2bSandbox::change(const std::function<void(store::E2bRecord& record)>& change) {
  const std::scoped_lock lock(mutex_);
  change(record_);
  return record_;
}

std::vector<std::string> E2bSandbox::environment() const {
  std::vector<std::string> environment;
  const auto parsed = tool::parse_value(record().variables, kVariablesBytesMax);
  const auto* variables = parsed ? parsed->get<tool::Value::Object>() : nullptr;
  if (variables == nullptr) return environment;
  for (const auto& [name, value] : *variables) {
    if (const auto* text = value.get<std::string>()) environment.push_back(cat({name, "=", *text}));
  }
  return environment;
}

Status E2bSandbox::check_room() {
  const std::scoped_lock lock(mutex_);
  forget_ended();
  const auto running = std::ranges::count_if(processes_, [](const auto& one) { return !one->has_ended(); });
  if (static_cast<std::size_t>(running) < kRunningMax) return {};
  return fail(full_error(cat({"the sandbox has ", std::to_string(kRunningMax), " processes already"})));
}

void E2bSandbox::add(const std::shared_ptr<FollowedProcess>& process) {
  const std::scoped_lock lock(mutex_);
  processes_.push_back(process);
  forget_ended();
}

// The last of those that have ended stay, as long as what nobody has read of them, and their words, are not too much.
void E2bSandbox::forget_ended() {
  std::size_t ended = 0;
  std::uint64_t bytes = 0;
  std::uint64_t words = 0;
  std::set<const FollowedProcess*> forgotten;
  for (auto one = processes_.rbegin(); one != processes_.rend(); ++one) {
    if (!(*one)->has_ended()) continue;
    bytes += (*one)->kept().bytes;
    for (const std::string& word : (*one)->process().arguments()) words += word.size();
    const bool is_too_much = bytes > kEndedBytesMax || words > kEndedWordsMax;
    if (++ended > kEndedMax || is_too_much) forgotten.insert(one->get());
  }
  std::erase_if(processes_, [&](const auto& one) { return forgotten.contains(one.get()); });
}

// Of several that had a number one after another, the last.
Result<std::shared_ptr<FollowedProcess>> E2bSandbox::find(std::uint32_t pid) {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::find_if(processes_.rbegin(), processes_.rend(), [pid](const auto& one) { return one->pid() == pid; });
  if (found != processes_.rend()) return *found;
  return fail(Error::not_found(cat({"process with pid ", std::to_string(pid), " not found"})));
}

Result<std::shared_ptr<FollowedProcess>> E2bSandbox::tagged(const std::string& tag) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(processes_.rbegin(), processes_.rend(),
                                  [&](const auto& one) { return !tag.empty() && one->tag() == tag; });
  if (found != processes_.rend()) return *found;
  return fail(Error::not_found(cat({"process with tag ", printable(tag, 64), " not found"})));
}

std::vector<std::shared_ptr<FollowedProcess>> E2bSandbox::running() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<FollowedProcess>> running;
  std::ranges::copy_if(processes_, std::back_inserter(running), [](const auto& one) { return !one->has_ended(); });
  return running;
}

void E2bSandbox::forget_processes() {
  const std::scoped_lock lock(mutex_);
  processes_.clear();
  watchers_.clear();
}

Result<std::string> E2bSandbox::add_watcher(DirectoryWatch watch, std::shared_ptr<KeyMemory::Held> held) {
  std::string id = TRY(sys::random_hex(8));
  const std::scoped_lock lock(mutex_);
  if (watchers_.size() >= kWatchersMax) {
    return fail(full_error(cat({"the sandbox has ", std::to_string(kWatchersMax), " watchers already; remove one"})));
  }
  watchers_.emplace(id, std::make_shared<Watcher>(std::move(watch), std::move(held)));
  return id;
}

Result<std::shared_ptr<E2bSandbox::Watcher>> E2bSandbox::watcher(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = watchers_.find(id);
  if (found != watchers_.end()) return found->second;
  return fail(Error::not_found(cat({"watcher with id ", printable(id, 64), " not found"})));
}

Status E2bSandbox::remove_watcher(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  if (watchers_.erase(id) > 0) return {};
  return fail(Error::not_found(cat({"watcher with id ", printable(id, 64), " not found"})));
}

void E2bSandbox::log(std::string message, std::string_view level) {
  const std::scoped_lock lock(mutex_);
  lines_.push_back({now_ms(), level, printable(message, kLineBytesMax)});
  line_bytes_ += lines_.back().message.size();
  while (lines_.size() > kLinesMax || line_bytes_ > kLinesBytesMax) {
    line_bytes_ -= lines_.front().message.size();
    lines_.pop_front();
  }
}

std::vector<E2bSandbox::Line> E2bSandbox::lines() const {
  const std::scoped_lock lock(mutex_);
  return {lines_.begin(), lines_.end()};
}

}  // namespace hutch::server
