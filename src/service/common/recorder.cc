// The record of one run.
#include "service/common/recorder.h"

#include <initializer_list>
#include <utility>
#include <variant>

#include "base/text.h"

namespace hutch::service {

namespace {

// What a sandbox has a say in; the rest is hutch's own words.
void scrub_texts(const Recorder::Scrub& scrub, std::initializer_list<std::string*> texts) {
  for (std::string* text : texts) *text = scrub(*text);
}

struct ScrubBody {
  const Recorder::Scrub& scrub;
  void operator()(store::RunStart& start) const {
    scrub_texts(scrub, {&start.cwd});
    for (std::string& argument : start.command) argument = scrub(argument);
  }
  void operator()(store::RunEnd& end) const { scrub_texts(scrub, {&end.error}); }
  void operator()(store::Refusal& refusal) const {
    scrub_texts(scrub, {&refusal.what, &refusal.rule, &refusal.program});
  }
  void operator()(store::Connection& made) const { scrub_texts(scrub, {&made.target, &made.rule, &made.program}); }
  void operator()(store::Decision& decision) const { scrub_texts(scrub, {&decision.what, &decision.program}); }
  void operator()(store::Service& service) const {
    scrub_texts(scrub, {&service.what, &service.outcome, &service.program});
  }
};

}  // namespace

Recorder::Recorder(const std::string& directory, Tell tell, std::string agent, Scrub scrub)
    : tell_(std::move(tell)), agent_(std::move(agent)), scrub_(std::move(scrub)) {
  const Status opened = open(directory);
  if (!opened) give_up(opened.error());
}

Recorder::Recorder(Tell tell, std::shared_ptr<store::SpoolWriter> spool, std::string agent, Scrub scrub)
    : tell_(std::move(tell)), spool_(std::move(spool)), agent_(std::move(agent)), scrub_(std::move(scrub)) {}

Recorder Recorder::another() const {
  Recorder other(tell_, spool_, agent_, scrub_);
  if (!spool_) return other;
  auto run = store::new_run_id();
  if (run) other.run_ = std::move(*run);
  if (!run) other.give_up(run.error());
  return other;
}

void Recorder::started(const store::RunStart& start) { append(start); }

void Recorder::refused(const sandbox::Refusal& refusal) {
  append(store::Refusal{refusal.what, refusal.rule, refusal.pid, refusal.program});
}

void Recorder::connected(const egress::Passed& passed) {
  static constexpr int kConnectionsMax = 1000;
  if (++connections_ > kConnectionsMax) return;
  append(store::Connection{.target = egress::to_string(passed.target),
                           .rule = passed.rule,
                           .duration = passed.duration,
                           .bytes_up = static_cast<std::int64_t>(passed.bytes_up),
                           .bytes_down = static_cast<std::int64_t>(passed.bytes_down),
                           .pid = passed.process.pid,
                           .program = passed.process.program});
}

void Recorder::ended(const sandbox::Outcome& outcome) {
  append(store::RunEnd{.exit_code = outcome.exit_code,
                       .signal = outcome.signal,
                       .ended_by = std::string(sandbox::name_of(outcome.ended_by)),
                       .duration = outcome.duration,
                       .error = {}});
}

void Recorder::failed(const Error& error) {
  static constexpr int kOwnFailure = 125;
  append(store::RunEnd{.exit_code = kOwnFailure, .signal = 0, .ended_by = "itself", .error = error.message});
}

Status Recorder::open(const std::string& directory) {
  run_ = TRY(store::new_run_id());
  spool_ = std::make_shared<store::SpoolWriter>(TRY(store::SpoolWriter::open(directory)));
  return {};
}

void Recorder::append(decltype(store::Record::body) body) {
  if (!spool_) return;
  // Here, and not by those who know what is written: each kind of line, and every text of it.
  if (scrub_) std::visit(ScrubBody{scrub_}, body);
  const Status written = spool_->append({store::now(), run_, std::move(body), agent_});
  if (!written) give_up(written.error());
}

void Recorder::give_up(const Error& error) {
  spool_.reset();
  run_.clear();
  tell_(cat({"this run is not recorded: ", error.message}));
}

}  // namespace hutch::service
