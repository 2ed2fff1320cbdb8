// Which Unix sockets of the host a policy opens.
#include "policy/network/sockets.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

SocketDecision decided(std::vector<std::string> entries, std::string_view path) {
  Network network;
  network.allow_unix_sockets = std::move(entries);
  return decide_socket(network, {}, path);
}

TEST(Sockets, WhatNoEntryNamesIsAsked) {
  const SocketDecision decision = decided({}, "/run/user/1000/ssh-agent.sock");
  EXPECT_EQ(decision.verdict, SocketVerdict::kAsk);
  EXPECT_EQ(decision.rule, "default");
}

TEST(Sockets, NothingIsAskedWhereThePolicySaysSo) {
  EXPECT_EQ(decide_socket({}, {.socket = Asking::kNever}, "/run/a.sock").verdict, SocketVerdict::kDeny);
}

TEST(Sockets, AnEntryOpensItsPath) {
  const SocketDecision decision = decided({"/run/a.sock"}, "/run/a.sock");
  EXPECT_EQ(decision.verdict, SocketVerdict::kAllow);
  EXPECT_EQ(decision.rule, R"(network.allowUnixSockets "/run/a.sock")");
  EXPECT_EQ(decided({"/run/a.sock"}, "/run/a.sock2").verdict, SocketVerdict::kAsk);
  EXPECT_EQ(decided({"/run"}, "/run/a.sock").verdict, SocketVerdict::kAsk) << "a directory is no socket";
}

TEST(Sockets, AnOptionIsNamedAsOne) {
  Network network;
  network.allow_unix_sockets = {"/run/a.sock"};
  network.from_options = {"/run/a.sock"};
  EXPECT_EQ(decide_socket(network, {}, "/run/a.sock").rule, R"(--allow-socket "/run/a.sock")");
}

TEST(Sockets, PatternsAndEscapes) {
  EXPECT_EQ(decided({"/tmp/ssh-*/agent.*"}, "/tmp/ssh-XXab/agent.17").verdict, SocketVerdict::kAllow);
  EXPECT_EQ(decided({"/tmp/ssh-*/agent.*"}, "/tmp/ssh-XXab/sub/agent.17").verdict, SocketVerdict::kAsk);
  EXPECT_EQ(decided({R"(/run/st\*r)"}, "/run/st*r").verdict, SocketVerdict::kAllow);
  EXPECT_EQ(decided({R"(/run/st\*r)"}, "/run/star").verdict, SocketVerdict::kAsk);
}

TEST(Sockets, WhatStartsProgramsOutsideIsOpenedByItsNameAlone) {
  for (const std::string path :
       {"/run/docker.sock", "/home/a/.docker/run/docker.sock", "/run/user/1000/docker.sock", "/run/containerd/a.sock",
        "/run/user/1000/podman/podman.sock", "/run/user/1000/bus", "/run/user/1000/systemd/private",
        "/run/systemd/private", "/tmp/.X11-unix/X0", "/run/user/1000/wayland-0", "/tmp/tmux-1000/default",
        "/run/user/1000/hutch/hutch.sock", "/run/hutch/runs/x.sock"}) {
    const SocketDecision decision = decided({"/**"}, path);
    EXPECT_EQ(decision.verdict, SocketVerdict::kDeny) << path;
    EXPECT_FALSE(decision.routine) << path;
    EXPECT_EQ(decided({path}, path).verdict, SocketVerdict::kAllow) << path;
  }
}

TEST(Sockets, WhatLibrariesTryByThemselvesIsNoNews) {
  for (const std::string_view path : {"/run/nscd/socket", "/run/systemd/userdb/io.systemd.Multiplexer", "/dev/log"}) {
    const SocketDecision decision = decided({}, path);
    EXPECT_EQ(decision.verdict, SocketVerdict::kDeny) << path;
    EXPECT_TRUE(decision.routine) << path;
  }
}

TEST(Sockets, EntriesThatCannotBe) {
  EXPECT_FALSE(check_socket_entry(""));
  EXPECT_FALSE(check_socket_entry("/run/[a"));
  EXPECT_TRUE(check_socket_entry("~/.ssh/agent.sock"));
}

}  // namespace
}  // namespace hutch::policy
