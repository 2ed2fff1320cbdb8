// The E2B-compatible API of sandboxes: made, listed, given time, paused, resumed, ended.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/units.h"
#include "sandbox/io/resources.h"
#include "server/e2b/costs.h"
#include "server/e2b/port_names.h"
#include "server/e2b_api/e2b_view.h"
#include "server/http/attended.h"
#include "server/rpc/session.h"
#include "store/record.h"

namespace hutch::server::e2b {

namespace {

using http::BodyType;
using http::Route;

constexpr std::int64_t kPageMax = 1000;
constexpr std::int64_t kPage = 100;
constexpr std::int64_t kLogLinesMax = 1000;
constexpr std::size_t kMetadataBytesMax = 64 << 10;
constexpr std::int64_t kRefreshSecondsMax = 3600;
constexpr std::uint64_t kShownSandboxBytes = 4096;     // of a sandbox that is shown, or counted
constexpr std::uint64_t kLogBytes = 2 << 20;    // of a sandbox's log with what is made of it
constexpr double kMiB = 1024.0 * 1024.0;

using FoundSandbox = std::shared_ptr<E2bSandbox>;

Result<FoundSandbox> find_sandbox(Exchange& exchange, const Asked& asked) {
  return exchange.shared().e2b->find(exchange.part("id"), asked.owner);
}

Result<Value::Object> body_of(const Asked& asked) {
  if (asked.body.empty()) return Value::Object();
  const Value value = TRY_CTX(tool::parse_value(asked.body, http::kBodyBytesMax), "the body");
  const auto* object = value.get<Value::Object>();
  if (object == nullptr) return fail(Error::invalid("the body is not a JSON object"));
  return *object;
}

// By the domain and the other token its ports are reached (server/e2b_api/port_proxy.h).
Value::Object made_object(const Exchange& exchange, const store::E2bRecord& record) {
  Value::Object object = {{"sandboxID", record.id},
                          {"templateID", record.template_name},
                          {"alias", record.template_name},
                          {"clientID", "hutch"},
                          {"envdVersion", kEnvdVersion},
                          {"envdAccessToken", record.token},
                          {"trafficAccessToken", http::port_token(record.token)}};
  const std::string* host = exchange.request().field("host");
  const std::string domain = exchange.guard() == nullptr || host == nullptr ? "" : http::domain_for(*host);
  if (!domain.empty()) object.emplace("domain", domain);
  return object;
}

Value parsed_or_empty(const std::string& text) {
  auto value = tool::parse_value(text, http::kBodyBytesMax);
  return value ? std::move(*value) : Value(Value::Object());
}

Result<plan::ResourceLimits> limits_of(const store::AgentLimits& limits) {
  plan::ResourceLimits parsed;
  if (!limits.memory.empty()) parsed.memory_bytes = TRY(policy::parse_memory(limits.memory));
  if (!limits.cpus.empty()) parsed.cpu_millis = TRY(policy::parse_cpus(limits.cpus));
  return parsed;
}

// Its limits cost nothing to tell; what it uses is told by metrics.
Result<Value::Object> sandbox_answer(Exchange& exchange, const E2bSandbox& sandbox) {
  const store::E2bRecord record = sandbox.record();
  const auto agent = TRY(exchange.shared().e2b->agent(sandbox));
  const plan::ResourceLimits limits = TRY(limits_of(agent->record().limits));
  const auto resources = sandbox::allowed_of(limits);
  return Value::Object{{"sandboxID", record.id},
                       {"templateID", record.template_name},
                       {"alias", record.template_name},
                       {"clientID", "hutch"},
                       {"startedAt", time_text(record.started_ms)},
                       {"endAt", time_text(record.end_ms)},
                       {"state", record.paused ? "paused" : "running"},
                       {"envdVersion", kEnvdVersion},
                       {"cpuCount", std::max<std::int64_t>(1, static_cast<std::int64_t>(resources.cpu_cores))},
                       {"memoryMB", static_cast<std::int64_t>(static_cast<double>(resources.memory_bytes) / kMiB)},
                       {"diskSizeMB", 0},
                       {"metadata", parsed_or_empty(record.metadata)}};
}

// What would make the sandbox another one than hutch makes is refused, so that nobody takes it for granted.
Status check_wishes(const Value::Object& body) {
  const Message message(body);
  static constexpr std::array kRefused = {
      std::pair{"mcp", "MCP servers are not started in sandboxes by this call"},
      std::pair{"iam", "there are no workload identities; secrets of hutch are bound to hosts: hutch secret"},
      std::pair{"volumeMounts", "there are no volumes; a template's `dir` is a directory of this machine"},
      std::pair{"network", "what a sandbox reaches is said by the policy of its template"}};
  for (const auto& [name, why] : kRefused) {
    const Value* value = message.find(name);
    const auto* object = value == nullptr ? nullptr : value->get<Value::Object>();
    const auto* list = value == nullptr ? nullptr : value->get<Value::List>();
    const bool is_empty = (object != nullptr && object->empty()) || (list != nullptr && list->empty());
    if (value != nullptr && !is_empty) return fail(Error::unsupported(cat({name, ": ", why})));
  }
  const Value* internet = message.find("allow_internet_access");
  if (internet != nullptr && !TRY(message.truth("allow_internet_access"))) {
    return fail(Error::unsupported(
        "allow_internet_access: what a sandbox reaches is said by the policy of its template; name one whose policy "
        "allows no hosts"));
  }
  return {};
}

Result<std::int64_t> sandbox_timeout(const Value::Object& body) {
  const Message message(body);
  return message.find("timeout") == nullptr ? E2bDesk::kTimeout.count() : message.number("timeout");
}

Result<std::string> texts_json(const Message& message, std::string_view name) {
  const Value* value = message.find(name);
  if (value == nullptr) return std::string("{}");
  if (name == "envVars") TRY(variables_of(*value, name));
  TRY(texts_of(*value, name));
  std::string text = tool::json_text(*value);
  if (text.size() > kMetadataBytesMax) {
    return fail(Error::invalid(cat({name, " has more than ", std::to_string(kMetadataBytesMax), " bytes"})));
  }
  return text;
}

Result<bool> resumes_by_itself(const Message& message) {
  const auto* resume = TRY(message.object("autoResume"));
  return resume != nullptr && TRY(Message(*resume).truth("enabled"));
}

Handled create_sandbox(Exchange& exchange, const Asked& asked) {
  const Value::Object body = TRY(body_of(asked));
  TRY(check_wishes(body));
  const Message message(body);
  const E2bDesk::Wish wish{.owner = asked.owner,
                           .template_name = TRY(message.text("templateID")),
                           .timeout_seconds = TRY(sandbox_timeout(body)),
                           .pauses_at_end = TRY(message.truth("autoPause")),
                           .resumes_by_itself = TRY(resumes_by_itself(message)),
                           .metadata = TRY(texts_json(message, "metadata")),
                           .variables = TRY(texts_json(message, "envVars"))};
  E2bDesk& desk = *exchange.shared().e2b;
  Result<FoundSandbox> made;
  const auto make = [&](const std::stop_token& gone) -> Result<Value> {
    made = desk.create(wish, gone);
    return Value();
  };
  TRY(attended(exchange, make));
  // These clients try again what is busy.
  const bool is_busy = !made && made.error().code == Code::kConflict && !is_full(made.error());
  if (is_busy) return error_answer(503, made.error().message);
  const FoundSandbox sandbox = TRY(std::move(made));
  Answer answer = json(201, Value(made_object(exchange, sandbox->record())));
  // Nobody else knows of it.
  answer.undelivered = [&desk, sandbox] { (void)desk.kill(sandbox); };
  return answer;
}

// --- lists ---

struct Filter {
  Texts metadata{};
  std::string states{};  // separated by commas; empty: all
  std::string template_name{};
  std::int64_t started_after_ms = 0;
};

// Names and values of metadata may be encoded once more within. What has a character that would have been encoded then
// is what it says.
std::string unescaped_segment(const std::string& text) {
  static constexpr std::string_view kPlain = "-_.!~*'()%";
  const bool is_encoded = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.contains(c);
  });
  const auto parsed = is_encoded ? http::parse_target(cat({"/", text})) : std::nullopt;
  return parsed && parsed->segments.size() == 1 ? parsed->segments[0] : text;
}

