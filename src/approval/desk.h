// The open questions: one for each subject, bounded in number and in rate, each with an end; the first answer wins.
// Pure: the time comes from outside.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "approval/answer.h"

namespace hutch::approval {

using Moment = std::chrono::steady_clock::time_point;

struct DeskLimits {
  std::size_t open_max = 64;
  // So many at once, and so many more a second: a program could otherwise fill a screen for ever.
  std::size_t burst = 64;
  std::size_t each_second = 8;
  std::chrono::milliseconds wait{60'000};  // then the answer is no
};

class Desk {
 public:
  // Ids begin after `after`: with those of an earlier desk left out, an answer to one of its questions is to nobody's.
  explicit Desk(DeskLimits limits, std::uint64_t after = 0)
      : limits_(limits), budget_(static_cast<double>(limits.burst)), last_id_(after) {}

  enum class Standing {
    kNew,  // to be put to whoever answers
    kJoined,  // the same is asked already
    kRefused,  // too many: the answer is no
  };
  struct Asked {
    Standing standing = Standing::kRefused;
    std::uint64_t id = 0;  // of kNew and kJoined
    std::string why;  // of kRefused
  };
  Asked ask(const Question& question, Moment now);

  struct Closed {
    std::uint64_t id = 0;
    Question question;
    Answer answer = Answer::kAbort;
    std::string by;  // who answered
  };
  // What closes it, or an error that says that there is none such, or who was faster.
  Result<Closed> answer(std::uint64_t id, Answer answer, std::string_view by);

  // Those whose time is over by now.
  std::vector<Closed> expire(Moment now);
  // All that are open, when nobody can answer any more.
  std::vector<Closed> close_all(std::string_view why);

  // When the next one's time is over.
  std::optional<Moment> next_end() const;
  std::optional<Moment> end_of(std::uint64_t id) const;
  const Question* find(std::uint64_t id) const;
  std::uint64_t last_id() const { return last_id_; }
  std::vector<std::uint64_t> open() const;  // the oldest first

 private:
  struct Open {
    Question question;
    Moment end;
  };
  Closed close(std::uint64_t id, Answer answer, std::string_view by);

  DeskLimits limits_;
  double budget_;
  std::optional<Moment> budget_at_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Open> open_;
  std::deque<Closed> closed_;  // the last of them, for those who come late
};

}  // namespace hutch::approval
