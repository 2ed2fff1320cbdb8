// Which settings of the user's git apply in a sandbox, and that none of them contains a password.
#include "policy/git/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/glob.h"

namespace hutch::policy {
namespace {

std::string held(std::string_view text) { return git_values(git_entries(text)); }

TEST(GitValues, WhoTheUserIs) {
  EXPECT_EQ(held("[user]\n name = Ann B\n email = ann@b.example\n signingkey = ABC\n"),
            "[user]\n\tname = \"Ann B\"\n[user]\n\temail = \"ann@b.example\"\n");
}

TEST(GitValues, NothingThatNamesAProgramOrAFile) {
  for (const char* text :
       {"[core]\n editor = vi\n pager = less\n hooksPath = /h\n fsmonitor = x\n sshCommand = ssh\n excludesFile = /e\n",
        "[alias]\n x = !evil\n", "[credential]\n helper = store\n", "[gpg]\n program = g\n", "[include]\n path = /x\n",
        "[includeIf \"gitdir:/\"]\n path = /x\n", "[commit]\n gpgSign = true\n template = /t\n",
        "[http]\n extraHeader = \"Authorization: x\"\n cookieFile = /c\n", "[filter \"x\"]\n smudge = x\n",
        "[user \"x\"]\n name = y\n", "[init]\n templateDir = /t\n", "[submodule \"a\"]\n recurse = true\n"}) {
    EXPECT_EQ(held(text), "") << text;
  }
}

TEST(GitValues, AddressesWithoutPasswords) {
  for (const char* url : {"https://token@h.example/", "https://u:p@h.example/", "http://x@h/", "ssh://git:p@h/",
                          "ext::sh -c evil", "https://a@b@h/"}) {
    EXPECT_EQ(held(std::string("[url \"") + url + "\"]\n insteadOf = https://h.example/\n"), "") << url;
    EXPECT_EQ(held(std::string("[url \"https://h/\"]\n insteadOf = ") + url + "\n"), "") << url;
  }
  for (const char* url : {"git@h.example:", "ssh://git@h.example/", "https://h.example/a@b"}) {
    EXPECT_EQ(held(std::string("[url \"") + url + "\"]\n insteadOf = gh:\n"),
              std::string("[url \"") + url + "\"]\n\tinsteadof = \"gh:\"\n");
  }
}

TEST(GitValues, WhatIsWrittenSaysTheSame) {
  const std::vector<GitEntry> entries = {{"user", "", "name", "a \"b\" \\ c\nd # e ; f \t g"},
                                         {"safe", "", "directory", "*"},
                                         {"url", "git@h:\"x\\", "insteadof", "y"}};
  EXPECT_EQ(git_entries(git_values(entries)), entries);
}

TEST(GitValues, ThereIsAnEnd) {
  const std::vector<GitEntry> many(10'000, GitEntry{"safe", "", "directory", std::string(100, 'd')});
  EXPECT_LE(git_values(many).size(), kGitValuesBytesMax);
  EXPECT_EQ(git_values(std::vector{GitEntry{"user", "", "name", std::string(kGitValuesBytesMax, 'x')}}), "");
}

TEST(GitValues, ConditionsOfDirectories) {
  const auto meets = [](std::string_view condition, std::string_view path) {
    const auto pattern = included_for(condition, "/home/u", "/home/u/.config/git");
    return pattern && matches_path(*pattern, path);
  };
  EXPECT_TRUE(meets("gitdir:~/jobs/", "/home/u/jobs/a/.git"));
  EXPECT_FALSE(meets("gitdir:~/jobs/", "/home/u/jobshop/.git"));
  EXPECT_TRUE(meets("gitdir:/srv/a/.git", "/srv/a/.git"));
  EXPECT_TRUE(meets("gitdir:jobs/", "/x/jobs/b/.git"));
  EXPECT_TRUE(meets("gitdir:./r/", "/home/u/.config/git/r/.git"));
  for (const char* condition :
       {"onbranch:main", "hasconfig:remote.*.url:x", "", "gitdir:", "gitdir:~/[", "gitdir/i:/X/"}) {
    EXPECT_FALSE(meets(condition, "/x/.git")) << condition;
  }
}

}  // namespace
}  // namespace hutch::policy
