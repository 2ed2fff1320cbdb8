// Records to JSON and back.
#include "store/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "wire/json_guard.h"

namespace hutch::store {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kRecordVersion = 1;
constexpr std::size_t kRunDigitsMax = 32;
constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kDurationMax = 1LL << 50;

// JSON's escapes make a byte six at the most, so that a record of these stays below kRecordBytesMax.
constexpr std::size_t kRecordTextBytesMax = 2048;
constexpr std::size_t kCommandBytesMax = 4096;
constexpr std::string_view kLeftOut = "...";

Json command_json(const std::vector<std::string>& command);
std::string cut(std::string_view text);
void add_process(Json& json, std::uint32_t pid, const std::string& program);

// Reads the members of one object and remembers what was wrong first.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  std::string text(const char* name);
  std::int64_t number(const char* name, std::int64_t min, std::int64_t max);
  std::vector<std::string> texts(const char* name);
  // Whether there is such a member; it counts as unknown until it is read.
  bool has(const char* name) const { return object_.contains(name); }
  // No error so far, and no member besides those read.
  Status finish() const;

 private:
  const Json* find(const char* name);
  void complain(const char* name);

  const Json& object_;
  std::size_t read_ = 0;
  std::string wrong_;
};

Result<decltype(Record::body)> parse_body(const std::string& type, Members& members);
Connection parse_connection(Members& members);
Refusal parse_refusal(Members& members);
Decision parse_decision(Members& members);
Service parse_service(Members& members);
bool is_run_id(std::string_view text);

}  // namespace

std::string_view type_of(const Record& record) {
  static constexpr std::array<std::string_view, 6> kTypes = {"start",      "end",      "refusal",
                                                             "connection", "decision", "service"};
  return kTypes.at(record.body.index());
}

