// Conversations of both eras with a host that answers as the test wants.
#include "server/mcp/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace hutch::server::mcp {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FakeHost : public ToolHost {
 public:
  std::vector<Guide> guides() override { return {{"hutch://skill/how", "how", "How", "Tells how", "# How\n"}}; }
  std::vector<ToolInfo> list() override {
    ToolInfo read{"read", "Read", "Reads.", R"({"type":"object","properties":{"path":{"type":"string"}}})",
                  R"({"type":"object"})"};
    read.read_only = true;
    read.destructive = false;
    return {read, {"exec", "", "Runs.", R"({"type":"object"})", ""}};
  }
  Result<CallAnswer> call(const std::string& name, const std::string& arguments, const CallOptions& options) override {
    if (name == "exec") return exec(options);
    if (name == "broken") return CallAnswer{"no json", false};
    if (name == "fails") return fail({Code::kSystem, 0, "no sandbox"});
    if (name == "picky") return fail(Error::invalid("not like that"));
    if (name != "read") return fail(Error::not_found("no such tool"));
    turn = options.turn;
    const bool wrong = json::parse(arguments).value("path", "") == "wrong";
    return CallAnswer{json{{"ok", !wrong}, {"result", {{"path", arguments}}}}.dump(), wrong};
  }
  Result<std::vector<Artifact>> artifacts() override {
    return std::vector<Artifact>{{"hutch://output/a.txt", "a.txt", "text/plain", 3}};
  }
  Result<ArtifactContent> read_artifact(const std::string& uri) override {
    if (uri == "hutch://output/a.txt") return ArtifactContent{"text/plain", "abc"};
    if (uri == "hutch://output/latin1.txt") return ArtifactContent{"text/plain", "\xe9"};
    if (uri == "hutch://output/b.png") return ArtifactContent{"image/png", std::string("\0\xff", 2)};
    return fail(Error::not_found("gone"));
  }

  std::function<Result<CallAnswer>(const CallOptions&)> exec = [](const CallOptions&) {
    return CallAnswer{R"({"ok":true})", false};
  };
  std::string turn;
};

// A client that keeps all that it gets.
class Client {
 public:
  explicit Client(Session::Settings settings = {}) {
    settings.server = {"hutch", "Hutch", "1.2", "Be careful."};
    if (!settings.execute) settings.execute = [](const std::function<void()>& work) { work(); };
    settings.unasked = [this](std::string text) { keep({Delivery::Part::kNotification, std::move(text)}); };
    session.emplace(host, std::move(settings));
  }

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { session.reset(); }  // nothing is sent from then on

  std::size_t send_text(std::string_view text, const HttpHeaders* headers = nullptr) {
    return session->receive(text, [this](Delivery delivery) { keep(std::move(delivery)); }, headers);
  }
  std::size_t send(const json& message) { return send_text(message.dump()); }

  // The whole of what comes for one request that is answered at once.
  json ask_text(std::string_view text) {
    const std::size_t before = kept.size();
    EXPECT_EQ(send_text(text), 1U);
    EXPECT_EQ(kept.size(), before + 1);
    EXPECT_EQ(kept.back().part, Delivery::Part::kAnswer);
    return json::parse(kept.back().text);
  }
  json ask(const std::string& method, json params = json::object()) {
    json request = {{"jsonrpc", "2.0"}, {"id", ++last_id}, {"method", method}, {"params", std::move(params)}};
    json answer = ask_text(request.dump());
    EXPECT_EQ(answer["id"], last_id);
    return answer;
  }
  json ask_modern(const std::string& method, json params = json::object()) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
    return ask(method, std::move(params));
  }
  void initialize(const std::string& version = "2025-11-25") {
    ask("initialize", {{"protocolVersion", version}, {"capabilities", json::object()}, {"clientInfo", json::object()}});
    EXPECT_EQ(send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), 0U);
  }
  // Waits until so many deliveries have come.
  std::vector<Delivery> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(45), [&] { return kept.size() >= count; }));
    return kept;
  }

  std::shared_ptr<FakeHost> host = std::make_shared<FakeHost>();
  std::vector<Delivery> kept;
  std::optional<Session> session;
  int last_id = 0;

 private:
  void keep(Delivery delivery) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(delivery.text.find('\n'), std::string::npos);
    kept.push_back(std::move(delivery));
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
};

