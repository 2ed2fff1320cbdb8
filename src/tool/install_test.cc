// Installing: names that could be anything but a name, and the argument vectors that managers are given.
#include <gtest/gtest.h>

#include "tool/packages.h"
#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

using Arguments = std::vector<std::string>;

TEST(Packages, Names) {
  for (const Manager manager : {Manager::kApk, Manager::kApt, Manager::kDnf, Manager::kPip, Manager::kNpm}) {
    for (const char* good : {"jq", "python3-pip", "a1.2_b"}) EXPECT_TRUE(is_package(manager, good)) << good;
    for (const char* bad : {"",
                            "-y",
                            "--root=/",
                            "a b",
                            "a;id",
                            "a; id",
                            "$(id)",
                            "`id`",
                            "a|b",
                            "a&b",
                            "../x",
                            "./x.deb",
                            "/etc/x.rpm",
                            "http://evil.test/x",
                            "git+https://evil.test/x",
                            "file:x",
                            "a\nb",
                            "a'b",
                            "a\"b",
                            "a\\b",
                            "\u00e9",
                            "!a",
                            ".x",
                            "a#b",
                            "a?b",
                            "a(b)",
                            "user/repo/x"}) {
      const bool colon = std::string_view(bad) == "file:x" && manager != Manager::kPip && manager != Manager::kNpm;
      EXPECT_EQ(is_package(manager, bad), colon) << name_of(manager) << " " << bad;
    }
    EXPECT_FALSE(is_package(manager, std::string(215, 'a')));
    EXPECT_FALSE(expected_package(manager).empty());
  }
}

TEST(Packages, VersionsAsEachManagerWritesThem) {
  EXPECT_TRUE(is_package(Manager::kApk, "jq=1.7.1-r0") && is_package(Manager::kApk, "jq~1.7") &&
              is_package(Manager::kApk, "jq@edge"));
  EXPECT_TRUE(is_package(Manager::kApt, "jq=1.6-2.1+deb12u1") && is_package(Manager::kApt, "libc6:arm64") &&
              is_package(Manager::kApt, "g++") && is_package(Manager::kApt, "libstdc++6"));
  EXPECT_FALSE(is_package(Manager::kApt, "jq-") || is_package(Manager::kApt, "jq+") ||
               is_package(Manager::kApt, "jq/x") || is_package(Manager::kApt, "jq^") ||
               is_package(Manager::kApt, "jq*"));
  EXPECT_TRUE(is_package(Manager::kDnf, "jq-0:1.6-15.el9.x86_64"));
  EXPECT_FALSE(is_package(Manager::kDnf, "@group") || is_package(Manager::kDnf, "jq*"));
  EXPECT_TRUE(is_package(Manager::kPip, "requests[socks]>=2.0,<3,!=2.5") && is_package(Manager::kPip, "a==1.*"));
  EXPECT_FALSE(is_package(Manager::kPip, "a@b") || is_package(Manager::kPip, "a:b"));
  EXPECT_TRUE(is_package(Manager::kNpm, "@types/node@^20.0.0") && is_package(Manager::kNpm, "left-pad@latest") &&
              is_package(Manager::kNpm, "a@>=1"));
  EXPECT_FALSE(is_package(Manager::kNpm, "user/repo") || is_package(Manager::kNpm, "@types") ||
               is_package(Manager::kNpm, "@/x") || is_package(Manager::kNpm, "@a/b/c") ||
               is_package(Manager::kNpm, "a@") || is_package(Manager::kNpm, "a@npm:b") ||
               is_package(Manager::kNpm, "a@file:x") || is_package(Manager::kNpm, "a@b/c"));
}

class InstallTest : public testing::Test {
 protected:
  void SetUp() override {
    place_.system_root = place_.path("system");
    place_.put(place_.path("system/etc/x"), "");
    place_.scripted_run = [this](const Command&) -> std::optional<Result<CommandEnd>> {
      if (ends_.empty()) return CommandEnd{};
      Result<CommandEnd> end = ends_.front();
      ends_.erase(ends_.begin());
      return end;
    };
  }
  void has(std::string_view program) { place_.put(place_.path("system") + std::string(program), ""); }
  static CommandEnd end(int exit_code, std::string output) {
    CommandEnd out;
    out.exit_code = exit_code;
    out.output.head = std::move(output);
    return out;
  }
  Value::Object install(std::string_view tool, Value::List packages) {
    return caller_.call(tool, {{"packages", std::move(packages)}});
  }

