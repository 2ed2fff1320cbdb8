// What can be answered to a question, where, and what each answer does.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "approval/question.h"
#include "policy/document/edit.h"

namespace hutch::approval {

enum class Answer {
  kAbort,
  kOnce,        // this operation
  kSession,
  kTree,        // the process tree of this command
  kMinutes,
  kProject,     // the entry of projects.json that covers the directory, or a new one
  kNewEntry,    // an entry for the directory itself, a copy of the one that covers it
  kEverywhere,  // default.json
};

// As programs say it: "no", "once", "session", "tree", "minutes", "project", "new", "everywhere".
std::string_view name_of(Answer answer);
std::optional<Answer> answer_named(std::string_view name);

// Where the command runs, and what the user's policies say of it.
enum class Coverage {
  kExact,   // an entry of projects.json for the directory itself
  kParent,  // one above it
  kNone,    // no entry
  kFixed,   // the policy is a file that was named: nothing that is saved would hold for it
  kStart,   // nothing runs yet, and no policy could say it
};
struct Place {
  Coverage coverage = Coverage::kNone;
  std::string directory;
  std::string project;  // of kParent
};

enum class Shown { kAlways, kBehindMore };

struct Choice {
  Answer answer = Answer::kAbort;
  char key = 0;  // as it is shown: in upper case where the upper case commits at once; 0 for Esc
  std::string label;
  Shown shown = Shown::kAlways;
};

// In the order in which they are shown.
std::vector<Choice> choices_at(const Place& place);

// What an answer does. A grant lives in memory, and the saved ones hold for what runs now as well.
struct Grant {
  Answer span = Answer::kSession;   // kSession, kTree or kMinutes
  std::chrono::minutes minutes{0};  // of kMinutes
  bool operator==(const Grant&) const = default;
};
struct Save {
  policy::Scope scope = policy::Scope::kProject;
  std::vector<policy::Edit> edits;
};
struct Effect {
  bool allowed = false;
  std::optional<Grant> grant;  // absent: this operation alone
  std::optional<Save> save;
};

Effect effect_of(Answer answer, std::chrono::minutes minutes, const Question& question);

}  // namespace hutch::approval