// Runs each piece of work on a thread of its own.
class Threads {
 public:
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  auto executor() {
    return [this](std::function<void()> work) { threads_.emplace_back(std::move(work)); };
  }

 private:
  std::vector<std::thread> threads_;
};

int error_code(const json& answer) { return answer.at("error").at("code"); }

TEST(McpLegacy, InitializeAgreesOnAVersion) {
  for (const std::string version : {"2025-11-25", "2025-06-18", "2025-03-26"}) {
    Client client;
    const json result = client.ask("initialize", {{"protocolVersion", version}})["result"];
    EXPECT_EQ(result["protocolVersion"], version);
    EXPECT_EQ(client.session->legacy_version(), version);
  }
  Client client;
  EXPECT_EQ(error_code(client.ask("initialize")), code::kInvalidParams);
  const json result = client.ask("initialize", {{"protocolVersion", "2099-01-01"}})["result"];
  EXPECT_EQ(result["protocolVersion"], "2025-11-25");
  EXPECT_EQ(result["serverInfo"], (json{{"name", "hutch"}, {"title", "Hutch"}, {"version", "1.2"}}));
  EXPECT_EQ(result["instructions"], "Be careful.");
  EXPECT_EQ(result["capabilities"]["tools"]["listChanged"], true);
  EXPECT_FALSE(result.contains("resultType"));
  EXPECT_EQ(error_code(client.ask("initialize", {{"protocolVersion", "2025-11-25"}})), code::kInvalidRequest);
}

TEST(McpLegacy, NothingButPingGoesBeforeIt) {
  Client client;
  EXPECT_EQ(client.ask("ping")["result"], json::object());
  const json refused = client.ask("tools/list");
  EXPECT_EQ(error_code(refused), code::kInvalidParams);
  EXPECT_THAT(refused["error"]["data"]["supported"].dump(), HasSubstr("2025-11-25"));
  EXPECT_EQ(client.kept.back().http_status, 400);
  client.initialize();
  EXPECT_EQ(client.ask("tools/list")["result"]["tools"].size(), 2U);
}

