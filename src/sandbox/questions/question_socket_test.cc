// The socket of a run's questions: who is heard, what is sent, who is let go.
#include "sandbox/questions/question_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/directory_testing.h"
#include "base/limits.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "wire/question_testing.h"

namespace hutch::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::question_about;

class QuestionSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = QuestionSocket::open({base_ + "/runs", {"3f9a", 7, "/w", {"make"}}});
    ASSERT_TRUE(opened) << opened.error().message;
    socket_ = std::move(*opened);
    socket_->handle_by([this](const wire::ControlInput& input, std::string_view, const QuestionSocket::Tell& tell) {
      ++handled_;
      if (std::holds_alternative<wire::ControlReload>(input)) tell(wire::control_reloaded({}));
      return std::holds_alternative<wire::ControlAnswer>(input) ? Status(fail(Error::invalid("not so"))) : Status();
    });
  }

  UniqueFd connect() {
    UniqueFd client = call();
    step();
    return client;
  }
  UniqueFd call() {
    const auto directory = sys::open(base_ + "/runs", sys::Open::kReadDirectory);
    auto client = sys::connect_beneath(directory->get(), "3f9a.sock");
    EXPECT_TRUE(client) << client.error().message;
    return std::move(*client);
  }
  void step() { EXPECT_TRUE(socket_->step()); }
  std::string heard(const UniqueFd& client) {
    std::string all;
    char chunk[65536];
    for (auto count = sys::read_some(client.get(), chunk); count && *count > 0;
         count = sys::read_some(client.get(), chunk)) {
      all.append(chunk, *count);
    }
    return all;
  }
  bool is_closed(const UniqueFd& client) {
    (void)heard(client);
    char byte[1];
    const auto count = sys::read_some(client.get(), byte);
    return count ? *count == 0 : count.error().sys_errno != EAGAIN;
  }
  void say(const UniqueFd& client, std::string_view line) {
    EXPECT_TRUE(sys::write_some(client.get(), cat({line, "\n"})));
    step();
  }

  const TestDirectory made_{"hutch-question-socket"};
  const std::string base_ = made_.path();
  std::unique_ptr<QuestionSocket> socket_;
  int handled_ = 0;
};

TEST_F(QuestionSocketTest, AClientIsToldWhatRuns) {
  socket_->list_by([] { return std::vector<wire::ControlQuestion>{question_about("1", "a.example")}; });
  const UniqueFd client = connect();
  const std::string said = heard(client);
  EXPECT_THAT(said, HasSubstr(R"("open":1)"));
  EXPECT_THAT(said, HasSubstr(R"("host":"a.example")"));
}

TEST_F(QuestionSocketTest, WhoAttendsIsThere) {
  EXPECT_FALSE(socket_->is_attached());
  UniqueFd client = connect();
  EXPECT_FALSE(socket_->is_attached());
  say(client, R"({"v":1,"type":"attend"})");
  EXPECT_TRUE(socket_->is_attached());
  EXPECT_EQ(handled_, 0);
  client.reset();
  step();
  EXPECT_FALSE(socket_->is_attached());
}

TEST_F(QuestionSocketTest, WhoHoldsTheFileIsThereBeforeConnecting) {
  auto held = sys::hold_file(cat({base_, "/runs/", kAttendingFile}));
  ASSERT_TRUE(held);
  EXPECT_TRUE(socket_->is_attached());
  auto second = sys::hold_file(cat({base_, "/runs/", kAttendingFile}));
  ASSERT_TRUE(second);
  held->reset();
  EXPECT_TRUE(socket_->is_attached());
  second->reset();
  EXPECT_FALSE(socket_->is_attached());
}

TEST_F(QuestionSocketTest, LinesAreHandledAndErrorsTold) {
  const UniqueFd client = connect();
  (void)heard(client);
  say(client, R"({"v":1,"type":"reload"})");
  EXPECT_THAT(heard(client), HasSubstr("reloaded"));
  say(client, R"({"v":1,"type":"answer","id":"1","choice":"once"})");
  EXPECT_THAT(heard(client), HasSubstr("not so"));
  say(client, "nonsense");
  EXPECT_THAT(heard(client), HasSubstr("one JSON object"));
  EXPECT_EQ(handled_, 2);
}

TEST_F(QuestionSocketTest, ALineMayComeInPieces) {
  const UniqueFd client = connect();
  (void)heard(client);
  EXPECT_TRUE(sys::write_some(client.get(), R"({"v":1,"ty)"));
  step();
  EXPECT_EQ(handled_, 0);
  say(client, R"(pe":"reload"})");
  EXPECT_EQ(handled_, 1);
}

