// What a call asks of whoever uses the client, in both eras; calls that wait for their client.
#include "server/mcp/inquiries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

namespace hutch::server::mcp {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Its one tool does what the test says.
class Host : public ToolHost {
 public:
  std::vector<ToolInfo> list() override { return {}; }
  Result<CallAnswer> call(const std::string&, const std::string&, const CallOptions& options) override {
    return exec(options);
  }
  Result<std::vector<Artifact>> artifacts() override { return std::vector<Artifact>(); }
  Result<ArtifactContent> read_artifact(const std::string&) override { return fail(Error::not_found("none")); }

  std::function<Result<CallAnswer>(const CallOptions&)> exec;
};

// Keeps all that it gets.
class AskedClient {
 public:
  explicit AskedClient(Session::Settings settings = {}) {
    if (!settings.execute) settings.execute = [](const std::function<void()>& work) { work(); };
    session.emplace(host, std::move(settings));
  }
  AskedClient(const AskedClient&) = delete;
  AskedClient& operator=(const AskedClient&) = delete;
  ~AskedClient() { session.reset(); }  // nothing is sent afterwards

  void send(const json& message) {
    session->receive(message.dump(), [this](Delivery delivery) {
      const std::lock_guard lock(mutex);
      kept.push_back(std::move(delivery));
      changed.notify_all();
    });
  }
  void initialize(const json& capabilities) {
    const json params = {{"protocolVersion", "2025-11-25"}, {"capabilities", capabilities}};
    send({{"jsonrpc", "2.0"}, {"id", "begin"}, {"method", "initialize"}, {"params", params}});
    send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }
  // Waits until so many deliveries have come.
  std::vector<Delivery> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(45), [&] { return kept.size() >= count; }));
    return kept;
  }

  std::shared_ptr<Host> host = std::make_shared<Host>();
  std::vector<Delivery> kept;
  std::optional<Session> session;

 private:
  std::mutex mutex;
  std::condition_variable changed;
};

Inquiry inquiry(const std::string& key, std::vector<std::string>& answers) {
  return {.key = key,
          .message = "May it?",
          .choices = {"once", "no"},
          .on_answer = [&answers, key](const std::string& choice) { answers.push_back(key + " " + choice); }};
}

json request(int id, json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", std::move(params)}};
}

json modern(json params, const json& capabilities) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
  return params;
}

const json kElicits = {{"elicitation", json::object()}};

TEST(Inquiries, AClientThatCannotIsAskedNothing) {
  const std::vector<json> cannot = {
      json::object(), {{"elicitation", true}}, {{"elicitation", {{"url", json::object()}}}}};
  for (const json& capabilities : cannot) {
    AskedClient client;
    bool can = true;
    client.host->exec = [&](const CallOptions& options) {
      can = static_cast<bool>(options.inquire);
      return CallAnswer{R"({"ok":true})", false};
    };
    client.initialize(capabilities);
    client.send(request(1, {{"name", "exec"}}));
    EXPECT_FALSE(can) << capabilities;
    AskedClient other({.parked = std::make_shared<ParkedCalls>()});
    other.host->exec = client.host->exec;
    can = true;
    other.send(request(1, modern({{"name", "exec"}}, capabilities)));
    EXPECT_FALSE(can) << capabilities;
  }
}

TEST(Inquiries, AreRequestsToAClientOfTheFirstEra) {
  AskedClient client;
  std::vector<std::string> answers;
  client.host->exec = [&](const CallOptions& options) {
    options.inquire(inquiry("alice.1", answers));
    options.inquire(inquiry("alice.1", answers));  // by a second call at the same time
    options.inquire(inquiry("alice.2", answers));
    options.inquire(inquiry("alice.3", answers));
    options.withdraw("alice.3");
    client.send(
        {{"jsonrpc", "2.0"}, {"id", "hutch-1"}, {"result", {{"action", "accept"}, {"content", {{"choice", "once"}}}}}});
    client.send({{"jsonrpc", "2.0"}, {"id", "hutch-2"}, {"result", {{"action", "decline"}}}});
    for (const char* id : {"hutch-1", "hutch-3", "hutch-9", "hutch-", "hutch-x", "other"}) {
      client.send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", -1}, {"message", "no"}}}});
    }
    return CallAnswer{R"({"ok":true})", false};
  };
  client.initialize({{"elicitation", {{"form", json::object()}}}});
  const std::size_t before = client.kept.size();
  client.send(request(7, {{"name", "exec"}}));
  EXPECT_THAT(answers, ElementsAre("alice.1 once", "alice.2 no"));
  ASSERT_EQ(client.kept.size(), before + 4);
  const json first = json::parse(client.kept[before].text);
  EXPECT_EQ(first["method"], "elicitation/create");
  EXPECT_EQ(first["id"], "hutch-1");
  EXPECT_EQ(first["params"]["message"], "May it?");
  EXPECT_EQ(first["params"]["requestedSchema"]["properties"]["choice"]["enum"], json({"once", "no"}));
  EXPECT_EQ(json::parse(client.kept.back().text)["id"], 7);
}

