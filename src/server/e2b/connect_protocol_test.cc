// Envelopes in pieces, their limits, and codes.
#include "server/e2b/connect_protocol.h"

#include <gtest/gtest.h>

namespace hutch::server::connect {
namespace {

TEST(ConnectProtocol, EnvelopesComeInAnyPieces) {
  const std::string bytes = envelope(0, "{\"a\":1}") + envelope(kEndOfStream, "{}");
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    EnvelopeReader reader;
    std::vector<Envelope> found;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      reader.add(std::string_view(bytes).substr(at, size));
      for (;;) {
        auto next = reader.next();
        ASSERT_TRUE(next.has_value());
        if (!*next) break;
        found.push_back(std::move(**next));
      }
    }
    EXPECT_EQ(found, (std::vector<Envelope>{{0, "{\"a\":1}"}, {kEndOfStream, "{}"}})) << size;
    EXPECT_TRUE(reader.is_between());
  }
}

TEST(ConnectProtocol, WhatBreaksARuleIsRefused) {
  const std::vector<std::pair<std::string, Code>> wrong = {
      {std::string("\x01\0\0\0\0", 5), Code::kUnsupported},
      {std::string("\x04\0\0\0\0", 5), Code::kInvalidArgument},
      {std::string("\0\x7f\xff\xff\xff", 5), Code::kInvalidArgument},
      {std::string("\0\xff\xff\xff\xff", 5), Code::kInvalidArgument}};
  for (const auto& [bytes, code] : wrong) {
    EnvelopeReader reader;
    reader.add(bytes);
    const auto next = reader.next();
    ASSERT_FALSE(next.has_value());
    EXPECT_EQ(next.error().code, code);
  }
  EnvelopeReader half;
  half.add(std::string("\0\0\0\0\x02x", 6));
  EXPECT_FALSE(half.next()->has_value());
  EXPECT_FALSE(half.is_between());
}

TEST(ConnectProtocol, ErrorsHaveTheProtocolsCodes) {
  EXPECT_EQ(problem_of(Error::not_found("x")).code, "not_found");
  EXPECT_EQ(http_status("not_found"), 404);
  EXPECT_EQ(http_status("unimplemented"), 501);
  EXPECT_EQ(http_status("nothing of the kind"), 500);
  EXPECT_EQ(end_of_stream({"not_found", "a\"b"}),
            envelope(kEndOfStream, "{\"error\":{\"code\":\"not_found\",\"message\":\"a\\\"b\"}}"));
  EXPECT_EQ(end_of_stream(), envelope(kEndOfStream, "{}"));
}

}  // namespace
}  // namespace hutch::server::connect