TEST(McpLegacy, ToolsAreListedWithTheirKinds) {
  Client client;
  client.initialize();
  const json tools = client.ask("tools/list")["result"]["tools"];
  EXPECT_EQ(tools[0]["name"], "read");
  EXPECT_EQ(tools[0]["title"], "Read");
  EXPECT_EQ(tools[0]["inputSchema"]["properties"]["path"]["type"], "string");
  EXPECT_EQ(tools[0]["outputSchema"]["type"], "object");
  EXPECT_EQ(tools[0]["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(tools[0]["annotations"]["destructiveHint"], false);
  EXPECT_EQ(tools[1]["annotations"]["openWorldHint"], true);
  EXPECT_FALSE(tools[1].contains("outputSchema"));
  EXPECT_EQ(error_code(client.ask("tools/list", {{"cursor", "x"}})), code::kInvalidParams);
}

TEST(McpLegacy, ACallAnswersWithItsEnvelope) {
  Client client;
  client.initialize();
  const json params = {{"name", "read"}, {"arguments", {{"path", "p"}}}, {"_meta", {{"hutch/turn", "t7"}}}};
  const json result = client.ask("tools/call", params)["result"];
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["structuredContent"]["ok"], true);
  EXPECT_EQ(json::parse(result["content"][0]["text"].get<std::string>()), result["structuredContent"]);
  EXPECT_EQ(client.host->turn, "t7");
  const json wrong = client.ask("tools/call", {{"name", "read"}, {"arguments", {{"path", "wrong"}}}});
  EXPECT_EQ(wrong["result"]["isError"], true);
  EXPECT_EQ(client.ask("tools/call", {{"name", "read"}})["result"]["structuredContent"]["result"]["path"], "{}");
  EXPECT_EQ(client.host->turn, "");
}

TEST(McpLegacy, ACallThatCannotBeMadeIsAnError) {
  Client client;
  client.initialize();
  const json unknown = client.ask("tools/call", {{"name", "nope"}});
  EXPECT_EQ(error_code(unknown), code::kInvalidParams);
  EXPECT_EQ(unknown["error"]["message"], "Unknown tool: nope");
  EXPECT_EQ(error_code(client.ask("tools/call", {{"name", "fails"}})), code::kInternal);
  EXPECT_EQ(error_code(client.ask("tools/call", {{"name", "picky"}})), code::kInvalidParams);
  EXPECT_EQ(error_code(client.ask("tools/call", {{"name", "broken"}})), code::kInternal);
  EXPECT_EQ(error_code(client.ask("tools/call")), code::kInvalidParams);
  EXPECT_EQ(error_code(client.ask("tools/call", {{"name", 5}})), code::kInvalidParams);
  EXPECT_EQ(error_code(client.ask("tools/call", {{"name", "read"}, {"arguments", "x"}})), code::kInvalidParams);
  const json turn = {{"hutch/turn", std::string(300, 't')}};
  EXPECT_EQ(error_code(client.ask("tools/call", {{"name", "read"}, {"_meta", turn}})), code::kInvalidParams);
}

TEST(McpLegacy, OutputThatIsNoTextStillComesAsJson) {
  Client client;
  client.initialize();
  client.host->exec = [](const CallOptions&) { return CallAnswer{"{\"ok\":true,\"out\":\"a\\u0000\\n\"}", false}; };
  EXPECT_EQ(client.ask("tools/call", {{"name", "exec"}})["result"]["structuredContent"]["out"].size(), 1U);
  EXPECT_EQ(client.ask_text(R"({"jsonrpc":"2.0","id":"é","method":"ping"})")["id"], "é");
}

TEST(McpLegacy, GuidesArePrompts) {
  Client client;
  client.initialize();
  EXPECT_EQ(client.ask("prompts/list")["result"]["prompts"],
            json::array({{{"name", "how"}, {"title", "How"}, {"description", "Tells how"}}}));
  const json got = client.ask("prompts/get", {{"name", "how"}})["result"];
  EXPECT_EQ(got["messages"][0]["role"], "user");
  EXPECT_EQ(got["messages"][0]["content"]["text"], "# How\n");
  EXPECT_EQ(error_code(client.ask("prompts/get", {{"name", "other"}})), code::kInvalidParams);
  EXPECT_EQ(error_code(client.ask("prompts/get")), code::kInvalidParams);
}

TEST(McpLegacy, SharedFilesAreResources) {
  Client client;
  client.initialize();
  const json list = client.ask("resources/list")["result"]["resources"];
  EXPECT_EQ(list[0],
            (json{{"uri", "hutch://output/a.txt"}, {"name", "a.txt"}, {"mimeType", "text/plain"}, {"size", 3}}));
  EXPECT_EQ(client.ask("resources/templates/list")["result"]["resourceTemplates"], json::array());
  const auto read = [&](const char* uri) { return client.ask("resources/read", {{"uri", uri}}); };
  EXPECT_EQ(read("hutch://output/a.txt")["result"]["contents"][0]["text"], "abc");
  EXPECT_EQ(read("hutch://output/b.png")["result"]["contents"][0]["blob"], "AP8=");
  EXPECT_EQ(read("hutch://output/latin1.txt")["result"]["contents"][0]["blob"], "6Q==");
  const json gone = read("hutch://output/gone");
  EXPECT_EQ(error_code(gone), code::kLegacyResourceNotFound);
  EXPECT_EQ(gone["error"]["data"]["uri"], "hutch://output/gone");
  EXPECT_EQ(error_code(client.ask("resources/read")), code::kInvalidParams);
}

TEST(McpLegacy, OtherMethodsAreNotThere) {
  Client client;
  client.initialize();
  for (const char* method : {"roots/list", "server/discover", "subscriptions/listen", "resources/subscribe",
                             "completion/complete", "x", ""}) {
    EXPECT_EQ(error_code(client.ask(method)), code::kMethodNotFound) << method;
    EXPECT_EQ(client.kept.back().http_status, 200);
  }
}

TEST(McpLegacy, LogsCarryWhatTheLevelLetsThrough) {
  Client client;
  client.initialize();
  client.host->exec = [](const CallOptions& options) {
    options.on_log(LogLevel::kDebug, "quiet");
    options.on_log(LogLevel::kWarning, "loud");
    return CallAnswer{"{}", false};
  };
  const auto call = [&] {
    client.kept.clear();
    client.send({{"jsonrpc", "2.0"}, {"id", 99}, {"method", "tools/call"}, {"params", {{"name", "exec"}}}});
    std::vector<std::string> logs;
    for (const Delivery& delivery : client.kept) {
      if (delivery.part == Delivery::Part::kNotification) logs.push_back(json::parse(delivery.text)["params"]["data"]);
    }
    return logs;
  };
  EXPECT_THAT(call(), ElementsAre("loud"));
  EXPECT_EQ(client.ask("logging/setLevel", {{"level", "debug"}})["result"], json::object());
  EXPECT_THAT(call(), ElementsAre("quiet", "loud"));
  client.ask("logging/setLevel", {{"level", "error"}});
  EXPECT_THAT(call(), IsEmpty());
  EXPECT_EQ(error_code(client.ask("logging/setLevel", {{"level", "all"}})), code::kInvalidParams);
  EXPECT_EQ(error_code(client.ask("logging/setLevel")), code::kInvalidParams);
}

TEST(McpLegacy, ProgressGrowsAndEndsWithTheAnswer) {
  Client client({.progress_interval = std::chrono::milliseconds(0)});
  client.initialize();
  std::function<void(const Progress&)> late;
  client.host->exec = [&](const CallOptions& options) {
    options.on_progress({1, 10, "one"});
    options.on_progress({1, {}, "again"});
    options.on_progress({2.5, {}, ""});
    late = options.on_progress;
    return CallAnswer{"{}", false};
  };
  client.kept.clear();
  json params = {{"name", "exec"}, {"_meta", {{"progressToken", "tok"}}}};
  client.send({{"jsonrpc", "2.0"}, {"id", 5}, {"method", "tools/call"}, {"params", params}});
  ASSERT_EQ(client.kept.size(), 3U);
  const json expected = {{"progressToken", "tok"}, {"progress", 1.0}, {"total", 10.0}, {"message", "one"}};
  EXPECT_EQ(json::parse(client.kept[0].text)["params"], expected);
  EXPECT_EQ(json::parse(client.kept[1].text)["params"]["progress"], 2.5);
  EXPECT_EQ(client.kept[2].part, Delivery::Part::kAnswer);
  late({9, {}, ""});
  EXPECT_EQ(client.kept.size(), 3U);
  client.kept.clear();
  client.send({{"jsonrpc", "2.0"}, {"id", 6}, {"method", "tools/call"}, {"params", {{"name", "exec"}}}});
  EXPECT_EQ(client.kept.size(), 1U);
}

TEST(McpLegacy, ProgressComesNoFasterThanItMay) {
  Client client({.progress_interval = std::chrono::hours(1)});
  client.initialize();
  client.host->exec = [&](const CallOptions& options) {
    for (int i = 1; i < 1000; ++i) options.on_progress({static_cast<double>(i), {}, ""});
    return CallAnswer{"{}", false};
  };
  client.kept.clear();
  json params = {{"name", "exec"}, {"_meta", {{"progressToken", 1}}}};
  client.send({{"jsonrpc", "2.0"}, {"id", 5}, {"method", "tools/call"}, {"params", params}});
  EXPECT_EQ(client.kept.size(), 2U);
}

TEST(McpLegacy, ChangesAreToldUnasked) {
  Client client;
  client.session->tools_changed();
  EXPECT_THAT(client.kept, IsEmpty());
  client.initialize();
  client.kept.clear();
  client.session->tools_changed();
  client.session->artifacts_changed();
  ASSERT_EQ(client.kept.size(), 2U);
  EXPECT_EQ(json::parse(client.kept[0].text),
            (json{{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}}));
  EXPECT_EQ(json::parse(client.kept[1].text)["method"], "notifications/resources/list_changed");
}

TEST(McpLegacy, BatchesAreOfOneRevisionAlone) {
  const std::string batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},
    {"jsonrpc":"2.0","id":2,"method":"tools/list"},[{"jsonrpc":"2.0","id":3,"method":"ping"}],7])";
  for (const std::string version : {"2025-11-25", "2025-06-18"}) {
    Client client;
    client.initialize(version);
    const json refused = client.ask_text(batch);
    EXPECT_EQ(error_code(refused), code::kInvalidRequest);
    EXPECT_FALSE(refused.contains("id"));
  }
  Client old;
  old.initialize("2025-03-26");
  old.kept.clear();
  EXPECT_EQ(old.send_text(batch), 3U);
  ASSERT_EQ(old.kept.size(), 3U);
  EXPECT_EQ(json::parse(old.kept[0].text)["id"], 1);
  EXPECT_EQ(json::parse(old.kept[1].text)["result"]["tools"].size(), 2U);
  EXPECT_EQ(error_code(json::parse(old.kept[2].text)), code::kInvalidRequest);
  EXPECT_EQ(error_code(old.ask_text("[]")), code::kInvalidRequest);
}

