// Messages between gateway and inspector come out as they went in, and nothing else is read.
#include "wire/inspect.h"

#include <gtest/gtest.h>

namespace hutch::wire {
namespace {

template <class Decoder, class Message>
auto round_trip(Decoder decoder, const Message& message) {
  const std::string bytes = encode(message);
  const auto header = decode_header(std::string_view(bytes).substr(0, kFrameHeaderBytes));
  EXPECT_TRUE(header);
  return decoder(*header, std::string_view(bytes).substr(kFrameHeaderBytes));
}

Inspect example() {
  Inspect message;
  message.id = 1ULL << 40;
  message.host = "api.example.com";
  message.port = 443;
  message.form = InspectForm::kProxy;
  message.tls = true;
  policy::HttpRule rule;
  rule.host = "*.example.com";
  rule.methods = {"GET", "HEAD"};
  rule.paths = {"/repos/**"};
  rule.set_headers = {{"Authorization", "Bearer x"}};
  rule.remove_headers = {"Cookie"};
  message.rules = {rule, policy::HttpRule{}};
  message.placeholders = {{"hutch-1", "value"}, {"hutch-2", ""}};
  return message;
}

TEST(InspectMessage, AConnectionComesOutAsItWentIn) {
  const auto decoded = round_trip(decode_to_inspector, ToInspector(example()));
  ASSERT_TRUE(decoded);
  const Inspect& message = std::get<Inspect>(*decoded);
  EXPECT_EQ(message.id, 1ULL << 40);
  EXPECT_EQ(message.host, "api.example.com");
  EXPECT_EQ(message.port, 443);
  EXPECT_EQ(message.form, InspectForm::kProxy);
  EXPECT_TRUE(message.tls);
  EXPECT_EQ(message.rules, example().rules);
  EXPECT_EQ(message.placeholders, example().placeholders);
}

TEST(InspectMessage, EveryOtherMessageComesOutAsItWentIn) {
  InspectStart start;
  start.extra_ca_paths = {"/a", "/b"};
  start.java_store = true;
  start.authority = "key";
  EXPECT_EQ(std::get<InspectStart>(*round_trip(decode_to_inspector, ToInspector(start))).authority, "key");
  EXPECT_TRUE(std::get<InspectStart>(*round_trip(decode_to_inspector, ToInspector(start))).java_store);
  EXPECT_EQ(std::get<InspectStart>(*round_trip(decode_to_inspector, ToInspector(start))).extra_ca_paths,
            start.extra_ca_paths);
  EXPECT_EQ(std::get<InspectEnd>(*round_trip(decode_to_inspector, ToInspector(InspectEnd{7}))).id, 7u);
  const auto ready = round_trip(decode_from_inspector, FromInspector(InspectReady{"pem", "java", "key"}));
  EXPECT_EQ(std::get<InspectReady>(*ready).ca_certificate, "pem");
  EXPECT_EQ(std::get<InspectReady>(*ready).java_store, "java");
  EXPECT_EQ(std::get<InspectReady>(*ready).authority, "key");
  const FromInspector failed = InspectFailed{{Code::kNotFound, 2, "no file"}};
  EXPECT_EQ(std::get<InspectFailed>(*round_trip(decode_from_inspector, failed)).error.message, "no file");
  const FromInspector refused = InspectRefused{1, "GET /", "why"};
  EXPECT_EQ(std::get<InspectRefused>(*round_trip(decode_from_inspector, refused)).why, "why");
  const FromInspector closed = InspectClosed{1, 2, 3};
  EXPECT_EQ(std::get<InspectClosed>(*round_trip(decode_from_inspector, closed)).bytes_down, 3u);
}

TEST(InspectMessage, EveryTruncationIsAnError) {
  const std::string bytes = encode(ToInspector(example()));
  FrameHeader header = *decode_header(std::string_view(bytes).substr(0, kFrameHeaderBytes));
  const std::string_view body = std::string_view(bytes).substr(kFrameHeaderBytes);
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_FALSE(decode_to_inspector(header, body.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_to_inspector(header, std::string(body) + "x"));
  header.type = 3;
  EXPECT_FALSE(decode_to_inspector(header, body));
}

}  // namespace
}  // namespace hutch::wire