  TestPlace place_;
  Caller caller_{place_};
  std::vector<Result<CommandEnd>> ends_;
};

TEST_F(InstallTest, NamesOfAlpinesAreTranslatedForApt) {
  has("/usr/bin/apt-get");
  const Value::Object envelope = install("sandbox_install", {"py3-pandas", "jq"});
  ASSERT_TRUE(truth_of(envelope, "ok"));
  EXPECT_EQ(place_.commands[0].arguments.back(), "jq");
  EXPECT_EQ(place_.commands[0].arguments[5], "python3-pandas");
  EXPECT_EQ(json_text(envelope.at("warnings")), R"(["`py3-pandas` is `python3-pandas` in this sandbox."])");
}

TEST_F(InstallTest, ANameWithoutATranslationIsTriedAsItIs) {
  has("/usr/bin/apt-get");
  const std::string unknown = "E: Unable to locate package no-such-dev";
  ends_ = {end(100, unknown), end(0, ""), end(100, unknown)};
  const Value::Object envelope = install("sandbox_install", {"jq", "no-such-dev"});
  EXPECT_FALSE(truth_of(envelope, "ok"));
  const std::string message = text_of(envelope, "message");
  EXPECT_NE(message.find("hutch knows no Debian name for them: no-such-dev."), std::string::npos) << message;
}

TEST_F(InstallTest, ASandboxThatDoesNotStartIsNotOneWithoutAManager) {
  place_.scripted_file = [](const wire::FileRequest&) -> std::optional<Result<wire::FileReply>> {
    return fail(Error{Code::kSystem, 0, "start agent alice: QEMU ended"});
  };
  const Value::Object envelope = install("sandbox_install", {"jq"});
  EXPECT_FALSE(truth_of(envelope, "ok"));
  const std::string message = text_of(envelope, "message");
  EXPECT_NE(message.find("start agent alice: QEMU ended"), std::string::npos) << message;
  EXPECT_EQ(message.find("none of the package managers"), std::string::npos) << message;
}

TEST_F(InstallTest, TheManagerThatTheSandboxHas) {
  has("/usr/bin/dnf");
  EXPECT_TRUE(truth_of(install("sandbox_install", {"jq"}), "ok"));
  ASSERT_EQ(place_.commands.size(), 2U);
  EXPECT_EQ(place_.commands[0].arguments, (Arguments{"/usr/bin/dnf", "install", "-y", "--", "jq"}));
  EXPECT_EQ(place_.commands[1].arguments, (Arguments{"/usr/bin/dnf", "clean", "packages"}));
  has("/usr/bin/apt-get");
  EXPECT_TRUE(truth_of(install("sandbox_install", {"jq", "g++"}), "ok"));
  ASSERT_EQ(place_.commands.size(), 4U);
  EXPECT_EQ(place_.commands[2].arguments,
            (Arguments{"/usr/bin/apt-get", "install", "-y", "--no-install-recommends", "--", "jq", "g++"}));
  EXPECT_EQ(place_.commands[2].environment, Arguments{"DEBIAN_FRONTEND=noninteractive"});
  EXPECT_EQ(place_.commands[3].arguments, (Arguments{"/usr/bin/apt-get", "clean"}));
  has("/sbin/apk");
  ends_ = {end(0, "OK")};
  const Value::Object envelope = install("sandbox_install", {"jq=1.7"});
  EXPECT_EQ(json_text(envelope.at("result")), R"({"exit_code":0,"installed":["jq=1.7"],"output":"OK"})");
  EXPECT_EQ(place_.commands.back().arguments, (Arguments{"/sbin/apk", "add", "--no-cache", "--", "jq=1.7"}));
  for (const Command& command : place_.commands) {
    EXPECT_EQ(command.user, User::kRoot);
    EXPECT_EQ(command.timeout, std::chrono::seconds(120));
  }
}

