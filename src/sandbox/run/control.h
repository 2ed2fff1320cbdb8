// The control descriptor of a run: a caller's program is told what happens and may answer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/io/outcome.h"
#include "sandbox/questions/audience.h"
#include "wire/control.h"

namespace hutch::sandbox {

// Lines of JSON both ways on one socket, or out alone on a pipe. A caller that does not read is not waited for: once a
// line does not fit, the channel is closed.
class Control : public Audience {
 public:
  // `fd` is one of this process's own numbers, above 2; it is taken over.
  static Result<Control> open(int fd);

  // For poll(2); -1 when there is nothing to read.
  int fd() const { return readable_ ? fd_.get() : -1; }

  // Reads what is there and answers it. False when the caller has closed its end.
  Result<bool> read();

  // What is done with a line; an error is told to whoever sent it.
  using Handle = std::function<Status(const wire::ControlInput&, std::string_view by)>;
  void handle_by(Handle handle) { handle_ = std::move(handle); }

  bool is_attached() const override { return fd() >= 0; }
  void asked(const wire::ControlQuestion& question) override;
  void answered(const approval::Desk::Closed& closed) override;
  void violation(const Refusal& refusal);
  void done(std::string_view outcome_json);
  void tell(const std::string& line) { write(line); }

 private:
  explicit Control(UniqueFd fd) : fd_(std::move(fd)) {}
  void answer(std::string_view line);
  Status take(const wire::ControlInput& input);
  void write(const std::string& line);

  UniqueFd fd_;
  std::string held_;
  bool readable_ = true;
  Handle handle_;
};

}  // namespace hutch::sandbox
