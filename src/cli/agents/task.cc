// hutch task.
#include "cli/agents/task.h"

#include "base/text.h"
#include "base/utf8.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "service/agent/code_agent.h"
#include "sys/io.h"
#include "sys/process/unwaiting.h"
#include "tool/excerpt.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::size_t kTextColumns = 60;

// A line: names and texts come out of a sandbox, or from a model.
std::string short_text(const std::string& text) {
  const std::string line = printable(text, 4 * kTextColumns);
  return tool::count_characters(line) > kTextColumns ? cat({tool::first_characters(line, kTextColumns - 1), "…"})
                                                     : line;
}

int print_tasks(const Value& tasks) {
  std::vector<std::vector<std::string>> rows = {{"TASK", "AGENT", "STATUS", "CREATED", "TEXT"}};
  const auto* list = tasks.get<Value::List>();
  for (const Value& task : list != nullptr ? *list : Value::List()) {
    rows.push_back({text_in(task, "id"), text_in(task, "agent"), text_in(task, "status"), text_in(task, "created"),
                    short_text(text_in(task, "text"))});
  }
  return print(table(rows));
}

std::string files_text(const Value& task) {
  const Value* changed = member_of(task, "files_changed");
  const auto* list = changed != nullptr ? changed->get<Value::List>() : nullptr;
  if (list == nullptr) return {};
  const std::int64_t count = number_in(task, "files_changed_count");
  std::string text = count == 0 ? "no files changed\n" : cat({std::to_string(count), " changed:\n"});
  for (const Value& one : *list) {
    const std::int64_t files = number_in(one, "files");
    text +=
        cat({"  ", text_in(one, "change"), " ", printable(text_in(one, "path")),
             files > 0 ? cat({" (", counted(static_cast<std::uint64_t>(files), "file"), ")"}) : std::string(), "\n"});
  }
  if (truth_in(task, "files_truncated")) text += "  and what is beyond the limits, or could not be looked at\n";
  return text;
}

// How it came out, and what it changed.
std::string report_of(const Value& task) {
  const std::string reason = text_in(task, "reason");
  std::string text = cat({"hutch: task ", text_in(task, "id"), " ", text_in(task, "status"), reason.empty() ? "" : ": ",
                          printable(reason), "\n"});
  if (const std::string files = files_text(task); !files.empty()) text += cat({"hutch: ", files});
  return text;
}

int print_task(const Value& task) {
  std::vector<std::vector<std::string>> rows;
  for (const char* name : {"id", "agent", "status", "created", "started", "ended", "pid", "reason"}) {
    const std::string value = text_in(task, name);
    if (!value.empty()) rows.push_back({name, printable(value)});
  }
  if (member_of(task, "exit_code") != nullptr) {
    rows.push_back({"exit code", std::to_string(number_in(task, "exit_code"))});
  }
  std::string text = table(rows) + files_text(task);
  for (const char* name : {"text", "stdout", "stderr"}) {
    const std::string value = text_in(task, name);
    if (value.empty()) continue;
    text += cat({"--- ", name, "\n"});
    for (const std::string_view line : split(value, '\n')) text += cat({printable(line, value.size() * 4), "\n"});
  }
  return print(text);
}

Status write_task_output(const Value& event) {
  if (member_of(event, "stream") == nullptr) return {};
  const std::int64_t skipped = number_in(event, "skipped");
  if (skipped > 0) TRY(sys::write_until_told(2, cat({"hutch: ", std::to_string(skipped), " bytes were not kept\n"})));
  return sys::write_all(text_in(event, "stream") == "stderr" ? 2 : 1,
                        TRY(wire::bytes_of_text(text_in(event, "bytes"))));
}

Status pass_over(const Value&) { return {}; }

Result<std::string> text_of(const TaskArguments& arguments) {
  std::string text = arguments.text;
  if (text == "-") text = TRY_CTX(sys::read_to_end(0, service::kTaskTextBytesMax), "the task's text");
  if (text.contains('\0') || !is_utf8(text)) return fail(Error::invalid("the task's text is UTF-8, without NUL"));
  return text;
}

int run_task(const TaskArguments& arguments) {
  const bool json = arguments.form == service::OutputForm::kJson;
  const auto text = text_of(arguments);
  if (!text) return complain(text.error());
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const auto task =
      daemon->call(cat({"task.", arguments.action}),
                   {{"agent", arguments.agent}, {"text", *text}, {"timeout_ms", arguments.timeout.count()}},
                   json ? pass_over : write_task_output);
  if (!task) return complain(task.error());
  if (arguments.action == "start") return print((json ? tool::json_text(*task) : text_in(*task, "id")) + "\n");
  if (json) {
    const int printed = print(tool::json_text(*task) + "\n");
    if (printed != 0) return printed;
  } else {
    (void)sys::write_until_told(2, report_of(*task));
  }
  return static_cast<int>(number_in(*task, "exit_code"));
}

}  // namespace

int task(const TaskArguments& arguments) {
  if (arguments.action == "run" || arguments.action == "start") return run_task(arguments);
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  Value::Object call;
  if (arguments.action == "list") call["agent"] = arguments.agent;
  if (arguments.action != "list") call["id"] = arguments.id;
  const auto result = daemon->call(cat({"task.", arguments.action}), call);
  if (!result) return complain(result.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (arguments.action == "list") return print_tasks(*result);
  if (arguments.action == "cancel") return print(cat({text_in(*result, "status"), "\n"}));
  return print_task(*result);
}

}  // namespace hutch::cli