TEST_F(InstallTest, NamesThatInjectRunNothing) {
  has("/sbin/apk");
  for (const char* tool : {"sandbox_install", "sandbox_pip_install", "sandbox_npm_install"}) {
    for (const char* name : {"a; id", "-y", "--allow-untrusted", "$(id)", "../evil"}) {
      const Value::Object envelope = install(tool, {"jq", name});
      EXPECT_EQ(text_of(envelope, "kind"), "invalid_args") << name;
      EXPECT_EQ(text_of(envelope, "field"), "packages") << name;
    }
    EXPECT_EQ(text_of(install(tool, {}), "field"), "packages");
  }
  EXPECT_TRUE(place_.commands.empty());
}

TEST_F(InstallTest, NoManagerNoRoot) {
  const Value::Object none = install("sandbox_install", {"jq"});
  EXPECT_EQ(text_of(none, "kind"), "unavailable");
  EXPECT_FALSE(truth_of(none, "retryable"));
  has("/usr/bin/apt-get");
  ends_ = {fail(Error::unsupported("the namespace backend shows the host's system"))};
  const Value::Object rootless = install("sandbox_install", {"jq"});
  EXPECT_EQ(text_of(rootless, "kind"), "unavailable");
  EXPECT_FALSE(truth_of(rootless, "retryable"));
  EXPECT_NE(text_of(rootless, "message").find("gives no root"), std::string::npos);
}

TEST_F(InstallTest, AptFetchesItsListsWhenItHasNone) {
  has("/usr/bin/apt-get");
  ends_ = {end(100, "E: Unable to locate package jq"), end(0, ""), end(0, "done")};
  EXPECT_TRUE(truth_of(install("sandbox_install", {"jq"}), "ok"));
  ASSERT_EQ(place_.commands.size(), 4U);
  EXPECT_EQ(place_.commands[1].arguments, (Arguments{"/usr/bin/apt-get", "update"}));
  EXPECT_EQ(place_.commands[1].user, User::kRoot);
  EXPECT_EQ(place_.commands[2].arguments, place_.commands[0].arguments);
  ends_ = {end(100, "E: Unable to locate package jq"), end(100, "no network")};
  EXPECT_EQ(text_of(install("sandbox_install", {"jq"}), "message"),
            "Install failed (exit 100). Combined output: no network");
}

TEST_F(InstallTest, WhatFailedIsNotCleanedUpAfter) {
  has("/usr/bin/apt-get");
  ends_ = {end(1, "no room")};
  EXPECT_FALSE(truth_of(install("sandbox_install", {"jq"}), "ok"));
  EXPECT_EQ(place_.commands.size(), 1U);
  ends_ = {end(0, "done"), end(1, "it cannot be cleaned")};
  EXPECT_TRUE(truth_of(install("sandbox_install", {"jq"}), "ok"));
}

TEST_F(InstallTest, WhatWasBrokenOffIsBroughtToItsEnd) {
  has("/usr/bin/apt-get");
  const std::string told =
      "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.";
  ends_ = {end(100, told), end(0, ""), end(0, "done")};
  EXPECT_TRUE(truth_of(install("sandbox_install", {"jq"}), "ok"));
  ASSERT_EQ(place_.commands.size(), 4U);
  EXPECT_EQ(place_.commands[1].arguments, (Arguments{"dpkg", "--configure", "-a"}));
  EXPECT_EQ(place_.commands[1].user, User::kRoot);
  EXPECT_EQ(place_.commands[2].arguments, place_.commands[0].arguments);
  ends_ = {end(100, told), end(1, "it cannot")};
  EXPECT_EQ(text_of(install("sandbox_install", {"jq"}), "message"),
            "Install failed (exit 1). Combined output: it cannot");
}

TEST_F(InstallTest, AptBecomesNobodyWhereNobodyIsThere) {
  has("/usr/bin/apt-get");
  place_.image_users = Users::kOne;
  ends_ = {end(100, "E: Unable to locate package jq"), end(0, ""), end(0, "done")};
  EXPECT_TRUE(truth_of(install("sandbox_install", {"jq"}), "ok"));
  ASSERT_EQ(place_.commands.size(), 4U);
  const Arguments begin = {"/usr/bin/apt-get", "-o", "APT::Sandbox::User=root"};
  for (const Command& command : place_.commands) {
    EXPECT_EQ(Arguments(command.arguments.begin(), command.arguments.begin() + 3), begin);
  }
}

