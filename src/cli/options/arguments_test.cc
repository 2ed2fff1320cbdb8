// Command lines, good and bad; the complaints name the thing and what would be right.
#include "cli/options/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/options/help.h"
#include "cli/options/verbs.h"

namespace hutch::cli {
namespace {

using service::OutputForm;
using service::RunRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

template <class T>
T parsed(const Words& words) {
  const Result<Arguments> arguments = parse_arguments(words);
  EXPECT_TRUE(arguments) << (arguments ? "" : arguments.error().message);
  if (!arguments || !std::holds_alternative<T>(*arguments)) {
    ADD_FAILURE() << "another verb";
    return T();
  }
  return std::get<T>(*arguments);
}

std::string complaint(const Words& words) {
  const Result<Arguments> arguments = parse_arguments(words);
  if (arguments) return "";
  EXPECT_EQ(arguments.error().code, Code::kInvalidArgument);
  EXPECT_EQ(arguments.error().message.find('\n'), std::string::npos) << arguments.error().message;
  return arguments.error().message;
}

TEST(Run, OptionsEndAtTheCommand) {
  EXPECT_THAT(parsed<RunRequest>({"run", "ls", "-l"}).command, ElementsAre("ls", "-l"));
  EXPECT_THAT(parsed<RunRequest>({"run", "--", "ls", "-l"}).command, ElementsAre("ls", "-l"));
  EXPECT_THAT(parsed<RunRequest>({"run", "ls", "--", "--json"}).command, ElementsAre("ls", "--", "--json"));
  EXPECT_THAT(parsed<RunRequest>({"run", "--", "--", "x"}).command, ElementsAre("--", "x"));
  EXPECT_THAT(parsed<RunRequest>({"run", "--", "-c"}).command, ElementsAre("-c"));
  EXPECT_THAT(parsed<RunRequest>({"run", "-"}).command, ElementsAre("-"));
  EXPECT_THAT(parsed<RunRequest>({"run", ""}).command, ElementsAre(""));
  const RunRequest request = parsed<RunRequest>({"run", "--json", "prog", "--json", "--help", "--backend", "x"});
  EXPECT_EQ(request.form, OutputForm::kJson);
  EXPECT_THAT(request.command, ElementsAre("prog", "--json", "--help", "--backend", "x"));
  EXPECT_FALSE(request.place.backend);
}

TEST(Questions, AreListedOrFollowed) {
  EXPECT_EQ(parsed<QuestionsArguments>({"questions"}).follow, Follow::kNo);
  const auto followed = parsed<QuestionsArguments>({"questions", "-f", "--json"});
  EXPECT_EQ(followed.follow, Follow::kYes);
  EXPECT_EQ(followed.form, OutputForm::kJson);
  EXPECT_EQ(complaint({"questions", "all"}), "questions: unexpected \"all\"");
}

TEST(Answer, AnIdAndAChoice) {
  const auto once = parsed<AnswerArguments>({"answer", "3f9a.1", "once"});
  EXPECT_EQ(once.id, "3f9a.1");
  EXPECT_EQ(once.choice, "once");
  EXPECT_FALSE(once.minutes);
  EXPECT_EQ(parsed<AnswerArguments>({"answer", "--minutes", "30", "3f9a.1", "session"}).minutes, 30);
  EXPECT_THAT(complaint({"answer"}), HasSubstr("a question's id"));
  EXPECT_THAT(complaint({"answer", "3f9a.1"}), HasSubstr("a choice"));
  EXPECT_THAT(complaint({"answer", "3f9a.1", "once", "more"}), HasSubstr("unexpected \"more\""));
  EXPECT_THAT(complaint({"answer", "--minutes", "5", "3f9a.1", "once"}), HasSubstr("--minutes is for session"));
  EXPECT_THAT(complaint({"answer", "--minutes", "0", "3f9a.1", "session"}), HasSubstr("--minutes"));
}

TEST(Revoke, AHost) {
  const auto revoke = parsed<RevokeArguments>({"revoke", "example.org:443"});
  EXPECT_EQ(revoke.host, "example.org:443");
  EXPECT_EQ(revoke.kill, Kill::kNo);
  EXPECT_EQ(parsed<RevokeArguments>({"revoke", "--kill", "example.org"}).kill, Kill::kYes);
  EXPECT_THAT(complaint({"revoke"}), HasSubstr("a host is missing"));
}

TEST(Config, AloneItIsTheWizard) {
  EXPECT_EQ(parsed<service::ConfigRequest>({"config"}).action, "");
  for (const char* const option : {"--json", "--session", "--scope=new"}) {
    EXPECT_THAT(complaint({"config", option}), HasSubstr("an action is missing; there are show, check")) << option;
  }
}

TEST(Config, ForTheSessionAlone) {
  using Lasts = service::ConfigRequest::Lasts;
  EXPECT_EQ(parsed<service::ConfigRequest>({"config", "disable", "--session"}).lasts, Lasts::kSession);
  EXPECT_EQ(parsed<service::ConfigRequest>({"config", "enable"}).lasts, Lasts::kSaved);
  EXPECT_THAT(complaint({"config", "show", "--session"}), HasSubstr("--session is for enable and disable"));
  EXPECT_THAT(complaint({"config", "disable", "--session", "--scope", "new"}), HasSubstr("saved in no scope"));
}

TEST(Run, ArgumentsAreByteForByte) {
  const std::string odd = "a=b {} [x] \"q\" %20 \x01\xff\n";
  EXPECT_THAT(parsed<RunRequest>({"run", "p", odd, "", "{a,b}"}).command, ElementsAre("p", odd, "", "{a,b}"));
  EXPECT_EQ(parsed<RunRequest>({"run", "-c", odd}).shell, odd);
}

TEST(Run, EveryOption) {
  const RunRequest request = parsed<RunRequest>(
      {"run",  "--backend",   "bwrap", "--policy",       "p.json", "--allow-read", "/a",           "--allow-read",
       "/b",   "--deny-read", "/c",    "--allow-write",  "/d",     "--deny-write", "/e",           "--network",
       "none", "--cwd",       "sub",   "--env",          "K=V=W",  "--env",        "HOME",         "--env",
       "E=",   "--timeout",   "1.5s",  "--idle-timeout", "500ms",  "--memory",     "512M",         "--cpus",
       "1.5",  "--pids",      "64",    "--tmp-size",     "1G",     "--json",       "--control-fd", "5",
       "--",   "true"});
  const service::PlaceRequest& place = request.place;
  EXPECT_EQ(place.backend, policy::BackendKind::kBwrap);
  EXPECT_EQ(place.policy_file, "p.json");
  EXPECT_THAT(place.allow_read, ElementsAre("/a", "/b"));
  EXPECT_THAT(place.deny_read, ElementsAre("/c"));
  EXPECT_THAT(place.allow_write, ElementsAre("/d"));
  EXPECT_THAT(place.deny_write, ElementsAre("/e"));
  EXPECT_EQ(place.network.mode, policy::NetworkMode::kNone);
  EXPECT_EQ(place.cwd, "sub");
  EXPECT_THAT(place.environment, ElementsAre("K=V=W", "HOME", "E="));
  EXPECT_EQ(place.limits.timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(place.limits.idle_timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(place.limits.memory_bytes, 512ull << 20);
  EXPECT_EQ(place.limits.cpu_millis, 1500u);
  EXPECT_EQ(place.limits.pids, 64u);
  EXPECT_EQ(place.limits.tmp_bytes, 1ull << 30);
  EXPECT_EQ(request.form, OutputForm::kJson);
  EXPECT_EQ(request.control_fd, 5);
  EXPECT_THAT(request.command, ElementsAre("true"));
}

TEST(Run, NothingIsSetByDefault) {
  const RunRequest request = parsed<RunRequest>({"run", "true"});
  EXPECT_FALSE(request.place.backend || request.place.policy_file || request.place.network.mode || request.place.cwd);
  EXPECT_FALSE(request.place.limits.timeout || request.place.limits.memory_bytes || request.place.limits.pids);
  EXPECT_THAT(request.place.environment, IsEmpty());
  EXPECT_EQ(request.form, OutputForm::kText);
  EXPECT_EQ(request.control_fd, -1);
  EXPECT_FALSE(request.shell);
}

TEST(Run, ValuesInTheSameWord) {
  const RunRequest request = parsed<RunRequest>({"run", "--policy=--odd", "--env=A=B", "--pids=7", "-cecho"});
  EXPECT_EQ(request.place.policy_file, "--odd");
  EXPECT_THAT(request.place.environment, ElementsAre("A=B"));
  EXPECT_EQ(request.place.limits.pids, 7u);
  EXPECT_EQ(request.shell, "echo");
  EXPECT_EQ(parsed<RunRequest>({"run", "-c", "--json"}).shell, "--json");
  EXPECT_EQ(parsed<RunRequest>({"run", "-c", ""}).shell, "");
  EXPECT_EQ(parsed<RunRequest>({"run", "-c", "x", "--json"}).form, OutputForm::kJson);
}

TEST(Run, TheLastOfAnOptionHolds) {
  EXPECT_EQ(parsed<RunRequest>({"run", "--pids", "7", "--pids", "8", "true"}).place.limits.pids, 8u);
}

struct Bad {
  Words words;
  std::vector<const char*> parts;
};

void expect_complaints(const std::vector<Bad>& cases) {
  for (const Bad& bad : cases) {
    const std::string message = complaint(bad.words);
    EXPECT_FALSE(message.empty()) << testing::PrintToString(bad.words);
    for (const char* part : bad.parts) EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(BadInput, OfTheNetworkIsNamed) {
  expect_complaints({
      {{"run", "--network", "host", "true"}, {"--network", "host", "none, outbound and rules"}},
      {{"run", "--network", "outbuond", "true"}, {"did you mean outbound?"}},
      {{"run", "--allow-domain", "*", "true"}, {"--allow-domain", "would allow every host"}},
      {{"run", "--allow-domain", "https://a.org/", "true"}, {"--allow-domain", "https://a.org/"}},
      {{"run", "--allow-domain", "a.org:0", "true"}, {"--allow-domain", "1 to 65535"}},
      {{"run", "--allow-domain", "a\r\nb", "true"}, {"--allow-domain", "\\x0d\\x0a"}},
      {{"run", "--deny-domain", "a b", "true"}, {"--deny-domain", "a b"}},
      {{"run", "--allow-host-port", "0", "true"}, {"--allow-host-port", "1 to 65535"}},
      {{"run", "--allow-host-port", "65536", "true"}, {"--allow-host-port", "65536"}},
      {{"run", "--publish", "8080", "true"}, {"--publish", "HOST:SANDBOX"}},
      {{"run", "--publish", "8080:99999", "true"}, {"--publish", "8080:99999"}},
  });
}

TEST(BadInput, OfMachinesIsNamed) {
  expect_complaints({
      {{"vm"}, {"provision", "restart", "remove"}},
      {{"vm", "strat"}, {"strat", "did you mean start?"}},
      {{"vm", "config", "cpus", "2", "3"}, {"config [KEY [VALUE]]"}},
      {{"vm", "start", "vera"}, {"vera"}},
      {{"vm", "console"}, {"an agent"}},
      {{"vm", "start", "--follow"}, {"--follow", "console"}},
      {{"vm", "stop", "--yes"}, {"--yes", "reset", "remove"}},
      {{"vm", "reset", "--root", "x.tar"}, {"--root", "provision"}},
  });
}

TEST(BadInput, IsNamed) {
  expect_complaints({
      {{}, {"verb", "hutch help"}},
      {{"rnu"}, {"rnu", "did you mean run?"}},
      {{"xyzzyxyzzy"}, {"xyzzyxyzzy", "hutch help"}},
      {{"--josn"}, {"--josn", "hutch help"}},
      {{"run"}, {"run: a command is missing", "-c STRING"}},
      {{"run", "--"}, {"command"}},
      {{"run", "-c"}, {"-c needs a value", "STRING"}},
      {{"run", "-c", "x", "y"}, {"-c", "\"y\""}},
      {{"run", "--alow-read", "/x", "true"}, {"--alow-read", "did you mean --allow-read?"}},
      {{"run", "--qqqqqqqqqqq", "true"}, {"--qqqqqqqqqqq", "hutch run --help"}},
      {{"run", "-json", "true"}, {"-json", "--json"}},
      {{"run", "-z", "true"}, {"\"-z\""}},
      {{"run", "--json=yes", "true"}, {"--json takes no value"}},
      {{"exec", "-dq", "a", "true"}, {"-dq"}},
      {{"run", "--policy"}, {"--policy needs a value", "FILE"}},
      {{"run", "--policy", "--json", "true"}, {"--policy needs a value before --json"}},
      {{"run", "--policy", "--", "true"}, {"--policy needs a value"}},
      {{"run", "--policy=", "true"}, {"--policy needs a value"}},
      {{"run", "--cwd", "", "true"}, {"--cwd needs a value"}},
      {{"run", "--backend", "namespaces", "true"}, {"--backend", "namespaces", "did you mean namespace?"}},
      {{"run", "--backend", "zzzzzz", "true"}, {"zzzzzz", "namespace, bwrap, user, container, vm, none"}},
      {{"run", "--memory", "12Q", "true"}, {"--memory", "12Q", "512M"}},
      {{"run", "--memory", "", "true"}, {"--memory"}},
      {{"run", "--memory", "99999999999999999999G", "true"}, {"--memory"}},
      {{"run", "--memory", "0", "true"}, {"--memory"}},
      {{"run", "--cpus", "-1", "true"}, {"--cpus", "-1"}},
      {{"run", "--cpus", "0", "true"}, {"--cpus"}},
      {{"run", "--cpus", "1e3", "true"}, {"--cpus"}},
      {{"run", "--pids", "-5", "true"}, {"--pids", "-5"}},
      {{"run", "--pids", "1.5", "true"}, {"--pids", "1.5"}},
      {{"run", "--pids", "0", "true"}, {"--pids", "\"0\""}},
      {{"run", "--pids", "4194305", "true"}, {"--pids", "4194304"}},
      {{"run", "--pids", "18446744073709551617", "true"}, {"--pids"}},
      {{"run", "--timeout", "soon", "true"}, {"--timeout", "soon", "30s"}},
      {{"run", "--idle-timeout", "10x", "true"}, {"--idle-timeout", "10x"}},
      {{"run", "--tmp-size", "1Z", "true"}, {"--tmp-size", "1Z"}},
      {{"run", "--env", "=v", "true"}, {"--env"}},
      {{"run", "--env", "A B=v", "true"}, {"--env", "A B"}},
      {{"run", "--env", "1A", "true"}, {"--env", "1A"}},
      {{"run", "--env", "A\x1b[31m=v", "true"}, {"A\\x1b[31m"}},
      {{"run", "--control-fd", "2", "true"}, {"--control-fd", "\"2\""}},
      {{"run", "--control-fd", "x", "true"}, {"--control-fd", "x"}},
      {{"run", "--b\x1b\n", "true"}, {"\\x1b\\x0a"}},
      {{"explain", "--control-fd", "3"}, {"--control-fd"}},
      {{"explain", "--jsn"}, {"--jsn", "--json"}},
      {{"check"}, {"check", "read, write, connect or socket is missing"}},
      {{"check", "read"}, {"a path is missing"}},
      {{"check", "execute", "/usr"}, {"execute", "read, write, connect, socket"}},
      {{"check", "connect"}, {"a host is missing"}},
      {{"check", "read", "/a", "/b"}, {"/b"}},
      {{"doctor", "x"}, {"doctor"}},
      {{"selftest"}, {"--attacks"}},
      {{"selftest", "--attacks", "--backend", "bwarp"}, {"bwarp", "bwrap"}},
      {{"events"}, {"agent"}},
      {{"log", "-n", "0"}, {"--lines"}},
      {{"log", "-n"}, {"--lines"}},
      {{"why", "a", "b"}, {"\"b\""}},
      {{"audit", "--kind", "strat"}, {"strat", "did you mean start?"}},
      {{"kill", "--signal", "0", "a", "1"}, {"--signal", "0"}},
      {{"kill", "--signal", "TREM", "a", "1"}, {"--signal", "TREM", "no signal", "TERM, INT, KILL"}},
      {{"audit", "--since", "yesterday"}, {"--since", "yesterday"}},
      {{"completion"}, {"bash, zsh or fish"}},
      {{"completion", "bsh"}, {"bsh", "bash"}},
      {{"help", "rnu"}, {"rnu", "run"}},
  });
}

TEST(Run, Network) {
  const RunRequest request = parsed<RunRequest>(
      {"run", "--network", "rules", "--allow-domain", "a.org:443", "--allow-domain", "*.b.org", "--deny-domain", "*:25",
       "--allow-udp", "a.org:123", "--allow-host-port", "5432", "--publish", "8080:3000", "true"});
  const policy::NetworkOptions& network = request.place.network;
  EXPECT_EQ(network.mode, policy::NetworkMode::kRules);
  EXPECT_THAT(network.allow_domains, ElementsAre("a.org:443", "*.b.org"));
  EXPECT_THAT(network.deny_domains, ElementsAre("*:25"));
  EXPECT_THAT(network.allow_udp, ElementsAre("a.org:123"));
  EXPECT_THAT(network.host_ports, ElementsAre(5432));
  EXPECT_THAT(network.publish, ElementsAre(policy::PublishedPort{8080, 3000}));
  EXPECT_EQ(parsed<RunRequest>({"run", "--network", "trusted", "true"}).place.network.mode,
            policy::NetworkMode::kOutbound);
  EXPECT_EQ(parsed<CheckArguments>({"check", "connect", "--network=outbound", "a.org"}).target, "a.org");
}

TEST(OtherVerbs, TakeOptionsAnywhere) {
  const CheckArguments check = parsed<CheckArguments>({"check", "write", "--allow-write", "b", "p", "--json"});
  EXPECT_EQ(check.access, "write");
  EXPECT_EQ(check.target, "p");
  EXPECT_EQ(check.form, OutputForm::kJson);
  EXPECT_THAT(check.place.allow_write, ElementsAre("b"));
  EXPECT_EQ(parsed<CheckArguments>({"check", "read", "--", "--odd"}).target, "--odd");

  EXPECT_EQ(parsed<ExplainArguments>({"explain", "--memory", "1G"}).place.limits.memory_bytes, 1ull << 30);
  EXPECT_THAT(parsed<ExplainArguments>({"explain", "/a", "--json", "b.org"}).names, ElementsAre("/a", "b.org"));
  EXPECT_EQ(parsed<DoctorArguments>({"doctor", "--json"}).form, OutputForm::kJson);
  EXPECT_EQ(parsed<DoctorArguments>({"doctor", "--backend", "vm"}).backend, policy::BackendKind::kVm);
  const SelftestArguments selftest =
      parsed<SelftestArguments>({"selftest", "git", "--attacks", "--backend", "bwrap", "--list", "names"});
  EXPECT_EQ(selftest.doing, SelftestArguments::Doing::kList);
  EXPECT_THAT(selftest.backends, ElementsAre("bwrap"));
  EXPECT_THAT(selftest.names, ElementsAre("git", "names"));
  const VmArguments console = parsed<VmArguments>({"vm", "console", "vera", "-f"});
  EXPECT_EQ(console.agent, "vera");
  EXPECT_EQ(console.follow, Follow::kYes);
  const VmArguments config = parsed<VmArguments>({"vm", "config", "cpus", "4", "--json"});
  EXPECT_EQ(config.key, "cpus");
  EXPECT_EQ(config.value, "4");
  EXPECT_TRUE(parsed<VmArguments>({"vm", "remove", "-y"}).yes);

  EXPECT_EQ(parsed<LogArguments>({"log"}).count, 20u);
  const LogArguments log = parsed<LogArguments>({"log", "-n5", "-f"});
  EXPECT_EQ(log.count, 5u);
  EXPECT_EQ(log.follow, Follow::kYes);

  EXPECT_FALSE(parsed<WhyArguments>({"why"}).run);
  EXPECT_EQ(parsed<WhyArguments>({"why", "ab12"}).run, "ab12");

  const AuditArguments audit =
      parsed<AuditArguments>({"audit", "--since", "2h", "--kind", "end", "--type=refusal", "--run", "ab", "-n", "3"});
  EXPECT_EQ(audit.since, std::chrono::hours(2));
  EXPECT_THAT(audit.types, ElementsAre("end", "refusal"));
  EXPECT_EQ(audit.run, "ab");
  EXPECT_EQ(audit.count, 3u);

  EXPECT_EQ(parsed<CompletionArguments>({"completion", "zsh"}).shell, "zsh");
}

TEST(Help, IsAskedForInManyWays) {
  for (const Words& words : {Words{"help"}, Words{"--help"}, Words{"-h"}}) {
    EXPECT_EQ(parsed<HelpArguments>(words).verb, "");
  }
  for (const Words& words :
       {Words{"help", "run"}, Words{"run", "--help"}, Words{"run", "-h"}, Words{"run", "--json", "--help", "ls"}}) {
    EXPECT_EQ(parsed<HelpArguments>(words).verb, "run");
  }
  parsed<VersionArguments>({"--version"});
}

TEST(Help, NamesEveryOptionOfEveryVerb) {
  std::set<std::string_view> names;
  const std::string overview = help_text("");
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second);
    EXPECT_THAT(overview, HasSubstr(std::string("\n  ") + std::string(verb.name) + " "));
    const std::string text = help_text(verb.name);
    EXPECT_THAT(text, testing::StartsWith("Usage: hutch " + std::string(verb.name)));
    std::set<std::string_view> options;
    for (const OptionGroup& group : verb.groups) {
      for (const Option& option : group.options) {
        EXPECT_TRUE(options.insert(option.name).second) << option.name;
        EXPECT_THAT(text, HasSubstr(std::string(option.name)));
        EXPECT_EQ(option.value.empty(), option.kind == ValueKind::kFlag) << option.name;
        EXPECT_NE(option.set, nullptr);
      }
    }
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      ASSERT_NE(end, text.npos);
      EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
    }
  }
}

}  // namespace
}  // namespace hutch::cli