Result<Filter> filter_of(const Exchange& exchange) {
  Filter filter{.states = exchange.query("state"), .template_name = exchange.query("template")};
  const auto metadata = http::parse_target(cat({"/?", exchange.query("metadata")}));
  if (!metadata) return fail(Error::invalid("metadata has a wrong escape"));
  for (const auto& [name, value] : metadata->query) {
    if (!name.empty()) filter.metadata.emplace(unescaped_segment(name), unescaped_segment(value));
  }
  const std::string after = exchange.query("startedAfter");
  if (!after.empty()) {
    filter.started_after_ms = TRY_CTX(store::parse_time(after), "startedAfter").time_since_epoch().count();
  }
  return filter;
}

bool passes(const store::E2bRecord& record, const Filter& filter) {
  if (!filter.states.empty() && !http::lists_value(filter.states, record.paused ? "paused" : "running")) return false;
  if (!filter.template_name.empty() && filter.template_name != record.template_name) return false;
  if (record.started_ms < filter.started_after_ms) return false;
  const Value metadata = parsed_or_empty(record.metadata);
  const auto* own = metadata.get<Value::Object>();
  return std::ranges::all_of(filter.metadata, [&](const auto& wanted) {
    if (own == nullptr) return false;
    const auto found = own->find(wanted.first);
    const auto* text = found == own->end() ? nullptr : found->second.template get<std::string>();
    return text != nullptr && *text == wanted.second;
  });
}

