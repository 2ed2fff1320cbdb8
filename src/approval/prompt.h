// The prompt: from keys to an answer. Pure; prompt_text.h draws it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "approval/answer.h"
#include "approval/keys.h"

namespace hutch::approval {

struct Decided {
  Answer answer = Answer::kAbort;
  std::chrono::minutes minutes{0};
  bool operator==(const Decided&) const = default;
};

// A letter in lower case waits for Enter, in upper case it commits; `s` and Esc commit as they are. Enter alone takes
// the choice that is marked, at first Abort. Choices behind "?" have no keys until they are shown.
class Prompt {
 public:
  Prompt(Question question, const Place& place);

  // The decision, once there is one.
  std::optional<Decided> press(Key key);

  const Question& question() const { return question_; }
  std::vector<Choice> shown() const;
  std::size_t marked() const { return marked_; }  // of shown()
  bool is_pending() const { return pending_; }    // Enter confirms what is marked
  bool is_more() const { return more_; }
  // What was typed of a number of minutes; nothing where none is asked for.
  const std::optional<std::string>& minutes() const { return minutes_; }

 private:
  std::optional<Decided> press_letter(char letter);
  std::optional<Decided> press_minutes(Key key);
  std::optional<Decided> commit(Answer answer);
  void move(int by);

  Question question_;
  std::vector<Choice> choices_;
  std::size_t marked_ = 0;
  bool pending_ = false;
  bool more_ = false;
  std::optional<std::string> minutes_;
};

}  // namespace hutch::approval
