// hutch mcp: the Model Context Protocol on standard input and output, a message a line.
#include "cli/agents/mcp.h"

#include <array>
#include <functional>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/shutdown.h"
#include "sys/process/signals.h"
#include "sys/process/threads.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

constexpr int kInternalError = -32603;  // JSON-RPC 2.0, "Error object"

// Each line of standard input, until there are no more. One that is too long for any message is given in part, which is
// no JSON.
Status each_line(const std::function<Status(const std::string& line)>& take) {
  static constexpr std::size_t kLineBytesMax = limits::kFrameBytesMax - 1024;
  std::string held;
  std::array<char, 65536> bytes;
  for (;;) {
    const std::size_t count = TRY(sys::read_some(0, bytes));
    if (count == 0) return held.empty() ? Status() : take(held);
    for (std::string_view rest(bytes.data(), count); !rest.empty();) {
      const std::size_t end = rest.find('\n');
      held += rest.substr(0, end);
      if (held.size() > kLineBytesMax) held.resize(kLineBytesMax);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      if (held.ends_with('\r')) held.pop_back();
      if (!held.empty()) TRY(take(held));
      held.clear();
    }
  }
}

// The number or name of a request; absent of a notification, and of what is none.
std::optional<client::Value> request_id(std::string_view line) {
  const auto message = tool::parse_value(line, limits::kFrameBytesMax);
  const client::Value* id = message ? member_of(*message, "id") : nullptr;
  if (id == nullptr || text_in(*message, "method").empty()) return std::nullopt;
  return *id;
}

// A client looks for the reason in the answer to what it asks first; a person, on standard error.
int refuse(const Error& error) {
  using client::Value;
  const int code = complain(error);
  if (sys::stream_kind(0) == sys::StreamKind::kTerminal) return code;
  const Status answered = each_line([&](const std::string& line) -> Status {
    const auto id = request_id(line);
    if (!id) return {};
    const Value answer(Value::Object{
        {"jsonrpc", "2.0"},
        {"id", *id},
        {"error", Value::Object{{"code", kInternalError}, {"message", cat({"hutch: ", error.message})}}}});
    return sys::write_until_told(1, cat({tool::json_text(answer), "\n"}));
  });
  return answered ? code : complain(answered.error());
}

}  // namespace

int mcp(const McpArguments& arguments) {
  const auto directory = sys::working_directory();
  if (!directory) return complain(directory.error());
  (void)sys::ignore_broken_pipe();
  auto daemon = own_daemon();
  if (!daemon) return refuse(daemon.error());
  const Status called = daemon->send("mcp", {{"agent", arguments.agent}, {"directory", *directory}});
  if (!called) return complain(called.error());
  // The end of the input is the client's way to say that it is done (the specification, "Shutdown"); what it has asked
  // until then is answered.
  auto input = sys::start_thread([&] {
    (void)each_line([&](const std::string& line) { return daemon->send_text(line); });
    (void)sys::shut_down(daemon->fd(), sys::Direction::kWriting);
  });
  if (!input) return complain(input.error());
  input->detach();
  for (;;) {
    const auto text = daemon->receive_text();
    if (!text) return complain(text.error());
    if (!*text || !sys::write_until_told(1, cat({**text, "\n"}))) return 0;
  }
}

}  // namespace hutch::cli