TEST_F(QuestionSocketTest, WhatWasSaidBeforeGoingIsHeard) {
  const auto directory = sys::open(base_ + "/runs", sys::Open::kReadDirectory);
  auto client = sys::connect_beneath(directory->get(), "3f9a.sock");
  ASSERT_TRUE(client);
  EXPECT_TRUE(sys::write_some(client->get(), "{\"v\":1,\"type\":\"reload\"}\n"));
  client->reset();
  for (int i = 0; i < 4; ++i) step();
  EXPECT_EQ(handled_, 1);
}

TEST_F(QuestionSocketTest, AllHearOfQuestionsAndAnswers) {
  const UniqueFd one = connect();
  const UniqueFd other = connect();
  socket_->asked(question_about("1", "a.example"));
  socket_->answered({1, {}, approval::Answer::kOnce, "the terminal"});
  for (const UniqueFd* client : {&one, &other}) {
    const std::string said = heard(*client);
    EXPECT_THAT(said, HasSubstr(R"("type":"question")"));
    EXPECT_THAT(said, HasSubstr(R"("by":"the terminal")"));
  }
}

TEST_F(QuestionSocketTest, ALineWithoutAnEndEndsTheClient) {
  const UniqueFd client = connect();
  const std::string much(65536, 'x');
  for (std::size_t sent = 0; sent <= limits::kControlLineBytesMax + 2 * much.size();) {
    const auto count = sys::write_some(client.get(), much);
    sent += count ? *count : 0;
    if (!count && count.error().sys_errno != EAGAIN) break;
    step();
  }
  // A little of it is read at a time.
  for (int i = 0; i < 64; ++i) step();
  EXPECT_TRUE(is_closed(client));
}

TEST_F(QuestionSocketTest, AClientThatDoesNotReadIsLetGo) {
  const UniqueFd client = connect();
  const UniqueFd reader = connect();
  const std::string path(60000, 'p');
  for (int i = 0; i < 100; ++i) {
    socket_->asked(question_about("1", path));
    EXPECT_THAT(heard(reader), HasSubstr("ppp")) << i;
    step();
  }
  EXPECT_TRUE(is_closed(client));
  EXPECT_FALSE(is_closed(reader));
}

TEST_F(QuestionSocketTest, WhatASlowClientDidNotTakeComesLater) {
  const UniqueFd client = connect();
  const std::string path(60000, 'p');
  for (int i = 0; i < 10; ++i) socket_->asked(question_about(std::to_string(i), path));
  std::string all;
  for (int i = 0; i < 40; ++i) {
    all += heard(client);
    step();
  }
  EXPECT_EQ(std::ranges::count(all, '\n'), 11);
  EXPECT_FALSE(is_closed(client));
}

TEST_F(QuestionSocketTest, ThereIsALimitOfClients) {
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(connect());
  const auto closed = std::ranges::count_if(clients, [&](const UniqueFd& client) { return is_closed(client); });
  EXPECT_EQ(closed, 8);
}

TEST_F(QuestionSocketTest, WhoComesTakesThePlaceOfOneWhoHasGone) {
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 32; ++i) clients.push_back(connect());
  clients.clear();
  const UniqueFd last = call();
  step();
  EXPECT_THAT(heard(last), HasSubstr("3f9a"));
}

TEST_F(QuestionSocketTest, ItIsItsOwnersAlone) {
  struct stat status{};
  ASSERT_EQ(::stat((base_ + "/runs/3f9a.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  socket_.reset();
  EXPECT_FALSE(std::filesystem::exists(base_ + "/runs/3f9a.sock"));
}

TEST_F(QuestionSocketTest, ADirectoryOfOthersIsRefused) {
  std::filesystem::create_directory(base_ + "/open");
  ASSERT_EQ(::chmod((base_ + "/open").c_str(), 0755), 0);
  const auto opened = QuestionSocket::open({base_ + "/open", {"3f9a", 7, "/w", {}}});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("has to be yours alone (mode 0700)"));
}

TEST_F(QuestionSocketTest, ALongPathIsNoHindrance) {
  const std::string deep = cat({base_, "/", std::string(120, 'd'), "/runs"});
  auto opened = QuestionSocket::open({deep, {"3f9a", 7, "/w", {}}});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(std::filesystem::exists(deep + "/3f9a.sock"));
}

}  // namespace
}  // namespace hutch::sandbox
