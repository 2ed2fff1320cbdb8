// The question whether something runs without isolation, which is asked before it does.
#pragma once

#include <stop_token>
#include <string>

#include "approval/answer.h"
#include "base/result.h"
#include "sandbox/questions/questions.h"

namespace hutch::service {

// Waits for the answer, or until it stops: then it is no. `what` would run: "agent alice". Another thread may answer.
approval::Effect ask_before_start(sandbox::Questions& questions, const std::string& what, const std::stop_token& stop);

// Code::kPermissionDenied, with what can be done; `settings` is the file that has it asked.
Error not_allowed_without_isolation(const std::string& settings);

}  // namespace hutch::service
