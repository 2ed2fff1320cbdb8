// The command lines of questions, answer and revoke as typed values.
#pragma once

#include <optional>
#include <string>

#include "service/common/request.h"

namespace hutch::cli {

enum class Follow { kNo, kYes };

struct QuestionsArguments {
  service::OutputForm form = service::OutputForm::kText;
  Follow follow = Follow::kNo;
};

struct AnswerArguments {
  std::string id;      // "RUN.NUMBER"; the start of the run's is enough
  std::string choice;  // once, session, ...
  std::optional<int> minutes;
};

enum class Kill { kNo, kYes };

struct RevokeArguments {
  std::string host;  // with its port, or for every port
  Kill kill = Kill::kNo;
  service::OutputForm form = service::OutputForm::kText;
};

}  // namespace hutch::cli