std::string format_record(const Record& record) {
  Json json = {
      {"v", kRecordVersion}, {"time", format_time(record.time)}, {"run", record.run}, {"type", type_of(record)}};
  if (const auto* start = std::get_if<RunStart>(&record.body)) {
    json["command"] = command_json(start->command);
    json["cwd"] = cut(start->cwd);
    json["policy"] = cut(start->policy);
    json["backend"] = cut(start->backend);
  } else if (const auto* end = std::get_if<RunEnd>(&record.body)) {
    json["exit_code"] = end->exit_code;
    json["signal"] = end->signal;
    json["ended_by"] = cut(end->ended_by);
    json["duration_ms"] = end->duration.count();
    json["error"] = cut(end->error);
  } else if (const auto* refusal = std::get_if<Refusal>(&record.body)) {
    json["what"] = cut(refusal->what);
    json["rule"] = cut(refusal->rule);
    add_process(json, refusal->pid, refusal->program);
  } else if (const auto* connection = std::get_if<Connection>(&record.body)) {
    json["target"] = cut(connection->target);
    json["rule"] = cut(connection->rule);
    json["duration_ms"] = connection->duration.count();
    json["bytes_up"] = connection->bytes_up;
    json["bytes_down"] = connection->bytes_down;
    add_process(json, connection->pid, connection->program);
  } else if (const auto* decision = std::get_if<Decision>(&record.body)) {
    json["what"] = cut(decision->what);
    json["answer"] = cut(decision->answer);
    json["by"] = cut(decision->by);
    add_process(json, decision->pid, decision->program);
  } else if (const auto* service = std::get_if<Service>(&record.body)) {
    json["service"] = cut(service->service);
    json["what"] = cut(service->what);
    json["outcome"] = cut(service->outcome);
    add_process(json, service->pid, service->program);
  }
  if (!record.agent.empty()) json["agent"] = cut(record.agent);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Record> parse_record(std::string_view line) {
  TRY(wire::check_json_shape(line, kRecordBytesMax));
  const Json json = parse_ordered_json(line);
  if (!json.is_object()) return fail(Error::invalid("not a JSON object"));
  Members members(json);
  if (members.number("v", kRecordVersion, kRecordVersion) != kRecordVersion)
    return fail(Error::invalid("not of version 1"));
  Record record;
  record.time = TRY(parse_time(members.text("time")));
  record.run = members.text("run");
  if (!is_run_id(record.run)) return fail(Error::invalid("run is not an id"));
  record.body = TRY(parse_body(members.text("type"), members));
  if (json.contains("agent")) record.agent = members.text("agent");
  TRY(members.finish());
  return record;
}

std::string format_time(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

Result<Time> parse_time(std::string_view text) {
  const auto wrong = [] { return fail(Error::invalid("time is not as 2026-11-21T17:53:02.123Z")); };
  static constexpr std::string_view kShape = "0000-00-00T00:00:00.000Z";
  if (text.size() != kShape.size()) return wrong();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool digit = text[at] >= '0' && text[at] <= '9';
    if (kShape[at] == '0' ? !digit : text[at] != kShape[at]) return wrong();
  }
  const auto part = [&](std::size_t at, std::size_t size) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
  };
  const std::chrono::year_month_day date(std::chrono::year(part(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(part(8, 2))));
  if (!date.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 59) return wrong();
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(part(11, 2)) + std::chrono::minutes(part(14, 2)) +
         std::chrono::seconds(part(17, 2)) + std::chrono::milliseconds(part(20, 3));
}

namespace {

// Whole arguments from the front, as many as fit; the mark says that some are missing.
Json command_json(const std::vector<std::string>& command) {
  Json json = Json::array();
  std::size_t bytes = 0;
  for (const std::string& argument : command) {
    const std::string text = cut(argument);
    bytes += text.size() + 1;
    if (bytes > kCommandBytesMax) {
      json.push_back(kLeftOut);
      break;
    }
    json.push_back(text);
  }
  return json;
}

std::string cut(std::string_view text) {
  if (text.size() <= kRecordTextBytesMax) return std::string(text);
  return cat({text.substr(0, kRecordTextBytesMax - kLeftOut.size()), kLeftOut});
}

void add_process(Json& json, std::uint32_t pid, const std::string& program) {
  if (pid != 0) json["pid"] = pid;
  if (!program.empty()) json["exe"] = cut(program);
}

std::string Members::text(const char* name) {
  const Json* member = find(name);
  if (member && member->is_string()) return member->get<std::string>();
  complain(name);
  return {};
}

std::int64_t Members::number(const char* name, std::int64_t min, std::int64_t max) {
  const Json* member = find(name);
  // An unsigned value above the signed range would wrap in get<int64_t>().
  const bool fits = member && member->is_number_integer() &&
                    (!member->is_number_unsigned() || member->get<std::uint64_t>() <= static_cast<std::uint64_t>(max));
  const std::int64_t value = fits ? member->get<std::int64_t>() : min - 1;
  if (value < min || value > max) complain(name);
  return value;
}

std::vector<std::string> Members::texts(const char* name) {
  std::vector<std::string> list;
  const Json* member = find(name);
  if (!member || !member->is_array()) {
    complain(name);
    return list;
  }
  for (const Json& item : *member) {
    if (!item.is_string()) {
      complain(name);
      return list;
    }
    list.push_back(item.get<std::string>());
  }
  return list;
}

Status Members::finish() const {
  if (!wrong_.empty()) return fail(Error::invalid(wrong_));
  if (read_ != object_.size()) return fail(Error::invalid("unknown key"));
  return {};
}

const Json* Members::find(const char* name) {
  const auto found = object_.find(name);
  if (found == object_.end()) return nullptr;
  ++read_;
  return &*found;
}

void Members::complain(const char* name) {
  if (wrong_.empty()) wrong_ = cat({name, " is missing or of another type"});
}

Result<decltype(Record::body)> parse_body(const std::string& type, Members& members) {
  if (type == "start") {
    RunStart start;
    start.command = members.texts("command");
    start.cwd = members.text("cwd");
    start.policy = members.text("policy");
    start.backend = members.text("backend");
    return start;
  }
  if (type == "end") {
    RunEnd end;
    end.exit_code = static_cast<int>(members.number("exit_code", 0, kIntMax));
    end.signal = static_cast<int>(members.number("signal", 0, kIntMax));
    end.ended_by = members.text("ended_by");
    end.duration = std::chrono::milliseconds(members.number("duration_ms", 0, kDurationMax));
    end.error = members.text("error");
    return end;
  }
  if (type == "connection") return parse_connection(members);
  if (type == "refusal") return parse_refusal(members);
  if (type == "decision") return parse_decision(members);
  if (type == "service") return parse_service(members);
  return fail(Error::invalid("type is not start, end, refusal, connection, decision or service"));
}

Connection parse_connection(Members& members) {
  static constexpr std::int64_t kBytesMax = 1LL << 60;
  Connection connection;
  connection.target = members.text("target");
  connection.rule = members.text("rule");
  connection.duration = std::chrono::milliseconds(members.number("duration_ms", 0, kDurationMax));
  connection.bytes_up = members.number("bytes_up", 0, kBytesMax);
  connection.bytes_down = members.number("bytes_down", 0, kBytesMax);
  if (members.has("pid")) connection.pid = static_cast<std::uint32_t>(members.number("pid", 1, kIntMax));
  if (members.has("exe")) connection.program = members.text("exe");
  return connection;
}

Refusal parse_refusal(Members& members) {
  Refusal refusal;
  refusal.what = members.text("what");
  refusal.rule = members.text("rule");
  if (members.has("pid")) refusal.pid = static_cast<std::uint32_t>(members.number("pid", 1, kIntMax));
  if (members.has("exe")) refusal.program = members.text("exe");
  return refusal;
}

Decision parse_decision(Members& members) {
  Decision decision;
  decision.what = members.text("what");
  decision.answer = members.text("answer");
  decision.by = members.text("by");
  if (members.has("pid")) decision.pid = static_cast<std::uint32_t>(members.number("pid", 1, kIntMax));
  if (members.has("exe")) decision.program = members.text("exe");
  return decision;
}

Service parse_service(Members& members) {
  Service service;
  service.service = members.text("service");
  service.what = members.text("what");
  service.outcome = members.text("outcome");
  if (members.has("pid")) service.pid = static_cast<std::uint32_t>(members.number("pid", 1, kIntMax));
  if (members.has("exe")) service.program = members.text("exe");
  return service;
}

bool is_run_id(std::string_view text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return !text.empty() && text.size() <= kRunDigitsMax && std::ranges::all_of(text, digit);
}

}  // namespace

}  // namespace hutch::store
