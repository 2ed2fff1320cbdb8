// Records written and read back, and everything that is not one.
#include "store/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::store {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

const Time kTime(milliseconds(1'795'283'582'123));  // 2026-11-21T17:53:02.123Z

Record start() {
  return {kTime, "3f9a1c", RunStart{{"make", "te st"}, "/home/ada/p", "built-in default", "namespace"}};
}
Record end() {
  return {kTime, "3f9a1c", RunEnd{.exit_code = 2, .ended_by = "itself", .duration = milliseconds(1234), .error = ""}};
}
Record connection() {
  return {kTime, "3f9a1c", Connection{"example.org:443", "default", std::chrono::milliseconds(12), 34, 1LL << 40}};
}
Record refusal() { return {kTime, "3f9a1c", Refusal{"socket(AF_UNIX)", "seccomp"}}; }

TEST(Record, IsReadAsItWasWritten) {
  Record refused = refusal();
  Record connected = connection();
  std::get<Refusal>(refused.body).pid = 4711;
  std::get<Refusal>(refused.body).program = "/usr/bin/curl";
  std::get<Connection>(connected.body).pid = 1;
  std::get<Connection>(connected.body).program = "/x";
  const Record decided = {kTime, "3f9a1c", Decision{"connect to a.example:443", "once", "the terminal", 7, "/x"}};
  const Record disabled = {kTime, "3f9a1c", Decision{"run without isolation", "allowed", "enabled: false in x"}};
  const Record used = {kTime, "3f9a1c", Service{"secrets", "TOKEN", "given"}, "alice"};
  const Record logged = {kTime, "3f9a1c", Service{"log", "it went wrong", "warning", 7, "/x"}, "alice"};
  for (const Record& record :
       {start(), end(), refusal(), connection(), refused, connected, decided, disabled, used, logged}) {
    const std::string line = format_record(record);
    EXPECT_EQ(line.find('\n'), line.npos);
    const Result<Record> read = parse_record(line);
    ASSERT_TRUE(read) << read.error().message << ": " << line;
    EXPECT_EQ(*read, record);
    EXPECT_EQ(type_of(*read), type_of(record));
  }
}

constexpr const char* kStartLine =
    R"({"v":1,"time":"2026-11-21T17:53:02.123Z","run":"3f9a1c","type":"start",)"
    R"("command":["make","te st"],"cwd":"/home/ada/p","policy":"built-in default","backend":"namespace"})";
constexpr const char* kEndLine = R"({"v":1,"time":"2026-11-21T17:53:02.123Z","run":"3f9a1c","type":"end",)"
                                 R"("exit_code":2,"signal":0,"ended_by":"itself","duration_ms":1234,"error":""})";
constexpr const char* kRefusalLine = R"({"v":1,"time":"2026-11-21T17:53:02.123Z","run":"3f9a1c","type":"refusal",)"
                                     R"-("what":"socket(AF_UNIX)","rule":"seccomp"})-";

TEST(Record, HasAStableForm) {
  EXPECT_EQ(format_record(start()), kStartLine);
  EXPECT_EQ(format_record(end()), kEndLine);
  EXPECT_EQ(format_record(refusal()), kRefusalLine);
  Record refused = refusal();
  std::get<Refusal>(refused.body).pid = 4711;
  std::get<Refusal>(refused.body).program = "/usr/bin/curl";
  std::string line = kRefusalLine;
  EXPECT_EQ(format_record(refused), line.insert(line.size() - 1, R"(,"pid":4711,"exe":"/usr/bin/curl")"));
}

TEST(Record, TakesHostileBytes) {
  Record record = start();
  std::get<RunStart>(record.body).command = {"a\nb\x1b[31m", "\xff\xfe", std::string("nul\0l", 5), "\xe2\x80\xae"};
  const std::string line = format_record(record);
  EXPECT_EQ(line.find('\n'), line.npos);
  const Result<Record> read = parse_record(line);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<RunStart>(read->body).command[0], "a\nb\x1b[31m");
  EXPECT_EQ(std::get<RunStart>(read->body).command[1], "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Record, IsBounded) {
  const std::string worst(1 << 20, '\x01');  // six bytes each in JSON
  Record record = {kTime, "aa", RunStart{{}, worst, worst, worst}};
  std::get<RunStart>(record.body).command.assign(100'000, std::string(100, '\x01'));
  const std::string line = format_record(record);
  EXPECT_LE(line.size(), kRecordBytesMax);
  const Result<Record> read = parse_record(line);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::get<RunStart>(read->body).command.back(), "...");
  EXPECT_THAT(std::get<RunStart>(read->body).cwd, testing::EndsWith("..."));

  std::get<RunStart>(record.body).command.assign(100'000, "");
  EXPECT_LE(format_record(record).size(), kRecordBytesMax);
}

TEST(Record, RefusesWhatIsNone) {
  const std::string good = format_record(refusal());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::string> bad = {
      "",
      "{}",
      "[]",
      "null",
      "7",
      "{",
      good.substr(0, good.size() - 1),
      good + "x",
      good + good,
      changed("\"v\":1", "\"v\":2"),
      changed("\"v\":1", "\"v\":\"1\""),
      changed("\"v\":1", "\"v\":1.0"),
      changed("\"v\":1", "\"v\":18446744073709551615"),
      changed("\"v\":1,", ""),
      changed("3f9a1c", "3F9A"),
      changed("3f9a1c", ""),
      changed("3f9a1c", "../../x"),
      changed("3f9a1c", std::string(33, 'a')),
      changed("2026-11-21T17", "2026-13-21T17"),
      changed("2026-11-21T17", "2026-02-30T17"),
      changed("T17:53", "T24:53"),
      changed("T17:53", "T17:60"),
      changed("123Z", "123z"),
      changed(".123Z", "Z"),
      changed("\"refusal\"", "\"Refusal\""),
      changed("\"refusal\"", "\"end\""),
      changed("\"refusal\"", "3"),
      changed("\"what\":", "\"waht\":"),
      changed("\"seccomp\"", "null"),
      changed("\"rule\"", "\"more\":1,\"rule\""),
      changed("\"rule\"", "\"pid\":0,\"rule\""),
      changed("\"rule\"", "\"pid\":\"1\",\"rule\""),
      changed("\"rule\"", "\"pid\":2147483648,\"rule\""),
      changed("\"rule\"", "\"exe\":null,\"rule\""),
      std::string(100'000, '['),
      "{\"v\":" + std::string(200, '[') + "}",
      std::string(kRecordBytesMax + 1, ' ') + good,
  };
  for (const std::string& line : bad) EXPECT_FALSE(parse_record(line)) << line.substr(0, 200);
  std::string text = format_record(end());
  text.replace(text.find("1234"), 4, "-1");
  EXPECT_FALSE(parse_record(text));
}

TEST(RecordTime, GoesBothWays) {
  EXPECT_EQ(format_time(kTime), "2026-11-21T17:53:02.123Z");
  EXPECT_EQ(*parse_time("2026-11-21T17:53:02.123Z"), kTime);
  EXPECT_EQ(format_time(Time(milliseconds(0))), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(*parse_time("2024-02-29T23:59:59.999Z"), Time(milliseconds(1'709'251'199'999)));
  for (const char* wrong : {"", "2026-11-21", "2025-02-29T00:00:00.000Z", "0000-00-00T00:00:00.000Z"}) {
    EXPECT_FALSE(parse_time(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace hutch::store
