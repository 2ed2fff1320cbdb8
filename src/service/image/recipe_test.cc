// Recipes and package sources: what is taken of them, and what is refused.
#include "service/image/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Recipe, NamesPackages) {
  const auto recipe = parse_recipe("# people\ngit  g++ # more\n\n\tlibstdc++6\n");
  ASSERT_TRUE(recipe);
  EXPECT_THAT(recipe->packages, ElementsAre("git", "g++", "libstdc++6"));
  EXPECT_TRUE(parse_recipe(default_recipe()));
}

TEST(Recipe, OfWhatIsNoPackageNamesTheLine) {
  for (const char* bad :
       {"git\n--include=x", "git\n$(true)", "git\na,b", "git\nGit", "git\n/etc", "git\nx", "git\n'a'"}) {
    const auto recipe = parse_recipe(bad);
    ASSERT_FALSE(recipe) << bad;
    EXPECT_THAT(recipe.error().message, HasSubstr("line 2")) << bad;
  }
  EXPECT_FALSE(parse_recipe("# nothing\n"));
}

std::vector<std::string> lines(const std::string& path, const std::string& text) {
  return own_sources({{path, text}}, "bookworm");
}

TEST(Sources, OfOneLineEach) {
  EXPECT_THAT(lines("/etc/apt/sources.list",
                    "# deb http://no.example/ bookworm main\n"
                    "deb http://a.example/debian bookworm main contrib # note\n"
                    "deb-src http://a.example/debian bookworm main\n"
                    "deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm-updates main\n"
                    "deb [ trusted=yes ] file:/srv/x bookworm/updates main\n"
                    "deb http://b.example/ bookworm stable\n"
                    "deb http://b.example/ bookworm-backports main\n"
                    "deb http://b.example/ bookwormish main\n"
                    "deb http://b.example/ nodistro main\n"
                    "deb http://b.example/\ndeb\ndeb [\ndeb [ a\n"),
              ElementsAre("deb http://a.example/debian bookworm main contrib",
                          "deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm-updates main",
                          "deb [ trusted=yes ] file:/srv/x bookworm/updates main"));
}

TEST(Sources, OfStanzas) {
  EXPECT_THAT(lines("/etc/apt/sources.list.d/debian.sources",
                    "Types: deb deb-src\n# note\nURIs: http://a.example/debian\nSuites: bookworm bookworm-updates\n"
                    "Components: main\nSigned-By: /usr/share/keyrings/k.gpg\n\n"
                    "Types: deb\nURIs: http://b.example/\nSuites: bookworm-security\nCOMPONENTS:\n main\n other\n\n"
                    "Enabled: no\nTypes: deb\nURIs: http://c.example/\nSuites: bookworm\nComponents: main\n\n"
                    "Types: deb\nURIs: http://d.example/\nSuites: stable\nComponents: main\n"),
              ElementsAre("deb [signed-by=/usr/share/keyrings/k.gpg] http://a.example/debian bookworm main",
                          "deb [signed-by=/usr/share/keyrings/k.gpg] http://a.example/debian bookworm-updates main",
                          "deb http://b.example/ bookworm-security main other"));
  EXPECT_THAT(lines("x.sources", " a\n:\n::\nTypes\n"), IsEmpty());
}

TEST(AptProxies, AreThoseOfPrograms) {
  EXPECT_THAT(proxies_of_apt("APT \"\";\nAcquire \"\";\nAcquire::http \"\";\n"), IsEmpty());
  EXPECT_THAT(proxies_of_apt("Acquire::http::Proxy \"http://u:p@cache.example:3142/\";\n"),
              ElementsAre("http_proxy=http://u:p@cache.example:3142/", "https_proxy=http://u:p@cache.example:3142/"));
  EXPECT_THAT(proxies_of_apt("Acquire::HTTP::proxy \"http://a.example\";\nAcquire::https::Proxy \"DIRECT\";\n"
                             "Acquire::http::Proxy::B.example \"DIRECT\";\n"
                             "Acquire::http::Proxy::c.example \"http://d.example\";\n"
                             "Acquire::http::Proxy-Auto-Detect \"/usr/bin/find-one\";\n"),
              ElementsAre("http_proxy=http://a.example", "https_proxy=", "no_proxy=b.example"));
  EXPECT_THAT(proxies_of_apt("Acquire::http::Proxy \"\";\nAcquire::http::Proxy\nAcquire::http::Proxy \"\n"), IsEmpty());
}

TEST(AptProxies, HoldBeforeThoseOfTheEnvironment) {
  std::vector<std::string> environment = {"HOME=/root", "http_proxy=http://a", "HTTP_PROXY=http://b", "no_proxy=c"};
  set_proxies(environment, {"http_proxy=http://d", "https_proxy="});
  EXPECT_THAT(environment, ElementsAre("HOME=/root", "no_proxy=c", "http_proxy=http://d", "https_proxy="));
}

TEST(Mmdebstrap, WritesATarToItsOutput) {
  const auto arguments = mmdebstrap_arguments({{"git", "jq"}}, "bookworm", {"deb http://a.example/ bookworm main"});
  EXPECT_THAT(arguments, Contains("--include=git,jq"));
  EXPECT_THAT(arguments, Contains(HasSubstr("break-system-packages")));
  EXPECT_THAT(arguments, Contains(HasSubstr("policy-rc.d")));
  ASSERT_GE(arguments.size(), 3U);
  EXPECT_EQ(arguments[arguments.size() - 3], "bookworm");
  EXPECT_EQ(arguments[arguments.size() - 2], "-");
  EXPECT_EQ(arguments.back(), "deb http://a.example/ bookworm main");
}

}  // namespace
}  // namespace hutch::service