TEST(McpLegacy, WhatIsNoMessageIsAnErrorWithoutId) {
  Client client;
  const json answer = client.ask_text("nonsense");
  EXPECT_EQ(error_code(answer), code::kParse);
  EXPECT_FALSE(answer.contains("id"));
  EXPECT_EQ(client.kept.back().http_status, 400);
  EXPECT_EQ(client.send_text(R"({"jsonrpc":"2.0","id":1,"result":{}})"), 0U);
  EXPECT_EQ(client.send_text(R"({"jsonrpc":"2.0","method":"notifications/unknown","params":{"requestId":[]}})"), 0U);
  EXPECT_EQ(client.kept.size(), 1U);
}

// Calls that end when the test says so, or when they are cancelled.
class McpCalls : public testing::Test {
 protected:
  McpCalls() : client({.execute = threads.executor()}) {
    client.initialize();
    client.kept.clear();
    client.host->exec = [this](const CallOptions& options) {
      std::unique_lock lock(mutex);
      ++running;
      changed.notify_all();
      while (!released && !options.cancelled.stop_requested()) changed.wait_for(lock, std::chrono::milliseconds(5));
      --running;
      changed.notify_all();
      cancelled += options.cancelled.stop_requested() ? 1 : 0;
      return CallAnswer{"{}", false};
    };
  }
  ~McpCalls() override { release(); }

