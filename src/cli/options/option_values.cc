// Reads the values of options, and turns a draft into a verb's arguments.
#include "cli/options/option_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "policy/document/amend.h"
#include "policy/network/domains.h"
#include "policy/network/sockets.h"
#include "policy/network/udp.h"
#include "policy/units.h"
#include "sandbox/pool/spec.h"

namespace hutch::cli {

namespace {

using Text = std::string_view;

constexpr std::array kRecordTypes = {Text("start"),      Text("end"),      Text("refusal"),
                                     Text("connection"), Text("decision"), Text("service")};
constexpr std::array kScopes = {Text("project"), Text("new"), Text("default")};
constexpr std::array kNetworks = {Text("none"), Text("outbound"), Text("rules")};
constexpr std::uint64_t kPidsMax = 4'194'304;  // PID_MAX_LIMIT (proc_sys_kernel(5))
constexpr std::uint64_t kOptionDescriptorMax = 1 << 20;
constexpr std::uint64_t kPortMax = 65535;
constexpr std::uint64_t kCountMax = 1'000'000'000;

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
};

Status append(std::vector<std::string>& list, const std::string& value);
Result<std::uint64_t> whole_number(const std::string& text, Range range);
bool is_variable_name(std::string_view name);
std::string quoted(std::string_view text);

}  // namespace

std::span<const std::string_view> values_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBackend: return policy::kBackendNames;
    case ValueKind::kNetwork: return kNetworks;
    case ValueKind::kRecordType: return kRecordTypes;
    case ValueKind::kScope: return kScopes;
    case ValueKind::kFlag:
    case ValueKind::kPath:
    case ValueKind::kDirectory:
    case ValueKind::kVariable:
    case ValueKind::kOther: break;
  }
  return {};
}

Status expect_words(const Draft& draft, std::span<const Text> names) {
  if (draft.words.size() < names.size()) return fail(Error::invalid(cat({names[draft.words.size()], " is missing"})));
  if (draft.words.size() > names.size()) {
    return fail(Error::invalid(cat({"unexpected ", quoted(draft.words[names.size()])})));
  }
  return {};
}

Error unknown_word(std::string_view what, std::string_view typed, std::span<const std::string_view> known,
                   std::string_view otherwise) {
  const auto advice = [&]() -> std::string {
    if (const std::optional<std::string> near = nearest(typed, known)) return cat({"did you mean ", *near, "?"});
    if (!otherwise.empty()) return std::string(otherwise);
    return cat({"there are ", join({known.begin(), known.end()}, ", ")});
  };
  return Error::invalid(cat({what, " ", quoted(typed), "; ", advice()}));
}

Status set_wide(Draft& draft, const std::string&) {
  draft.run.start = service::RunRequest::Start::kWide;
  return {};
}

Status set_json(Draft& draft, const std::string&) {
  draft.run.form = service::OutputForm::kJson;
  return {};
}

Status set_trust(Draft& draft, const std::string& value) {
  draft.trust = TRY(sandbox::trust_named(value)) == sandbox::Trust::kTrusted ? "trusted" : "sandboxed";
  return {};
}

Status set_image(Draft& draft, const std::string& value) {
  draft.run.place.image = value;
  return {};
}

Status set_backend(Draft& draft, const std::string& value) {
  const auto kind = policy::backend_named(value);
  if (!kind) return fail(unknown_word("unknown backend", value, policy::kBackendNames));
  draft.run.place.backend = *kind;
  return {};
}

Status set_attacks(Draft& draft, const std::string&) {
  draft.selftest.what = SelftestArguments::What::kAttacks;
  return {};
}

Status set_list(Draft& draft, const std::string&) {
  draft.selftest.doing = SelftestArguments::Doing::kList;
  return {};
}

Status add_backend(Draft& draft, const std::string& value) {
  TRY(set_backend(draft, value));
  draft.selftest.backends.push_back(value);
  return {};
}

Status set_policy(Draft& draft, const std::string& value) {
  draft.run.place.policy_file = value;
  return {};
}

Status set_allow_read(Draft& draft, const std::string& value) { return append(draft.run.place.allow_read, value); }
Status set_deny_read(Draft& draft, const std::string& value) { return append(draft.run.place.deny_read, value); }
Status set_allow_write(Draft& draft, const std::string& value) { return append(draft.run.place.allow_write, value); }
Status set_deny_write(Draft& draft, const std::string& value) { return append(draft.run.place.deny_write, value); }

Status set_no_outer_repository(Draft& draft, const std::string&) {
  draft.run.place.outer_repositories = policy::OuterRepositories::kLeft;
  return {};
}