TEST_F(InstallTest, Failures) {
  has("/sbin/apk");
  CommandEnd failed_end = end(1, "out ");
  failed_end.error.head = "err";
  ends_ = {failed_end};
  const Value::Object envelope = install("sandbox_install", {"jq"});
  EXPECT_EQ(text_of(envelope, "kind"), "execution_error");
  EXPECT_TRUE(truth_of(envelope, "retryable"));
  EXPECT_EQ(text_of(envelope, "message"), "Install failed (exit 1). Combined output: out err");
  ends_ = {end(100, "E: Failed to fetch http://a.example/x  403  Forbidden")};
  EXPECT_NE(text_of(install("sandbox_install", {"jq"}), "message").find("allowedDomains"), std::string::npos);
  CommandEnd late = end(124, "half");
  late.timed_out = true;
  ends_ = {late};
  const Value::Object timeout = install("sandbox_install", {"jq"});
  EXPECT_EQ(text_of(timeout, "kind"), "timeout");
  EXPECT_EQ(text_of(timeout, "output"), "half");
  EXPECT_FALSE(timeout.contains("installed"));
  ends_ = {fail(Error{Code::kSystem, 0, "gone"})};
  EXPECT_EQ(text_of(install("sandbox_install", {"jq"}), "message"), "Failed to run the package manager: gone");
}

TEST_F(InstallTest, PipMakesItsEnvironmentOnce) {
  EXPECT_TRUE(truth_of(install("sandbox_pip_install", {"requests==2.31.0"}), "ok"));
  ASSERT_EQ(place_.commands.size(), 3U);
  EXPECT_EQ(place_.commands[0].arguments, (Arguments{"python3", "--version"}));
  EXPECT_EQ(place_.commands[0].timeout, std::chrono::seconds(10));
  EXPECT_EQ(place_.commands[1].arguments, (Arguments{"python3", "-m", "venv", place_.home(".venv")}));
  EXPECT_EQ(place_.commands[2].arguments,
            (Arguments{place_.home(".venv/bin/python"), "-m", "pip", "install", "--no-input",
                       "--disable-pip-version-check", "--", "requests==2.31.0"}));
  place_.put(place_.home(".venv/bin/pip"), "");
  install("sandbox_pip_install", {"requests"});
  EXPECT_EQ(place_.commands.size(), 5U);
  for (const Command& command : place_.commands) EXPECT_EQ(command.user, User::kAgent);
}

TEST_F(InstallTest, PipWithoutPython) {
  ends_ = {end(127, "")};
  const Value::Object missing = install("sandbox_pip_install", {"requests"});
  EXPECT_EQ(text_of(missing, "kind"), "unavailable");
  EXPECT_FALSE(truth_of(missing, "retryable"));
  EXPECT_EQ(text_of(missing, "message"), "python3 is not installed in the sandbox image");
  ends_ = {end(0, ""), end(1, "no ensurepip")};
  EXPECT_EQ(text_of(install("sandbox_pip_install", {"requests"}), "message"),
            "Install failed (exit 1). Combined output: no ensurepip");
  ends_ = {fail(Error{Code::kSystem, 0, "gone"})};
  EXPECT_EQ(text_of(install("sandbox_pip_install", {"requests"}), "kind"), "execution_error");
}

TEST_F(InstallTest, NpmInTheHome) {
  EXPECT_TRUE(truth_of(install("sandbox_npm_install", {"@types/node", "left-pad@1.3.0"}), "ok"));
  const std::string home = place_.home("").substr(0, place_.home("").size() - 1);
  EXPECT_EQ(place_.commands.back().arguments, (Arguments{"npm", "install", "--prefix=" + home, "--no-fund",
                                                         "--no-audit", "--", "@types/node", "left-pad@1.3.0"}));
  EXPECT_EQ(place_.commands.back().cwd, home);
  ends_ = {end(127, "")};
  EXPECT_EQ(text_of(install("sandbox_npm_install", {"left-pad"}), "message"),
            "node/npm is not installed in the sandbox image");
}

}  // namespace
}  // namespace hutch::tool