Result<std::vector<FoundSandbox>> filtered(Exchange& exchange, const Asked& asked) {
  const Filter filter = TRY(filter_of(exchange));
  std::vector<FoundSandbox> all;
  for (const FoundSandbox& sandbox : exchange.shared().e2b->list(asked.owner)) {
    if (passes(sandbox->record(), filter)) all.push_back(sandbox);
  }
  const bool oldest_first = exchange.query("order") == "asc";
  std::ranges::sort(all, [&](const FoundSandbox& a, const FoundSandbox& b) {
    const auto key = [](const FoundSandbox& one) { return std::pair(one->record().started_ms, one->record().id); };
    return oldest_first ? key(a) < key(b) : key(b) < key(a);
  });
  return all;
}

Result<Value::List> shown_all(Exchange& exchange, const Asked& asked, std::span<const FoundSandbox> sandboxes) {
  std::uint64_t bytes = 0;
  for (const FoundSandbox& sandbox : sandboxes) bytes += kShownSandboxBytes + cost_of_json(sandbox->record().metadata);
  TRY(hold_more(asked.held, bytes));
  Value::List list;
  for (const FoundSandbox& sandbox : sandboxes) {
    auto one = sandbox_answer(exchange, *sandbox);
    if (one) list.emplace_back(std::move(*one));  // else it is gone meanwhile
  }
  return list;
}

// All that run, in the first version.
Handled list_running(Exchange& exchange, const Asked& asked) {
  std::vector<FoundSandbox> all = TRY(filtered(exchange, asked));
  std::erase_if(all, [](const FoundSandbox& one) { return one->record().paused; });
  Value::List list = TRY(shown_all(exchange, asked, all));
  return json(200, Value(std::move(list)));
}

// A page's token is where the next one begins.
Handled list_sandboxes(Exchange& exchange, const Asked& asked) {
  const std::vector<FoundSandbox> all = TRY(filtered(exchange, asked));
  const std::int64_t limit = TRY(exchange.query_number("limit", kPage));
  const std::int64_t first = TRY(exchange.query_number("nextToken", 0));
  if (limit < 1 || limit > kPageMax) return fail(Error::invalid("limit is from 1 to 1000"));
  if (first < 0) return fail(Error::invalid("nextToken is not one that was given"));
  const std::size_t begin = std::min(static_cast<std::size_t>(first), all.size());
  const std::size_t end = std::min(begin + static_cast<std::size_t>(limit), all.size());
  Answer answer = json(200, Value(TRY(shown_all(exchange, asked, std::span(all).subspan(begin, end - begin)))));
  if (end < all.size()) answer.fields.push_back({"X-Next-Token", std::to_string(end)});
  const auto running = std::ranges::count_if(all, [](const FoundSandbox& one) { return !one->record().paused; });
  answer.fields.push_back({"X-Total-Running", std::to_string(running)});
  return answer;
}