Status set_network(Draft& draft, const std::string& value) {
  static constexpr std::array kModes = {Text("none"), Text("outbound"), Text("rules"), Text("sandboxed"),
                                        Text("trusted")};
  const auto mode = value == "rules" ? std::optional(policy::NetworkMode::kRules) : policy::network_mode_of(value);
  if (!mode) return fail(unknown_word("unknown kind of network", value, kModes, "there are none, outbound and rules"));
  draft.run.place.network.mode = mode;
  return {};
}

Status set_allow_domain(Draft& draft, const std::string& value) {
  TRY(policy::check_domain(value, policy::DomainList::kAllowed));
  return append(draft.run.place.network.allow_domains, value);
}

Status set_deny_domain(Draft& draft, const std::string& value) {
  TRY(policy::check_domain(value, policy::DomainList::kDenied));
  return append(draft.run.place.network.deny_domains, value);
}

Status set_allow_udp(Draft& draft, const std::string& value) {
  TRY(policy::parse_udp(value));
  return append(draft.run.place.network.allow_udp, value);
}

Status set_allow_socket(Draft& draft, const std::string& value) {
  TRY(policy::check_socket_entry(value));
  return append(draft.run.place.network.allow_sockets, value);
}

Status set_allow_host_port(Draft& draft, const std::string& value) {
  draft.run.place.network.host_ports.push_back(static_cast<int>(TRY(whole_number(value, {1, kPortMax}))));
  return {};
}

Status set_publish(Draft& draft, const std::string& value) {
  draft.run.place.network.publish.push_back(TRY(policy::parse_published(value)));
  return {};
}

Status set_cwd(Draft& draft, const std::string& value) {
  draft.run.place.cwd = value;
  return {};
}

Status set_environment(Draft& draft, const std::string& value) {
  const std::string_view name = Text(value).substr(0, value.find('='));
  if (!is_variable_name(name)) {
    return fail(Error::invalid(cat({quoted(name), " is not a variable's name; write NAME or NAME=VALUE"})));
  }
  return append(draft.run.place.environment, value);
}

Status set_timeout(Draft& draft, const std::string& value) {
  draft.run.place.limits.timeout = TRY(policy::parse_duration(value));
  return {};
}

Status set_idle_timeout(Draft& draft, const std::string& value) {
  draft.run.place.limits.idle_timeout = TRY(policy::parse_duration(value));
  return {};
}

Status set_memory(Draft& draft, const std::string& value) {
  draft.run.place.limits.memory_bytes = TRY(policy::parse_memory(value));
  return {};
}

Status set_cpus(Draft& draft, const std::string& value) {
  draft.run.place.limits.cpu_millis = TRY(policy::parse_cpus(value));
  return {};
}

Status set_pids(Draft& draft, const std::string& value) {
  draft.run.place.limits.pids = TRY(whole_number(value, {1, kPidsMax}));
  return {};
}

Status set_tmp_size(Draft& draft, const std::string& value) {
  draft.run.place.limits.tmp_bytes = TRY(policy::parse_size(value));
  return {};
}

Status set_shell(Draft& draft, const std::string& value) {
  draft.run.shell = value;
  return {};
}

Status set_control_fd(Draft& draft, const std::string& value) {
  // 0, 1 and 2 are the command's.
  draft.run.control_fd = static_cast<int>(TRY(whole_number(value, {3, kOptionDescriptorMax})));
  return {};
}

Status set_count(Draft& draft, const std::string& value) {
  draft.count = TRY(whole_number(value, {1, kCountMax}));
  return {};
}

Status set_session(Draft& draft, const std::string&) {
  draft.lasts = service::ConfigRequest::Lasts::kSession;
  return {};
}

Status set_minutes(Draft& draft, const std::string& value) {
  static constexpr std::uint64_t kMinutesMax = 525'600;
  draft.minutes = static_cast<int>(TRY(whole_number(value, {1, kMinutesMax})));
  return {};
}

Status set_kill(Draft& draft, const std::string&) {
  draft.kill = Kill::kYes;
  return {};
}

Status set_follow(Draft& draft, const std::string&) {
  draft.follow = Follow::kYes;
  return {};
}

Status set_since(Draft& draft, const std::string& value) {
  draft.since = TRY(policy::parse_duration(value));
  return {};
}

Status set_type(Draft& draft, const std::string& value) {
  if (std::ranges::find(kRecordTypes, value) == kRecordTypes.end()) {
    return fail(unknown_word("unknown kind", value, kRecordTypes));
  }
  return append(draft.types, value);
}

