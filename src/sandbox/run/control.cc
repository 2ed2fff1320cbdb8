// The control descriptor of a run.
#include "sandbox/run/control.h"

#include <cerrno>

#include "base/limits.h"
#include "base/text.h"
#include "sys/io.h"
#include "wire/control.h"

namespace hutch::sandbox {

namespace {

constexpr std::string_view kName = "the control descriptor";

}  // namespace

Result<Control> Control::open(int fd) {
  if (fd < 3 || !sys::is_open(fd)) {
    return fail(Error::invalid(cat({"--control-fd ", std::to_string(fd), ": not an open descriptor above 2"})));
  }
  Control control(TRY(sys::duplicate(fd)));
  UniqueFd(fd).reset();  // its number must not reach the sandbox
  TRY(sys::set_nonblocking(control.fd_.get()));
  control.readable_ = sys::is_open_for_reading(control.fd_.get());
  return control;
}

Result<bool> Control::read() {
  char chunk[16384];
  const auto count = sys::read_some(fd_.get(), chunk);
  if (!count && count.error().sys_errno == EAGAIN) return true;
  if (!count || *count == 0) {
    readable_ = false;
    return false;
  }
  held_.append(chunk, *count);
  for (std::size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n')) {
    answer(std::string_view(held_).substr(0, end));
    held_.erase(0, end + 1);
  }
  if (held_.size() <= limits::kControlLineBytesMax) return true;
  write(wire::control_error("control: a line of more than 1 MiB"));
  readable_ = false;
  return false;
}

void Control::asked(const wire::ControlQuestion& question) { write(wire::control_question(question)); }

// Its own answers it knows.
void Control::answered(const approval::Desk::Closed& closed) {
  if (closed.by == kName) return;
  write(wire::control_answered(std::to_string(closed.id), approval::name_of(closed.answer), closed.by));
}

void Control::violation(const Refusal& refusal) {
  write(wire::control_violation(
      {.what = refusal.what, .rule = refusal.rule, .pid = refusal.pid, .program = refusal.program}));
}

void Control::done(std::string_view outcome_json) { write(wire::control_done(outcome_json)); }

void Control::answer(std::string_view line) {
  if (line.empty()) return;
  const auto input = wire::parse_control(line);
  const Status done = input ? take(*input) : Status(std::unexpected(input.error()));
  if (!done) write(wire::control_error(cat({"control: ", done.error().message})));
}

Status Control::take(const wire::ControlInput& input) {
  if (std::holds_alternative<wire::ControlAttend>(input)) {
    return fail(Error::invalid("whoever holds this descriptor is asked anyway; attend is for the socket of a run"));
  }
  if (handle_) return handle_(input, kName);
  if (const auto* answer = std::get_if<wire::ControlAnswer>(&input)) {
    return fail(Error::not_found(cat({"no question ", printable(answer->id, 64), " is open"})));
  }
  return fail(Error::unsupported("this sandbox has no network: nothing is asked, and there are no rules to change"));
}

void Control::write(const std::string& line) {
  if (!fd_) return;
  const auto count = sys::write_some(fd_.get(), line);
  // Half a line would make every later one unreadable.
  if (!count || *count != line.size()) fd_.reset();
}

}  // namespace hutch::sandbox