Handled show_sandbox(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  Value::Object object = TRY(sandbox_answer(exchange, *sandbox));
  const store::E2bRecord record = sandbox->record();
  object["envdAccessToken"] = record.token;
  object["lifecycle"] =
      Value::Object{{"autoResume", record.resumes_by_itself}, {"onTimeout", record.pauses_at_end ? "pause" : "kill"}};
  return json(200, Value(std::move(object)));
}

// --- its life ---

Handled nothing() { return Answer{.status = 204, .type = {}}; }

Handled kill_sandbox(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  TRY(exchange.shared().e2b->kill(sandbox));
  return nothing();
}

Handled pause(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  const Value::Object body = TRY(body_of(asked));
  const Message message(body);
  const bool keeps = message.find("memory") == nullptr || TRY(message.truth("memory"));
  TRY(exchange.shared().e2b->pause(*sandbox, keeps ? E2bDesk::Processes::kStopped : E2bDesk::Processes::kEnded));
  return nothing();
}

// 201 where it was paused.
Handled connect(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  const bool was_paused = sandbox->record().paused;
  const Value::Object body = TRY(body_of(asked));
  const std::int64_t seconds = TRY(sandbox_timeout(body));
  TRY(exchange.shared().e2b->resume(*sandbox, seconds));
  return json(was_paused ? 201 : 200, Value(made_object(exchange, sandbox->record())));
}

Handled resume(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  if (!sandbox->record().paused) return fail(Error{Code::kConflict, 0, "the sandbox is not paused"});
  return connect(exchange, asked);
}

Handled set_timeout(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  const Value::Object body = TRY(body_of(asked));
  if (Message(body).find("timeout") == nullptr) return fail(Error::invalid("timeout is missing"));
  const std::int64_t seconds = TRY(sandbox_timeout(body));
  TRY(exchange.shared().e2b->set_end(*sandbox, seconds, E2bDesk::End::kThen));
  return nothing();
}

Handled refresh(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  const Value::Object body = TRY(body_of(asked));
  const std::int64_t seconds = TRY(Message(body).number("duration"));
  if (seconds < 0 || seconds > kRefreshSecondsMax) return fail(Error::invalid("duration is from 0 to 3600"));
  TRY(exchange.shared().e2b->set_end(*sandbox, seconds, E2bDesk::End::kNoEarlier));
  return nothing();
}

// --- what it uses, what it did ---

Result<Value> metric_of(Exchange& exchange, const E2bSandbox& sandbox) {
  const auto agent = TRY(exchange.shared().e2b->agent(sandbox));
  const auto used = agent->resources().value_or(sandbox::Resources());
  const std::int64_t now = now_ms();
  return Value(Value::Object{{"timestamp", time_text(now)},
                             {"timestampUnix", now / 1000},
                             {"cpuCount", std::max<std::int64_t>(1, static_cast<std::int64_t>(used.cpu_cores))},
                             {"cpuUsedPct", used.cpu_percent},
                             {"memUsed", used.memory_used_bytes},
                             {"memTotal", used.memory_bytes},
                             {"memCache", 0},
                             {"diskUsed", used.disk_used_bytes},
                             {"diskTotal", used.disk_bytes}});
}

// As it is now: none is kept.
Handled metrics(Exchange& exchange, const Asked& asked) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  Value metric = TRY(metric_of(exchange, *sandbox));
  return json(200, Value(Value::List{std::move(metric)}));
}

Handled metrics_of_all(Exchange& exchange, const Asked& asked) {
  Value::Object all;
  for (const std::string_view id : split(exchange.query("sandbox_ids"), ',')) {
    const auto sandbox = exchange.shared().e2b->find(std::string(id), asked.owner);
    if (!sandbox) continue;
    TRY(hold_more(asked.held, kShownSandboxBytes));
    all[std::string(id)] = TRY(metric_of(exchange, **sandbox));
  }
  return json(200, Value(Value::Object{{"sandboxes", std::move(all)}}));
}