Status set_of_run(Draft& draft, const std::string& value) {
  draft.of_run = value;
  return {};
}

Result<Arguments> finish_run(Draft&& draft) {
  draft.run.command = std::move(draft.words);
  if (draft.run.shell && !draft.run.command.empty()) {
    return fail(Error::invalid(cat({"-c and a command, ", quoted(draft.run.command.front()), ": give one of them"})));
  }
  if (!draft.run.shell && draft.run.command.empty()) {
    return fail(Error::invalid("a command is missing; write hutch run -- COMMAND or hutch run -c STRING"));
  }
  return Arguments(std::move(draft.run));
}

Result<Arguments> finish_explain(Draft&& draft) {
  return Arguments(ExplainArguments{std::move(draft.run.place), draft.run.form, std::move(draft.words)});
}

Result<Arguments> finish_check(Draft&& draft) {
  static constexpr std::array kAccesses = {Text("read"), Text("write"), Text("connect"), Text("socket")};
  const bool connect = !draft.words.empty() && draft.words[0] == "connect";
  const std::array names = {Text("read, write, connect or socket"), connect ? Text("a host") : Text("a path")};
  if (!draft.words.empty() && std::ranges::find(kAccesses, draft.words[0]) == kAccesses.end()) {
    return fail(unknown_word("unknown access", draft.words[0], kAccesses));
  }
  TRY(expect_words(draft, names));
  return Arguments(
      CheckArguments{std::move(draft.run.place), draft.run.form, std::move(draft.words[0]), std::move(draft.words[1])});
}

Result<Arguments> finish_doctor(Draft&& draft) {
  TRY(expect_words(draft, {}));
  return Arguments(DoctorArguments{draft.run.place.backend, draft.run.form});
}

Result<Arguments> finish_selftest(Draft&& draft) {
  if (draft.selftest.what == SelftestArguments::What::kNothing) {
    return fail(Error::invalid("hutch selftest: what? --attacks runs the attacks on this host's backends"));
  }
  draft.selftest.names = std::move(draft.words);
  draft.selftest.form = draft.run.form;
  return Arguments(std::move(draft.selftest));
}

Result<Arguments> finish_log(Draft&& draft) {
  TRY(expect_words(draft, {}));
  LogArguments log = {.form = draft.run.form, .follow = draft.follow};
  log.count = draft.count.value_or(log.count);
  return Arguments(log);
}

Result<Arguments> finish_why(Draft&& draft) {
  static constexpr std::array kNames = {Text("a run")};
  if (draft.words.empty()) return Arguments(WhyArguments{draft.run.form, std::nullopt});
  TRY(expect_words(draft, kNames));
  return Arguments(WhyArguments{draft.run.form, std::move(draft.words[0])});
}

Result<Arguments> finish_audit(Draft&& draft) {
  TRY(expect_words(draft, {}));
  return Arguments(AuditArguments{.form = draft.run.form,
                                  .count = draft.count,
                                  .follow = draft.follow,
                                  .since = draft.since,
                                  .types = std::move(draft.types),
                                  .run = std::move(draft.of_run),
                                  .agent = std::move(draft.agent)});
}

Result<Arguments> finish_questions(Draft&& draft) {
  TRY(expect_words(draft, {}));
  return Arguments(QuestionsArguments{draft.run.form, draft.follow});
}

Result<Arguments> finish_answer(Draft&& draft) {
  static constexpr std::array kNames = {Text("a question's id (hutch questions lists them)"),
                                        Text("a choice (once, session, project, no, ...)")};
  TRY(expect_words(draft, kNames));
  if (draft.minutes && draft.words[1] != "session") {
    return fail(Error::invalid(cat({"--minutes is for session, not ", quoted(draft.words[1])})));
  }
  return Arguments(AnswerArguments{std::move(draft.words[0]), std::move(draft.words[1]), draft.minutes});
}

Result<Arguments> finish_revoke(Draft&& draft) {
  static constexpr std::array kNames = {Text("a host")};
  TRY(expect_words(draft, kNames));
  return Arguments(RevokeArguments{std::move(draft.words[0]), draft.kill, draft.run.form});
}

Status set_scope(Draft& draft, const std::string& value) {
  static constexpr std::array kValues = {store::Scope::kProject, store::Scope::kNew, store::Scope::kDefault};
  const auto found = std::ranges::find(kScopes, value);
  if (found == kScopes.end()) return fail(unknown_word("unknown scope", value, kScopes));
  draft.scope = kValues.at(static_cast<std::size_t>(found - kScopes.begin()));
  return {};
}

Status set_line(Draft& draft, const std::string&) {
  draft.line = StatusArguments::Line::kYes;
  return {};
}

