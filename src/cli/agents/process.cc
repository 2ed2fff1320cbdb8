// hutch ps, logs, attach, wait and kill.
#include "cli/agents/process.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "client/attach.h"
#include "sandbox/io/outcome.h"
#include "sys/process/unwaiting.h"
#include "sys/terminal.h"
#include "tool/excerpt.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::size_t kLineColumns = 200;  // of what is no terminal
constexpr std::size_t kCommandColumnsMin = 20;

// A line each, as wide as the terminal at most: an argument list may be megabytes.
void cut_commands(std::vector<std::vector<std::string>>& rows) {
  static constexpr std::size_t kGap = 2;
  std::array<std::size_t, 3> before{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < before.size(); ++i) before[i] = std::max(before[i], row[i].size() + kGap);
  }
  const std::size_t used = before[0] + before[1] + before[2];
  const auto terminal = sys::terminal_size(1);
  const std::size_t columns = terminal && terminal->columns > 0 ? terminal->columns : kLineColumns;
  const std::size_t most = std::max(kCommandColumnsMin, columns - std::min(columns, used));
  for (auto& row : rows) {
    if (tool::count_characters(row[3]) > most) row[3] = cat({tool::first_characters(row[3], most - 1), "…"});
  }
}

int print_processes(const Value& processes) {
  std::vector<std::vector<std::string>> rows = {{"PID", "STATE", "STARTED", "COMMAND"}};
  const auto* list = processes.get<Value::List>();
  for (const Value& process : list != nullptr ? *list : Value::List()) {
    std::string command;
    const Value* arguments = member_of(process, "arguments");
    const auto* words = arguments != nullptr ? arguments->get<Value::List>() : nullptr;
    for (const Value& word : words != nullptr ? *words : Value::List()) {
      if (const auto* text = word.get<std::string>())
        command += cat({command.empty() ? "" : " ", printable(*text, 60)});
    }
    const Value* end = member_of(process, "end");
    const std::string state = end == nullptr ? "running" : cat({"exit ", std::to_string(number_in(*end, "exit_code"))});
    rows.push_back({text_in(process, "pid"), state, text_in(process, "started"), command});
  }
  cut_commands(rows);
  return print(table(rows));
}

// To the stream of the same name.
Status write_output(const Value& event) {
  const std::int64_t skipped = number_in(event, "skipped");
  const int fd = text_in(event, "stream") == "stderr" ? 2 : 1;
  if (skipped > 0) TRY(sys::write_until_told(2, cat({"hutch: ", std::to_string(skipped), " bytes were not kept\n"})));
  return sys::write_until_told(fd, TRY(wire::bytes_of_text(text_in(event, "bytes"))));
}

// One stream of `logs --json`, of the pieces that come.
struct Gathered {
  std::string text;
  std::uint64_t bytes = 0;
  std::uint64_t omitted = 0;

  void add(std::string_view piece, std::uint64_t skipped) {
    if (skipped > 0) {
      // Of one that goes on writing more may be lost than what was left out when its first piece came.
      const std::size_t cut = unfinished_bytes(text);
      text.resize(text.size() - cut);
      text += sandbox::gap_line(skipped + cut);
      omitted += skipped + cut;
    }
    text += piece;
    bytes += piece.size() + skipped;
  }
};

// The process as `ps` has it, and what is kept of its output. Whoever followed would get all that it writes: its end is
// waited for instead.
Result<Value> logs_object(client::DaemonClient& daemon, Value::Object call) {
  if (call.erase("follow") > 0) TRY(daemon.call("process.wait", call));
  std::array<Gathered, 2> streams;
  const auto gather = [&](const Value& event) -> Status {
    const std::string bytes = TRY(wire::bytes_of_text(text_in(event, "bytes")));
    const auto skipped = static_cast<std::uint64_t>(number_in(event, "skipped"));
    streams[text_in(event, "stream") == "stderr" ? 1 : 0].add(bytes, skipped);
    return {};
  };
  const Value process = TRY(daemon.call("process.logs", std::move(call), gather));
  const auto* members = process.get<Value::Object>();
  Value::Object object = members != nullptr ? *members : Value::Object();
  for (const std::size_t index : {0U, 1U}) {
    const std::string name = index == 0 ? "stdout" : "stderr";
    object[name] = std::move(streams[index].text);
    object[name + "_bytes"] = streams[index].bytes;
    object[name + "_omitted_bytes"] = streams[index].omitted;
  }
  return Value(std::move(object));
}

int end_code(const Value& process) {
  const Value* end = member_of(process, "end");
  return end != nullptr ? static_cast<int>(number_in(*end, "exit_code")) : 0;
}

int attach(const ProcessArguments& arguments) {
  const auto end = client::attach(
      {.agent = arguments.agent, .pid = arguments.pid, .connect = [] { return own_daemon(); }, .show = write_output});
  if (!end) return complain(end.error());
  switch (end->why) {
    case client::AttachEnd::Why::kEnded: return end->exit_code;
    case client::AttachEnd::Why::kDetached:
      (void)sys::write_until_told(
          2, cat({"\nhutch: left it; hutch attach ", arguments.agent, " ", arguments.pid, " is back\n"}));
      return 0;
    case client::AttachEnd::Why::kSignal: return end->exit_code;
  }
  return 125;
}

}  // namespace

int process(const ProcessArguments& arguments) {
  if (arguments.action == "attach") return attach(arguments);
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  Value::Object call{{"agent", arguments.agent}};
  if (!arguments.pid.empty()) call["pid"] = arguments.pid;
  if (arguments.signal != 0) call["signal"] = arguments.signal;
  if (arguments.follow == Follow::kYes) call["follow"] = true;
  const std::string verb = cat({"process.", arguments.action == "ps" ? "list" : arguments.action});
  const bool gathers = arguments.action == "logs" && arguments.form == service::OutputForm::kJson;
  const auto result =
      gathers ? logs_object(*daemon, std::move(call)) : daemon->call(verb, std::move(call), write_output);
  if (!result) return complain(result.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (arguments.action == "ps") return print_processes(*result);
  if (arguments.action == "wait") return end_code(*result);
  return 0;
}

}  // namespace hutch::cli
