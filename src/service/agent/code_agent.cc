// The coding agent of an agent's record as the command of a task.
#include "service/agent/code_agent.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace hutch::service {

namespace {

constexpr std::size_t kArgumentBytesMax = (128 << 10) - 1;  // MAX_ARG_STRLEN with its NUL, execve(2)

Status check_word(std::string_view what, const std::string& word) {
  if (word.contains('\0')) return fail(Error::invalid(cat({"codeAgent.", what, " must be without NUL"})));
  if (word.size() <= kCodeAgentWordBytesMax) return {};
  return fail(Error::invalid(
      cat({"codeAgent.", what, ": more than ", std::to_string(kCodeAgentWordBytesMax), " bytes in one"})));
}

Status check_text(std::string_view text) {
  if (text.empty()) return fail(Error::invalid("the task's text is empty"));
  if (text.contains('\0')) return fail(Error::invalid("the task's text has a NUL, which no argument can have"));
  if (!is_utf8(text)) return fail(Error::invalid("the task's text is not UTF-8"));
  if (text.size() <= kTaskTextBytesMax) return {};
  return fail(Error::invalid(cat({"the task's text is longer than ", std::to_string(kTaskTextBytesMax),
                                  " bytes: put it into a file of the sandbox, and name that"})));
}

std::string with_text(std::string_view argument, std::string_view text) {
  std::string filled;
  for (std::size_t at = argument.find(kTaskPlaceholder); at != std::string_view::npos;
       at = argument.find(kTaskPlaceholder)) {
    filled += argument.substr(0, at);
    filled += text;
    argument.remove_prefix(at + kTaskPlaceholder.size());
  }
  return filled += argument;
}

}  // namespace

Status check_code_agent(const store::CodeAgent& agent) {
  TRY(check_word("command", agent.command));
  if (agent.arguments.size() > kCodeAgentWordsMax || agent.environment.size() > kCodeAgentWordsMax) {
    return fail(
        Error::invalid(cat({"codeAgent: more than ", std::to_string(kCodeAgentWordsMax), " arguments, or variables"})));
  }
  for (const std::string& argument : agent.arguments) TRY(check_word("args", argument));
  for (const auto& [name, value] : agent.environment) {
    if (name.empty() || name.contains('=') || name.contains('\0')) {
      return fail(Error::invalid(cat({"codeAgent.env: ", printable(name, 64), " is no variable's name"})));
    }
    TRY(check_word("env", name));
    TRY(check_word("env", value));
  }
  return {};
}

Result<std::vector<std::string>> task_command(const store::CodeAgent& agent, const std::string& name,
                                              std::string_view text) {
  if (agent.command.empty()) {
    return fail(Error::unsupported(cat({"codeAgent is not configured for agent ", name, ": hutch agent set ", name,
                                        " codeAgent.command=PROGRAM 'codeAgent.args=[\"run\", \"--\", \"{task}\"]'"})));
  }
  TRY(check_text(text));
  std::vector<std::string> arguments = agent.arguments;
  const auto has_place = [](const std::string& argument) { return argument.contains(kTaskPlaceholder); };
  if (std::ranges::none_of(arguments, has_place)) arguments.emplace_back(kTaskPlaceholder);
  std::vector<std::string> command = {agent.command};
  bool options_ended = false;
  for (const std::string& argument : arguments) {
    const bool begins_with_text = argument.starts_with(kTaskPlaceholder);
    if (begins_with_text && text.starts_with('-') && !options_ended) {
      return fail(
          Error::invalid(cat({"the task's text begins with \"-\", and ", printable(agent.command, 64),
                              " could take it for an option: put \"--\" before \"{task}\" in codeAgent.args, or write "
                              "\"--OPTION={task}\", as that program knows it"})));
    }
    options_ended = options_ended || argument == "--";
    command.push_back(with_text(argument, text));
    if (command.back().size() > kArgumentBytesMax) {
      return fail(Error::invalid(cat({"an argument of codeAgent.args is longer than ",
                                      std::to_string(kArgumentBytesMax), " bytes with the task's text"})));
    }
  }
  return command;
}

std::vector<std::string> task_environment(const store::CodeAgent& agent) {
  std::vector<std::string> environment;
  for (const auto& [name, value] : agent.environment) environment.push_back(cat({name, "=", value}));
  return environment;
}

}  // namespace hutch::service
