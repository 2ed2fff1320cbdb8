// Which variables a command has, where they come from, and which variables it does not have.
#include "plan/make/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "policy/defaults.h"

namespace hutch::plan {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

struct EnvironmentInput {
  Result<std::vector<std::string>> planned() const {
    HostFacts facts;
    facts.user = "u";
    facts.home = "/home/u";
    const PathFacts paths;
    const std::vector<policy::Rule> rules;
    return plan_environment({.policy = policy,
                             .rules = rules,
                             .facts = facts,
                             .paths = paths,
                             .project = "/home/u/p",
                             .cwd = "/home/u/p",
                             .network = network,
                             .image = image ? &*image : nullptr,
                             .limits = {},
                             .caller_environment = caller,
                             .environment = options,
                             .base_environment = base,
                             .backend = "namespace"});
  }

  policy::Policy policy = policy::default_policy();
  NetworkKind network = NetworkKind::kNone;
  std::optional<ImageInput> image;
  std::vector<std::string> caller;
  std::vector<std::string> options;
  BaseEnvironment base = BaseEnvironment::kPerson;
};

TEST(Environment, TakesWhatThePolicyAndTheCommandLineAdd) {
  EnvironmentInput input;
  input.caller = {"PATH=/home/u/.local/bin:/usr/bin", "TERM=xterm", "SECRET=x", "LANG=C.UTF-8"};
  input.policy.environment = {{"CI", "1"}, {"SECRET", std::nullopt}};
  input.options = {"A=b=c", "EMPTY=", "TERM=dumb"};
  EXPECT_THAT(
      input.planned().value(),
      ElementsAre("A=b=c", "CI=1", "EMPTY=", "HOME=/home/u", "HUTCH=1", "HUTCH_BACKEND=namespace", "LANG=C.UTF-8",
                  "LOGNAME=u", "PATH=/home/u/.local/bin:/usr/bin", "SECRET=x", "TERM=dumb", "TMPDIR=/tmp", "USER=u"));
  input.options = {"NOT_SET"};
  EXPECT_EQ(input.planned().error().message, "--env: NOT_SET is not set here; write NOT_SET=VALUE");
  for (const char* wrong : {"=x", "1A=x", "A B=x", "A-B=x", ""}) {
    input.options = {wrong};
    EXPECT_FALSE(input.planned().has_value()) << wrong;
  }
}

TEST(Environment, HasAPathWhereTheCallerHasNone) {
  EXPECT_THAT(EnvironmentInput().planned().value(),
              ElementsAre("HOME=/home/u", "HUTCH=1", "HUTCH_BACKEND=namespace", "LOGNAME=u",
                          "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp", "USER=u"));
}

TEST(Environment, NamesTheGatewayAsProxyOfHttpOnly) {
  EnvironmentInput input;
  input.network = NetworkKind::kGateway;
  input.caller = {"http_proxy=http://outside:1", "ALL_PROXY=socks5h://outside:2"};
  input.policy.environment = {{"HTTP_PROXY", "http://policy:2"}};
  input.options = {"no_proxy=*"};
  EXPECT_THAT(input.planned().value(),
              ElementsAre("HOME=/home/u", "HTTPS_PROXY=http://127.0.0.1:1023", "HTTP_PROXY=http://policy:2", "HUTCH=1",
                          "HUTCH_BACKEND=namespace", "LOGNAME=u", "NO_PROXY=localhost,127.0.0.1,::1",
                          "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp", "USER=u",
                          "http_proxy=http://127.0.0.1:1023", "https_proxy=http://127.0.0.1:1023", "no_proxy=*"));
}

TEST(Environment, PassesLanguageTimeZoneAndTerminal) {
  const std::vector<std::string> passed = {"CI=1",       "COLORTERM=truecolor", "FORCE_COLOR=1", "LANG=de_DE.UTF-8",
                                           "LC_ALL=C",   "LC_TIME=en_GB",       "NO_COLOR=",     "SHELL=/bin/zsh",
                                           "TERM=xterm", "TZ=Europe/Berlin"};
  EnvironmentInput input;
  input.caller = passed;
  for (const char* other :
       {"SECRET=x", "LC=x", "LCX_A=x", "LD_PRELOAD=/x.so", "TZDIR=/x", "HUTCH=0", "LOGNAME=other"}) {
    input.caller.emplace_back(other);
  }
  const std::vector<std::string> environment = input.planned().value();
  EXPECT_THAT(environment, IsSupersetOf(passed));
  EXPECT_EQ(environment.size(), passed.size() + 7) << "HOME, HUTCH, HUTCH_BACKEND, LOGNAME, PATH, TMPDIR, USER";
  EXPECT_THAT(environment, IsSupersetOf({"HUTCH=1", "LOGNAME=u"}));
}

TEST(Environment, IsThePathOnlyForALibrary) {
  EnvironmentInput input;
  input.base = BaseEnvironment::kPathAlone;
  input.caller = {"PATH=/usr/bin", "LANG=C", "TZ=UTC", "SHELL=/bin/sh"};
  input.options = {"GIVEN=1"};
  EXPECT_THAT(input.planned().value(), ElementsAre("GIVEN=1", "PATH=/usr/bin"));
}

TEST(Environment, OfAnImageGivesWayToThePersons) {
  EnvironmentInput input;
  input.image.emplace();
  input.image->root = "/images/x";
  input.image->environment = {"PATH=/go/bin:/bin", "HOME=/root", "TERM=dumb", "GOROOT=/go", "HUTCH=0"};
  input.caller = {"PATH=/usr/bin", "TERM=xterm", "SHELL=/bin/zsh"};
  const std::vector<std::string> environment = input.planned().value();
  EXPECT_THAT(environment, IsSupersetOf({"PATH=/home/u/.local/bin:/go/bin:/bin", "HOME=/home/u", "GOROOT=/go",
                                         "TERM=xterm", "HUTCH=1"}));
  EXPECT_THAT(environment, testing::Not(testing::Contains("SHELL=/bin/zsh"))) << "the image may not have it";
}

}  // namespace
}  // namespace hutch::plan
