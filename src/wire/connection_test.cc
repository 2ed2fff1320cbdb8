// Frames and descriptors over a real socket pair.
#include "wire/connection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/channel.h"
#include "sys/io.h"

namespace hutch::wire {
namespace {

struct Ends {
  Connection host;
  Connection guest;
};

Ends connect() {
  auto pair = sys::socket_pair();
  EXPECT_TRUE(pair.has_value());
  return {Connection(std::move(pair->first)), Connection(std::move(pair->second))};
}

TEST(Connection, FramesArriveInOrder) {
  Ends ends = connect();
  ASSERT_TRUE(ends.host.send(ToGuest(Signal{1, SignalTarget::kCommand})).has_value());
  ASSERT_TRUE(ends.host.send(ToGuest(Signal{2, SignalTarget::kCommand})).has_value());
  for (const int wanted : {1, 2}) {
    const auto frame = ends.guest.receive();
    ASSERT_TRUE(frame.has_value() && frame->has_value());
    const auto message = decode_to_guest((*frame)->header, (*frame)->body);
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(std::get<Signal>(*message).number, wanted);
  }
}

TEST(Connection, DescriptorsAreThereWhenTheirMessageIs) {
  Ends ends = connect();
  auto pipe = sys::pipe();
  ASSERT_TRUE(pipe.has_value());
  ASSERT_TRUE(ends.host.send(ToGuest(Signal{1, SignalTarget::kCommand})).has_value());
  const int sent = pipe->write.get();
  Exec exec;
  exec.arguments = {"x"};
  ASSERT_TRUE(ends.host.send(ToGuest(exec), {&sent, 1}).has_value());
  ASSERT_TRUE(ends.guest.receive().has_value());
  ASSERT_TRUE(ends.guest.receive().has_value());
  const auto came = ends.guest.take_descriptors();
  ASSERT_EQ(came.size(), 1U);
  ASSERT_TRUE(sys::write_all(came[0].get(), "through").has_value());
  char text[8] = {};
  EXPECT_EQ(*sys::read_some(pipe->read.get(), text), 7U);
}

TEST(Connection, TheEndIsNoError) {
  Ends ends = connect();
  ends.host = Connection(UniqueFd());
  const auto frame = ends.guest.receive();
  ASSERT_TRUE(frame.has_value());
  EXPECT_FALSE(frame->has_value());
}

TEST(Connection, AFrameOfTooManyBytesIsAnError) {
  Ends ends = connect();
  ASSERT_TRUE(sys::write_all(ends.host.fd(), std::string(8, '\xff')).has_value());
  EXPECT_FALSE(ends.guest.receive().has_value());
}

TEST(Connection, ABigFrameArrivesWhole) {
  Ends ends = connect();
  Exec exec;
  exec.arguments = std::vector<std::string>(200, std::string(1000, 'x'));
  const std::string bytes = encode(ToGuest(exec));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool sent = ends.host.send(ToGuest(exec)).has_value();
    ::_exit(sent ? 0 : 1);
  }
  const auto frame = ends.guest.receive();
  ASSERT_TRUE(frame.has_value() && frame->has_value());
  EXPECT_EQ((*frame)->body.size() + kFrameHeaderBytes, bytes.size());
}

}  // namespace
}  // namespace hutch::wire
