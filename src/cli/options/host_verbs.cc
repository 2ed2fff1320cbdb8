// The table of verbs about what an agent is offered from outside its sandbox, and what each of their options does.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "cli/options/option_values.h"
#include "cli/options/verbs.h"
#include "service/agent/secrets.h"
#include "service/run/npm_clients.h"

namespace hutch::cli {

namespace {

using enum ValueKind;
using Text = std::string_view;

Status set_via(Draft& draft, const std::string& value) {
  draft.secret.via = value;
  return {};
}

Status set_host(Draft& draft, const std::string& value) {
  draft.secret.hosts.push_back(value);
  return {};
}

Status set_own(Draft& draft, const std::string&) {
  draft.agent = service::kOwnSecrets;
  return {};
}

Status set_file(Draft& draft, const std::string& value) {
  draft.secret.file = value;
  return {};
}

Result<Arguments> finish_secret(Draft&& draft) {
  const std::span<const Text> actions = find_verb("secret")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch secret: what? set, check, list, remove, answer or key"));
  SecretArguments secret = std::move(draft.secret);
  secret.action = draft.words[0];
  secret.agent = std::move(draft.agent);
  secret.form = draft.run.form;
  if (std::ranges::find(actions, secret.action) == actions.end()) {
    return fail(unknown_word("unknown action", secret.action, actions));
  }
  static constexpr std::array kNames = {Text("what"), Text("the name of a secret")};
  // Not even in a message: whoever types a third word may have typed a value.
  if (draft.words.size() > kNames.size()) {
    return fail(
        Error::invalid("hutch secret takes no value as an argument, where others could read it: it is asked "
                       "for, or comes on standard input, or from a --file"));
  }
  const bool is_of_key = secret.action == "key";
  const bool is_named = secret.action != "list" && secret.action != "answer" && !is_of_key;
  if (!is_of_key) TRY(expect_words(draft, std::span(kNames).first(is_named ? 2 : 1)));
  if (is_of_key && !secret.agent.empty())
    return fail(Error::invalid("the key is that of all secrets: leave --agent out"));
  if (is_named || (is_of_key && draft.words.size() > 1)) secret.name = std::move(draft.words[1]);
  const bool sets = !secret.via.empty() || !secret.hosts.empty() || !secret.file.empty();
  if (sets && secret.action != "set") return fail(Error::invalid("--via, --host and --file are for hutch secret set"));
  return Arguments(std::move(secret));
}

Result<Arguments> finish_events(Draft&& draft) {
  if (draft.words.empty()) return fail(Error::invalid("hutch events: whose? an agent"));
  EventsArguments events{.agent = std::move(draft.words[0]), .follow = draft.follow, .form = draft.run.form};
  events.types.assign(std::make_move_iterator(draft.words.begin() + 1), std::make_move_iterator(draft.words.end()));
  return Arguments(std::move(events));
}

Result<Arguments> finish_memory(Draft&& draft) {
  const std::span<const Text> actions = find_verb("memory")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch memory: what? query, add or remove"));
  MemoryArguments memory{.action = draft.words[0], .form = draft.run.form};
  if (std::ranges::find(actions, memory.action) == actions.end()) {
    return fail(unknown_word("unknown action", memory.action, actions));
  }
  static constexpr std::array kNames = {Text("what"), Text("an agent"), Text("the words, the text or the number")};
  const bool is_list = memory.action == "query" && draft.words.size() < kNames.size();
  TRY(expect_words(draft, std::span(kNames).first(is_list ? 2 : 3)));
  memory.agent = std::move(draft.words[1]);
  if (is_list) return Arguments(std::move(memory));
  if (memory.action != "remove") {
    memory.text = std::move(draft.words[2]);
    return Arguments(std::move(memory));
  }
  const std::string& typed = draft.words[2];
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), memory.id);
  if (error != std::errc() || end != typed.data() + typed.size() || memory.id <= 0) {
    return fail(Error::invalid(cat({"\"", printable(typed, 64), "\" is no number of hutch memory query"})));
  }
  return Arguments(std::move(memory));
}

