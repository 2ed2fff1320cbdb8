// Where the key of sealed files is kept, with a keyring that is a map.
#include "secret/sealed_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/directory_testing.h"
#include "secret/sealed_file.h"

namespace hutch::secret {
namespace {

using ::testing::HasSubstr;

struct Kept {
  std::map<std::string, std::string> texts;
  std::optional<Error> failure;
  bool loses = false;
  int asked = 0;
};

class FakeKeyring final : public Keyring {
 public:
  explicit FakeKeyring(Kept& kept) : kept_(kept) {}
  Result<std::optional<std::string>> find(const std::string& store) override {
    ++kept_.asked;
    if (kept_.failure) return fail(*kept_.failure);
    const auto found = kept_.texts.find(store);
    return found != kept_.texts.end() ? std::optional(found->second) : std::nullopt;
  }
  Status keep(const std::string& store, const std::string& text) override {
    if (kept_.failure) return fail(*kept_.failure);
    if (!kept_.loses) kept_.texts[store] = text;
    return {};
  }
  Status remove(const std::string& store) override {
    if (kept_.failure) return fail(*kept_.failure);
    kept_.texts.erase(store);
    return {};
  }

 private:
  Kept& kept_;
};

class SealedKeyTest : public ::testing::Test {
 protected:
  SealedKey open() { return SealedKey(directory_.path(), std::make_unique<FakeKeyring>(kept_)); }
  bool has_file() const { return std::filesystem::exists(directory_.path() + "/key"); }
  static std::string loaded(SealedKey& key) {
    const auto found = key.load();
    EXPECT_TRUE(found) << found.error().message;
    return std::string(found.value_or(""));
  }

  TestDirectory directory_{"sealed-key"};
  Kept kept_;
};

TEST(KeyTextTest, IsReadBackAndNothingElseIs) {
  std::string key(kKeyBytes, '\0');
  for (std::size_t at = 0; at < key.size(); ++at) key[at] = static_cast<char>(at * 9);
  const std::string text = text_of_key(key);
  EXPECT_EQ(text.size(), 2 * kKeyBytes);
  EXPECT_EQ(key_of_text(text).value_or(""), key);
  for (const std::string& wrong : {std::string(), text + "\n", text + "00", text.substr(2), "x" + text.substr(1)}) {
    EXPECT_FALSE(key_of_text(wrong)) << wrong;
  }
}

TEST_F(SealedKeyTest, IsInAFileUntilItIsMoved) {
  SealedKey key = open();
  const std::string first = loaded(key);
  EXPECT_EQ(first.size(), kKeyBytes);
  EXPECT_EQ(key.place().value(), KeyPlace::kFile);
  EXPECT_TRUE(has_file());
  EXPECT_EQ(kept_.asked, 0);
}

TEST_F(SealedKeyTest, GoesThereAndBackAndIsTheSame) {
  SealedKey key = open();
  const std::string first = loaded(key);
  ASSERT_TRUE(key.move_to(KeyPlace::kSecretService));
  EXPECT_FALSE(has_file());
  EXPECT_EQ(kept_.texts.size(), 1U);
  SealedKey later = open();
  EXPECT_EQ(later.place().value(), KeyPlace::kSecretService);
  EXPECT_EQ(loaded(later), first);
  ASSERT_TRUE(later.move_to(KeyPlace::kSecretService)) << "again is fine";
  ASSERT_TRUE(later.move_to(KeyPlace::kFile));
  EXPECT_TRUE(has_file() && kept_.texts.empty());
  SealedKey last = open();
  EXPECT_EQ(loaded(last), first);
}

TEST_F(SealedKeyTest, StaysInItsFileWhereTheKeyringFailsOrLosesIt) {
  SealedKey key = open();
  (void)loaded(key);
  kept_.failure = Error{Code::kTimeout, 0, "locked"};
  EXPECT_FALSE(key.move_to(KeyPlace::kSecretService));
  kept_.failure.reset();
  kept_.loses = true;
  EXPECT_FALSE(key.move_to(KeyPlace::kSecretService));
  EXPECT_TRUE(has_file());
  EXPECT_EQ(key.place().value(), KeyPlace::kFile);
}

TEST_F(SealedKeyTest, IsNeverMadeAnewWhereTheKeyringHasIt) {
  {
    SealedKey key = open();
    (void)loaded(key);
    ASSERT_TRUE(key.move_to(KeyPlace::kSecretService));
  }
  kept_.failure = Error{Code::kTimeout, 0, "locked"};
  SealedKey key = open();
  const auto locked = key.load();
  ASSERT_FALSE(locked);
  EXPECT_THAT(locked.error().message, HasSubstr("locked"));
  const int asked = kept_.asked;
  EXPECT_FALSE(key.load());
  EXPECT_EQ(kept_.asked, asked) << "not with each use";
  EXPECT_FALSE(key.move_to(KeyPlace::kFile));
  kept_.failure.reset();
  kept_.texts.clear();
  SealedKey later = open();
  const auto gone = later.load();
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("any more"));
  EXPECT_FALSE(has_file());
}

// Killed in the middle: both have it, and the keyring is asked.
TEST_F(SealedKeyTest, AFileThatAMoveHasLeftGoes) {
  SealedKey key = open();
  const std::string first = loaded(key);
  ASSERT_TRUE(key.move_to(KeyPlace::kSecretService));
  std::ofstream(directory_.path() + "/key") << first;
  SealedKey later = open();
  EXPECT_EQ(loaded(later), first);
  EXPECT_FALSE(has_file());
}

TEST(KeyPlaceTest, ItsNamesAreReadBack) {
  EXPECT_EQ(parse_key_place("file").value(), KeyPlace::kFile);
  EXPECT_EQ(parse_key_place("secret-service").value(), KeyPlace::kSecretService);
  EXPECT_FALSE(parse_key_place("elsewhere"));
}

}  // namespace
}  // namespace hutch::secret
