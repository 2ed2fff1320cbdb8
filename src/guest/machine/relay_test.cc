// The tests of streams and descriptors that cross a boundary of bytes.
#include "guest/machine/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "guest/must_testing.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/terminal.h"

namespace hutch::guest {
namespace {

// What comes until `size` bytes are there, or the end.
std::string read_bytes(int fd, std::size_t size) {
  std::string all;
  while (all.size() < size) {
    std::string bytes(size - all.size(), '\0');
    const auto count = sys::read_some(fd, bytes);
    if (!count || *count == 0) break;
    all.append(bytes, 0, *count);
  }
  return all;
}

// Gives the other threads a moment.
void rest() { (void)sys::pause_briefly(); }

// Both sides, each on a thread of its own, with one guest that the test plays itself.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    // As the programs have it, which block every signal.
    ::signal(SIGPIPE, SIG_IGN);
    auto [host_end, machine_end] = must(sys::socket_pair());
    auto [host, hosts] = must(sys::socket_pair());
    auto [guest, guests] = must(sys::socket_pair());
    host_ = std::move(host);
    guest_ = std::move(guest);
    machine_.emplace([this, stream = std::move(machine_end), started = std::move(guests)]() mutable {
      Relay relay({.side = Relay::Side::kMachine, .stream = std::move(stream), .start_guest = [&] {
                     return Result<UniqueFd>(std::move(started));
                   }});
      machine_ended_ = relay.run();
    });
    relay_.emplace([this, stream = std::move(host_end), guest_stream = std::move(hosts)]() mutable {
      Relay relay({.side = Relay::Side::kHost, .stream = std::move(stream)});
      ASSERT_TRUE(relay.add_guest(std::move(guest_stream)));
      host_ended_ = relay.run();
    });
  }

  ~RelayTest() override {
    host_.reset();
    relay_->join();
    machine_->join();
    EXPECT_TRUE(host_ended_) << host_ended_.error().message;
    EXPECT_TRUE(machine_ended_) << machine_ended_.error().message;
  }

  // Sends a byte with the descriptor, and gives what comes out at the other side.
  static UniqueFd pass(int from, int to, UniqueFd fd) {
    const int number = fd.get();
    EXPECT_TRUE(sys::send_all(from, "x", {&number, 1}));
    char byte = 0;
    auto received = must(sys::receive_some(to, {&byte, 1}));
    EXPECT_EQ(received.descriptors.size(), 1U);
    return received.descriptors.empty() ? UniqueFd() : std::move(received.descriptors.front());
  }

  UniqueFd host_;   // hutch's end of the guest's stream
  UniqueFd guest_;  // the guest's own
  std::optional<std::thread> machine_;
  std::optional<std::thread> relay_;
  Status machine_ended_;
  Status host_ended_;
};

TEST_F(RelayTest, BytesGoBothWays) {
  ASSERT_TRUE(sys::send_all(host_.get(), "plan", {}));
  EXPECT_EQ(read_bytes(guest_.get(), 4), "plan");
  ASSERT_TRUE(sys::send_all(guest_.get(), "ready", {}));
  EXPECT_EQ(read_bytes(host_.get(), 5), "ready");
}

TEST_F(RelayTest, APipeToReadGivesItsBytesAndItsEnd) {
  sys::Pipe pipe = must(sys::pipe());
  const UniqueFd inside = pass(host_.get(), guest_.get(), std::move(pipe.read));
  ASSERT_TRUE(sys::write_all(pipe.write.get(), "input"));
  pipe.write.reset();
  EXPECT_EQ(read_bytes(inside.get(), 100), "input");
}

TEST_F(RelayTest, APipeToWriteGivesItsBytesAndItsEnd) {
  sys::Pipe pipe = must(sys::pipe());
  UniqueFd inside = pass(host_.get(), guest_.get(), std::move(pipe.write));
  std::thread writer([&] {
    EXPECT_TRUE(sys::write_all(inside.get(), std::string(3 << 20, 'o')));
    inside.reset();
  });
  EXPECT_EQ(read_bytes(pipe.read.get(), 4 << 20).size(), 3U << 20);
  writer.join();
}

