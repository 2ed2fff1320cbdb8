// Messages of an MCP client, one for each line: each gets as many answers as it has requests, all of them JSON-RPC.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/text.h"
#include "server/mcp/session.h"

namespace {

using namespace hutch;
using namespace hutch::server::mcp;

class Host : public ToolHost {
 public:
  std::vector<ToolInfo> list() override { return {{"t", "T", "d", "{}", R"({"type":"object"})"}}; }
  Result<CallAnswer> call(const std::string& name, const std::string& arguments, const CallOptions& options) override {
    CHECK(nlohmann::json::parse(arguments, nullptr, false).is_object());
    CHECK(options.turn.size() <= 256);
    options.on_progress({1, {}, name});
    options.on_log(LogLevel::kWarning, arguments);
    if (name == "t") return CallAnswer{arguments, false};
    return fail(Error::not_found(name));
  }
  Result<std::vector<Artifact>> artifacts() override { return std::vector<Artifact>{{"hutch://a", "a", "", 1}}; }
  Result<ArtifactContent> read_artifact(const std::string& uri) override { return ArtifactContent{"text/plain", uri}; }
};

void check_text(const std::string& text) {
  CHECK(text.find('\n') == std::string::npos);
  const auto message = nlohmann::json::parse(text, nullptr, false);
  CHECK(message.is_object() && message.value("jsonrpc", "") == "2.0");
  CHECK(message.contains("method") != (message.contains("result") || message.contains("error")));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Session::Settings settings;
  settings.server = {"hutch", "Hutch", "1", "i"};
  settings.execute = [](const std::function<void()>& work) { work(); };
  Session session(std::make_shared<Host>(), settings);
  std::size_t answers = 0;
  std::size_t requests = 0;
  std::size_t subscriptions = 0;
  const Send send = [&](Delivery delivery) {
    answers += delivery.part == Delivery::Part::kNotification ? 0 : 1;
    if (delivery.part != Delivery::Part::kNothing) check_text(delivery.text);
    subscriptions += delivery.text.find("subscriptions/acknowledged") != std::string::npos ? 1 : 0;
  };
  for (const std::string_view line : split(input, '\n')) {
    requests += session.receive(line, send);
    CHECK(answers <= requests && requests <= answers + subscriptions);
    session.tools_changed();
  }
  session.close();
  CHECK(answers == requests);
  return 0;
}
