// The tests of what crosses that boundary.
#include "wire/channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "wire/message.h"

namespace hutch::wire {
namespace {

std::vector<ChannelMessage> all_of(ChannelReader& reader) {
  std::vector<ChannelMessage> found;
  for (;;) {
    auto next = reader.next();
    EXPECT_TRUE(next) << next.error().message;
    if (!next || !*next) return found;
    found.push_back(std::move(**next));
  }
}

const std::vector<ChannelMessage> kEach = {ChannelOpened{7, 2, ChannelKind::kTerminal},
                                           ChannelData{7, std::string("a\0b", 3)},
                                           ChannelData{8, ""},
                                           ChannelCredit{7, 1234},
                                           ChannelEnd{7},
                                           ChannelStop{0xffffffff},
                                           ChannelResized{7, 24, 80},
                                           ChannelClock{-1},
                                           ChannelClockHeard{}};

TEST(Channels, EachMessageComesAsItWasSent) {
  ChannelReader reader;
  for (const ChannelMessage& message : kEach) reader.add(encode(message));
  const auto found = all_of(reader);
  ASSERT_EQ(found.size(), kEach.size());
  for (std::size_t i = 0; i < kEach.size(); ++i) EXPECT_EQ(encode(found[i]), encode(kEach[i])) << i;
}

TEST(Channels, MessagesComeInWhateverPieces) {
  std::string bytes;
  for (const ChannelMessage& message : kEach) bytes += encode(message);
  ChannelReader reader;
  std::size_t found = 0;
  for (const char byte : bytes) {
    reader.add(std::string_view(&byte, 1));
    found += all_of(reader).size();
  }
  EXPECT_EQ(found, kEach.size());
}

TEST(Channels, WhatBreaksARuleIsRefused) {
  const std::string too_long = encode(ChannelMessage(ChannelData{2, std::string(kChannelFrameMax, 'x')}));
  std::string unknown_kind = encode(ChannelMessage(ChannelOpened{1, 2, ChannelKind::kTerminal}));
  unknown_kind.back() = 5;
  std::string unknown_type = encode(ChannelMessage(ChannelEnd{1}));
  unknown_type[4] = 8;
  std::string rest = encode(ChannelMessage(ChannelEnd{1})) + "x";
  rest[0] = 5;
  for (const std::string& bytes : {too_long, unknown_kind, unknown_type, rest}) {
    ChannelReader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next());
  }
}

}  // namespace
}  // namespace hutch::wire
