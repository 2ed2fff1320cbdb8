// hutch tool.
#include "cli/agents/tool.h"

#include "base/limits.h"
#include "base/text.h"
#include "cli/agents/agent_system.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "sys/io.h"
#include "tool/envelope.h"

namespace hutch::cli {

namespace {

using client::Value;

// What a call takes besides them: its names and its turn.
constexpr std::size_t kArgumentsBytesMax = limits::kFrameBytesMax - 4096;

int print_tools(const Value& tools) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "CLASS", "WHAT"}};
  const auto* list = tools.get<Value::List>();
  for (const Value& tool : list != nullptr ? *list : Value::List()) {
    rows.push_back({text_in(tool, "name"), text_in(tool, "class"), text_in(tool, "title")});
  }
  return print(table(rows));
}

bool holds_value(const std::string& json) {
  const auto parsed = hutch::tool::parse_value(json, limits::kFrameBytesMax);
  const auto* object = parsed ? parsed->get<Value::Object>() : nullptr;
  return object != nullptr && object->contains("value");
}

std::string needs_of(const Value& envelope) { return text_in(envelope, hutch::tool::kNeeds); }

}  // namespace

int tool(const ToolArguments& arguments) {
  std::string json = arguments.arguments;
  if (json == "-") {
    auto read = sys::read_to_end(0, kArgumentsBytesMax);
    if (!read) return complain(std::move(read).error().with_context("standard input"));
    json = std::move(*read);
  } else if (arguments.tool == "sandbox_secret_set" && holds_value(json)) {
    return complain(Error::invalid(
        "a secret's value on the command line can be seen in the list of processes; give the arguments on standard "
        "input: `-`"));
  }
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  if (arguments.tool.empty()) {
    const auto list = daemon->call("tool.list", {{"agent", arguments.agent}});
    if (!list) return complain(list.error());
    return arguments.form == service::OutputForm::kJson ? print(tool::json_text(*list) + "\n") : print_tools(*list);
  }
  const auto call = [&] {
    return daemon->call(
        "tool.call",
        {{"agent", arguments.agent}, {"tool", arguments.tool}, {"arguments", json}, {"turn", arguments.turn}});
  };
  auto envelope = call();
  if (envelope && needs_of(*envelope) == hutch::tool::kNeedsSystem) {
    const InstallNeed need{arguments.agent, needs_of(*envelope)};
    const Status given = give_what_is_needed(*daemon, need, Error::unsupported(""));
    if (given) envelope = call();
    // Nobody was asked where there is no terminal: the envelope says it all.
    if (!given && !given.error().message.empty()) (void)complain(given.error());
  }
  if (!envelope) return complain(envelope.error());
  const int printed = print(hutch::tool::json_text(*envelope) + "\n");
  return printed != 0 ? printed : truth_in(*envelope, "ok") ? 0 : 1;
}

}  // namespace hutch::cli
