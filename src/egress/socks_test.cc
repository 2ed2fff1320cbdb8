// SOCKS: each version's request, byte by byte, and what is refused.
#include "egress/socks.h"

#include <gtest/gtest.h>

namespace hutch::egress {
namespace {

using std::string_literals::operator""s;

// Every shorter beginning has to ask for more.
SocksRead read_whole(const std::string& bytes, SocksState state) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_socks(std::string_view(bytes).substr(0, size), state).step, SocksStep::kMore) << size;
  }
  return read_socks(bytes + "rest", state);
}

TEST(Socks, V5) {
  const auto greeting = read_whole("\5\2\2\0"s, SocksState::kNew);
  EXPECT_EQ(greeting.step, SocksStep::kGreeting);
  EXPECT_EQ(greeting.size, 4);
  EXPECT_EQ(greeting.reply, "\5\0"s);
  const auto name = read_whole("\5\1\0\3\7a.b.com\1\xbb"s, SocksState::kGreeted);
  EXPECT_EQ(name.step, SocksStep::kRequest);
  EXPECT_EQ(name.host, "a.b.com");
  EXPECT_EQ(name.port, 443);
  EXPECT_EQ(name.size, 14);
  EXPECT_EQ(read_whole("\5\1\0\1\x0a\0\0\1\0\x50"s, SocksState::kGreeted).host, "10.0.0.1");
  EXPECT_EQ(read_whole("\5\1\0\4"s + std::string(15, '\0') + "\1\0\x50"s, SocksState::kGreeted).host, "::1");
}

TEST(Socks, V4) {
  const auto address = read_whole("\4\1\0\x50\1\2\3\4user\0"s, SocksState::kNew);
  EXPECT_EQ(address.step, SocksStep::kRequest);
  EXPECT_EQ(address.host, "1.2.3.4");
  EXPECT_EQ(address.port, 80);
  EXPECT_EQ(address.size, 13);
  const auto name = read_whole("\4\1\0\x50\0\0\0\1\0x.org\0"s, SocksState::kNew);
  EXPECT_EQ(name.host, "x.org");
  EXPECT_EQ(name.size, 15);
}

TEST(Socks, Refused) {
  EXPECT_EQ(read_socks("\5\1\2"s, SocksState::kNew).reply, "\5\xff"s);  // a password alone is offered
  EXPECT_EQ(read_socks("\5\2\0\1\x0a\0\0\1\0\x50"s, SocksState::kGreeted).reply[1], '\7');  // BIND
  EXPECT_EQ(read_socks("\5\3\0\1\x0a\0\0\1\0\x50"s, SocksState::kGreeted).reply[1], '\7');  // UDP ASSOCIATE
  EXPECT_EQ(read_socks("\5\1\0\2\x0a\0\0\1\0\x50"s, SocksState::kGreeted).reply[1], '\b');
  EXPECT_EQ(read_socks("\4\2\0\x50\1\2\3\4\0"s, SocksState::kNew).step, SocksStep::kRefused);
  EXPECT_EQ(read_socks("\4\1\0\x50\1\2\3\4"s + std::string(300, 'u'), SocksState::kNew).step, SocksStep::kRefused);
  EXPECT_EQ(read_socks("\4\1\0\x50\0\0\0\1\0"s + std::string(300, 'h'), SocksState::kNew).step, SocksStep::kRefused);
}

}  // namespace
}  // namespace hutch::egress