TEST(Inquiries, AreTheAnswerOfARequestThatIsMadeAgain) {
  AskedClient client({.execute = [](std::function<void()> work) { std::thread(std::move(work)).detach(); },
                      .parked = std::make_shared<ParkedCalls>()});
  std::vector<std::string> answers;
  std::mutex mutex;
  std::condition_variable answered;
  client.host->exec = [&](const CallOptions& options) {
    for (const char* key : {"alice.1", "alice.2"}) {
      options.inquire(
          {.key = key, .message = "May it?", .choices = {"once", "no"}, .on_answer = [&](const std::string& choice) {
             const std::lock_guard lock(mutex);
             answers.push_back(choice);
             answered.notify_all();
           }});
      std::unique_lock lock(mutex);
      const std::size_t wanted = key == std::string("alice.1") ? 1 : 2;
      EXPECT_TRUE(answered.wait_for(lock, std::chrono::seconds(30), [&] { return answers.size() == wanted; }));
    }
    return CallAnswer{R"({"ok":true})", false};
  };
  client.send(request(1, modern({{"name", "exec"}}, kElicits)));
  const json first = json::parse(client.wait_for(1)[0].text)["result"];
  EXPECT_EQ(first["resultType"], "input_required");
  EXPECT_EQ(first["inputRequests"]["alice.1"]["method"], "elicitation/create");
  json again = {{"name", "exec"},
                {"requestState", first["requestState"]},
                {"inputResponses", {{"alice.1", {{"action", "accept"}, {"content", {{"choice", "once"}}}}}}}};
  client.send(request(2, modern(again, kElicits)));
  const json second = json::parse(client.wait_for(2)[1].text);
  EXPECT_EQ(second["id"], 2);
  EXPECT_TRUE(second["result"]["inputRequests"].contains("alice.2"));
  EXPECT_NE(second["result"]["requestState"], first["requestState"]);
  again["requestState"] = second["result"]["requestState"];
  again["inputResponses"] = {{"alice.2", {{"action", "cancel"}}}};
  client.send(request(3, modern(again, kElicits)));
  const json last = json::parse(client.wait_for(3)[2].text);
  EXPECT_EQ(last["id"], 3);
  EXPECT_EQ(last["result"]["resultType"], "complete");
  EXPECT_EQ(last["result"]["structuredContent"]["ok"], true);
  EXPECT_THAT(answers, ElementsAre("once", "no"));
  client.send(request(4, modern(again, kElicits)));
  EXPECT_THAT(json::parse(client.wait_for(4)[3].text)["error"]["message"], HasSubstr("of no call that waits"));
}

TEST(Inquiries, AWaitingCallEndsWithItsRequest) {
  AskedClient client({.execute = [](std::function<void()> work) { std::thread(std::move(work)).detach(); },
                      .parked = std::make_shared<ParkedCalls>()});
  std::promise<void> ended;
  client.host->exec = [&](const CallOptions& options) {
    while (!options.cancelled.stop_requested()) std::this_thread::yield();
    ended.set_value();
    return CallAnswer{R"({"ok":true})", false};
  };
  client.send(request(1, modern({{"name", "exec"}}, kElicits)));
  client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}});
  EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_EQ(client.wait_for(1)[0].part, Delivery::Part::kNothing);
}

TEST(ParkedCalls, AreBoundedAndOfTheirTool) {
  ParkedCalls parked;
  const auto now = std::chrono::steady_clock::now();
  const auto first = std::make_shared<Rounds>();
  const auto state = parked.add(first, "exec", now);
  ASSERT_TRUE(state);
  EXPECT_EQ(parked.take(*state, "read"), nullptr);
  EXPECT_EQ(parked.take("", "exec"), nullptr);
  EXPECT_EQ(parked.take(*state, "exec"), first);
  EXPECT_EQ(parked.take(*state, "exec"), nullptr);
  ASSERT_TRUE(parked.add(first, "exec", now));
  for (int i = 0; i < 64; ++i)
    ASSERT_TRUE(parked.add(std::make_shared<Rounds>(), "exec", now + std::chrono::seconds(i + 1)));
  EXPECT_TRUE(first->stopped().stop_requested());
  const auto late = std::make_shared<Rounds>();
  ASSERT_TRUE(parked.add(late, "exec", now));
  ASSERT_TRUE(parked.add(std::make_shared<Rounds>(), "exec", now + std::chrono::minutes(11)));
  EXPECT_TRUE(late->stopped().stop_requested());
}

}  // namespace
}  // namespace hutch::server::mcp