Result<Arguments> finish_artifacts(Draft&& draft) {
  const std::span<const Text> actions = find_verb("artifacts")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch artifacts: what? list or get"));
  ArtifactsArguments artifacts{.action = draft.words[0], .form = draft.run.form};
  if (std::ranges::find(actions, artifacts.action) == actions.end()) {
    return fail(unknown_word("unknown action", artifacts.action, actions));
  }
  static constexpr std::array kNames = {Text("what"), Text("an agent"), Text("an artifact's name"),
                                        Text("a file, or -")};
  const std::size_t most = artifacts.action == "list" ? 2 : draft.words.size() > 3 ? 4 : 3;
  TRY(expect_words(draft, std::span(kNames).first(most)));
  draft.words.resize(kNames.size());
  artifacts.agent = std::move(draft.words[1]);
  artifacts.name = std::move(draft.words[2]);
  artifacts.file = std::move(draft.words[3]);
  return Arguments(std::move(artifacts));
}

Result<Arguments> finish_clients(Draft&& draft) {
  const std::span<const Text> actions = find_verb("clients")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch clients: what? list, or install pi|mastra|augure|sdk"));
  ClientsArguments clients{.action = draft.words[0], .client = {}, .directory = {}, .form = draft.run.form};
  if (std::ranges::find(actions, clients.action) == actions.end()) {
    return fail(unknown_word("unknown action", clients.action, actions));
  }
  static constexpr std::array kNames = {Text("what"), Text("for what? pi, mastra, augure or sdk"), Text("a directory")};
  const std::size_t most = clients.action == "list" ? 1 : draft.words.size() > 2 ? 3 : 2;
  TRY(expect_words(draft, std::span(kNames).first(most)));
  draft.words.resize(kNames.size());
  clients.client = std::move(draft.words[1]);
  clients.directory = std::move(draft.words[2]);
  if (clients.action == "list") return Arguments(std::move(clients));
  std::vector<Text> known;
  for (const service::NpmClient& one : service::npm_clients()) known.push_back(one.name);
  if (std::ranges::find(known, clients.client) != known.end()) return Arguments(std::move(clients));
  return fail(unknown_word("no package for", clients.client, known));
}

constexpr Option kAgent = {
    "--agent", 0, "NAME", kOther, "of this agent; else that of the working directory, and of list all", set_agent};
constexpr std::array kSecretOptions = {
    kAgent,
    Option{"--own", 0, "", kFlag, "for hutch itself, not for an agent: the key of inference.keySecret", set_own},
    Option{"--via", 0, "WAY", kOther,
           "set: bridge (asked for by hutch-host; as without it), environment (a\n"
           "variable of every command), or placeholder (never: put in for --host)",
           set_via},
    Option{"--host", 0, "HOST", kOther, "set: that the value is for (repeatable); makes it a placeholder", set_host},
    Option{"--file", 0, "FILE", kPath, "set: read the value from FILE; - is standard input", set_file},
    kJson};
constexpr std::array kSecretGroups = {OptionGroup{"Options", kSecretOptions}};
constexpr std::array kSecretSynopsis = {
    Text("hutch secret set [--agent NAME|--own] [--via WAY] [--host HOST]... [--file FILE] NAME"),
    Text("hutch secret check|remove [--agent NAME|--own] [--json] NAME"),
    Text("hutch secret list [--agent NAME] [--json]"), Text("hutch secret answer"),
    Text("hutch secret key [--json] [file|secret-service]")};
constexpr std::array kSecretWords = {Text("set"),    Text("check"),  Text("list"),
                                     Text("remove"), Text("answer"), Text("key")};
constexpr std::array kSecretExamples = {Text("hutch secret set --agent alice OPENAI_API_KEY"),
                                        Text("hutch secret set --agent alice --host api.github.com GITHUB_TOKEN"),
                                        Text("pass show token | hutch secret set --agent alice TOKEN")};

constexpr std::array kEventsOptions = {
    Option{"--follow", 'f', "", kFlag, "continue with new events, until the agent is removed", set_follow},
    Option{"--json", 0, "", kFlag, "print JSON, one object a line", set_json},
};
constexpr std::array kEventsGroups = {OptionGroup{"Options", kEventsOptions}};
constexpr std::array kEventsSynopsis = {Text("hutch events AGENT [TYPE...] [--follow] [--json]")};
constexpr std::array kEventsExamples = {Text("hutch events alice"),
                                        Text("hutch events alice csv.ready --follow --json")};

