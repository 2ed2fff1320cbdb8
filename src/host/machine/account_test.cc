// passwd(5) text, well formed and not, and the directories that follow from an account.
#include "host/machine/account.h"

#include <gtest/gtest.h>

#include <map>

#include "host/state_dirs.h"

namespace hutch::host {
namespace {

TEST(Account, IsFoundByNumber) {
  constexpr const char* kPasswd =
      "root:x:0:0:root:/root:/bin/bash\n"
      "broken:x:1000\n"
      "also:x:1000x:1:::/\n"
      "ada:x:1000:1000:Ada,,,:/home/ada:/bin/zsh\n"
      "twin:x:1000:1000::/home/twin:/bin/sh\n"
      "last:x:1001:1001::/home/last:/bin/sh";
  const auto ada = find_account(kPasswd, 1000);
  ASSERT_TRUE(ada);
  EXPECT_EQ(ada->name, "ada");
  EXPECT_EQ(ada->home, "/home/ada");
  EXPECT_EQ(find_account(kPasswd, 0)->home, "/root");
  EXPECT_EQ(find_account(kPasswd, 1001)->name, "last");
  EXPECT_FALSE(find_account(kPasswd, 1));
  EXPECT_FALSE(find_account("", 0));
}

TEST(Account, PlainNames) {
  for (const char* name : {"ada", "a.b-c_d", "_apt", "u1000", "A"}) EXPECT_TRUE(is_plain_user_name(name)) << name;
  for (const char* name : {"", "-x", "a b", "a\nb", "a/b", "a=b", "\x1b[2J", "\xc3\xa9"}) {
    EXPECT_FALSE(is_plain_user_name(name)) << name;
  }
  EXPECT_FALSE(is_plain_user_name(std::string(65, 'a')));
}

TEST(StateDirs, FollowXdg) {
  std::map<std::string, std::string> environment;
  const EnvironmentLookup lookup = [&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  StateDirs dirs = state_dirs(1000, "/home/ada", lookup);
  EXPECT_EQ(dirs.config, "/home/ada/.config/hutch");
  EXPECT_EQ(dirs.data, "/home/ada/.local/share/hutch");
  EXPECT_EQ(dirs.runtime, "/run/user/1000/hutch");

  environment = {{"XDG_CONFIG_HOME", "/c"}, {"XDG_DATA_HOME", "relative"}, {"XDG_RUNTIME_DIR", ""}};
  dirs = state_dirs(1000, "/home/ada", lookup);
  EXPECT_EQ(dirs.config, "/c/hutch");
  EXPECT_EQ(dirs.data, "/home/ada/.local/share/hutch");
  EXPECT_EQ(dirs.runtime, "/run/user/1000/hutch");

  dirs = state_dirs(0, "/root", lookup);
  EXPECT_EQ(dirs.config, "/etc/hutch");
  EXPECT_EQ(dirs.data, "/var/lib/hutch");
  EXPECT_EQ(dirs.runtime, "/run/hutch");
}

}  // namespace
}  // namespace hutch::host