  void call(const json& id) {
    client.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", {{"name", "exec"}}}});
  }
  void cancel(const json& id) {
    client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}});
  }
  void release() {
    const std::lock_guard lock(mutex);
    released = true;
    changed.notify_all();
  }
  void wait_running(int count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(45), [&] { return running == count; }));
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  int running = 0;
  int cancelled = 0;
  Threads threads;
  Client client;
};

TEST_F(McpCalls, SeveralRunAtOnce) {
  for (int id = 1; id <= 5; ++id) call(id);
  wait_running(5);
  EXPECT_EQ(client.ask("ping")["result"], json::object());
  release();
  EXPECT_EQ(client.wait_for(6).size(), 6U);
}

TEST_F(McpCalls, ACancelledOneGetsNoAnswer) {
  call("a");
  call(1);
  wait_running(2);
  cancel("1");  // the text is another id than the number
  cancel("a");
  cancel("never");
  wait_running(1);
  release();
  const auto kept = client.wait_for(2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].part, Delivery::Part::kNothing);
  EXPECT_EQ(json::parse(kept[1].text)["id"], 1);
  EXPECT_EQ(cancelled, 1);
  cancel(1);
  EXPECT_EQ(client.wait_for(2).size(), 2U);
}

TEST_F(McpCalls, AnIdIsUsedOnceAtATime) {
  call(1);
  wait_running(1);
  call(1);
  EXPECT_EQ(error_code(json::parse(client.wait_for(1)[0].text)), code::kInvalidRequest);
  release();
  EXPECT_TRUE(json::parse(client.wait_for(2)[1].text).contains("result"));
  call(1);
  EXPECT_TRUE(json::parse(client.wait_for(3)[2].text).contains("result"));
}