constexpr std::array kMemoryGroups = {OptionGroup{"Options", kJsonAlone}};
constexpr std::array kMemorySynopsis = {Text("hutch memory query AGENT [WORDS] [--json]"),
                                        Text("hutch memory add AGENT TEXT|- [--json]"),
                                        Text("hutch memory remove AGENT ID [--json]")};
constexpr std::array kMemoryWords = {Text("query"), Text("add"), Text("remove")};
constexpr std::array kMemoryExamples = {Text("hutch memory query alice 'build clang'"),
                                        Text("hutch memory add alice 'the tests need a display'")};

constexpr std::array kArtifactsSynopsis = {Text("hutch artifacts list AGENT [--json]"),
                                           Text("hutch artifacts get AGENT NAME [FILE|-] [--json]")};
constexpr std::array kArtifactsWords = {Text("list"), Text("get")};
constexpr std::array kArtifactsExamples = {Text("hutch artifacts get alice report.pdf"),
                                           Text("hutch artifacts get alice data.csv - | head")};

constexpr std::array kClientsSynopsis = {Text("hutch clients list [--json]"),
                                         Text("hutch clients install pi|mastra|augure|sdk [DIR] [--json]")};
constexpr std::array kClientsWords = {Text("list"), Text("install")};
constexpr std::array kClientsExamples = {Text("hutch clients install pi"),
                                         Text("hutch clients install mastra ~/service")};

constexpr std::array kHostVerbs = {
    Verb{"artifacts", "list and fetch files that an agent shared", kArtifactsSynopsis,
         "Lists what the agent shared with share_artifact. The file stays in the agent's output directory,\n"
         "where the agent can change it. `get` copies a file only if it still has the hash that was recorded\n"
         "when it was shared. It writes to FILE, or under the artifact's name here, and overwrites nothing.",
         kMemoryGroups, kArtifactsExamples, kArtifactsWords, OptionsEnd::kAtDashes, finish_artifacts},
    Verb{"secret", "store secrets for agents", kSecretSynopsis,
         "Stores an encrypted value for one agent. hutch asks for the value without showing it, or reads it\n"
         "from standard input or a file; never from an argument. No value is ever printed: `check` says by its\n"
         "exit code (0 or 1) whether there is one. `answer` waits on a terminal for requests of agents. With\n"
         "`--via placeholder` a command sees only a placeholder; hutch puts the value into TLS requests to its\n"
         "hosts. `key` prints where the encryption key is, and moves it: into a file beside the values, or\n"
         "into your session's Secret Service.",
         kSecretGroups, kSecretExamples, kSecretWords, OptionsEnd::kAtDashes, finish_secret},
    Verb{"clients", "install the npm packages of this version", kClientsSynopsis,
         "These packages come with hutch, so no registry is needed. pi: puts hutch-pi into pi's extensions,\n"
         "~/.pi/agent/extensions or DIR, and replaces an earlier one. Other names: npm installs hutch-mastra,\n"
         "hutch-augure or hutch-sdk in DIR, or here, and runs no script of the project.",
         kMemoryGroups, kClientsExamples, kClientsWords, OptionsEnd::kAtDashes, finish_clients},
    Verb{"events",
         "print events that agents' programs sent each other",
         kEventsSynopsis,
         "Prints the last 100 events since the daemon started, oldest first. Programs in the agent's sandbox\n"
         "send them with `hutch-host events emit`. With TYPEs, only events of these types.",
         kEventsGroups,
         kEventsExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_events},
    Verb{"memory", "show and change what an agent remembers", kMemorySynopsis,
         "Shows what programs in the agent's sandbox stored with `hutch-host agent memory store`. `query`\n"
         "returns entries that contain any of the words, best first; without words, the newest. At most 50.",
         kMemoryGroups, kMemoryExamples, kMemoryWords, OptionsEnd::kAtDashes, finish_memory},
};

}  // namespace

std::span<const Verb> host_verbs() { return kHostVerbs; }

}  // namespace hutch::cli
