// hutch pool.
#include "cli/agents/pool.h"

#include <array>

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"

namespace hutch::cli {

namespace {

using client::Value;

int print_stats(const Value& stats) {
  static constexpr std::array kNames = {"idle", "busy",   "starting", "ending", "total",
                                        "max",  "queued", "hits",     "waits"};
  std::vector<std::vector<std::string>> rows;
  for (const char* name : kNames) rows.push_back({name, std::to_string(number_in(stats, name))});
  std::vector<std::string> not_held;
  const Value* member = member_of(stats, "notHeld");
  const auto* names = member != nullptr ? member->get<Value::List>() : nullptr;
  for (const Value& name : names != nullptr ? *names : Value::List()) {
    if (const auto* text = name.get<std::string>()) not_held.push_back(printable(*text, 64));
  }
  if (!not_held.empty()) {
    rows.push_back({"not held", cat({join(not_held, ", "), ": nothing here can limit it; hutch doctor says why"})});
  }
  if (const std::string error = text_in(stats, "lastError"); !error.empty()) {
    rows.push_back({"last error", printable(error)});
  }
  return print(table(rows));
}

}  // namespace

int pool(const PoolArguments& arguments) {
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  Value::Object call;
  if (arguments.action == "fill") call["count"] = arguments.count;
  for (const auto& [key, value] : arguments.wish) call[key] = value;
  const auto result = daemon->call(cat({"pool.", arguments.action}), call);
  if (!result) return complain(result.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  return print_stats(*result);
}

}  // namespace hutch::cli
