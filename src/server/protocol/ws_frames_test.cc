// WebSocket frames: what is read, what breaks a rule, what is written.
#include "server/protocol/ws_frames.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::server::ws {
namespace {

// A client's frame; `first` is its first byte.
std::string masked(int first, std::string_view payload) {
  constexpr std::string_view kMask = "\x11\x22\x33\x44";
  std::string text(1, static_cast<char>(first));
  const std::size_t size = payload.size();
  if (size < 126) {
    text += static_cast<char>(0x80 | size);
  } else if (size < 65'536) {
    text += cat({"\xfe", std::string{static_cast<char>(size >> 8), static_cast<char>(size)}});
  } else {
    text += '\xff';
    for (int i = 7; i >= 0; --i) text += static_cast<char>(size >> (8 * i));
  }
  text += kMask;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(payload[i] ^ kMask[i % 4]);
  return text;
}

std::vector<Message> all_of(std::string_view bytes) {
  Reader reader;
  reader.add(bytes);
  std::vector<Message> messages;
  for (;;) {
    auto message = reader.next();
    EXPECT_TRUE(message) << message.error().message;
    if (!message || !*message) return messages;
    messages.push_back(std::move(**message));
  }
}

int violation_of(std::string_view bytes) {
  Reader reader;
  reader.add(bytes);
  for (;;) {
    const auto message = reader.next();
    if (!message) return message.error().code;
    if (!*message) return 0;
  }
}

TEST(WsFrames, MessagesOfEveryLength) {
  for (const std::size_t size : {0UL, 1UL, 125UL, 126UL, 65'535UL, 65'536UL, kMessageBytesMax}) {
    const std::string payload(size, 'x');
    EXPECT_EQ(all_of(masked(0x82, payload)), (std::vector{Message{Kind::kBinary, payload}})) << size;
  }
  EXPECT_EQ(violation_of(masked(0x82, std::string(kMessageBytesMax + 1, 'x'))), kTooBig);
}

TEST(WsFrames, ComesInAnyPieces) {
  const std::string bytes = masked(0x81, "hello") + masked(0x89, "p") + masked(0x82, std::string(300, 'y'));
  Reader reader;
  std::vector<Message> messages;
  for (const char c : bytes) {
    reader.add({&c, 1});
    auto message = reader.next();
    ASSERT_TRUE(message);
    if (*message) messages.push_back(std::move(**message));
  }
  EXPECT_EQ(messages, all_of(bytes));
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1], (Message{Kind::kPing, "p"}));
}

TEST(WsFrames, FragmentsWithControlFramesBetween) {
  const auto messages = all_of(masked(0x01, "he") + masked(0x8a, "") + masked(0x00, "l") + masked(0x80, "lo"));
  EXPECT_EQ(messages, (std::vector{Message{Kind::kPong, ""}, Message{Kind::kText, "hello"}}));
  const auto split_character = all_of(masked(0x01, "\xc3") + masked(0x80, "\xa9"));
  EXPECT_EQ(split_character, (std::vector{Message{Kind::kText, "\xc3\xa9"}}));
}

TEST(WsFrames, Closes) {
  EXPECT_EQ(all_of(masked(0x88, "")), (std::vector{Message{Kind::kClose, "", kNoCode}}));
  EXPECT_EQ(all_of(masked(0x88,
                          "\x03\xe8"
                          "bye")),
            (std::vector{Message{Kind::kClose, "bye", kNormal}}));
  for (const std::string_view wrong : {"\x03", "\x03\xed", "\x03\xee", "\x13\x88", "\x01\x01"}) {
    EXPECT_EQ(violation_of(masked(0x88, wrong)), kProtocolError);
  }
  EXPECT_EQ(violation_of(masked(0x88, "\x03\xe8\xff")), kNotText);
}

TEST(WsFrames, BrokenRules) {
  EXPECT_EQ(violation_of(std::string("\x81\x00", 2)), kProtocolError) << "not masked";
  EXPECT_EQ(violation_of(masked(0xc1, "")), kProtocolError) << "a reserved bit";
  EXPECT_EQ(violation_of(masked(0x83, "")), kProtocolError) << "an unknown kind";
  EXPECT_EQ(violation_of(masked(0x8b, "")), kProtocolError) << "an unknown kind of control";
  EXPECT_EQ(violation_of(masked(0x09, "")), kProtocolError) << "a fragment of a control frame";
  EXPECT_EQ(violation_of(masked(0x89, std::string(126, 'x'))), kProtocolError) << "a long control frame";
  EXPECT_EQ(violation_of(masked(0x80, "")), kProtocolError) << "a continuation of nothing";
  EXPECT_EQ(violation_of(masked(0x01, "a") + masked(0x81, "b")), kProtocolError) << "a message within another";
  EXPECT_EQ(violation_of(std::string("\x82\xfe\x00\x05", 4) + std::string(9, 'x')), kProtocolError) << "a long length";
  EXPECT_EQ(violation_of(std::string("\x82\xff\x80", 3) + std::string(11, '\0')), kTooBig);
  EXPECT_EQ(violation_of(masked(0x81, "\xff")), kNotText);
  EXPECT_EQ(violation_of(masked(0x02, std::string(kMessageBytesMax, 'x')) + masked(0x80, "y")), kTooBig);
  std::string fragments = masked(0x02, "");
  for (std::size_t i = 0; i < kFragmentsMax; ++i) fragments += masked(0x00, "");
  EXPECT_EQ(violation_of(fragments), kTooBig);
}

TEST(WsFrames, WhatIsTooBigIsToldBeforeItCame) {
  Reader reader;
  reader.add(masked(0x82, std::string(kMessageBytesMax + 1, 'x')).substr(0, 14));
  EXPECT_FALSE(reader.next());
}

TEST(WsFrames, Written) {
  EXPECT_EQ(frame(Kind::kText, "hi"), std::string("\x81\x02hi"));
  EXPECT_EQ(frame(Kind::kBinary, std::string(126, 'x')).substr(0, 4), std::string("\x82\x7e\x00\x7e", 4));
  EXPECT_EQ(frame(Kind::kBinary, std::string(65'536, 'x')).substr(0, 10),
            std::string("\x82\x7f\0\0\0\0\0\x01\0\0", 10));
  EXPECT_EQ(close_frame(1000, "ok"), std::string("\x88\x04\x03\xe8ok"));
  const std::string cut = close_frame(1011, std::string(122, 'x') + "\xc3\xa9");
  EXPECT_EQ(cut.size(), 2U + 2U + 122U) << "no half character";
}

}  // namespace
}  // namespace hutch::server::ws
