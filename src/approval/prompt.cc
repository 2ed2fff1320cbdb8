// The prompt's states.
#include "approval/prompt.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace hutch::approval {

namespace {

constexpr int kMinutesMax = 525'600;
constexpr std::size_t kDigitsMax = 6;

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

}  // namespace

Prompt::Prompt(Question question, const Place& place) : question_(std::move(question)), choices_(choices_at(place)) {}

std::vector<Choice> Prompt::shown() const {
  std::vector<Choice> shown;
  std::ranges::copy_if(choices_, std::back_inserter(shown),
                       [&](const Choice& choice) { return more_ || choice.shown == Shown::kAlways; });
  return shown;
}

std::optional<Decided> Prompt::press(Key key) {
  if (minutes_) return press_minutes(key);
  switch (key.kind) {
    case KeyKind::kEscape:
    case KeyKind::kInterrupt: return Decided{Answer::kAbort};
    case KeyKind::kEnter: return commit(shown()[marked_].answer);
    case KeyKind::kUp: move(-1); break;
    case KeyKind::kDown: move(1); break;
    case KeyKind::kBackspace: pending_ = false; break;
    case KeyKind::kCharacter: return press_letter(key.character);
  }
  return std::nullopt;
}

std::optional<Decided> Prompt::press_letter(char letter) {
  if (letter == '?') {
    more_ = !more_;
    pending_ = false;
    marked_ = std::min(marked_, shown().size() - 1);
    return std::nullopt;
  }
  const std::vector<Choice> choices = shown();
  for (std::size_t at = 0; at < choices.size(); ++at) {
    const char key = choices[at].key;
    if (key == 0) continue;
    if (letter == key) {
      marked_ = at;
      return commit(choices[at].answer);
    }
    if (letter == lower(key)) {
      marked_ = at;
      pending_ = true;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Decided> Prompt::press_minutes(Key key) {
  switch (key.kind) {
    case KeyKind::kEscape: minutes_.reset(); break;
    case KeyKind::kInterrupt: return Decided{Answer::kAbort};
    case KeyKind::kBackspace:
      if (!minutes_->empty()) minutes_->pop_back();
      break;
    case KeyKind::kCharacter:
      if (key.character >= '0' && key.character <= '9' && minutes_->size() < kDigitsMax) *minutes_ += key.character;
      break;
    case KeyKind::kEnter: {
      int number = 0;
      std::from_chars(minutes_->data(), minutes_->data() + minutes_->size(), number);
      if (number >= 1 && number <= kMinutesMax) return Decided{Answer::kMinutes, std::chrono::minutes(number)};
      break;
    }
    case KeyKind::kUp:
    case KeyKind::kDown: break;
  }
  return std::nullopt;
}

std::optional<Decided> Prompt::commit(Answer answer) {
  pending_ = false;
  if (answer != Answer::kMinutes) return Decided{answer};
  minutes_ = "";
  return std::nullopt;
}

void Prompt::move(int by) {
  pending_ = false;
  const std::size_t last = shown().size() - 1;
  if (by < 0 && marked_ > 0) --marked_;
  if (by > 0 && marked_ < last) ++marked_;
}

}  // namespace hutch::approval
