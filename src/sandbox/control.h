// The control descriptor of a run: a caller's program is told what happens and may answer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/outcome.h"
#include "wire/control.h"

namespace hutch::sandbox {

// Lines of JSON both ways on one socket, or out alone on a pipe. A caller that does not read is not waited for: once a
// line does not fit, the channel is closed.
class Control {
 public:
  // `fd` is one of this process's own numbers, above 2; it is taken over.
  static Result<Control> open(int fd);

  // For poll(2); -1 when there is nothing to read.
  int fd() const { return readable_ ? fd_.get() : -1; }

  // Reads what is there and answers it. False when the caller has closed its end.
  Result<bool> read();

  // What is done with an answer and with another policy; an error is told to the caller.
  struct Handlers {
    std::function<Status(const wire::ControlAnswer&)> on_answer;
    std::function<Status(const wire::ControlUpdate&)> on_update;
  };
  void handle_by(Handlers handlers) { handlers_ = std::move(handlers); }

  void question(const wire::ControlQuestion& question);
  void answered(std::string_view id, std::string_view choice, std::string_view by);
  void violation(const Refusal& refusal);
  void done(std::string_view outcome_json);

 private:
  explicit Control(UniqueFd fd) : fd_(std::move(fd)) {}
  void answer(std::string_view line);
  Status take(const wire::ControlAnswer& answer);
  Status take(const wire::ControlUpdate& update);
  void write(const std::string& line);

  UniqueFd fd_;
  std::string held_;
  bool readable_ = true;
  Handlers handlers_;
};

}  // namespace hutch::sandbox
