// Whoever else than the terminal hears of a sandbox's questions and may answer them.
#pragma once

#include <string_view>

#include "approval/desk.h"
#include "wire/control.h"

namespace hutch::sandbox {

// Called by the thread that keeps the sandbox. Nobody in an audience is waited for.
class Audience {
 public:
  virtual ~Audience() = default;

  // Whether somebody is there who may answer.
  virtual bool is_attached() const = 0;
  virtual void asked(const wire::ControlQuestion& question) = 0;
  virtual void answered(const approval::Desk::Closed& closed) = 0;
};

}  // namespace hutch::sandbox
