// The first bytes for a machine.
#include "wire/machine_start.h"

#include <gtest/gtest.h>

namespace hutch::wire {
namespace {

TEST(MachineStart, ComesAcross) {
  const MachineStart start{1'795'622'400'123'456'789, std::string(kEntropyBytes, '\xfe'), true, false};
  const std::string bytes = encode_machine_start(start);
  ASSERT_EQ(bytes.size(), kMachineStartBytes);
  const auto decoded = decode_machine_start(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->clock_ns, start.clock_ns);
  EXPECT_EQ(decoded->entropy, start.entropy);
  EXPECT_TRUE(decoded->network);
  EXPECT_FALSE(decoded->directories);
  EXPECT_FALSE(decoded->again);
  EXPECT_TRUE(decode_machine_start(encode_machine_start({1, start.entropy, false, false, true}))->again);
  const auto other = decode_machine_start(encode_machine_start({1, start.entropy, false, true}));
  EXPECT_FALSE(other->network);
  EXPECT_TRUE(other->directories);
}

TEST(MachineStart, NothingElseIsTaken) {
  const std::string bytes = encode_machine_start({1, std::string(kEntropyBytes, 'x'), false, false});
  EXPECT_FALSE(decode_machine_start(""));
  EXPECT_FALSE(decode_machine_start(bytes.substr(1)));
  EXPECT_FALSE(decode_machine_start(bytes + "x"));
  EXPECT_FALSE(decode_machine_start("X" + bytes.substr(1)));
}

}  // namespace
}  // namespace hutch::wire
