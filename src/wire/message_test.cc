// Every message survives the way through bytes, and hostile bytes are refused.
#include "wire/message.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "wire/codec.h"

namespace hutch::wire {
namespace {

template <class Message>
Message through_guest(const Message& message) {
  const std::string bytes = encode(ToGuest(message));
  const auto header = decode_header(std::string_view(bytes).substr(0, kFrameHeaderBytes));
  EXPECT_TRUE(header.has_value());
  auto decoded = decode_to_guest(*header, std::string_view(bytes).substr(kFrameHeaderBytes));
  EXPECT_TRUE(decoded.has_value());
  return std::get<Message>(*decoded);
}

template <class Message>
Message through_host(const Message& message) {
  const std::string bytes = encode(ToHost(message));
  const auto header = decode_header(std::string_view(bytes).substr(0, kFrameHeaderBytes));
  EXPECT_TRUE(header.has_value());
  auto decoded = decode_to_host(*header, std::string_view(bytes).substr(kFrameHeaderBytes));
  EXPECT_TRUE(decoded.has_value());
  return std::get<Message>(*decoded);
}

Start a_start() {
  Start start;
  start.isolation = Isolation::kNamespace;
  start.landlock_abi = 7;
  start.plan.uid = 1000;
  start.plan.gid = 100;
  start.plan.groups = {4, 0xfffffffe};
  start.plan.rights = plan::Rights::kImageRoot;
  plan::MountStep step;
  step.kind = plan::MountKind::kBind;
  step.target = "/a";
  step.source = "/b";
  step.access = plan::Access::kReadWrite;
  step.make = plan::MakeTarget::kFile;
  step.identity = {7, 1ULL << 40};
  step.mode = 01777;
  step.size_bytes = 1ULL << 33;
  start.plan.mounts = {step, step};
  step.kind = plan::MountKind::kCover;
  start.plan.mounts.push_back(step);
  step.kind = plan::MountKind::kGivenRoot;
  start.plan.mounts.push_back(step);
  start.plan.read_only_proc = {"sys"};
  start.plan.hidden_proc = {"kcore", "keys"};
  start.plan.landlock = {{"/"}, {"/tmp", "/home"}};
  start.plan.host_ports = {5432, 1};
  start.plan.udp = {{"a.example", 123, 900, {*parse_ip("198.18.0.1"), *parse_ip("fd68::1")}},
                    {"192.0.2.7", 1, 901, {}}};
  start.plan.process_limits = {{7, 1024, 1ULL << 40}, {11, 0, 0}};
  start.plan.user_counts = {{"max_inotify_watches", 5}};
  start.plan.seccomp = {{1, 2, 3, 4}, {0xffff, 0xff, 0xff, 0xffffffff}};
  return start;
}

TEST(Message, AStartKeepsItsPlan) {
  const Start start = through_guest(a_start());
  EXPECT_EQ(start.version, kVersion);
  EXPECT_EQ(start.isolation, Isolation::kNamespace);
  EXPECT_EQ(start.landlock_abi, 7);
  EXPECT_EQ(start.plan.uid, 1000U);
  EXPECT_EQ(start.plan.gid, 100U);
  EXPECT_EQ(start.plan.groups, (std::vector<std::uint32_t>{4, 0xfffffffe}));
  EXPECT_EQ(start.plan.rights, plan::Rights::kImageRoot);
  ASSERT_EQ(start.plan.mounts.size(), 4U);
  EXPECT_EQ(start.plan.mounts[3].kind, plan::MountKind::kGivenRoot);
  EXPECT_EQ(start.plan.mounts[2].kind, plan::MountKind::kCover);
  const plan::MountStep& step = start.plan.mounts[1];
  EXPECT_EQ(step.target, "/a");
  EXPECT_EQ(step.source, "/b");
  EXPECT_EQ(step.access, plan::Access::kReadWrite);
  EXPECT_EQ(step.make, plan::MakeTarget::kFile);
  EXPECT_EQ(step.identity, (plan::Identity{7, 1ULL << 40}));
  EXPECT_EQ(step.mode, 01777U);
  EXPECT_EQ(step.size_bytes, 1ULL << 33);
  EXPECT_EQ(start.plan.hidden_proc, (std::vector<std::string>{"kcore", "keys"}));
  EXPECT_EQ(start.plan.landlock.writable, (std::vector<std::string>{"/tmp", "/home"}));
  EXPECT_EQ(start.plan.seccomp, a_start().plan.seccomp);
  EXPECT_EQ(start.plan.process_limits, a_start().plan.process_limits);
  EXPECT_EQ(start.plan.user_counts, a_start().plan.user_counts);
  EXPECT_EQ(start.plan.host_ports, a_start().plan.host_ports);
  EXPECT_EQ(start.plan.udp, a_start().plan.udp);
}

TEST(Message, AnExecKeepsItsWords) {
  Exec exec;
  exec.arguments = {"sh", "-c", std::string("a\0b", 3), ""};
  exec.environment = {"A=b"};
  exec.cwd = "/x";
  exec.terminal = TerminalUse::kOwn;
  exec.streams = 5;
  exec.rows = 24;
  exec.columns = 300;
  exec.modes = std::string("\0\1", 2);
  exec.processes_max = 1;
  exec.address_space_max = 2;
  exec.creation_mask = 027;
  const Exec found = through_guest(exec);
  EXPECT_EQ(found.arguments, exec.arguments);
  EXPECT_EQ(found.environment, exec.environment);
  EXPECT_EQ(found.cwd, "/x");
  EXPECT_EQ(found.terminal, TerminalUse::kOwn);
  EXPECT_EQ(found.streams, 5);
  EXPECT_EQ(found.rows, 24);
  EXPECT_EQ(found.columns, 300);
  EXPECT_EQ(found.modes, exec.modes);
  EXPECT_EQ(found.processes_max, 1U);
  EXPECT_EQ(found.address_space_max, 2U);
  EXPECT_EQ(found.creation_mask, 027U);
}

TEST(Message, TheOthersKeepTheirValues) {
  EXPECT_EQ(through_guest(Signal{15, SignalTarget::kEverything}).number, 15);
  EXPECT_EQ(through_host(Spawned{77}).pid, 77U);
  EXPECT_EQ(through_host(Exited{.command = 1, .status = 0x0b}).status, 0x0b);
  EXPECT_EQ(through_host(NotExecuted{.command = 1, .error = 2, .path = "/x"}).path, "/x");
  const Refused refused = through_host(Refused{RefusedCall::kFileChange, 9, "/p/.bashrc", "built in"});
  const plan::GuardedNames guarded{
      .rules = {{"/**/.x", "built in", "/**/.x/y", {"/p/.x"}, plan::NameRule::Asking::kMayBe}, {}},
      .list = plan::GuardedNames::List::kObeyed,
      .lifted = {"/p/.x"},
      .own = {"/workspace/agents/alice"},
      .allowed = {".npmrc"},
      .places = {{"/p/notes"}, "/home/u", {{5, 6, "/p/.git/hooks/pre-commit"}}},
      .configs = {"/p/.git/config"},
      .worked = {"/p/a/b/c/d/.git"},
      .kept = {"/p/.npmrc"}};
  const AccessRules rules = through_guest(AccessRules{guarded, plan::FileQuestions::kNone, {}, {}});
  EXPECT_EQ(rules.names, guarded);
  const Refused instructs =
      through_host(Refused{RefusedCall::kInstructs, 9, "/p/CLAUDE.md", "built in", Refused::Before::kText, "one\n"});
  EXPECT_EQ(instructs.call, RefusedCall::kInstructs);
  EXPECT_EQ(instructs.was, Refused::Before::kText);
  EXPECT_EQ(instructs.before, "one\n");
  EXPECT_EQ(refused.call, RefusedCall::kFileChange);
  EXPECT_EQ(through_host(Refused{RefusedCall::kGivesRights, 9, "/p/s", {}}).call, RefusedCall::kGivesRights);
  EXPECT_EQ(through_host(Refused{RefusedCall::kKept, 9, "/p/s", {}}).call, RefusedCall::kKept);
  EXPECT_EQ(through_host(Refused{RefusedCall::kSetAside, 9, "/p/s", "s-1"}).call, RefusedCall::kSetAside);
  EXPECT_EQ(refused.pid, 9U);
  EXPECT_EQ(refused.path, "/p/.bashrc");
  EXPECT_EQ(refused.rule, "built in");
  const AccessRules questions = through_guest(AccessRules{{},
                                                          plan::FileQuestions::kAll,
                                                          {"/home", "/root"},
                                                          {{.target = "/p",
                                                            .identity = {3, 1ULL << 40},
                                                            .source = "/home/p",
                                                            .descriptor = SupervisedMount::Descriptor::kHeld}}});
  ASSERT_EQ(questions.supervised.size(), 1U);
  EXPECT_EQ(questions.supervised.front().target, "/p");
  EXPECT_EQ(questions.supervised.front().source, "/home/p");
  EXPECT_EQ(questions.supervised.front().descriptor, SupervisedMount::Descriptor::kHeld);
  EXPECT_EQ(questions.supervised.front().identity, (plan::Identity{3, 1ULL << 40}));
  EXPECT_EQ(questions.questions, plan::FileQuestions::kAll);
  EXPECT_EQ(questions.hidden, (std::vector<std::string>{"/home", "/root"}));
  const Names names = through_guest(Names{{.rules = {{"/**/*.pem", "a rule", "/x", {"/lifted"}}}}, {"/h"}});
  EXPECT_EQ(names.names.rules, (std::vector<plan::NameRule>{{"/**/*.pem", "a rule", "/x", {"/lifted"}}}));
  const FileAsked about = through_host(FileAsked{1ULL << 41, 9, FileAsked::Wanted::kChange, "/home/u/x"});
  EXPECT_EQ(about.id, 1ULL << 41);
  EXPECT_EQ(about.pid, 9U);
  EXPECT_EQ(about.wanted, FileAsked::Wanted::kChange);
  EXPECT_EQ(about.path, "/home/u/x");
  const FileAnswered opened =
      through_guest(FileAnswered{7, FileAnswered::Answer::kWritable, "/home/u", "/home/u/x", {"/home/u/x/y"}});
  EXPECT_EQ(opened.id, 7U);
  EXPECT_EQ(opened.answer, FileAnswered::Answer::kWritable);
  EXPECT_EQ(opened.root, "/home/u");
  EXPECT_EQ(opened.only, "/home/u/x");
  EXPECT_EQ(opened.closed, std::vector<std::string>{"/home/u/x/y"});
  EXPECT_EQ(through_guest(FileRevoked{"/home/u"}).path, "/home/u");
}

TEST(Message, OfMountsThatChange) {
  plan::MountStep step;
  step.target = "/home/u/x";
  const Widen widen = through_guest(Widen{Widen::Action::kHandOver, "/a", "/b", {step}, {"/"}});
  EXPECT_EQ(widen.action, Widen::Action::kHandOver);
  EXPECT_EQ(through_guest(Widen{Widen::Action::kHandRoot, {}, {}, {}, {}}).action, Widen::Action::kHandRoot);
  EXPECT_EQ(widen.target + widen.at, "/a/b");
  ASSERT_EQ(widen.steps.size(), 1U);
  EXPECT_EQ(widen.steps.front().target, "/home/u/x");
  EXPECT_EQ(widen.own, std::vector<std::string>{"/"});
  const Cover cover = through_guest(Cover{{{step, step}, {}}});
  ASSERT_EQ(cover.places.size(), 2u);
  EXPECT_EQ(cover.places[0], (std::vector{step, step}));
  const Uncover uncover = through_guest(Uncover{{7, 1ULL << 40}, {"/home/u"}});
  EXPECT_EQ(uncover.mounts, (std::vector<std::uint64_t>{7, 1ULL << 40}));
  EXPECT_EQ(uncover.own, std::vector<std::string>{"/home/u"});
  const Covers covers = through_guest(Covers{{3}, Covers::Change::kBegins});
  EXPECT_EQ(covers.mounts, std::vector<std::uint64_t>{3});
  EXPECT_EQ(covers.change, Covers::Change::kBegins);
  const Covered covered = through_host(Covered{{{{5, 6}, ""}, {{}, "why not"}}});
  ASSERT_EQ(covered.places.size(), 2u);
  EXPECT_EQ(covered.places[0].mounts, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(covered.places[1].error, "why not");
  (void)through_host(Heeded{});
  (void)through_host(Changes{});
  const Repository moved = through_host(Repository{Repository::Event::kMoved, "/p/new/.git", "/p/old", {3, 4, 5}});
  EXPECT_EQ(moved.event, Repository::Event::kMoved);
  EXPECT_EQ(moved.path, "/p/new/.git");
  EXPECT_EQ(moved.identity, (plan::RepositoryIdentity{3, 4, 5}));
  EXPECT_EQ(moved.from, "/p/old");
  (void)through_guest(Heard{});
  (void)through_guest(Wait{});
  (void)through_guest(GoOn{});
  (void)through_guest(Settle{});
  const Widened widened = through_host(Widened{Widened::Place::kMade, 1ULL << 40});
  EXPECT_EQ(widened.place, Widened::Place::kMade);
  EXPECT_EQ(widened.mount, 1ULL << 40);
}

TEST(Message, OfSockets) {
  const SocketAsked asked = through_host(SocketAsked{1ULL << 40, 9, "/run/a.sock", 2});
  EXPECT_EQ(asked.id, 1ULL << 40);
  EXPECT_EQ(asked.pid, 9U);
  EXPECT_EQ(asked.path, "/run/a.sock");
  EXPECT_EQ(asked.error, 2);
  const SocketAnswered answered = through_guest(SocketAnswered{1ULL << 40, 13});
  EXPECT_EQ(answered.id, 1ULL << 40);
  EXPECT_EQ(answered.error, 13);
  const Failed failed = through_host(Failed{{Code::kConflict, 17, "mount(/x): no"}});
  EXPECT_EQ(failed.error.message, "mount(/x): no");
  EXPECT_EQ(failed.error.code, Code::kConflict);
  EXPECT_EQ(failed.error.sys_errno, 17);
}

TEST(Message, EveryShorterOneIsRefused) {
  const std::string bytes = encode(ToGuest(a_start()));
  const auto header = decode_header(std::string_view(bytes).substr(0, kFrameHeaderBytes));
  ASSERT_TRUE(header.has_value());
  for (std::size_t size = kFrameHeaderBytes; size < bytes.size(); ++size) {
    const auto body = std::string_view(bytes).substr(kFrameHeaderBytes, size - kFrameHeaderBytes);
    EXPECT_FALSE(decode_to_guest(*header, body).has_value()) << size;
  }
}

TEST(Message, WhatIsLeftOverIsRefused) {
  FrameHeader header{1, 1, 0};
  EXPECT_FALSE(decode_to_host(header, "x").has_value());
}

TEST(Message, UnknownTypesAndValuesAreRefused) {
  EXPECT_FALSE(decode_to_guest({0, 99, 0}, "").has_value());
  Writer out;
  out.u32(1);
  out.u8(200);  // no such isolation
  EXPECT_FALSE(decode_to_guest({0, 0, 0}, out.bytes()).has_value());
}

TEST(Header, TooLargeAFrameIsRefused) {
  FrameHeader header;
  header.size = static_cast<std::uint32_t>(limits::kFrameBytesMax + 1);
  EXPECT_FALSE(decode_header(encode_header(header)).has_value());
  EXPECT_FALSE(decode_header(encode_header({1, 1, 1})).has_value());
}

TEST(Codec, ACountOfMoreThanCanFollowIsRefusedBeforeRoomIsMade) {
  Writer out;
  out.u32(0x7fffffff);
  Reader in(out.bytes());
  EXPECT_TRUE(in.texts().empty());
  EXPECT_FALSE(in.finish("list").has_value());
}

}  // namespace
}  // namespace hutch::wire