TEST_F(McpCalls, ThereIsALimit) {
  for (std::size_t id = 1; id <= kCallsMax; ++id) call(id);
  wait_running(static_cast<int>(kCallsMax));
  call(1000);
  EXPECT_EQ(error_code(json::parse(client.wait_for(1)[0].text)), code::kInternal);
}

TEST_F(McpCalls, AtTheEndOfTheSessionAllAreCancelled) {
  call(1);
  call(2);
  wait_running(2);
  client.session.reset();
  wait_running(0);
  EXPECT_EQ(cancelled, 2);
  for (const Delivery& delivery : client.wait_for(2)) EXPECT_EQ(delivery.part, Delivery::Part::kNothing);
}

TEST(McpModern, DiscoverSaysWhatThereIs) {
  Client client;
  const json result = client.ask_modern("server/discover")["result"];
  EXPECT_EQ(result["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(result["supportedVersions"][1], "2025-11-25");
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "hutch");
  EXPECT_EQ(result["cacheScope"], "private");
  EXPECT_GT(result["ttlMs"], 0);
  EXPECT_EQ(result["instructions"], "Be careful.");
  EXPECT_TRUE(result["capabilities"].contains("resources"));
}

TEST(McpModern, EachRequestStandsForItself) {
  Client client;
  const json tools = client.ask_modern("tools/list")["result"];
  EXPECT_EQ(tools["tools"].size(), 2U);
  EXPECT_EQ(tools["resultType"], "complete");
  EXPECT_TRUE(tools.contains("ttlMs") && tools.contains("cacheScope"));
  const json result = client.ask_modern("tools/call", {{"name", "read"}})["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["structuredContent"]["ok"], true);
  EXPECT_EQ(client.ask_modern("resources/list")["result"]["resources"].size(), 1U);
  EXPECT_EQ(client.ask_modern("resources/templates/list")["result"]["resourceTemplates"], json::array());
  EXPECT_EQ(client.ask_modern("resources/read", {{"uri", "hutch://output/a.txt"}})["result"]["cacheScope"], "private");
  EXPECT_EQ(error_code(client.ask_modern("resources/read", {{"uri", "x"}})), code::kInvalidParams);
  EXPECT_FALSE(client.session->legacy_version().has_value());
  client.initialize();
  EXPECT_EQ(client.ask_modern("tools/list")["result"]["resultType"], "complete");
  EXPECT_FALSE(client.ask("tools/list")["result"].contains("resultType"));
}

TEST(McpModern, WhatIsMissingOrUnknownIsRefused) {
  Client client;
  json params;
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  EXPECT_EQ(error_code(client.ask("tools/list", params)), code::kInvalidParams);
  EXPECT_EQ(client.kept.back().http_status, 400);
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1900-01-01";
  const json refused = client.ask("server/discover", params);
  EXPECT_EQ(error_code(refused), code::kUnsupportedVersion);
  EXPECT_EQ(refused["error"]["data"]["requested"], "1900-01-01");
  EXPECT_EQ(refused["error"]["data"]["supported"][0], "2026-07-28");
  EXPECT_EQ(client.kept.back().http_status, 400);
  for (const char* method : {"ping", "logging/setLevel", "initialize", "roots/list", "resources/subscribe"}) {
    EXPECT_EQ(error_code(client.ask_modern(method)), code::kMethodNotFound) << method;
    EXPECT_EQ(client.kept.back().http_status, 404);
  }
  EXPECT_EQ(error_code(client.ask_modern("tools/call", {{"name", "nope"}})), code::kInvalidParams);
  EXPECT_EQ(client.kept.back().http_status, 200);
}

TEST(McpModern, LogsComeToThoseThatAsk) {
  Client client;
  client.host->exec = [](const CallOptions& options) {
    options.on_log(LogLevel::kWarning, "warned");
    return CallAnswer{"{}", false};
  };
  client.ask_modern("tools/call", {{"name", "exec"}});
  EXPECT_EQ(client.kept.size(), 1U);
  json params = {{"name", "exec"}};
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()},
                     {"io.modelcontextprotocol/logLevel", "warning"}};
  client.send({{"jsonrpc", "2.0"}, {"id", 7}, {"method", "tools/call"}, {"params", params}});
  ASSERT_EQ(client.kept.size(), 3U);
  EXPECT_EQ(json::parse(client.kept[1].text)["params"]["data"], "warned");
  params["_meta"]["io.modelcontextprotocol/logLevel"] = "loud";
  EXPECT_EQ(error_code(client.ask("tools/call", params)), code::kInvalidParams);
}

