// Connections to ports of a machine's loopback.
#include "guest/machine/dial.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include "guest/must_testing.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/net/sockets.h"
#include "sys/process/shutdown.h"
#include "wire/machine_dial.h"

namespace hutch::guest {
namespace {

bool wait_for(int fd, short events, std::chrono::milliseconds at_most = std::chrono::seconds(20)) {
  pollfd wait{fd, events, 0};
  return sys::poll({&wait, 1}, at_most) && wait.revents != 0;
}

std::string read_from(int fd, std::size_t size) {
  std::string all;
  while (all.size() < size && wait_for(fd, POLLIN)) {
    std::string bytes(size - all.size(), '\0');
    const auto count = sys::read_some(fd, bytes);
    if (!count || *count == 0) break;
    all.append(bytes, 0, *count);
  }
  return all;
}

// A stream that is served on a thread of its own, and a server of the machine's.
class DialTest : public testing::Test {
 protected:
  DialTest() {
    ::signal(SIGPIPE, SIG_IGN);
    listener_ = must(sys::bind_socket(sys::Transport::kTcp, {IpAddress::v4(127, 0, 0, 1), 0}));
    const std::string at = must(sys::bound_text(listener_.get()));
    std::from_chars(at.data() + at.rfind(':') + 1, at.data() + at.size(), port_);
    auto [host, served] = must(sys::socket_pair());
    host_ = std::move(host);
    thread_ = std::thread([this, stream = std::move(served)]() mutable { ended_ = serve_dial(std::move(stream)); });
  }
  ~DialTest() override {
    host_.reset();
    server_.reset();
    if (thread_.joinable()) thread_.join();
  }

  void dial(std::uint16_t port) {
    const wire::DialBytes bytes = wire::encode_dial(port);
    EXPECT_TRUE(sys::write_all(host_.get(), std::string_view(bytes.data(), bytes.size())));
  }
  void connect() {
    dial(port_);
    EXPECT_EQ(read_from(host_.get(), 1), std::string(1, wire::kDialled));
    EXPECT_TRUE(wait_for(listener_.get(), POLLIN));
    auto accepted = must(sys::accept_connection(listener_.get()));
    ASSERT_TRUE(accepted);
    server_ = std::move(accepted->socket);
  }
  // How much a side takes of which the other reads nothing.
  static std::size_t flood(int fd) {
    EXPECT_TRUE(sys::set_nonblocking(fd));
    std::size_t all = 0;
    const std::string bytes(64 << 10, 'x');
    while (all < kMuch && wait_for(fd, POLLOUT, std::chrono::milliseconds(300))) {
      const auto size = sys::write_some(fd, bytes);
      if (!size) break;
      all += *size;
    }
    return all;
  }

  static constexpr std::size_t kMuch = 64 << 20;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  UniqueFd host_;
  UniqueFd server_;
  std::thread thread_;
  Status ended_;
};

TEST_F(DialTest, BytesAndEndsGoBothWays) {
  connect();
  ASSERT_TRUE(sys::write_all(host_.get(), "question"));
  ASSERT_TRUE(sys::shut_down(host_.get(), sys::Direction::kWriting));
  EXPECT_EQ(read_from(server_.get(), 100), "question");
  ASSERT_TRUE(sys::write_all(server_.get(), "answer"));
  server_.reset();
  EXPECT_EQ(read_from(host_.get(), 100), "answer");
  thread_.join();
  EXPECT_TRUE(ended_) << ended_.error().message;
}

TEST_F(DialTest, WhereNobodyListensItEnds) {
  listener_.reset();
  dial(port_);
  EXPECT_EQ(read_from(host_.get(), 1), "");
  thread_.join();
  EXPECT_FALSE(ended_);
}

TEST_F(DialTest, WhoSaysNothingIsWaitedForAndMayGo) {
  host_.reset();
  thread_.join();
  EXPECT_TRUE(ended_);
}

TEST_F(DialTest, AHostThatHasGoneCutsOffWhoeverSpeaksToIt) {
  connect();
  host_.reset();
  thread_.join();
  EXPECT_EQ(read_from(server_.get(), 1), "");
}

TEST_F(DialTest, WhatNobodyReadsWaitsAtItsSender) {
  connect();
  EXPECT_LT(flood(server_.get()), kMuch);
  EXPECT_LT(flood(host_.get()), kMuch);
}

TEST(Dial, APortIsSaidInTwoBytes) {
  for (const int port : {1, 255, 256, 8080, 65535}) {
    EXPECT_EQ(wire::decode_dial(wire::encode_dial(static_cast<std::uint16_t>(port))), port);
  }
}

}  // namespace
}  // namespace hutch::guest
