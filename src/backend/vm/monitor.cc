// What QEMU is told while it runs.
#include "backend/vm/monitor.h"

#include <poll.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "wire/json_guard.h"

namespace hutch::backend::vm {

namespace {

using nlohmann::json;

constexpr std::size_t kSaidMax = 1 << 20;

}  // namespace

Result<std::string> Lines::next(Clock::time_point until, std::string_view what) {
  for (;;) {
    const std::size_t end = kept_.find('\n');
    if (end != kept_.npos) {
      std::string line = kept_.substr(0, end);
      kept_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (kept_.size() > kSaidMax) return fail(Error::invalid(cat({what, ": a line without an end"})));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd wait{fd_, POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail({Code::kTimeout, 0, cat({what, ": nothing more is said"})});
    }
    std::string bytes(4096, '\0');
    const std::size_t size = TRY(sys::read_some(fd_, bytes));
    if (size == 0) return fail({Code::kSystem, 0, cat({what, ": it ended", kept_.empty() ? "" : ": ", kept_})});
    kept_ += bytes.substr(0, size);
  }
}

Result<Monitor> Monitor::open(UniqueFd socket, std::chrono::seconds patience) {
  Monitor monitor(std::move(socket), patience);
  TRY(monitor.ask("qmp_capabilities"));
  return monitor;
}

Result<std::string> Monitor::ask(const std::string& command, const std::string& arguments) {
  const std::string rest = arguments.empty() ? std::string() : cat({R"(, "arguments": )", arguments});
  return tell(command, cat({R"({"execute": ")", command, "\"", rest, "}\n"}), {});
}

Status Monitor::give(const std::string& name, int descriptor) {
  static constexpr const char* kCommand = "getfd";
  const json command = {{"execute", kCommand}, {"arguments", {{"fdname", name}}}};
  TRY(tell(kCommand, command.dump() + "\n", {&descriptor, 1}));
  return {};
}

Result<std::string> Monitor::tell(const std::string& command, const std::string& line,
                                  std::span<const int> descriptors) {
  TRY(sys::send_all(socket_.get(), line, descriptors));
  const auto until = Lines::Clock::now() + patience_;
  for (;;) {
    const std::string answer = TRY(lines_.next(until, "QEMU"));
    TRY_CTX(wire::check_json_shape(answer, kSaidMax), "QEMU");
    const json said = parse_json(answer);
    if (!said.is_object()) return fail(Error::invalid(cat({"QEMU: ", printable(answer)})));
    if (said.contains("return")) return said["return"].dump(-1, ' ', false, json::error_handler_t::replace);
    if (said.contains("error")) return fail({Code::kSystem, 0, cat({"QEMU: ", command, ": ", printable(answer)})});
  }
}

}  // namespace hutch::backend::vm