TEST(McpModern, ASubscriptionTellsWhatItAskedFor) {
  Client client;
  const auto listen = [&](const json& id, json wanted) {
    json params = {{"notifications", std::move(wanted)}};
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", json::object()}};
    client.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "subscriptions/listen"}, {"params", params}});
  };
  listen("s", {{"toolsListChanged", true}, {"promptsListChanged", true}, {"resourceSubscriptions", {"x"}}});
  listen(2, {{"resourcesListChanged", true}});
  ASSERT_EQ(client.kept.size(), 2U);
  const json acknowledged = json::parse(client.kept[0].text);
  EXPECT_EQ(acknowledged["method"], "notifications/subscriptions/acknowledged");
  EXPECT_EQ(acknowledged["params"]["notifications"], (json{{"toolsListChanged", true}}));
  EXPECT_EQ(acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s");
  listen(2, json::object());
  EXPECT_EQ(error_code(json::parse(client.kept[2].text)), code::kInvalidRequest);
  client.kept.clear();
  client.session->artifacts_changed();
  ASSERT_EQ(client.kept.size(), 1U);
  EXPECT_EQ(json::parse(client.kept[0].text)["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
  client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 2}}}});
  client.session->artifacts_changed();
  ASSERT_EQ(client.kept.size(), 2U);
  EXPECT_EQ(client.kept[1].part, Delivery::Part::kNothing);
  client.session->close();
  ASSERT_EQ(client.kept.size(), 3U);
  const json end = json::parse(client.kept[2].text);
  EXPECT_EQ(end["id"], "s");
  EXPECT_EQ(end["result"]["resultType"], "complete");
  EXPECT_EQ(end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s");
  client.session->tools_changed();
  EXPECT_EQ(client.kept.size(), 3U);
}

TEST(McpModern, HeadersOfHttpAreHeldAgainstTheBody) {
  Client client;
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
  const HttpHeaders wrong{"2026-07-28", "tools/call", {}};
  client.send_text(text, &wrong);
  EXPECT_EQ(error_code(json::parse(client.kept[0].text)), code::kHeaderMismatch);
  EXPECT_EQ(client.kept[0].http_status, 400);
  const HttpHeaders right{"2026-07-28", "tools/list", {}};
  client.send_text(text, &right);
  EXPECT_TRUE(json::parse(client.kept[1].text).contains("result"));
}

}  // namespace
}  // namespace hutch::server::mcp
