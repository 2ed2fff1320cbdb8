// The table of routes, against its description and against targets that are asked for.
#include "server/http/routes.h"

#include <gtest/gtest.h>

#include <set>

#include "sys/files/files.h"
#include "tool/value.h"

namespace hutch::server::http {
namespace {

constexpr std::size_t kDescriptionBytesMax = 1 << 20;

const tool::Value::Object& object_of(const tool::Value& value) {
  const auto* object = value.get<tool::Value::Object>();
  static const tool::Value::Object kNone;
  return object == nullptr ? kNone : *object;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

TEST(HttpRoutes, AreThoseOfTheDescription) {
  const auto text = sys::read_file(std::string(HUTCH_SOURCE_DIR) + "/docs/openapi.json", kDescriptionBytesMax);
  ASSERT_TRUE(text.has_value());
  const auto description = tool::parse_value(*text, kDescriptionBytesMax);
  ASSERT_TRUE(description.has_value()) << description.error().message;
  std::set<std::string> described;
  for (const auto& [path, item] : object_of(object_of(*description).at("paths"))) {
    for (const auto& [method, operation] : object_of(item)) {
      if (method == "parameters") continue;
      described.insert(upper(method) + " " + path);
      const auto& answers = object_of(object_of(operation).at("responses"));
      EXPECT_TRUE(answers.contains("503")) << method << " " << path << ": every connection may find the daemon busy";
      const bool has_body = object_of(operation).contains("requestBody");
      for (const Route& route : all_routes()) {
        if (route.method != upper(method) || route.pattern != path) continue;
        EXPECT_EQ(has_body, route.body != BodyType::kNone) << method << " " << path;
      }
    }
  }
  std::set<std::string> served;
  for (const Route& route : all_routes()) served.insert(std::string(route.method) + " " + std::string(route.pattern));
  EXPECT_EQ(described, served);
  EXPECT_GT(served.size(), 20U);
}

std::variant<Chosen, NotChosen> choose(std::string_view method, std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return NotChosen{};
  return choose_route(method, *target);
}

TEST(HttpRoutes, PartsAreDecodedAfterThePathIsParted) {
  const auto chosen = choose("GET", "/v1/agents/a%2Fb/processes/7?x=1");
  ASSERT_TRUE(std::holds_alternative<Chosen>(chosen));
  EXPECT_EQ(std::get<Chosen>(chosen).route->pattern, "/v1/agents/{name}/processes/{id}");
  EXPECT_EQ(std::get<Chosen>(chosen).parts.at("name"), "a/b");
  EXPECT_EQ(std::get<Chosen>(chosen).parts.at("id"), "7");
}

TEST(HttpRoutes, WhatIsNotThere) {
  for (const char* path : {"/", "/v1", "/v1/agents/", "/v1/agents//files", "/V1/agents", "/v1/agents/a/b/c/d"}) {
    const auto chosen = choose("GET", path);
    ASSERT_TRUE(std::holds_alternative<NotChosen>(chosen)) << path;
    EXPECT_EQ(std::get<NotChosen>(chosen).refusal.status, 404) << path;
  }
  const auto wrong = choose("DELETE", "/v1/agents");
  ASSERT_TRUE(std::holds_alternative<NotChosen>(wrong));
  EXPECT_EQ(std::get<NotChosen>(wrong).refusal.status, 405);
  EXPECT_EQ(std::get<NotChosen>(wrong).allow, "GET, HEAD, POST");
}

TEST(HttpRoutes, HeadIsAnsweredWhereGetIs) {
  const auto chosen = choose("HEAD", "/v1/agents");
  ASSERT_TRUE(std::holds_alternative<Chosen>(chosen));
  EXPECT_EQ(std::get<Chosen>(chosen).route->method, "GET");
  const auto refused = choose("HEAD", "/v1/agents/a/start");
  ASSERT_TRUE(std::holds_alternative<NotChosen>(refused));
  EXPECT_EQ(std::get<NotChosen>(refused).allow, "POST");
}

}  // namespace
}  // namespace hutch::server::http
