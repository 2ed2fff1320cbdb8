// Which configurations of git are harmless.
#include "plan/git/config.h"

#include <gtest/gtest.h>

#include <string>

#include "policy/git/settings.h"

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
                           "[remote \"o\"]\n\turl = ssh://$(x)/a\n",
                           "[remote \"o\"]\n\turl = ssh://u`x`@h/a\n",
                           "[remote \"o\"]\n\turl = ssh://%24(x)/a\n",
                           "[remote \"o\"]\n\turl = ssh://%2dox/a\n",
                           "[remote \"o\"]\n\turl = $(x):a\n",
                           "[url \"ext::x\"]\n\tinsteadOf = https\n",
                           "[core] fsmonitor = x\n",
                           "[core]\n\tbare = false \\\n fsmonitor = x\n",
                           "[core]\n\tbare\n",
                           "bare = false\n",
                           "[core \"x]\"]\nfsmonitor = x\n",
                           "[remote \"a\"b\"]\nurl = x\n",
                           "[remote \"--upload-pack=x;\"]\n\turl = .\n",
                           "[CORE]\n\tFsMonitor = x\n",
                           "[core.x]\n\tbare = 1\n",
                           "[core]\r\n\tbare = 1\n",
                           "[core]\n\tbare = \"a\n"}) {
    EXPECT_FALSE(is_harmless_git_config(text)) << text;
  }
  EXPECT_FALSE(is_harmless_git_config("[branch \"x\"]\n\tremote = ext::sh -c x\n"));
  EXPECT_FALSE(is_harmless_git_config("[submodule \"x\"]\n\tupdate = !x\n"));
  EXPECT_FALSE(is_harmless_git_config(std::string(kGitConfigBytesMax + 1, '\n')));
  EXPECT_FALSE(is_harmless_git_config(std::string("[core]\0\n\tbare = 1\n", 18)));
}

TEST(GitConfig, OnlyTheWorkTreeOfASubmoduleWithinItsRepository) {
  const auto leads_to = [](const std::string& value, std::string_view directory) {
    return is_harmless_git_config("[core]\n\tworktree = " + value + "\n", directory);
  };
  EXPECT_TRUE(leads_to("../../../sub", "/p/.git/modules/sub"));
  EXPECT_TRUE(leads_to("../../../../a/b", "/p/.git/modules/a/b"));
  EXPECT_FALSE(leads_to("../../../sub", "/p/.git/modules/a/b"));
  EXPECT_FALSE(leads_to("../../../../other", "/p/.git/modules/sub"));
  EXPECT_FALSE(leads_to("../../../.git/hooks", "/p/.git/modules/sub"));
  EXPECT_FALSE(leads_to("../../../a/../..", "/p/.git/modules/sub"));
  EXPECT_FALSE(leads_to("/etc", "/p/.git/modules/sub"));
  EXPECT_FALSE(leads_to("..", "/p/.git"));
  EXPECT_FALSE(leads_to("../../../sub", ""));
}

TEST(GitConfig, RefspecsFetchIntoReferences) {
  const auto fetches = [](const char* refspec) {
    return is_harmless_git_config(std::string("[remote \"x\"]\n\tfetch = ") + refspec + "\n");
  };
  for (const char* refspec : {"+refs/heads/*:refs/remotes/x/*", "refs/heads/a", "+refs/heads/a:", "a:refs/b"}) {
    EXPECT_TRUE(fetches(refspec)) << refspec;
  }
  for (const char* refspec : {"refs/heads/a:commondir", "+a:HEAD", "a:refs/../config", "a:b:c"}) {
    EXPECT_FALSE(fetches(refspec)) << refspec;
  }
}

// A setting that names something is refused with any value; a setting that names nothing passes.
TEST(GitConfig, EachSettingOfTheTableIsTreatedAsItSays) {
  for (const policy::GitSetting& setting : policy::git_settings()) {
    const std::string key = setting.key == "*" ? std::string("any") : std::string(setting.key);
    const auto passes = [&](std::string_view value) {
      return is_harmless_git_config("[" + std::string(setting.section) + " \"x\"]\n\t" + key + " = " +
                                    std::string(value) + "\n");
    };
    using enum policy::GitWrite;
    // Refspecs have a test of their own, above: only references may be destinations.
    if (setting.section == "remote" && setting.key == "fetch") continue;
    const bool plain = setting.write == kPlain;
    const bool names_remote = setting.write == kUrl || setting.write == kRemote;
    EXPECT_EQ(passes("x"), plain || names_remote || setting.write == kModuleStep) << setting.section << "." << key;
    EXPECT_EQ(passes("!x"), plain || names_remote) << setting.section << "." << key;
    EXPECT_EQ(passes("ext::x"), plain || setting.write == kModuleStep) << setting.section << "." << key;
    const bool obeyed = setting.read != policy::GitRead::kNothing;
    EXPECT_FALSE(plain && obeyed) << setting.section << "." << key;
  }
}

}  // namespace
}  // namespace hutch::plan
