// One run's records, and a directory in which none can be kept.
#include "service/common/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/directory_testing.h"

namespace hutch::service {
namespace {

class RecorderTest : public testing::Test {
 protected:
  Recorder recorder(const std::string& directory) {
    return Recorder(directory, [this](const std::string& line) { told_.push_back(line); });
  }

  const TestDirectory made_{"hutch-recorder"};
  const std::string root_ = made_.path();
  std::vector<std::string> told_;
};

TEST_F(RecorderTest, KeepsARun) {
  Recorder kept = recorder(root_ + "/data");
  kept.started({{"make"}, "/p", "built-in", "namespace"});
  kept.refused({.what = "a socket", .rule = "a rule", .host = {}, .port = 0, .pid = 12, .program = "/bin/nc"});
  egress::Passed passed;
  passed.target = {{"a.example", std::nullopt}, 443};
  passed.process = {13, "/bin/curl", {}};
  kept.connected(passed);
  sandbox::Outcome outcome;
  outcome.exit_code = 137;
  outcome.signal = 9;
  outcome.ended_by = sandbox::EndedBy::kMemoryLimit;
  outcome.duration = std::chrono::milliseconds(12);
  kept.ended(outcome);
  kept.failed(Error::invalid("why not"));

  const Result<store::SpoolContents> contents = store::read_spool(root_ + "/data");
  ASSERT_TRUE(contents) << contents.error().message;
  ASSERT_EQ(contents->records.size(), 5u);
  for (const store::Record& record : contents->records) EXPECT_EQ(record.run, kept.run());
  EXPECT_EQ(std::get<store::RunStart>(contents->records[0].body).backend, "namespace");
  EXPECT_EQ(std::get<store::Refusal>(contents->records[1].body), (store::Refusal{"a socket", "a rule", 12, "/bin/nc"}));
  const auto& connection = std::get<store::Connection>(contents->records[2].body);
  EXPECT_EQ(connection.target, "a.example:443");
  EXPECT_EQ(connection.pid, 13u);
  EXPECT_EQ(connection.program, "/bin/curl");
  const auto& end = std::get<store::RunEnd>(contents->records[3].body);
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_EQ(end.signal, 9);
  EXPECT_EQ(end.ended_by, "memory limit");
  EXPECT_EQ(end.duration, std::chrono::milliseconds(12));
  EXPECT_EQ(std::get<store::RunEnd>(contents->records[4].body).error, "why not");
  EXPECT_EQ(std::get<store::RunEnd>(contents->records[4].body).exit_code, 125);
  EXPECT_TRUE(told_.empty());
}

TEST_F(RecorderTest, SaysOnceThatItCannot) {
  std::ofstream(root_ + "/data") << "a file";
  Recorder lost = recorder(root_ + "/data/hutch");
  lost.started({});
  lost.failed(Error::invalid("x"));
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_THAT(told_[0], testing::StartsWith("this run is not recorded: "));
  EXPECT_EQ(lost.run(), "");
}

// Of each kind of line, and of those of the processes.
TEST_F(RecorderTest, WritesNothingDownThatIsScrubbed) {
  const auto scrub = [](const std::string& text) {
    std::string made = text;
    for (std::size_t at = 0; (at = made.find("VALUE", at)) != std::string::npos;) made.replace(at, 5, "...");
    return made;
  };
  Recorder kept(root_ + "/data", [](const std::string&) {}, "a", scrub);
  Recorder process = kept.another();
  process.started({{"echo", "VALUE"}, "/VALUE", "built-in", "namespace"});
  kept.refused({.what = "VALUE.example", .rule = "by VALUE", .host = {}, .port = 0, .pid = 1, .program = "/VALUE"});
  egress::Passed passed;
  passed.target = {{"VALUE.example", std::nullopt}, 443};
  passed.process = {13, "/VALUE", {}};
  kept.connected(passed);
  kept.decided({.what = "read /VALUE", .answer = "no", .by = "the terminal", .program = "/VALUE"});
  kept.used({.service = "log", .what = "VALUE", .outcome = "VALUE", .program = "/VALUE"});
  kept.failed(Error::invalid("VALUE is wrong"));
  const Result<store::SpoolContents> contents = store::read_spool(root_ + "/data");
  ASSERT_TRUE(contents) << contents.error().message;
  ASSERT_EQ(contents->records.size(), 6u);
  for (const store::Record& record : contents->records) {
    EXPECT_EQ(store::format_record(record).find("VALUE"), std::string::npos) << store::format_record(record);
  }
}

}  // namespace
}  // namespace hutch::service
