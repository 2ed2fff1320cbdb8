// Which configurations of git are harmless.
#include "plan/git_config.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::plan {
namespace {

TEST(GitConfig, WhatGitWritesItself) {
  EXPECT_TRUE(is_harmless_git_config(""));
  EXPECT_TRUE(
      is_harmless_git_config("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
                             "\tlogallrefupdates = true\n"
                             "[remote \"origin\"]\n\turl = https://example.org/a.git\n"
                             "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
                             "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
                             "[user]\n\temail = a@b\n\tname = A B\n"));
}

TEST(GitConfig, WhatMakesGitRunOrReadSomething) {
  for (const char* text : {"[core]\n\tfsmonitor = ./evil\n",
                           "[core]\nhooksPath = x\n",
                           "[alias]\n\tst = !x\n",
                           "[include]\n\tpath = x\n",
                           "[core]\n\tsshCommand = x\n",
                           "[core]\n\tpager = x\n",
                           "[diff \"x\"]\n\ttextconv = x\n",
                           "[remote \"o\"]\n\turl = ext::sh -c x\n",
                           "[remote \"o\"]\n\turl = -oProxyCommand=x\n",
                           "[remote \"o\"]\n\tuploadpack = x\n",
                           "[remote \"o\"]\n\turl = ssh://-oProxyCommand=x/a\n",
                           "[url \"ext::x\"]\n\tinsteadOf = https\n",
                           "[core] fsmonitor = x\n",
                           "[core]\n\tbare = false \\\n fsmonitor = x\n",
                           "[core]\n\tbare\n",
                           "bare = false\n",
                           "[core \"x]\"]\nfsmonitor = x\n",
                           "[remote \"a\"b\"]\nurl = x\n",
                           "[CORE]\n\tFsMonitor = x\n",
                           "[core.x]\n\tbare = 1\n",
                           "[core]\r\n\tbare = 1\n",
                           "[core]\n\tbare = \"a\n"}) {
    EXPECT_FALSE(is_harmless_git_config(text)) << text;
  }
  EXPECT_FALSE(is_harmless_git_config(std::string(kGitConfigBytesMax + 1, '\n')));
  EXPECT_FALSE(is_harmless_git_config(std::string("[core]\0\n\tbare = 1\n", 18)));
}

}  // namespace
}  // namespace hutch::plan