TEST_F(RelayTest, WhoeverDoesNotReadStopsNobodyElse) {
  sys::Pipe stalled = must(sys::pipe());
  sys::Pipe other = must(sys::pipe());
  const UniqueFd stuck = pass(host_.get(), guest_.get(), std::move(stalled.write));
  const UniqueFd free = pass(host_.get(), guest_.get(), std::move(other.write));
  ASSERT_TRUE(sys::set_nonblocking(stuck.get()));
  // All that its credit and the pipes take.
  const std::string much(1 << 16, 's');
  std::size_t taken = 0;
  for (int quiet = 0; quiet < 100;) {
    const auto count = sys::write_some(stuck.get(), much);
    if (count) taken += *count;
    if (count) continue;
    ++quiet;
    rest();
  }
  EXPECT_LT(taken, 2U << 20);
  ASSERT_TRUE(sys::write_all(free.get(), "through"));
  EXPECT_EQ(read_bytes(other.read.get(), 7), "through");
  EXPECT_EQ(read_bytes(stalled.read.get(), taken).size(), taken);
}

// The host ends the machine by what the guest says of the command's end.
TEST_F(RelayTest, WhatAGuestSaysComesBehindWhatWasPrintedBefore) {
  sys::Pipe pipe = must(sys::pipe());
  UniqueFd inside = pass(host_.get(), guest_.get(), std::move(pipe.write));
  const std::string much((1 << 20) + 12345, 'o');
  std::thread writer([&] {
    EXPECT_TRUE(sys::write_all(inside.get(), much));
    inside.reset();
    EXPECT_TRUE(sys::send_all(guest_.get(), "ended", {}));
  });
  // A slow reader; what is said is there only when all is in the reader's pipe.
  std::size_t read = 0;
  std::string bytes(20'000, '\0');
  pollfd said{host_.get(), POLLIN, 0};
  while (read < much.size() - (64 << 10)) {
    EXPECT_EQ(must(sys::poll({&said, 1}, std::chrono::milliseconds(0))), 0) << read;
    rest();
    read += must(sys::read_some(pipe.read.get(), bytes));
  }
  EXPECT_EQ(read_bytes(host_.get(), 5), "ended");
  sys::set_nonblocking(pipe.read.get()).value();
  for (auto more = sys::read_some(pipe.read.get(), bytes); more && *more > 0;) {
    read += *more;
    more = sys::read_some(pipe.read.get(), bytes);
  }
  EXPECT_EQ(read, much.size());
  writer.join();
}

TEST_F(RelayTest, AReaderThatLeavesHoldsNothingUp) {
  sys::Pipe pipe = must(sys::pipe());
  UniqueFd inside = pass(host_.get(), guest_.get(), std::move(pipe.write));
  std::thread writer([&] {
    const std::string much(1 << 20, 'o');
    for (std::size_t at = 0; at < much.size();) {
      const auto count = sys::write_some(inside.get(), std::string_view(much).substr(at));
      if (!count) break;
      at += *count;
    }
    EXPECT_TRUE(sys::send_all(guest_.get(), "ended", {}));
  });
  for (int i = 0; i < 100; ++i) rest();
  pipe.read.reset();
  EXPECT_EQ(read_bytes(host_.get(), 5), "ended");
  writer.join();
}

TEST_F(RelayTest, TheEndOfAReaderIsToldToTheWriter) {
  sys::Pipe pipe = must(sys::pipe());
  const UniqueFd inside = pass(host_.get(), guest_.get(), std::move(pipe.write));
  pipe.read.reset();
  ASSERT_TRUE(sys::set_nonblocking(inside.get()));
  Result<std::size_t> count = 0;
  for (int tries = 0; tries < 1000 && (count || count.error().sys_errno == EAGAIN); ++tries) {
    rest();
    count = sys::write_some(inside.get(), "x");
  }
  EXPECT_FALSE(count);
  EXPECT_EQ(count.error().sys_errno, EPIPE);
}

TEST_F(RelayTest, ASocketOfTheMachinesGoesBothWaysAndEndsByHalves) {
  auto [mine, given] = must(sys::socket_pair());
  const UniqueFd outside = pass(guest_.get(), host_.get(), std::move(given));
  ASSERT_TRUE(sys::send_all(outside.get(), "request", {}));
  ::shutdown(outside.get(), SHUT_WR);
  EXPECT_EQ(read_bytes(mine.get(), 100), "request");
  ASSERT_TRUE(sys::send_all(mine.get(), "reply", {}));
  mine.reset();
  EXPECT_EQ(read_bytes(outside.get(), 100), "reply");
}

TEST_F(RelayTest, ATerminalHasItsBytesItsSizeAndItsEnd) {
  sys::TerminalPair pair = must(sys::open_terminal("/dev/ptmx"));
  ASSERT_TRUE(sys::make_raw(pair.terminal.get()));
  const UniqueFd outside = pass(guest_.get(), host_.get(), std::move(pair.master));
  ASSERT_TRUE(sys::write_all(outside.get(), "typed\n"));
  EXPECT_EQ(read_bytes(pair.terminal.get(), 6), "typed\n");
  ASSERT_TRUE(sys::set_terminal_size(outside.get(), {33, 99}));
  sys::TerminalSize size;
  for (int tries = 0; tries < 5000 && size.rows != 33; ++tries) {
    rest();
    size = must(sys::terminal_size(pair.terminal.get()));
  }
  EXPECT_EQ(size.columns, 99);
  ASSERT_TRUE(sys::write_all(pair.terminal.get(), "shown"));
  EXPECT_EQ(read_bytes(outside.get(), 5), "shown");
  pair.terminal.reset();
  EXPECT_EQ(read_bytes(outside.get(), 1), "");
}

// What a machine that lies may say.
class HostRelay : public testing::Test {
 protected:
  std::string told(const std::vector<wire::ChannelMessage>& messages) {
    auto [host_end, machine_end] = must(sys::socket_pair());
    auto [host, hosts] = must(sys::socket_pair());
    ::signal(SIGPIPE, SIG_IGN);
    // It says so whether it is heard or not.
    std::thread machine([&messages, end = std::move(machine_end)] {
      for (const wire::ChannelMessage& message : messages) {
        if (!sys::send_all(end.get(), wire::encode(message), {})) break;
      }
      ::shutdown(end.get(), SHUT_WR);
    });
    Status ended;
    {
      Relay relay({.side = Relay::Side::kHost, .stream = std::move(host_end)});
      EXPECT_TRUE(relay.add_guest(std::move(hosts)));
      ended = relay.run();
    }
    machine.join();
    return ended ? "" : ended.error().message;
  }
};

TEST_F(HostRelay, EndsAMachineThatBreaksARule) {
  using wire::ChannelKind;
  const wire::ChannelOpened socket{1, 2, ChannelKind::kSocket};
  EXPECT_THAT(told({wire::ChannelOpened{4, 2, ChannelKind::kSocket}}), testing::HasSubstr("not its own"));
  EXPECT_THAT(told({socket, socket}), testing::HasSubstr("not its own"));
  EXPECT_THAT(told({wire::ChannelOpened{0, 2, ChannelKind::kSocket}}), testing::HasSubstr("not its own"));
  EXPECT_THAT(told({wire::ChannelOpened{1, 0, ChannelKind::kGuest}}), testing::HasSubstr("starts a guest"));
  EXPECT_THAT(told({wire::ChannelOpened{1, 2, ChannelKind::kSink}}), testing::HasSubstr("a pipe"));
  EXPECT_THAT(told({socket, wire::ChannelOpened{3, 1, ChannelKind::kSocket}}), testing::HasSubstr("no message"));
  EXPECT_THAT(told({wire::ChannelCredit{2, 0xffffffff}}), testing::HasSubstr("too much credit"));
  EXPECT_THAT(told({socket, wire::ChannelEnd{1}, wire::ChannelData{1, "x"}}), testing::HasSubstr("has ended"));
  EXPECT_THAT(told({wire::ChannelClock{1}}), testing::HasSubstr("the wrong side"));
  EXPECT_THAT(told({wire::ChannelClockHeard{}, wire::ChannelClockHeard{}}), testing::HasSubstr("not told"));
  std::vector<wire::ChannelMessage> flood{socket};
  // More than the socket takes, of which nobody reads.
  for (std::size_t sent = 0; sent <= 8 * wire::kChannelWindow; sent += wire::kChannelDataMax) {
    flood.emplace_back(wire::ChannelData{1, std::string(wire::kChannelDataMax, 'f')});
  }
  EXPECT_THAT(told(flood), testing::HasSubstr("credit"));
  std::vector<wire::ChannelMessage> crowd;
  for (std::uint32_t number = 1; number < 1000; number += 2) {
    crowd.emplace_back(wire::ChannelOpened{number, 2, ChannelKind::kSocket});
  }
  EXPECT_THAT(told(crowd), testing::HasSubstr("no message"));
}

TEST(MachineRelay, HearsWhatTimeItIs) {
  auto [host_end, machine_end] = must(sys::socket_pair());
  std::vector<std::int64_t> heard;
  Status ended;
  std::thread machine([&, end = std::move(machine_end)]() mutable {
    Relay relay({.side = Relay::Side::kMachine, .stream = std::move(end), .hear_clock = [&](std::int64_t clock) {
                   heard.push_back(clock);
                   return Status();
                 }});
    ended = relay.run();
  });
  ASSERT_TRUE(
      sys::send_all(host_end.get(), wire::encode(wire::ChannelClock{-5}) + wire::encode(wire::ChannelClock{7}), {}));
  const std::string answer = wire::encode(wire::ChannelClockHeard{});
  std::string said;
  while (said.size() < 2 * answer.size()) {
    std::string more(100, '\0');
    more.resize(must(sys::read_some(host_end.get(), more)));
    ASSERT_FALSE(more.empty());
    said += more;
  }
  EXPECT_EQ(said, answer + answer);
  host_end.reset();
  machine.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(heard, (std::vector<std::int64_t>{-5, 7}));
}

TEST_F(HostRelay, AnswersWhatIsRepeatedOnce) {
  auto [host_end, machine_end] = must(sys::socket_pair());
  auto [host, hosts] = must(sys::socket_pair());
  std::string flood = wire::encode(wire::ChannelOpened{1, 2, wire::ChannelKind::kSocket});
  for (int i = 0; i < 1000; ++i) flood += wire::encode(wire::ChannelStop{1});
  ASSERT_TRUE(sys::send_all(machine_end.get(), flood, {}));
  ASSERT_EQ(::shutdown(machine_end.get(), SHUT_WR), 0);
  {
    Relay relay({.side = Relay::Side::kHost, .stream = std::move(host_end)});
    ASSERT_TRUE(relay.add_guest(std::move(hosts)));
    ASSERT_TRUE(relay.run());
  }
  wire::ChannelReader reader;
  reader.add(read_bytes(machine_end.get(), 1 << 20));
  std::size_t ends = 0;
  while (const auto message = must(reader.next())) ends += std::holds_alternative<wire::ChannelEnd>(*message) ? 1 : 0;
  EXPECT_LE(ends, 1U);
}

// A machine that opens and ends, and never reads what it is answered.
class DeafMachine {
 public:
  explicit DeafMachine(UniqueFd stream) : stream_(std::move(stream)) {}

  // Until so much was taken of it, or nothing more for some seconds: the relay may have to wait for a processor.
  std::size_t flood(std::size_t bytes_max) {
    constexpr int kQuietMax = 3000;  // milliseconds
    std::size_t taken = 0;
    for (int quiet = 0; quiet < kQuietMax && taken < bytes_max;) {
      while (waiting_.size() < 1 << 16) add();
      const auto count = sys::write_some(stream_.get(), waiting_);
      if (!count) rest();
      quiet = count ? 0 : quiet + 1;
      taken += count.value_or(0);
      waiting_.erase(0, count.value_or(0));
    }
    return taken;
  }
  void leave() { stream_.reset(); }

 private:
  void add() {
    waiting_ += wire::encode(wire::ChannelOpened{number_, 2, wire::ChannelKind::kSocket});
    waiting_ += wire::encode(wire::ChannelStop{number_});
    waiting_ += wire::encode(wire::ChannelEnd{number_});
    // The descriptor leaves with it.
    waiting_ += wire::encode(wire::ChannelData{2, "x"});
    // So that no more of them are there at once than a machine may have.
    const std::string about_none = wire::encode(wire::ChannelStop{number_});
    for (std::size_t filled = 0; filled < 400; filled += about_none.size()) waiting_ += about_none;
    number_ += 2;
  }

  UniqueFd stream_;
  std::string waiting_;
  std::uint32_t number_ = 1;
};

TEST_F(HostRelay, DoesNotHearAMachineThatDoesNotRead) {
  ::signal(SIGPIPE, SIG_IGN);
  auto [host_end, machine_end] = must(sys::socket_pair());
  auto [host, hosts] = must(sys::socket_pair());
  ASSERT_TRUE(sys::set_nonblocking(machine_end.get()));
  Status ended;
  std::thread relay([&ended, stream = std::move(host_end), guest = std::move(hosts)]() mutable {
    Relay one({.side = Relay::Side::kHost, .stream = std::move(stream)});
    ASSERT_TRUE(one.add_guest(std::move(guest)));
    ended = one.run();
  });
  std::thread user([&host] {
    std::string bytes(1000, '\0');
    for (auto received = sys::receive_some(host.get(), bytes); received && received->size > 0;) {
      received = sys::receive_some(host.get(), bytes);
    }
  });
  {
    DeafMachine machine(std::move(machine_end));
    const std::size_t taken = machine.flood(256 << 20);
    EXPECT_GT(taken, 1U << 20) << "it was ended for something else";
    EXPECT_LT(taken, 256U << 20);
  }
  relay.join();
  user.join();
  EXPECT_TRUE(ended) << ended.error().message;
}

TEST_F(HostRelay, DoesNotHearAMachineWhoseDescriptorsNobodyTakes) {
  ::signal(SIGPIPE, SIG_IGN);
  auto [host_end, machine_end] = must(sys::socket_pair());
  auto [host, hosts] = must(sys::socket_pair());
  ASSERT_TRUE(sys::set_nonblocking(machine_end.get()));
  Status ended;
  std::thread relay([&ended, stream = std::move(host_end), guest = std::move(hosts)]() mutable {
    Relay one({.side = Relay::Side::kHost, .stream = std::move(stream)});
    ASSERT_TRUE(one.add_guest(std::move(guest)));
    ended = one.run();
  });
  {
    DeafMachine machine(std::move(machine_end));
    EXPECT_LT(machine.flood(16 << 20), 2U << 20) << "each 440 bytes of it are a descriptor";
    std::thread user([&host] {
      std::string bytes(1000, '\0');
      for (auto received = sys::receive_some(host.get(), bytes); received && received->size > 0;) {
        received = sys::receive_some(host.get(), bytes);
      }
    });
    EXPECT_GE(machine.flood(4 << 20), 4U << 20) << "it is never heard again";
    machine.leave();
    user.join();
  }
  relay.join();
  EXPECT_TRUE(ended) << ended.error().message;
}

TEST(RelayChannelTest, SmallPiecesAreJoined) {
  auto [served, user] = must(sys::socket_pair());
  RelayChannel channel =
      must(RelayChannel::make(1, wire::ChannelKind::kSocket, RelayChannel::Opened::kThere, std::move(served)));
  std::uint64_t order = 0;
  std::string all;
  for (std::size_t i = 0; i < wire::kChannelWindow; ++i) {
    all += static_cast<char>('a' + i % 26);
    ++order;
    // A guest has said something between each two.
    ASSERT_TRUE(channel.put({std::string(1, all.back()), {}, order, order - 1}));
  }
  EXPECT_FALSE(channel.put({"x", {}, ++order, 0})) << "beyond its credit";
  EXPECT_LE(channel.pieces(), 256U);
  std::string read;
  for (int turns = 0; read.size() < all.size() && turns < 10'000; ++turns) {
    (void)channel.write_out(order);
    std::string bytes(1000, '\0');
    const std::size_t size = must(sys::read_some(user.get(), bytes));
    read.append(bytes, 0, size);
  }
  EXPECT_EQ(read, all);
}

TEST_F(HostRelay, PassesOverWhatIsAboutChannelsThatAreGone) {
  EXPECT_EQ(told({wire::ChannelData{9, "x"}, wire::ChannelCredit{9, 1}, wire::ChannelEnd{9}, wire::ChannelStop{9},
                  wire::ChannelResized{9, 1, 1}, wire::ChannelOpened{1, 99, wire::ChannelKind::kSocket}}),
            "");
}

// Whoever has the other end is not asked to close it first.
TEST_F(RelayTest, ASocketWhoseUserHasGoneIsGoneAtTheOtherSideToo) {
  auto [user, machines] = must(sys::socket_pair());
  pass(guest_.get(), host_.get(), std::move(machines)).reset();
  pollfd gone{user.get(), 0, 0};
  ASSERT_TRUE(sys::poll({&gone, 1}, std::chrono::seconds(20)));
  EXPECT_NE(gone.revents & POLLHUP, 0);
}

}  // namespace
}  // namespace hutch::guest
