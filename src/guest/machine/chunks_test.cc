// A body that comes in chunks.
#include "guest/machine/chunks.h"

#include <gtest/gtest.h>

namespace hutch::guest {
namespace {

TEST(ChunksTest, PiecesOfEverySize) {
  const std::string all = "5\r\nhello\r\n1;x=y\r\n \r\nA\r\n0123456789\r\n0\r\n\r\n";
  for (std::size_t size = 1; size <= all.size(); ++size) {
    Chunks chunks;
    std::string body;
    for (std::size_t at = 0; at < all.size(); at += size) {
      const auto piece = chunks.take(std::string_view(all).substr(at, size));
      ASSERT_TRUE(piece);
      body += *piece;
    }
    EXPECT_EQ(body, "hello 0123456789");
    EXPECT_TRUE(chunks.is_whole());
  }
}

TEST(ChunksTest, WhatBreaksOffIsNotWhole) {
  Chunks chunks;
  EXPECT_EQ(chunks.take("5\r\nhel").value_or(""), "hel");
  EXPECT_FALSE(chunks.is_whole());
}

TEST(ChunksTest, WhatIsNone) {
  for (const char* bytes : {"x\r\n", "\r\n", "5\nhello", "-1\r\n", "FFFFFFFFFFFFFFFF\r\n", "1\r\nab\r\n"}) {
    EXPECT_FALSE(Chunks().take(bytes)) << bytes;
  }
  EXPECT_FALSE(Chunks().take(std::string(1000, '0')));
}

}  // namespace
}  // namespace hutch::guest
