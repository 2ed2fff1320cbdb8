// Answers: their names, their places, what they do.
#include "approval/answer.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hutch::approval {

namespace {

struct Name {
  Answer answer;
  std::string_view text;
};
constexpr std::array kNames = {
    Name{Answer::kAbort, "no"},        Name{Answer::kOnce, "once"},
    Name{Answer::kSession, "session"}, Name{Answer::kTree, "tree"},
    Name{Answer::kMinutes, "minutes"}, Name{Answer::kProject, "project"},
    Name{Answer::kNewEntry, "new"},    Name{Answer::kEverywhere, "everywhere"},
};

std::vector<policy::Edit> edits_for(const Question& question);
std::string entry_for(const std::string& path);

}  // namespace

std::string_view name_of(Answer answer) { return std::ranges::find(kNames, answer, &Name::answer)->text; }

std::optional<Answer> answer_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &Name::text);
  return found == kNames.end() ? std::nullopt : std::optional(found->answer);
}

std::vector<Choice> choices_at(const Place& place) {
  std::vector<Choice> choices = {{Answer::kAbort, 0, "Abort"}, {Answer::kSession, 's', "Allow for this session only"}};
  if (place.coverage == Coverage::kStart) {
    choices.push_back({Answer::kOnce, 'O', "Allow this start"});
    return choices;
  }
  const std::string project = printable(place.project);
  const std::string directory = printable(place.directory);
  switch (place.coverage) {
    case Coverage::kExact:
      choices.push_back({Answer::kProject, 'P', cat({"Allow for this project (", directory, ")"})});
      break;
    case Coverage::kParent:
      choices.push_back({Answer::kProject, 'P', cat({"Allow for this project (parent: ", project, ")"})});
      choices.push_back({Answer::kNewEntry, 'N', cat({"Allow for this project (new config: ", directory, ")"})});
      break;
    case Coverage::kNone:
      choices.push_back(
          {Answer::kProject, 'P', cat({"Allow for this project (new, as your default: ", directory, ")"})});
      break;
    case Coverage::kFixed:
    case Coverage::kStart: break;
  }
  if (place.coverage != Coverage::kFixed)
    choices.push_back({Answer::kEverywhere, 'A', "Allow for all projects (default.json)"});
  choices.push_back({Answer::kOnce, 'O', "Allow once", Shown::kBehindMore});
  choices.push_back({Answer::kTree, 'T', "Allow for what this command starts", Shown::kBehindMore});
  choices.push_back({Answer::kMinutes, 'M', "Allow for some minutes", Shown::kBehindMore});
  return choices;
}

Effect effect_of(Answer answer, std::chrono::minutes minutes, const Question& question) {
  using policy::Scope;
  const auto saved = [&](Scope scope) -> Effect {
    return {true, Grant{Answer::kSession}, Save{scope, edits_for(question)}};
  };
  switch (answer) {
    case Answer::kAbort: return {};
    case Answer::kOnce: return {true, std::nullopt, std::nullopt};
    case Answer::kSession: return {true, Grant{Answer::kSession}, std::nullopt};
    case Answer::kTree: return {true, Grant{Answer::kTree}, std::nullopt};
    case Answer::kMinutes: return {true, Grant{Answer::kMinutes, minutes}, std::nullopt};
    case Answer::kProject: return saved(Scope::kProject);
    case Answer::kNewEntry: return saved(Scope::kNew);
    case Answer::kEverywhere: return saved(Scope::kDefault);
  }
  return {};
}

namespace {

std::vector<policy::Edit> edits_for(const Question& question) {
  const auto add = [](std::string key, std::string value) -> policy::Edit {
    return {policy::EditKind::kAdd, std::move(key), std::move(value)};
  };
  switch (question.kind) {
    case Kind::kRead: return {add("filesystem.allowRead", entry_for(question.target))};
    case Kind::kConnect: return {add("network.allowedDomains", question.target)};
    case Kind::kSocket: return {add("network.allowUnixSockets", question.target)};
    case Kind::kIsolation: return {};  // no file could say it
    case Kind::kWrite: break;
  }
  std::vector<policy::Edit> edits = {add("filesystem.allowWrite", entry_for(question.target))};
  // What may not be read cannot be written.
  if (question.visibility == Visibility::kHidden)
    edits.push_back(add("filesystem.allowRead", entry_for(question.target)));
  return edits;
}

// A name that a program chose must not become a pattern.
std::string entry_for(const std::string& path) {
  if (path.find_first_of("*?[]\\") == std::string::npos) return path;
  std::string escaped;
  for (const char c : path) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      static constexpr std::string_view kDigits = "0123456789abcdef";
      escaped += cat({"\\u00", c < 0x10 ? "0" : "1", kDigits.substr(static_cast<std::size_t>(c) % 16, 1)});
      continue;
    }
    escaped += c;
  }
  return cat({"{\"path\": \"", escaped, "\", \"literal\": true}"});
}

}  // namespace

}  // namespace hutch::approval
