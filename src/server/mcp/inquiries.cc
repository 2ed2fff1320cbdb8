// The questions that tool calls put to whoever uses an MCP client.
#include "server/mcp/inquiries.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "sys/files/journal.h"

namespace hutch::server::mcp {

namespace {

constexpr std::size_t kOpenMax = 64;
constexpr std::size_t kParkedMax = 64;
constexpr std::chrono::minutes kParkedFor{10};
constexpr std::size_t kStateBytes = 16;
constexpr std::string_view kIdStart = "\"hutch-";

std::string choice_of(const Elicited& answer) {
  return answer.action == "accept" ? answer.choice : std::string(kDeclined);
}

}  // namespace

std::optional<std::string> Elicitations::add(const Inquiry& inquiry) {
  const std::scoped_lock lock(mutex_);
  const auto same = [&](const auto& entry) { return entry.second.key == inquiry.key; };
  if (std::ranges::any_of(open_, same)) return std::nullopt;
  if (open_.size() >= kOpenMax) open_.erase(open_.begin());
  open_.emplace(++last_, inquiry);
  return cat({kIdStart, std::to_string(last_), "\""});
}

void Elicitations::take(const std::string& id, const Elicited& answer) {
  if (!id.starts_with(kIdStart)) return;
  std::uint64_t number = 0;
  const char* end = id.data() + id.size();
  const auto [stop, error] = std::from_chars(id.data() + kIdStart.size(), end, number);
  if (error != std::errc() || stop + 1 != end) return;
  Inquiry inquiry;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) return;
    inquiry = std::move(found->second);
    open_.erase(found);
  }
  inquiry.on_answer(choice_of(answer));
}

void Elicitations::withdraw(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(open_, [&](const auto& entry) { return entry.second.key == key; });
}

void Rounds::wait(std::shared_ptr<Call> call, Waiter waiter) {
  {
    const std::scoped_lock lock(mutex_);
    call_ = call;
    waiter_ = std::move(waiter);
  }
  // Outside of the lock: it is called at once where the request was cancelled already.
  cancelled_.emplace(call->cancelled(), [weak = weak_from_this()] {
    if (const auto rounds = weak.lock()) rounds->stop();
  });
  tell();
}

void Rounds::inquire(const Inquiry& inquiry) {
  {
    const std::scoped_lock lock(mutex_);
    if (open_.size() >= kOpenMax) return;
    open_.insert_or_assign(inquiry.key, inquiry);
  }
  tell();
}

void Rounds::withdraw(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  open_.erase(key);
}

void Rounds::finish(Result<CallAnswer> done) {
  {
    const std::scoped_lock lock(mutex_);
    done_.emplace(std::move(done));
  }
  tell();
}

void Rounds::answer(const std::string& key, const Elicited& answer) {
  Inquiry inquiry;
  {
    const std::scoped_lock lock(mutex_);
    auto found = open_.extract(key);
    if (found.empty()) return;
    inquiry = std::move(found.mapped());
  }
  inquiry.on_answer(choice_of(answer));
}

std::shared_ptr<Call> Rounds::call() const {
  const std::scoped_lock lock(mutex_);
  return call_;
}

void Rounds::tell() {
  Waiter waiter;
  std::vector<Inquiry> open;
  bool is_done = false;
  {
    const std::scoped_lock lock(mutex_);
    is_done = done_.has_value();
    if (!waiter_ || (!is_done && open_.empty())) return;
    waiter = std::exchange(waiter_, {});
    for (const auto& [key, inquiry] : open_) open.push_back(inquiry);
  }
  // What is done stays as it is.
  waiter(is_done ? &*done_ : nullptr, open);
}

Result<std::string> ParkedCalls::add(const std::shared_ptr<Rounds>& rounds, const std::string& tool, Moment now) {
  std::string state = TRY(sys::random_hex(kStateBytes));
  const std::scoped_lock lock(mutex_);
  const auto end = [](const Parked& parked) {
    parked.rounds->stop();
    return true;
  };
  std::erase_if(parked_, [&](const auto& entry) { return now - entry.second.since > kParkedFor && end(entry.second); });
  if (parked_.size() >= kParkedMax) {
    const auto oldest = std::ranges::min_element(parked_, {}, [](const auto& entry) { return entry.second.since; });
    end(oldest->second);
    parked_.erase(oldest);
  }
  parked_.emplace(state, Parked{rounds, tool, now});
  return state;
}

std::shared_ptr<Rounds> ParkedCalls::take(const std::string& state, const std::string& tool) {
  const std::scoped_lock lock(mutex_);
  const auto found = parked_.find(state);
  if (found == parked_.end() || found->second.tool != tool) return nullptr;
  auto rounds = std::move(found->second.rounds);
  parked_.erase(found);
  return rounds;
}

}  // namespace hutch::server::mcp
