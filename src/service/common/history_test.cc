// Records grouped by run, found, filtered and put into words, hostile ones too.
#include "service/common/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using std::chrono::milliseconds;
using store::Record;
using store::Refusal;
using store::RunEnd;
using store::RunStart;
using testing::ElementsAre;
using testing::HasSubstr;

store::Time at(int second) { return store::Time(std::chrono::seconds(second)); }

std::string seconds_text(store::Time time) { return std::to_string(time.time_since_epoch().count() / 1000); }

std::vector<Record> sample() {
  return {
      {at(1), "aa11", RunStart{{"make", "all"}, "/p", "built-in", "namespace"}},
      {at(2), "bb22", RunStart{{"sh", "-c", "echo 'hi'"}, "/q", "ci.json", "bwrap"}},
      {at(3), "aa11", Refusal{"a Unix socket", "network none"}},
      {at(4), "aa11", RunEnd{.exit_code = 2, .ended_by = "itself", .duration = milliseconds(3210), .error = ""}},
      {at(5), "cc33", RunEnd{.exit_code = 124, .ended_by = "timeout", .duration = milliseconds(61'000), .error = ""}},
  };
}

std::vector<std::string> ids(const std::vector<Record>& records) {
  std::vector<std::string> list;
  for (const Record& record : records) list.push_back(record.run);
  return list;
}

TEST(History, GroupsByRun) {
  const std::vector<PastRun> runs = runs_of(sample());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].id, "aa11");
  EXPECT_TRUE(runs[0].start && runs[0].end);
  EXPECT_EQ(runs[0].refusals.size(), 1u);
  EXPECT_FALSE(runs[1].end);
  EXPECT_FALSE(runs[2].start);
}

TEST(History, FindsARunByTheStartOfItsId) {
  std::vector<PastRun> runs = runs_of(sample());
  EXPECT_EQ(find_run(runs, "bb")->id, "bb22");
  EXPECT_THAT(find_run(runs, "dd").error().message, HasSubstr("\"dd\""));
  runs.push_back({.id = "bb99", .time = {}, .start = {}, .end = {}, .refusals = {}});
  EXPECT_THAT(find_run(runs, "bb").error().message, HasSubstr("bb22, bb99"));
  EXPECT_EQ(find_run(runs, "bb2")->id, "bb22");
}

TEST(History, FindsTheLastRefused) {
  EXPECT_EQ(last_refused(runs_of(sample()))->id, "aa11");
  EXPECT_FALSE(last_refused({}));
}

TEST(History, Filters) {
  EXPECT_EQ(filter_records(sample(), {}).size(), 5u);
  EXPECT_THAT(ids(filter_records(sample(), {.since = at(3), .types = {}, .run = {}, .count = {}})),
              ElementsAre("aa11", "aa11", "cc33"));
  EXPECT_THAT(ids(filter_records(sample(), {.since = {}, .types = {"end"}, .run = {}, .count = {}})),
              ElementsAre("aa11", "cc33"));
  EXPECT_THAT(ids(filter_records(sample(), {.since = {}, .types = {"start", "refusal"}, .run = "a", .count = {}})),
              ElementsAre("aa11", "aa11"));
  EXPECT_THAT(ids(filter_records(sample(), {.since = {}, .types = {}, .run = {}, .count = 2})),
              ElementsAre("aa11", "cc33"));
}

TEST(History, IsPutIntoWords) {
  const std::vector<PastRun> runs = runs_of(sample());
  EXPECT_EQ(run_line(runs[0], seconds_text),
            "1  aa11  exit 2            3.2s  namespace  make all  (1 refused; hutch why aa11)\n");
  EXPECT_EQ(run_line(runs[1], seconds_text), "2  bb22  no end                  bwrap      sh -c 'echo '\\''hi'\\'''\n");
  EXPECT_EQ(run_line(runs[2], seconds_text), "5  cc33  timeout          1m01s             ?\n");
  EXPECT_EQ(refusals_text(runs[0], seconds_text),
            "run aa11 of 1: make all\n  in /p, policy built-in\n  refused: a Unix socket\n       by: network none\n");
  EXPECT_THAT(refusals_text(runs[1], seconds_text), HasSubstr("nothing was refused"));
  EXPECT_EQ(record_line(sample()[2], seconds_text), "3  aa11  refusal     a Unix socket  by network none\n");
  EXPECT_EQ(record_line(sample()[3], seconds_text), "4  aa11  end         exit 2 after 3.2s\n");
  EXPECT_EQ(record_line(sample()[0], seconds_text),
            "1  aa11  start       make all  in /p, backend namespace, policy built-in\n");
}

TEST(History, SaysWhoWasRefused) {
  const Record refused{at(3), "aa11", Refusal{"a.example", "default", 4711, "/usr/bin/curl\n"}};
  store::Connection connection{"a.example:443", "an answer", milliseconds(5), 1, 2, 12, {}};
  EXPECT_EQ(record_line(refused, seconds_text),
            "3  aa11  refusal     a.example  by default  for /usr/bin/curl\\x0a (process 4711)\n");
  EXPECT_EQ(record_line({at(3), "aa11", connection}, seconds_text),
            "3  aa11  connection  a.example:443  1 bytes up, 2 down, 5ms  by an answer  for ? (process 12)\n");
  const PastRun run = runs_of({refused})[0];
  EXPECT_THAT(refusals_text(run, seconds_text),
              HasSubstr("       by: default\n      for: /usr/bin/curl\\x0a (process 4711)\n"));
  EXPECT_THAT(run_json(run), HasSubstr(R"("rule":"default","pid":4711,"exe":"/usr/bin/curl\n"})"));
}

TEST(History, IsJson) {
  EXPECT_EQ(run_json(runs_of(sample())[0]),
            R"({"run":"aa11","time":"1970-01-01T00:00:01.000Z","command":["make","all"],"cwd":"/p",)"
            R"("policy":"built-in","backend":"namespace","exit_code":2,"signal":null,"ended_by":"itself",)"
            R"("duration_ms":3210,"error":null,"refusals":[{"what":"a Unix socket","rule":"network none"}]})"
            "\n");
}

TEST(History, CannotMoveTheReadersCursor) {
  const std::string evil = "\x1b]0;x\x07\n\r\x1b[2J\xe2\x80\xae";
  const Record records[] = {
      {at(1), "aa", RunStart{{evil, evil}, evil, evil, evil}},
      {at(2), "aa", Refusal{evil, evil, 7, evil}},
      {at(3), "aa", RunEnd{.exit_code = 1, .ended_by = evil, .error = evil}},
  };
  std::string all = run_line(runs_of({std::begin(records), std::end(records)})[0], seconds_text);
  for (const Record& record : records) all += record_line(record, seconds_text);
  all += refusals_text(runs_of({std::begin(records), std::end(records)})[0], seconds_text);
  for (const char c : all) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
  EXPECT_EQ(all.find("\xe2\x80\xae"), all.npos);
  EXPECT_EQ(std::ranges::count(all, '\n'), 10);
}

}  // namespace
}  // namespace hutch::service
