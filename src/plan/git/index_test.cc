// Tests of the reader of git indexes.
#include "plan/git/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hutch::plan {
namespace {

constexpr std::uint32_t kFile = 0100644;

std::string number(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

struct Made {
  std::string name;
  char object = 'o';
  std::uint32_t mode = kFile;
};

// Writes an index as git does.
class Index {
 public:
  explicit Index(std::uint32_t version = 2, std::size_t hash = 20) : version_(version), hash_(hash) {}

  Index& add(const Made& made) {
    offsets_.push_back(12 + entries_.size());
    const std::string name = made.name;
    std::size_t kept = 0;
    while (version_ == 4 && !alone_ && kept < std::min(name.size(), last_.size()) && name[kept] == last_[kept]) ++kept;
    std::string entry = std::string(24, '\0') + number(made.mode) + std::string(12, '\0');
    entry += std::string(hash_, made.object) +
             number(static_cast<std::uint32_t>(std::min<std::size_t>(name.size(), 0xfff)), 2);
    if (version_ == 4) {
      const std::size_t taken = last_.size() - kept;
      if (taken > 127) entry += static_cast<char>(((taken >> 7) - 1) | 128U);
      entry += static_cast<char>(taken & 127U);
      entry += name.substr(kept) + std::string(1, '\0');
    } else {
      entry += name;
      entry.append(8 - entry.size() % 8, '\0');
    }
    entries_ += entry;
    last_ = name;
    ++count_;
    return *this;
  }
  Index& extend(const std::string& kind, const std::string& content) {
    extensions_ += kind + number(static_cast<std::uint32_t>(content.size())) + content;
    return *this;
  }
  Index& alone() {
    alone_ = true;
    return *this;
  }
  std::uint32_t end() const { return static_cast<std::uint32_t>(12 + entries_.size()); }
  std::uint32_t offset(std::size_t i) const { return static_cast<std::uint32_t>(offsets_[i]); }
  std::string text() const {
    return "DIRC" + number(version_) + number(count_) + entries_ + extensions_ + std::string(hash_, 's');
  }

 private:
  std::uint32_t version_;
  std::size_t hash_;
  std::uint32_t count_ = 0;
  bool alone_ = false;
  std::string entries_;
  std::string extensions_;
  std::string last_;
  std::vector<std::size_t> offsets_;
};

bool any(std::string_view /*name*/) { return true; }

Result<GitIndexLook> look(const std::string& text, GitHash hash = GitHash::kSha1) {
  return look_at_git_index(text, hash, any);
}

std::string outside(const std::string& name, std::uint32_t mode = kFile) {
  const auto found = look(Index().add({name, 'o', mode}).text());
  return found ? found->outside : "damaged";
}

TEST(GitIndex, NamesInTheWorkTreeAreHarmless) {
  for (const char* name : {"a", "a/b", ".gitignore", "a/.github/x", "..a", "a..", ".../x", "git/config", ".git2/x"}) {
    EXPECT_EQ(outside(name), "") << name;
  }
  EXPECT_EQ(outside("sparse/", 0040000), "");
}

TEST(GitIndex, NamesElsewhereAreNot) {
  for (const char* name : {"/etc/x", "//etc/x", "../x", "a/../../x", "a/..", ".", "./a", "a/./b", "a//b", "a/", ".git",
                           ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", "a/.gIt/x"}) {
    EXPECT_EQ(outside(name), name);
  }
  EXPECT_EQ(outside("sparse//", 0040000), "sparse//");
}

TEST(GitIndex, EachVersionAndHashIsRead) {
  for (const std::uint32_t version : {2U, 3U, 4U}) {
    for (const std::size_t hash : {std::size_t{20}, std::size_t{32}}) {
      const std::string longer(5000, 'n');
      const std::string text =
          Index(version, hash).add({"a/one"}).add({"a/other"}).add({longer}).add({"z/../../x"}).text();
      const auto found = look(text, static_cast<GitHash>(hash));
      ASSERT_TRUE(found) << version << ' ' << hash << ' ' << found.error().message;
      EXPECT_EQ(found->outside, "z/../../x");
      EXPECT_EQ(found->shared, "");
    }
  }
}

std::vector<std::string> names_of(const std::vector<GitStaged>& staged) {
  std::vector<std::string> names;
  for (const GitStaged& file : staged) names.push_back(file.name);
  return names;
}

TEST(GitIndex, WhatWasNotThereBeforeIsStaged) {
  const std::string before = Index(4).add({"a"}).add({"b"}).add({"c"}).text();
  const std::string now = Index(2).add({"a"}).add({"b", 'p'}).add({"bb"}).add({"c", 'o', 0120000}).text();
  auto found = look(now);
  ASSERT_TRUE(found);
  EXPECT_TRUE(drop_staged_in(before, GitHash::kSha1, found->staged));
  EXPECT_EQ(names_of(found->staged), (std::vector<std::string>{"b", "bb", "c"}));
  EXPECT_FALSE(drop_staged_in("DIRC", GitHash::kSha1, found->staged));
  EXPECT_EQ(found->staged.size(), 3U);
  const auto some = look_at_git_index(now, GitHash::kSha1, [](std::string_view name) { return name == "bb"; });
  ASSERT_TRUE(some);
  EXPECT_EQ(names_of(some->staged), std::vector<std::string>{"bb"});
}

TEST(GitIndex, APartNamesItsWhole) {
  const std::string link = std::string(20, '\xab') + std::string(16, '\0');
  const auto found = look(Index().add({""}).add({"a"}).extend("link", link).text());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shared.size(), 40U);
  EXPECT_TRUE(found->shared.starts_with("abab"));
  EXPECT_FALSE(look(Index().add({""}).add({"a"}).text()));
  EXPECT_FALSE(look(Index().extend("link", link).extend("link", link).text()));
  EXPECT_FALSE(look(Index().extend("link", "short").text()));
}

TEST(GitIndex, OffsetsThatLeadElsewhereAreAnError) {
  for (const std::uint32_t version : {2U, 4U}) {
    Index index(version);
    index.alone().add({"a"}).add({"b"}).add({"c"});
    const auto with = [&](const std::string& table, std::uint32_t end) {
      Index other = index;
      return look(other.extend("IEOT", number(1) + table).extend("EOIE", number(end) + std::string(20, 'h')).text());
    };
    const std::string plain = number(index.offset(0)) + number(2) + number(index.offset(2)) + number(1);
    EXPECT_TRUE(with(plain, index.end()));
    EXPECT_FALSE(with(plain, index.end() + 1));
    EXPECT_FALSE(with(number(index.offset(0)) + number(3) + number(index.offset(2)) + number(1), index.end()));
    EXPECT_FALSE(with(number(index.offset(0)) + number(2) + number(index.offset(2) + 1) + number(1), index.end()));
    EXPECT_FALSE(with(number(index.offset(0)) + number(2), index.end()));
  }
  // A git that looks for this extension at the end of the file finds it inside of another extension.
  const std::string end = "EOIE" + number(24) + number(12) + std::string(20, 'h');
  EXPECT_FALSE(look(Index().add({"a"}).extend("AAAA", "more" + end).text()));
  // A git that starts at an entry whose name continues the previous one would read another name.
  Index continued(4);
  continued.add({"aa"}).add({"ab"});
  EXPECT_FALSE(look(continued.extend("IEOT", number(1) + number(continued.offset(1)) + number(1)).text()));
}

TEST(GitIndex, WhatIsCutOffIsAnError) {
  const Index index = Index(4).add({"a/b"}).add({"a/c"}).extend("TREE", "xyz");
  const std::string text = index.text();
  for (std::size_t size = 0; size < index.end() + 20; ++size) EXPECT_FALSE(look(text.substr(0, size))) << size;
  EXPECT_FALSE(look(Index().add({std::string("a\0b", 3)}).text()));
  EXPECT_FALSE(is_no_git_index(text));
  for (const std::string& other : {std::string(), std::string("DIRC"), "DIRC" + number(5) + number(0), "x" + text}) {
    EXPECT_TRUE(is_no_git_index(other));
    EXPECT_FALSE(look(other));
  }
}

}  // namespace
}  // namespace hutch::plan
