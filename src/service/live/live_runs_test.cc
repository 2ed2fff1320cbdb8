// Runs as other programs find them: by their sockets; a run that does not answer, one that was killed.
#include "service/live/live_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/directory_testing.h"
#include "base/text.h"
#include "sandbox/questions/question_socket.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"

namespace hutch::service {
namespace {

using sandbox::QuestionSocket;
using testing::ElementsAre;
using testing::IsEmpty;

class LiveRunsTest : public testing::Test {
 protected:
  std::unique_ptr<QuestionSocket> make(const std::string& id) {
    auto socket = QuestionSocket::open({runs_, {id, 7, "/w", {"make"}}});
    EXPECT_TRUE(socket) << socket.error().message;
    return std::move(*socket);
  }
  // A run that answers until the guard goes.
  std::jthread serve(QuestionSocket& socket) {
    return std::jthread([&socket](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd ready{socket.fd(), POLLIN, 0};
        (void)sys::poll({&ready, 1}, std::chrono::milliseconds(20));
        (void)socket.step();
      }
    });
  }
  std::vector<std::string> ids() {
    std::vector<std::string> all;
    for (const LiveRun& run : live_runs(runs_)) all.push_back(run.id());
    return all;
  }

  const TestDirectory made_{"hutch-live-runs"};
  const std::string runs_ = made_.path() + "/runs";
};

TEST_F(LiveRunsTest, NoneWhereNothingRuns) { EXPECT_THAT(ids(), IsEmpty()); }

TEST_F(LiveRunsTest, ThoseThatRunByTheirIds) {
  const auto b = make("bbbb");
  const auto a = make("aaaa");
  std::ofstream(cat({runs_, "/notes"})) << "no socket";
  EXPECT_THAT(ids(), ElementsAre("aaaa", "bbbb"));
}

TEST_F(LiveRunsTest, WhatAKilledRunLeftIsRemoved) {
  const auto a = make("aaaa");
  {
    const auto directory = sys::open(runs_, sys::Open::kReadDirectory);
    auto left = sys::listen_beneath(directory->get(), "dead.sock");
    ASSERT_TRUE(left);
  }
  EXPECT_TRUE(std::filesystem::exists(runs_ + "/dead.sock"));
  EXPECT_THAT(ids(), ElementsAre("aaaa"));
  EXPECT_FALSE(std::filesystem::exists(runs_ + "/dead.sock"));
}

TEST_F(LiveRunsTest, EachIsAskedAndAnswers) {
  const auto a = make("aaaa");
  const auto b = make("bbbb");
  a->handle_by([](const wire::ControlInput&, std::string_view, const QuestionSocket::Tell& tell) {
    tell(wire::control_revoked("a.example", 2, 1));
    return Status();
  });
  b->handle_by([](const wire::ControlInput&, std::string_view, const QuestionSocket::Tell&) {
    return Status(fail(Error::invalid("not here")));
  });
  const std::jthread one = serve(*a);
  const std::jthread other = serve(*b);
  const auto answers = ask_runs(runs_, R"({"v":1,"type":"revoke","host":"a.example"})", "revoked");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].run, "aaaa");
  EXPECT_EQ(answers[0].number("grants"), 2);
  EXPECT_EQ(answers[0].number("nothing"), 0);
  EXPECT_EQ(answers[0].error, "");
  EXPECT_EQ(answers[1].error, "not here");
}

TEST_F(LiveRunsTest, WhatHoldsLaterIsSaid) {
  const auto a = make("aaaa");
  const auto b = make("bbbb");
  a->handle_by([](const wire::ControlInput&, std::string_view, const QuestionSocket::Tell& tell) {
    tell(wire::control_reloaded({"network.publish 80"}));
    return Status();
  });
  b->handle_by([](const wire::ControlInput&, std::string_view, const QuestionSocket::Tell&) {
    return Status(fail(Error::invalid("broken")));
  });
  const std::jthread one = serve(*a);
  const std::jthread other = serve(*b);
  const std::string process = cat({"process ", std::to_string(::getpid())});
  EXPECT_THAT(reload_runs(runs_), ElementsAre(process + ": network.publish 80 holds from the next start on",
                                              process + " goes on as it was: broken"));
}

TEST_F(LiveRunsTest, OneThatDoesNotAnswerIsLeftOut) {
  const auto a = make("aaaa");
  EXPECT_THAT(ask_runs(runs_, R"({"v":1,"type":"reload"})", "reloaded"), IsEmpty());
}

TEST_F(LiveRunsTest, AllButOneAreTold) {
  const auto a = make("aaaa");
  const auto b = make("bbbb");
  int of_a = 0;
  int of_b = 0;
  a->handle_by(
      [&](const wire::ControlInput&, std::string_view, const QuestionSocket::Tell&) { return ++of_a, Status(); });
  b->handle_by(
      [&](const wire::ControlInput&, std::string_view, const QuestionSocket::Tell&) { return ++of_b, Status(); });
  tell_of_saved_policy(runs_, "aaaa");
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(a->step());
    EXPECT_TRUE(b->step());
  }
  EXPECT_EQ(of_a, 0);
  EXPECT_EQ(of_b, 1);
}

}  // namespace
}  // namespace hutch::service
