// SHA-256 by the examples of its standard.
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace hutch {
namespace {

std::string digest(std::string_view text, std::size_t piece) {
  Sha256 sum;
  for (std::size_t at = 0; at < text.size(); at += piece) sum.add(text.substr(at, piece));
  return sum.finish();
}

TEST(Sha256, IsWhatTheStandardSays) {
  EXPECT_EQ(digest("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 7),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  const std::string million(1'000'000, 'a');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, million.size()}) {
    EXPECT_EQ(digest(million, piece), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0") << piece;
  }
}

// RFC 4231, 4.3 and 4.7.
TEST(Sha256, SignsWithAKey) {
  const auto digits = [](const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
      text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
      text += "0123456789abcdef"[static_cast<unsigned char>(c) & 0xf];
    }
    return text;
  };
  EXPECT_EQ(digits(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(digits(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace hutch
