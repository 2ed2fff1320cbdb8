// The questions of one sandbox.
#include "sandbox/questions.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hutch::sandbox {

namespace {

using approval::Answer;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kTerminal = "the terminal";
constexpr std::string_view kControl = "the control descriptor";

// As programs are told them: those that allow, and "no" at the end. Minutes are said beside "session".
std::vector<std::string> choice_names(const approval::Place& place) {
  static constexpr std::array kOrder = {Answer::kOnce,     Answer::kSession,    Answer::kTree, Answer::kProject,
                                        Answer::kNewEntry, Answer::kEverywhere, Answer::kAbort};
  const std::vector<approval::Choice> choices = approval::choices_at(place);
  std::vector<std::string> names;
  for (const Answer answer : kOrder) {
    if (std::ranges::find(choices, answer, &approval::Choice::answer) == choices.end()) continue;
    names.emplace_back(approval::name_of(answer));
  }
  return names;
}

wire::ControlQuestion line_of(std::uint64_t id, const approval::Question& question, const approval::Place& place) {
  wire::ControlQuestion line{.id = std::to_string(id),
                             .kind = std::string(approval::name_of(question.kind)),
                             .host = {},
                             .pid = question.process.pid,
                             .program = question.process.program,
                             .chain = question.process.chain,
                             .rule = question.rule,
                             .choices = choice_names(place)};
  const std::size_t colon = question.target.rfind(':');
  if (question.kind != approval::Kind::kConnect || colon == std::string::npos) {
    line.path = question.target;
    return line;
  }
  line.host = question.target.substr(0, colon);
  if (line.host.starts_with('[')) line.host = line.host.substr(1, line.host.size() - 2);
  std::from_chars(question.target.data() + colon + 1, question.target.data() + question.target.size(), line.port);
  return line;
}

}  // namespace

Questions::Questions(Settings settings, Control* control, std::unique_ptr<TerminalPrompt> terminal)
    : settings_(std::move(settings)), control_(control), terminal_(std::move(terminal)), desk_(settings_.limits) {}

bool Questions::is_attended() const {
  return (control_ != nullptr && control_->fd() >= 0) || (terminal_ && terminal_->is_attended());
}

void Questions::ask(const approval::Question& question, Settle settle) {
  const auto refuse = [&](std::string why) {
    if (settings_.record) settings_.record({0, question, Answer::kAbort, std::move(why)});
    settle({});
  };
  if (!is_attended()) return refuse("nobody is attached");
  const approval::Desk::Asked asked = desk_.ask(question, steady_clock::now());
  if (asked.standing == approval::Desk::Standing::kRefused) return refuse(asked.why);
  waiting_[asked.id].push_back(std::move(settle));
  if (asked.standing == approval::Desk::Standing::kJoined) return;
  if (control_ != nullptr) control_->question(line_of(asked.id, question, settings_.place()));
}

Status Questions::answer(const wire::ControlAnswer& given) {
  std::uint64_t id = 0;
  const char* end = given.id.data() + given.id.size();
  const auto [stop, error] = std::from_chars(given.id.data(), end, id);
  const approval::Place place = settings_.place();
  const std::vector<std::string> names = choice_names(place);
  auto answer = approval::answer_named(given.choice);
  if (!answer || std::ranges::find(names, given.choice) == names.end()) {
    return fail(Error::invalid(
        cat({"control: choice must be one of ", join(names, ", "), ", not ", printable(given.choice, 64)})));
  }
  if (answer == Answer::kSession && given.minutes) answer = Answer::kMinutes;
  if (error != std::errc() || stop != end) {
    return fail(Error::not_found(cat({"control: no question ", printable(given.id, 64), " is open"})));
  }
  TRY_CTX(decide(id, {*answer, std::chrono::minutes(given.minutes.value_or(0))}, kControl), "control");
  return {};
}

std::optional<milliseconds> Questions::time_left() const {
  std::optional<milliseconds> left;
  if (const auto end = desk_.next_end()) {
    left = std::max(std::chrono::ceil<milliseconds>(*end - steady_clock::now()), milliseconds(0));
  }
  const auto drawing = terminal_ ? terminal_->time_left() : std::nullopt;
  if (drawing) {
    const auto rest = std::chrono::ceil<milliseconds>(drawn_at_ + *drawing - steady_clock::now());
    left = std::min(left.value_or(rest), std::max(rest, milliseconds(0)));
  }
  return left;
}

Status Questions::step(Keys keys) {
  const approval::Moment now = steady_clock::now();
  for (const approval::Desk::Closed& closed : desk_.expire(now)) settle(closed, {});
  if (!is_attended()) close("nobody is attached");
  if (is_prompting()) {
    const bool due = keys == Keys::kNone && drawn_at_ + terminal_->time_left().value_or(milliseconds(0)) <= now;
    std::optional<approval::Decided> decided;
    if (keys == Keys::kReady) decided = TRY(terminal_->read());
    if (due) decided = TRY(terminal_->settle());
    if (keys == Keys::kReady || due) drawn_at_ = now;
    if (decided) {
      const Status done = decide(shown_, *decided, kTerminal);
      // It cannot be saved: it is still open, and another answer can be given.
      if (!done && is_prompting()) terminal_->complain(done.error().message);
    }
  }
  return show_next();
}

void Questions::leave_screen() {
  if (terminal_) terminal_->hide();
}

void Questions::resized() {
  if (is_prompting()) (void)terminal_->draw();
}

void Questions::close(std::string_view why) {
  for (const approval::Desk::Closed& closed : desk_.close_all(why)) settle(closed, {});
  leave_screen();
}

Status Questions::decide(std::uint64_t id, const approval::Decided& decided, std::string_view by) {
  const approval::Question* question = desk_.find(id);
  approval::Effect effect;
  if (question != nullptr) {
    effect = approval::effect_of(decided.answer, decided.minutes, *question);
    // Before it is closed: what could not be saved was not answered.
    if (effect.save) TRY(settings_.save(*effect.save));
  }
  const approval::Desk::Closed closed = TRY(desk_.answer(id, decided.answer, by));
  settle(closed, effect);
  return {};
}

void Questions::settle(const approval::Desk::Closed& closed, const approval::Effect& effect) {
  if (terminal_ && shown_ == closed.id) terminal_->hide();
  if (settings_.record) settings_.record(closed);
  if (control_ != nullptr && closed.by != kControl) {
    control_->answered(std::to_string(closed.id), approval::name_of(closed.answer), closed.by);
  }
  auto waiting = waiting_.extract(closed.id);
  if (waiting.empty()) return;
  for (const Settle& settle : waiting.mapped()) settle(effect);
}

// The oldest; the next one comes once it is answered.
Status Questions::show_next() {
  const std::vector<std::uint64_t> open = desk_.open();
  if (!terminal_ || open.empty() || !terminal_->is_attended()) return {};
  if (is_prompting()) {
    terminal_->tell_others(open.size() - 1);
    return {};
  }
  shown_ = open.front();
  drawn_at_ = steady_clock::now();
  return terminal_->show({*desk_.find(shown_), settings_.place(), open.size() - 1, *desk_.end_of(shown_)});
}

}  // namespace hutch::sandbox
