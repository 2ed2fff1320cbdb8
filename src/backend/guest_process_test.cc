// The steps that all backends share to start a guest.
#include "backend/guest_process.h"

#include <gtest/gtest.h>

#include "sys/channel.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"

namespace hutch::backend {
namespace {

TEST(GuestProcess, MessagesThatComeTogetherAreTakenOneAfterTheOther) {
  auto [host_end, guest_end] = sys::socket_pair().value();
  const std::string both = wire::encode(wire::ToHost(wire::Spawned{7})) + wire::encode(wire::ToHost(wire::Ready{}));
  ASSERT_TRUE(sys::write_all(guest_end.get(), both));
  wire::Connection guest(std::move(host_end));
  const auto first = receive_message(guest);
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::holds_alternative<wire::Spawned>(*first));
  // Nothing more comes: who waits for it here waits until the time is over.
  const auto second = receive_message(guest);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(std::holds_alternative<wire::Ready>(*second));
}

}  // namespace
}  // namespace hutch::backend