Result<Arguments> finish_config(Draft&& draft) {
  static constexpr std::array kNames = {Text("an action"), Text("a key"), Text("a value")};
  static constexpr std::array kFile = {Text("an action"), Text("a file, or a preset")};
  const std::span<const Text> actions = find_verb("config")->word_choices;
  if (draft.words.empty()) {
    // The wizard, which has no use for an option.
    const bool is_bare = !draft.scope && draft.lasts == service::ConfigRequest::Lasts::kSaved &&
                         draft.run.form == service::OutputForm::kText;
    if (is_bare) return Arguments(service::ConfigRequest());
    return fail(
        Error::invalid(cat({"an action is missing; there are ", join({actions.begin(), actions.end()}, ", ")})));
  }
  const std::string action = draft.words.front();
  if (std::ranges::find(actions, action) == actions.end()) return fail(unknown_word("unknown action", action, actions));
  const std::size_t given = draft.words.size();
  if (action == "set" || action == "add" || (action == "remove" && given > 2)) {
    TRY(expect_words(draft, kNames));
  } else if (action == "get" || action == "remove") {
    TRY(expect_words(draft, std::span(kNames).first(2)));
  } else if (action == "import" || ((action == "check" || action == "preset") && given > 1)) {
    TRY(expect_words(draft, kFile));
  } else {
    TRY(expect_words(draft, std::span(kNames).first(1)));
  }
  draft.words.erase(draft.words.begin());
  const bool for_session = draft.lasts == service::ConfigRequest::Lasts::kSession;
  if (for_session && action != "enable" && action != "disable") {
    return fail(Error::invalid(cat({"--session is for enable and disable, not ", action})));
  }
  if (for_session && draft.scope) return fail(Error::invalid("--session is saved in no scope: leave out --scope"));
  return Arguments(service::ConfigRequest{action, std::move(draft.words), draft.scope, draft.run.form, draft.lasts});
}

Result<Arguments> finish_settings(Draft&& draft) {
  static constexpr std::array kNames = {Text("an action"), Text("a key"), Text("a value")};
  const std::span<const Text> actions = find_verb("settings")->word_choices;
  if (draft.words.empty())
    return fail(
        Error::invalid(cat({"an action is missing; there are ", join({actions.begin(), actions.end()}, ", ")})));
  const std::string action = draft.words.front();
  if (std::ranges::find(actions, action) == actions.end()) return fail(unknown_word("unknown action", action, actions));
  const std::size_t wanted = action == "set" ? 3 : action == "get" || action == "remove" ? 2 : 1;
  TRY(expect_words(draft, std::span(kNames).first(wanted)));
  draft.words.erase(draft.words.begin());
  return Arguments(service::SettingsRequest{action, std::move(draft.words), draft.run.form});
}

Result<Arguments> finish_status(Draft&& draft) {
  TRY(expect_words(draft, {}));
  return Arguments(StatusArguments{std::move(draft.run.place), draft.run.form, draft.line});
}

Result<Arguments> finish_completion(Draft&& draft) {
  static constexpr std::array kNames = {Text("a shell (bash, zsh or fish)")};
  TRY(expect_words(draft, kNames));
  const std::span<const Text> shells = find_verb("completion")->word_choices;
  if (std::ranges::find(shells, draft.words[0]) == shells.end()) {
    return fail(unknown_word("unknown shell", draft.words[0], shells));
  }
  return Arguments(CompletionArguments{std::move(draft.words[0])});
}

Result<Arguments> finish_help(Draft&& draft) {
  static constexpr std::array kNames = {Text("a verb")};
  if (draft.words.empty()) return Arguments(HelpArguments{});
  TRY(expect_words(draft, kNames));
  if (!find_verb(draft.words[0])) {
    std::vector<Text> names;
    for (const Verb& verb : verbs()) names.push_back(verb.name);
    return fail(unknown_word("unknown verb", draft.words[0], names, "see hutch help"));
  }
  return Arguments(HelpArguments{std::move(draft.words[0])});
}

namespace {

Status append(std::vector<std::string>& list, const std::string& value) {
  list.push_back(value);
  return {};
}

Result<std::uint64_t> whole_number(const std::string& text, Range range) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < range.min || value > range.max) {
    return fail(Error::invalid(cat(
        {quoted(text), " is not a whole number from ", std::to_string(range.min), " to ", std::to_string(range.max)})));
  }
  return value;
}

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

std::string quoted(std::string_view text) { return cat({"\"", printable(text), "\""}); }

}  // namespace

}  // namespace hutch::cli
