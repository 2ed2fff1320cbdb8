// hutch ps, logs, attach, wait and kill.
#include "cli/process.h"

#include <poll.h>

#include <array>

#include "base/text.h"
#include "cli/output.h"
#include "cli/own_daemon.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

using client::DaemonClient;
using client::Value;

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
  return print(table(rows));
}

// To the stream of the same name.
Status write_output(const Value& event) {
  const std::int64_t skipped = number_in(event, "skipped");
  const int fd = text_in(event, "stream") == "stderr" ? 2 : 1;
  if (skipped > 0) TRY(sys::write_all(2, cat({"hutch: ", std::to_string(skipped), " bytes were not kept\n"})));
  return sys::write_all(fd, TRY(wire::bytes_of_text(text_in(event, "bytes"))));
}

int end_code(const Value& process) {
  const Value* end = member_of(process, "end");
  return end != nullptr ? static_cast<int>(number_in(*end, "exit_code")) : 0;
}

// What is typed goes to the process by a connection of its own, for the other one is busy with the output.
class Typing {
 public:
  static Result<Typing> begin(const ProcessArguments& arguments) { return Typing(TRY(own_daemon()), arguments); }

  bool is_open() const { return open_; }
  Status pass_on() {
    std::array<char, 4096> bytes;
    const std::size_t count = TRY(sys::read_some(0, bytes));
    open_ = count > 0;
    Value::Object call{{"agent", arguments_.agent}, {"pid", arguments_.pid}, {"close", !open_}};
    call["bytes"] = wire::text_of_bytes({bytes.data(), count});
    const auto written = daemon_.call("process.write", std::move(call));
    if (written) return {};
    open_ = false;
    return fail(written.error());
  }

 private:
  Typing(DaemonClient daemon, const ProcessArguments& arguments) : daemon_(std::move(daemon)), arguments_(arguments) {}
  DaemonClient daemon_;
  const ProcessArguments& arguments_;
  bool open_ = true;
};

Result<int> attach(DaemonClient& daemon, const ProcessArguments& arguments) {
  Typing typing = TRY(Typing::begin(arguments));
  TRY(daemon.send("process.logs", {{"agent", arguments.agent}, {"pid", arguments.pid}, {"follow", true}}));
  for (;;) {
    std::array<pollfd, 2> wait = {{{daemon.fd(), POLLIN, 0}, {typing.is_open() ? 0 : -1, POLLIN, 0}}};
    TRY(sys::poll(wait, std::nullopt));
    if (wait[1].revents != 0) TRY(typing.pass_on());
    if (wait[0].revents == 0) continue;
    for (auto answer = TRY(daemon.receive_ready()); answer; answer = TRY(daemon.take_buffered())) {
      if (answer->kind == DaemonClient::Answer::Kind::kResult) return end_code(answer->value);
      TRY(write_output(answer->value));
    }
  }
}

}  // namespace

int process(const ProcessArguments& arguments) {
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  if (arguments.action == "attach") {
    const auto code = attach(*daemon, arguments);
    return code ? *code : complain(code.error());
  }
  Value::Object call{{"agent", arguments.agent}};
  if (!arguments.pid.empty()) call["pid"] = arguments.pid;
  if (arguments.signal != 0) call["signal"] = arguments.signal;
  if (arguments.follow == Follow::kYes) call["follow"] = true;
  const std::string verb = cat({"process.", arguments.action == "ps" ? "list" : arguments.action});
  const auto result = daemon->call(verb, std::move(call), write_output);
  if (!result) return complain(result.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (arguments.action == "ps") return print_processes(*result);
  if (arguments.action == "wait") return end_code(*result);
  return 0;
}

}  // namespace hutch::cli
