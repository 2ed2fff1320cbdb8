// The questions of one sandbox.
#include "sandbox/questions/questions.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hutch::sandbox {

namespace {

using approval::Answer;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kTerminal = "the terminal";
constexpr milliseconds kAttendanceCheck{500};

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

wire::ControlQuestion line_of(std::uint64_t id, const approval::Question& question, const approval::Place& place,
                              approval::Moment end) {
  wire::ControlQuestion line{.id = std::to_string(id),
                             .kind = std::string(approval::name_of(question.kind)),
                             .host = {},
                             .pid = question.process.pid,
                             .program = question.process.program,
                             .chain = question.process.chain,
                             .rule = question.rule,
                             .choices = choice_names(place)};
  line.left = std::max(std::chrono::ceil<milliseconds>(end - steady_clock::now()), milliseconds(0));
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

Questions::Questions(Settings settings, std::unique_ptr<TerminalPrompt> terminal)
    : settings_(std::move(settings)), terminal_(std::move(terminal)), desk_(settings_.limits, settings_.after) {}

bool Questions::is_attended() const {
  return (terminal_ && terminal_->is_attended()) || std::ranges::any_of(audience_, &Audience::is_attached);
}

void Questions::ask(const approval::Question& question, Settle settle) {
  const auto refuse = [&](std::string why) {
    if (settings_.record) settings_.record({0, question, Answer::kAbort, std::move(why)});
    settle({});
  };
  if (settings_.is_granted && settings_.is_granted(question)) {
    return settle({true, approval::Grant{Answer::kSession}, std::nullopt});
  }
  if (!is_attended()) return refuse("nobody is attached");
  approval::Desk::Asked asked;
  approval::Moment end{};
  {
    const std::scoped_lock lock(mutex_);
    asked = desk_.ask(question, steady_clock::now());
    end = desk_.end_of(asked.id).value_or(end);
  }
  if (asked.standing == approval::Desk::Standing::kRefused) return refuse(asked.why);
  waiting_[asked.id].push_back(std::move(settle));
  if (asked.standing == approval::Desk::Standing::kJoined || audience_.empty()) return;
  const wire::ControlQuestion line = line_of(asked.id, question, settings_.place(), end);
  for (Audience* one : audience_) one->asked(line);
}

Status Questions::answer(const wire::ControlAnswer& given, std::string_view by) {
  std::uint64_t id = 0;
  const char* end = given.id.data() + given.id.size();
  const auto [stop, error] = std::from_chars(given.id.data(), end, id);
  const std::vector<std::string> names = choice_names(settings_.place());
  auto answer = approval::answer_named(given.choice);
  if (!answer || std::ranges::find(names, given.choice) == names.end()) {
    return fail(
        Error::invalid(cat({"choice must be one of ", join(names, ", "), ", not ", printable(given.choice, 64)})));
  }
  if (given.minutes && answer != Answer::kSession) {
    return fail(Error::invalid(cat({"minutes go with session, not with ", given.choice})));
  }
  if (given.minutes) answer = Answer::kMinutes;
  if (error != std::errc() || stop != end) {
    return fail(Error::not_found(cat({"no question ", printable(given.id, 64), " is open"})));
  }
  TRY(decide(id, {*answer, std::chrono::minutes(given.minutes.value_or(0))}, by));
  if (wake_) wake_();
  return {};
}

std::vector<wire::ControlQuestion> Questions::open() const {
  std::vector<wire::ControlQuestion> lines;
  const approval::Place place = settings_.place();
  const std::scoped_lock lock(mutex_);
  for (const std::uint64_t id : desk_.open()) {
    lines.push_back(line_of(id, *desk_.find(id), place, *desk_.end_of(id)));
  }
  return lines;
}

std::uint64_t Questions::last_id() const {
  const std::scoped_lock lock(mutex_);
  return desk_.last_id();
}

std::optional<milliseconds> Questions::time_left() const {
  std::optional<milliseconds> left;
  {
    const std::scoped_lock lock(mutex_);
    if (!over_.empty()) return milliseconds(0);
    if (const auto end = desk_.next_end()) {
      left = std::max(std::chrono::ceil<milliseconds>(*end - steady_clock::now()), milliseconds(0));
      // That nobody is there any more who could answer may be announced by nothing.
      left = std::min(*left, kAttendanceCheck);
    }
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
  bool is_open = false;
  {
    const std::scoped_lock lock(mutex_);
    for (approval::Desk::Closed& closed : desk_.expire(now)) over_.push_back({std::move(closed), {}});
    is_open = desk_.next_end().has_value();
  }
  settle_all();
  if (is_open && !is_attended()) close("nobody is attached");
  if (is_prompting()) TRY(press_keys(keys, now));
  settle_all();
  return show_next();
}

Status Questions::press_keys(Keys keys, approval::Moment now) {
  const bool due = keys == Keys::kNone && drawn_at_ + terminal_->time_left().value_or(milliseconds(0)) <= now;
  std::optional<approval::Decided> decided;
  if (keys == Keys::kReady) decided = TRY(terminal_->read());
  if (due) decided = TRY(terminal_->settle());
  if (keys == Keys::kReady || due) drawn_at_ = now;
  if (!decided) return {};
  const Status done = decide(shown_, *decided, kTerminal);
  // It cannot be saved: it is still open, and another answer can be given.
  if (!done && is_prompting()) terminal_->complain(done.error().message);
  return {};
}

void Questions::leave_screen() {
  if (terminal_) terminal_->hide();
}

void Questions::resized() {
  if (is_prompting()) (void)terminal_->draw();
}

void Questions::close(std::string_view why) {
  {
    const std::scoped_lock lock(mutex_);
    for (approval::Desk::Closed& closed : desk_.close_all(why)) over_.push_back({std::move(closed), {}});
  }
  settle_all();
  leave_screen();
}

Status Questions::decide(std::uint64_t id, const approval::Decided& decided, std::string_view by) {
  const std::scoped_lock answering(answer_mutex_);
  approval::Effect effect;
  {
    const std::scoped_lock lock(mutex_);
    const approval::Question* question = desk_.find(id);
    if (question != nullptr) effect = approval::effect_of(decided.answer, decided.minutes, *question);
  }
  // Before it is closed: what could not be saved was not answered.
  if (effect.save) TRY(settings_.save(*effect.save));
  const std::scoped_lock lock(mutex_);
  over_.push_back({TRY(desk_.answer(id, decided.answer, by)), std::move(effect)});
  return {};
}

void Questions::settle_all() {
  std::vector<Over> over;
  {
    const std::scoped_lock lock(mutex_);
    over.swap(over_);
  }
  for (const Over& one : over) settle(one);
}

void Questions::settle(const Over& over) {
  if (terminal_ && shown_ == over.closed.id) terminal_->hide();
  if (settings_.record) settings_.record(over.closed);
  for (Audience* one : audience_) one->answered(over.closed);
  auto waiting = waiting_.extract(over.closed.id);
  if (waiting.empty()) return;
  for (const Settle& settle : waiting.mapped()) settle(over.effect);
}

// The oldest; the next one comes once it is answered.
Status Questions::show_next() {
  if (!terminal_) return {};
  TerminalPrompt::Shown next;
  std::uint64_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    const std::vector<std::uint64_t> open = desk_.open();
    if (open.empty()) return {};
    id = open.front();
    next = {*desk_.find(id), {}, open.size() - 1, *desk_.end_of(id)};
  }
  if (!terminal_->is_attended()) return {};
  if (is_prompting()) {
    terminal_->tell_others(next.others);
    return {};
  }
  shown_ = id;
  drawn_at_ = steady_clock::now();
  next.place = settings_.place();
  return terminal_->show(std::move(next));
}

}  // namespace hutch::sandbox
