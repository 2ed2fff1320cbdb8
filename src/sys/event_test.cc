// What wakes a thread that polls.
#include "sys/event.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace hutch::sys {
namespace {

bool is_readable(const Event& event) {
  pollfd wait{event.fd(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

TEST(Event, IsReadableFromASignalToAClear) {
  const auto event = Event::make();
  ASSERT_TRUE(event);
  EXPECT_FALSE(is_readable(*event));
  event->clear();
  for (int i = 0; i < 3; ++i) event->signal();
  EXPECT_TRUE(is_readable(*event));
  event->clear();
  EXPECT_FALSE(is_readable(*event)) << "one clear takes all signals";
}

}  // namespace
}  // namespace hutch::sys
