// hutch questions, answer and revoke.
#pragma once

#include "cli/options/arguments.h"

namespace hutch::cli {

int questions(const QuestionsArguments& arguments);
int answer(const AnswerArguments& arguments);
int revoke(const RevokeArguments& arguments);

}  // namespace hutch::cli
