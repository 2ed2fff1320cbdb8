// The open questions.
#include "approval/desk.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::approval {

namespace {

constexpr std::size_t kClosedKept = 256;

}  // namespace

Desk::Asked Desk::ask(const Question& question, Moment now) {
  const std::string subject = subject_of(question);
  for (const auto& [id, open] : open_) {
    if (subject_of(open.question) == subject) return {Standing::kJoined, id, {}};
  }
  const std::chrono::duration<double> passed = now - budget_at_.value_or(now);
  budget_ =
      std::min(budget_ + passed.count() * static_cast<double>(limits_.each_second), static_cast<double>(limits_.burst));
  budget_at_ = now;
  if (open_.size() >= limits_.open_max) return {Standing::kRefused, 0, "too many questions are open"};
  if (budget_ < 1) return {Standing::kRefused, 0, "too many questions in a short time"};
  budget_ -= 1;
  const std::uint64_t id = ++last_id_;
  open_.emplace(id, Open{question, now + limits_.wait});
  return {Standing::kNew, id, {}};
}

Result<Desk::Closed> Desk::answer(std::uint64_t id, Answer answer, std::string_view by) {
  if (open_.contains(id)) return close(id, answer, by);
  const auto found = std::ranges::find(closed_, id, &Closed::id);
  const std::string name = std::to_string(id);
  if (found == closed_.end()) return fail(Error::not_found(cat({"no question ", name, " is open"})));
  return fail({Code::kConflict, 0,
               cat({"question ", name, " was answered before: ", name_of(found->answer), ", by ", found->by})});
}

std::vector<Desk::Closed> Desk::expire(Moment now) {
  std::vector<Closed> over;
  for (const std::uint64_t id : open()) {
    if (open_.at(id).end <= now) over.push_back(close(id, Answer::kAbort, "no answer in time"));
  }
  return over;
}

std::vector<Desk::Closed> Desk::close_all(std::string_view why) {
  std::vector<Closed> all;
  for (const std::uint64_t id : open()) all.push_back(close(id, Answer::kAbort, why));
  return all;
}

std::optional<Moment> Desk::next_end() const {
  std::optional<Moment> next;
  for (const auto& [id, open] : open_) next = std::min(next.value_or(open.end), open.end);
  return next;
}

std::optional<Moment> Desk::end_of(std::uint64_t id) const {
  const auto found = open_.find(id);
  return found == open_.end() ? std::nullopt : std::optional(found->second.end);
}

const Question* Desk::find(std::uint64_t id) const {
  const auto found = open_.find(id);
  return found == open_.end() ? nullptr : &found->second.question;
}

std::vector<std::uint64_t> Desk::open() const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, open] : open_) ids.push_back(id);
  return ids;
}

Desk::Closed Desk::close(std::uint64_t id, Answer answer, std::string_view by) {
  auto node = open_.extract(id);
  Closed closed{id, std::move(node.mapped().question), answer, std::string(by)};
  closed_.push_back(closed);
  if (closed_.size() > kClosedKept) closed_.pop_front();
  return closed;
}

}  // namespace hutch::approval
