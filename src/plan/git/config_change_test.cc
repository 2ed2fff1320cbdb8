// Which changes of a repository's configuration are harmless.
#include "plan/git/config_change.h"

#include <gtest/gtest.h>

#include <string>

#include "plan/git/config_text.h"

namespace hutch::plan {
namespace {

// What a user's repository may hold: settings that run programs are theirs to have.
const std::string kBefore =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = .husky\n"
    "[alias]\n\tst = \"!f() { git status \\\"$@\\\"; }; f\" ; mine\n"
    "[commit]\n\tgpgSign\n"
    "[remote \"origin\"]\n\turl = git@host.example:r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
    "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
    "[branch \"fork\"]\n\tpushRemote = origin\n";

std::string held(const std::string& more) { return held_git_config_change(kBefore, kBefore + more).value_or(""); }

std::string held_without(const std::string& gone) {
  std::string after = kBefore;
  after.erase(after.find(gone), gone.size());
  return held_git_config_change(kBefore, after).value_or("");
}

TEST(GitConfigChange, EverydaySettingsMayBeNew) {
  for (const char* more :
       {"", "[user]\n\tname = A B\n\temail = a@b.example\n",
        "[branch \"x/y\"]\n\tremote = origin\n\tmerge = refs/heads/x/y\n\trebase = true\n",
        "[branch \"x\"]\n\tdescription = one \\\"two\\\"\\nthree\\n\n", "[branch \"x\"]\n\tremote = .\n",
        "[branch \"x\"]\n\tpushRemote = origin\n",
        "[remote \"up\"]\n\turl = https://host.example/r.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n",
        "[remote \"up\"]\n\turl = user@host.example:r.git\n[branch \"x\"]\n\tremote = up\n",
        "[remote \"up\"]\n\turl = ssh://git@host.example:22/r.git\n\ttagOpt = --no-tags\n",
        "[remote \"origin\"]\n\tfetch = refs/pull/*/head:refs/remotes/origin/pr/*\n\tprune = true\n",
        "[submodule]\n\tactive = .\n[submodule \"s\"]\n\tactive = true\n\turl = https://host.example/s.git\n",
        "[submodule \"s\"]\n\tupdate = rebase\n", "[advice]\n\tdetachedHead = false\n", "[gc]\n\tauto = 0\n",
        "# a comment\n", "[lfs]\n\trepositoryformatversion = 0\n"}) {
    EXPECT_EQ(held(more), "") << more;
  }
}

TEST(GitConfigChange, NamesTheSettingThatMustNotChange) {
  EXPECT_EQ(held("[core]\n\tfsmonitor = ./evil\n"), "core.fsmonitor");
  EXPECT_EQ(held("[core] fsmonitor = x\n"), "core.fsmonitor");
  EXPECT_EQ(held("[CORE]\n\tHooksPath = x\n"), "core.hookspath");
  EXPECT_EQ(held("[alias]\n\tx = !x\n"), "alias.x");
  EXPECT_EQ(held("[include]\n\tpath = x\n"), "include.path");
  EXPECT_EQ(held("[includeIf \"gitdir:**\"]\n\tpath = x\n"), "includeif.gitdir:**.path");
  EXPECT_EQ(held("[core]\n\tbare = true\n"), "core.bare");
  EXPECT_EQ(held("[core]\n\tworktree = /x\n"), "core.worktree");
  EXPECT_EQ(held("[extensions]\n\tworktreeConfig = true\n"), "extensions.worktreeconfig");
  EXPECT_EQ(held("[filter \"x\"]\n\tclean = x\n"), "filter.x.clean");
  EXPECT_EQ(held("[credential]\n\thelper = x\n"), "credential.helper");
  EXPECT_EQ(held("[url \"https://x\"]\n\tinsteadOf = https\n"), "url.https://x.insteadof");
  EXPECT_EQ(held("[commit]\n\tgpgSign = false\n"), "commit.gpgsign");
  EXPECT_EQ(held("[user \"x\"]\n\tname = x\n"), "user.x.name");
  EXPECT_EQ(held("[rerere]\n\tenabled = true\n"), "rerere.enabled");
  EXPECT_EQ(held("[fetch]\n\tpruneTags = true\n"), "fetch.prunetags");
  EXPECT_EQ(held("[push]\n\tdefault = matching\n"), "push.default");
  EXPECT_EQ(held("[core]\n\tlogAllRefUpdates = false\n"), "core.logallrefupdates");
}

TEST(GitConfigChange, ConfigurationsOfWorkTreesAreReadIfTheyAreHarmless) {
  constexpr std::string_view kSet = "[extensions]\n\tworktreeConfig = true\n";
  constexpr std::string_view kUnset = "[extensions]\n\tworktreeConfig = false\n";
  const auto held_with = [](std::string_view before, std::string_view after) {
    return held_git_config_change(before, after, {}, WorktreeConfigs::kHarmless).value_or("");
  };
  EXPECT_EQ(held_with("", kSet), "");
  EXPECT_EQ(held_with("", kUnset), kWorktreeConfigSetting);
  EXPECT_EQ(held_with(kSet, kUnset), kWorktreeConfigSetting);
  EXPECT_EQ(held_with(kSet, ""), kWorktreeConfigSetting);
  EXPECT_EQ(held_with("", "[extensions]\n\tworktreeConfig\n"), kWorktreeConfigSetting);
  EXPECT_EQ(held_with("", "[extensions]\n\tworktreeConfig = true\n[core]\n\tfsmonitor = x\n"), "core.fsmonitor");
  EXPECT_EQ(held_with("", "[extensions \"x\"]\n\tworktreeConfig = true\n"), "extensions.x.worktreeconfig");
}

TEST(GitConfigChange, ARemoteOfTheUserStays) {
  EXPECT_EQ(held("[remote \"origin\"]\n\turl = https://evil.example/r\n"), "remote.origin.url");
  EXPECT_EQ(held("[remote \"origin\"]\n\tpushurl = https://evil.example/r\n"), "remote.origin.pushurl");
  EXPECT_EQ(held("[remote.origin]\n\turl = https://evil.example/r\n"), "remote.origin.url");
  EXPECT_EQ(held("[remote \"origin\"]\n\tpush = refs/heads/*\n"), "remote.origin.push");
  EXPECT_EQ(held("[remote \"origin\"]\n\tuploadpack = x\n"), "remote.origin.uploadpack");
  EXPECT_EQ(held("[remote \"origin\"]\n\tvcs = x\n"), "remote.origin.vcs");
  EXPECT_EQ(held("[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/heads/*\n"), "remote.origin.fetch");
  EXPECT_EQ(held("[remote \"up\"]\n\turl = https://host.example/r\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"),
            "remote.up.fetch");
  EXPECT_EQ(held("[remote \"up\"]\n\turl = https://host.example/r\n\tfetch = +refs/heads/*:refs/remotes/old/*\n"), "");
  for (const char* to : {"*", "or*", "origin*", "origin/*", "origin/main", "orig*/x"}) {
    EXPECT_EQ(held("[remote \"up\"]\n\turl = https://host.example/r\n\tfetch = +refs/heads/*:refs/remotes/" +
                   std::string(to) + "\n"),
              "remote.up.fetch")
        << to;
  }
  EXPECT_EQ(held("[remote \"origin\"]\n\tgh-resolved = evil/r\n"), "remote.origin.gh-resolved");
  const std::string included = "[include]\n\tpath = x\n";
  EXPECT_EQ(held_git_config_change(included, included + "[remote \"up\"]\n\turl = https://host.example/r\n"),
            "remote.up.url");
  EXPECT_EQ(held_without("\turl = git@host.example:r.git\n"), "remote.origin.url");
  const std::string fork = "[remote \"up\"]\n\turl = https://host.example/r.git\n";
  EXPECT_EQ(held(fork + "[branch \"main\"]\n\tremote = up\n"), "branch.main.remote");
  EXPECT_EQ(held(fork + "[branch \"x\"]\n\tpushRemote = up\n"), "branch.x.pushremote");
  EXPECT_EQ(held(fork + "[remote]\n\tpushDefault = up\n"), "remote.pushdefault");
  EXPECT_EQ(held_without("[branch \"fork\"]\n\tpushRemote = origin\n"), "branch.fork.pushremote");
}

TEST(GitConfigChange, ANewRemoteIsAnotherHost) {
  for (const char* url :
       {"/p/evil", "../evil",       "evil",          "file:///p/evil", "ext::sh -c x",  "ext://x",       "x::y",
        "-ox:y",   "ssh://-ox/y",   "ssh://u@-ox/y", "u@-ox:y",        "https://",      "https:///x",    ":x",
        "a/b:c",   "ssh://`./x`/y", "ssh://$(x)/y",  "ssh://%24(x)/y", "ssh://%2dox/y", "ssh://u;x@h/y", "ssh://h|x/y",
        ""}) {
    const std::string remote = std::string("[remote \"up\"]\n\turl = \"") + url + "\"\n";
    EXPECT_EQ(held(remote), "remote.up.url") << url;
    const std::string submodule = std::string("[submodule \"up\"]\n\turl = \"") + url + "\"\n";
    EXPECT_EQ(held(submodule), "submodule.up.url") << url;
  }
  // git takes the name of a remote without an address for a path.
  EXPECT_EQ(held("[remote \"evil\"]\n\tprune = true\n"), "remote.evil.prune");
  EXPECT_EQ(held("[branch \"x\"]\n\tremote = ../evil\n"), "branch.x.remote");
  EXPECT_EQ(held("[branch \"x\"]\n\tremote = https://evil.example/\n"), "branch.x.remote");
  EXPECT_EQ(held("[remote \"--upload-pack=x\"]\n\turl = https://host.example/r\n"), "remote.--upload-pack=x.url");
  EXPECT_EQ(held("[submodule \"x\"]\n\tupdate = !x\n"), "submodule.x.update");
}

TEST(GitConfigChange, NothingOfTheUsersGoesAway) {
  EXPECT_EQ(held_without("\thooksPath = .husky\n"), "core.hookspath");
  EXPECT_EQ(held_without("\tgpgSign\n"), "commit.gpgsign");
  EXPECT_EQ(held_without("; mine"), "");
  EXPECT_EQ(held_without("\tmerge = refs/heads/main\n"), "");
  const std::string two = "[include]\n\tpath = a\n[credential]\n\thelper = b\n";
  const std::string turned = "[credential]\n\thelper = b\n[include]\n\tpath = a\n";
  EXPECT_EQ(held_git_config_change(two, turned), "include.path");
}

TEST(GitConfigChange, TheOtherFileCounts) {
  const std::string fork = "[remote \"up\"]\n\turl = https://evil.example/r\n";
  EXPECT_EQ(held_git_config_change("", fork, kBefore), std::nullopt);
  EXPECT_EQ(held_git_config_change("", "[remote \"origin\"]\n\turl = https://evil.example/r\n", kBefore),
            "remote.origin.url");
  EXPECT_EQ(held_git_config_change("", "[core]\n\tsparseCheckout = true\n", kBefore), std::nullopt);
}

TEST(GitConfigChange, TheUserIsShownNamesAndAddresses) {
  EXPECT_TRUE(is_told_git_config_change(kBefore, kBefore + "[user]\n\temail = a@b.example\n"));
  EXPECT_TRUE(is_told_git_config_change(kBefore, kBefore + "[remote \"up\"]\n\turl = https://host.example/r\n"));
  EXPECT_FALSE(is_told_git_config_change(kBefore, kBefore + "[branch \"x\"]\n\tremote = origin\n"));
  EXPECT_FALSE(is_told_git_config_change(kBefore, kBefore + "[branch \"x\"]\n\tremote = .\n"));
  // A remote that an earlier sandbox has made.
  EXPECT_TRUE(is_told_git_config_change(kBefore, kBefore + "[branch \"x\"]\n\tremote = up\n"));
  EXPECT_TRUE(is_told_git_config_change(kBefore, kBefore + "[branch \"main\"]\n\tremote = up\n"));
  EXPECT_TRUE(is_told_git_config_change(kBefore, kBefore + "[branch \"x\"]\n\tpushRemote = origin\n"));
  EXPECT_TRUE(is_told_git_config_change(kBefore, kBefore + "[remote]\n\tpushDefault = origin\n"));
}

TEST(GitConfigChange, TheSettingsAreShownAndNotTheLines) {
  std::string after = "[branch \"a\"]\n\tremote = origin\n" + kBefore;
  after += "[advice] x = 1 [remote \"up\"] url = x\n[remote \"up\"] url = https://good.example\\\n.evil.example/r\n";
  after += "[branch \"main\"]\n\tremote = up\n";
  const std::vector<std::string> lines = {"+branch.main.remote = up",
                                          "+remote.up.url = https://good.example.evil.example/r"};
  EXPECT_EQ(told_git_config_changes(kBefore, after), lines);
  EXPECT_EQ(told_git_config_changes("[user]\n\tname = a\n", "[user]\n\tname = b\n"),
            (std::vector<std::string>{"-user.name = a", "+user.name = b"}));
  EXPECT_EQ(told_git_config_changes("", "[user"), std::nullopt);
}

TEST(GitConfigChange, WhatMayMeanTwoThingsIsHeld) {
  for (const char* text : {"[core]\r\n\tbare = false\n", "\xef\xbb\xbf[core]\n", "[core\n", "[core]\n\tbare = \"x\n",
                           "[core]\n\tbare = \\x\n", "[core]\n\tbare # x\n", "x = y\n", "[]\n", "[core \"\"]\n",
                           "[core \"x\"y]\n", "[core]\n\t1x = y\n", "[core]\n\ta = b\f\n"}) {
    EXPECT_EQ(held_git_config_change("", text), kUnreadableGitConfig) << text;
  }
  EXPECT_EQ(held_git_config_change(std::string(kGitConfigChangeBytesMax + 1, '\n'), ""), kUnreadableGitConfig);
}

TEST(GitConfigText, ReadsAsGitDoes) {
  using Entries = std::vector<GitConfigEntry>;
  EXPECT_EQ(read_git_config("[A.b]\nKey\n[c \"D\\\"e\"] x = 1 # y\n"),
            (Entries{{"a", "b", "key", std::nullopt}, {"c", "D\"e", "x", "1"}}));
  EXPECT_EQ(read_git_config("[a]\nx =  b  c ; d\ny = \" b \"\\\n  c\\n\nz = \\"),
            (Entries{{"a", "", "x", "b  c"}, {"a", "", "y", " b   c\n"}, {"a", "", "z", ""}}));
}

}  // namespace
}  // namespace hutch::plan