Value log_entry(const E2bSandbox::Line& line) {
  return Value::Object{{"timestamp", time_text(line.time_ms)},
                       {"level", line.level},
                       {"message", line.message},
                       {"fields", Value::Object()}};
}

Result<std::vector<E2bSandbox::Line>> lines_of(Exchange& exchange, const Asked& asked, std::string_view start) {
  const FoundSandbox sandbox = TRY(find_sandbox(exchange, asked));
  TRY(hold_more(asked.held, kLogBytes));
  const std::int64_t limit = TRY(exchange.query_number("limit", kLogLinesMax));
  const std::int64_t from = TRY(exchange.query_number(start, 0));
  if (limit < 0 || limit > kLogLinesMax) return fail(Error::invalid("limit is from 0 to 1000"));
  std::vector<E2bSandbox::Line> lines = sandbox->lines();
  const std::string wanted = exchange.query("search");
  std::erase_if(lines, [&](const auto& line) { return line.time_ms < from || !line.message.contains(wanted); });
  if (exchange.query("direction") == "backward") std::ranges::reverse(lines);
  if (lines.size() > static_cast<std::size_t>(limit)) lines.resize(static_cast<std::size_t>(limit));
  return lines;
}

Handled sandbox_logs(Exchange& exchange, const Asked& asked) {
  Value::List lines;
  Value::List entries;
  for (const auto& line : TRY(lines_of(exchange, asked, "start"))) {
    lines.emplace_back(Value::Object{{"timestamp", time_text(line.time_ms)}, {"line", line.message}});
    entries.push_back(log_entry(line));
  }
  return json(200, Value(Value::Object{{"logs", std::move(lines)}, {"logEntries", std::move(entries)}}));
}

Handled logs_v2(Exchange& exchange, const Asked& asked) {
  Value::List entries;
  for (const auto& line : TRY(lines_of(exchange, asked, "cursor"))) entries.push_back(log_entry(line));
  return json(200, Value(Value::Object{{"logs", std::move(entries)}}));
}

constexpr std::array kE2bSandboxRoutes = {
    Route{"POST", "/sandboxes", BodyType::kStream, with_body<create_sandbox>, shows_key},
    Route{"POST", "/v2/sandboxes", BodyType::kStream, with_body<create_sandbox>, shows_key},
    Route{"GET", "/sandboxes", BodyType::kStream, with_key<list_running>, shows_key},
    Route{"GET", "/v2/sandboxes", BodyType::kStream, with_key<list_sandboxes>, shows_key},
    Route{"GET", "/sandboxes/metrics", BodyType::kStream, with_key<metrics_of_all>, shows_key},
    Route{"GET", "/sandboxes/{id}", BodyType::kStream, with_key<show_sandbox>, shows_key},
    Route{"DELETE", "/sandboxes/{id}", BodyType::kStream, with_key<kill_sandbox>, shows_key},
    Route{"POST", "/sandboxes/{id}/connect", BodyType::kStream, with_body<connect>, shows_key},
    Route{"POST", "/v2/sandboxes/{id}/connect", BodyType::kStream, with_body<connect>, shows_key},
    Route{"POST", "/sandboxes/{id}/timeout", BodyType::kStream, with_body<set_timeout>, shows_key},
    Route{"POST", "/sandboxes/{id}/refreshes", BodyType::kStream, with_body<refresh>, shows_key},
    Route{"POST", "/sandboxes/{id}/pause", BodyType::kStream, with_body<pause>, shows_key},
    Route{"POST", "/sandboxes/{id}/resume", BodyType::kStream, with_body<resume>, shows_key},
    Route{"GET", "/sandboxes/{id}/metrics", BodyType::kStream, with_key<metrics>, shows_key},
    Route{"GET", "/sandboxes/{id}/logs", BodyType::kStream, with_key<sandbox_logs>, shows_key},
    Route{"GET", "/v2/sandboxes/{id}/logs", BodyType::kStream, with_key<logs_v2>, shows_key},
};

}  // namespace

}  // namespace hutch::server::e2b

namespace hutch::server::http {

std::span<const Route> e2b_sandbox_routes() { return e2b::kE2bSandboxRoutes; }

}  // namespace hutch::server::http
