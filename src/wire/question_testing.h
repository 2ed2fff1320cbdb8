// A question, for the tests of those who hear of one.
#pragma once

#include <string>

#include "wire/control.h"

namespace hutch::wire {

inline ControlQuestion question_about(const std::string& id, const std::string& host, int port = 443) {
  ControlQuestion question;
  question.id = id;
  question.kind = "connect";
  question.host = host;
  question.port = port;
  return question;
}

}  // namespace hutch::wire
