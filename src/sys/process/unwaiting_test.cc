// Writes to ends that nobody reads.
#include "sys/process/unwaiting.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "sys/io.h"
#include "sys/process/signals.h"

namespace hutch::sys {
namespace {

bool waits(int fd) { return (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }

// How much was written until there was no room.
std::size_t fill(const UnwaitingWriter& writer) {
  const std::string bytes(3000, 'x');
  std::size_t all = 0;
  for (;;) {
    const auto count = writer.write(bytes);
    if (!count) {
      EXPECT_EQ(count.error().sys_errno, EAGAIN);
      return all;
    }
    all += *count;
  }
}

TEST(UnwaitingWriter, LeavesAPipesOwnEndAsItWas) {
  const auto ends = pipe();
  ASSERT_TRUE(ends);
  const UnwaitingWriter writer(ends->write.get());
  EXPECT_EQ(fill(writer), bytes_waiting(ends->read.get()));
  EXPECT_TRUE(waits(ends->write.get()));
}

TEST(UnwaitingWriter, WaitsForNoReaderOfASocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd other(ends[1]);
  EXPECT_GT(fill(UnwaitingWriter(one.get())), 0U);
  EXPECT_TRUE(waits(one.get()));
}

TEST(WriteUntilTold, EndsWithASignalThatWaits) {
  const auto ends = pipe();
  ASSERT_TRUE(ends);
  (void)fill(UnwaitingWriter(ends->write.get()));
  const auto signals = signal_descriptor({SIGTERM});
  ASSERT_TRUE(signals);
  keep_told(SIGTERM);
  EXPECT_TRUE(is_told_to_end());
  const Status written = write_until_told(ends->write.get(), std::string(8192, 'l'));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().sys_errno, EINTR);
  EXPECT_TRUE(next_signal(signals->get()).value_or(std::nullopt));
  EXPECT_FALSE(is_told_to_end());
}

}  // namespace
}  // namespace hutch::sys
