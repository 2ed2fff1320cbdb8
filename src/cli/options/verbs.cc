// The table of verbs: what each option sets, what the help says.
#include "cli/options/verbs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/options/option_values.h"

namespace hutch::cli {

namespace {

using enum ValueKind;
using Text = std::string_view;

constexpr std::array kPlaceReach = {
    Option{"--backend", 0, "NAME", kBackend, "what isolates (the default is namespace; none isolates nothing)",
           set_backend},
    Option{"--image", 0, "NAME", kOther, "its root file system instead of this host's own (hutch image list)",
           set_image},
    Option{"--policy", 0, "FILE", kPath, "this policy; else the project's or your default, else the built-in one",
           set_policy},
    Option{"--allow-read", 0, "PATH", kPath, "may be read as well; these four may be repeated and take * ? [..] **",
           set_allow_read},
    Option{"--deny-read", 0, "PATH", kPath, "may not be read: it looks absent", set_deny_read},
    Option{"--allow-write", 0, "PATH", kPath, "may be written as well", set_allow_write},
    Option{"--deny-write", 0, "PATH", kPath, "may not be written", set_deny_write},
    Option{"--no-outer-repository", 0, "", kFlag, "leave out the repository of a linked worktree or a submodule",
           set_no_outer_repository},
    Option{"--network", 0, "KIND", kNetwork, "none, outbound (all but this host and private addresses), or rules",
           set_network},
    Option{"--allow-domain", 0, "D[:PORT]", kOther, "may be reached as well: example.com, *.example.com, 10.0.0.0/8",
           set_allow_domain},
    Option{"--deny-domain", 0, "D[:PORT]", kOther, "may not be reached, whatever allows it", set_deny_domain},
    Option{"--allow-udp", 0, "HOST:PORT", kOther, "UDP may reach that host, name or address, at that port",
           set_allow_udp},
    Option{"--allow-socket", 0, "PATH", kPath, "that Unix socket of this host may be connected to: $SSH_AUTH_SOCK",
           set_allow_socket},
    Option{"--allow-host-port", 0, "N", kOther, "port N of this host's loopback is there, at the same port",
           set_allow_host_port},
    Option{"--publish", 0, "HOST:SANDBOX", kOther, "the sandbox's port is there at this host's 127.0.0.1:HOST",
           set_publish},
};
constexpr std::array kPlaceProcess = {
    Option{"--cwd", 0, "DIR", kDirectory, "start there; else in the current directory", set_cwd},
    Option{"--env", 0, "K[=V]", kVariable, "set a variable; K alone passes your own (repeatable)", set_environment},
};
constexpr std::array kPlaceLimits = {
    Option{"--timeout", 0, "TIME", kOther, "end everything after TIME: 500ms, 30s, 2m", set_timeout},
    Option{"--idle-timeout", 0, "TIME", kOther, "end everything after TIME without output", set_idle_timeout},
    Option{"--memory", 0, "SIZE", kOther, "memory of all processes together: 512M, 2G", set_memory},
    Option{"--cpus", 0, "N", kOther, "CPU time of all processes together: 1.5", set_cpus},
    Option{"--pids", 0, "N", kOther, "processes and threads at one time", set_pids},
    Option{"--tmp-size", 0, "SIZE", kOther, "size of the private /tmp", set_tmp_size},
};
constexpr std::array kRunOther = {
    Option{"-c", 'c', "STRING", kOther, "run STRING by the shell instead of a COMMAND", set_shell},
    Option{"--json", 0, "", kFlag, "print the outcome as one JSON object, output included", set_json},
    Option{"--wide", 0, "", kFlag, "start in a home, above it, or in a directory of other projects", set_wide},
    Option{"--control-fd", 0, "N", kOther, "speak with the caller over descriptor N", set_control_fd},
};

constexpr std::array kRunGroups = {OptionGroup{"What it may reach", kPlaceReach},
                                   OptionGroup{"How it starts", kPlaceProcess}, OptionGroup{"Limits", kPlaceLimits},
                                   OptionGroup{"Other", kRunOther}};
constexpr std::array kPlaceGroups = {OptionGroup{"What it may reach", kPlaceReach},
                                     OptionGroup{"How it starts", kPlaceProcess}, OptionGroup{"Limits", kPlaceLimits},
                                     OptionGroup{"Other", kJsonAlone}};

constexpr std::array kLogOptions = {
    Option{"--lines", 'n', "N", kOther, "the last N runs (20)", set_count},
    Option{"--follow", 'f', "", kFlag, "go on with what happens from now on", set_follow},
    Option{"--json", 0, "", kFlag, "print the runs, one JSON object a line", set_json},
};
constexpr std::array kLogGroups = {OptionGroup{"Options", kLogOptions}};

constexpr std::array kConfigOptions = {
    Option{"--scope", 0, "SCOPE", kScope,
           "project (the entry that covers this directory), new (an entry for this\n"
           "directory itself), or default (every directory without an entry)",
           set_scope},
    Option{"--session", 0, "", kFlag, "enable, disable: for this session alone, and nothing is saved", set_session},
    kJson,
};
constexpr std::array kConfigGroups = {OptionGroup{"Options", kConfigOptions}};
constexpr std::array kStatusOptions = {
    Option{"--policy", 0, "FILE", kPath, "of this policy", set_policy},
    Option{"--line", 0, "", kFlag, "the one line alone", set_line},
    kJson,
};
constexpr std::array kStatusGroups = {OptionGroup{"Options", kStatusOptions}};

constexpr std::array kAuditOptions = {
    Option{"--since", 0, "TIME", kOther, "not older than TIME: 30m, 12h", set_since},
    Option{"--kind", 0, "KIND", kRecordType, "start, end, refusal, connection, decision or service alone (repeatable)",
           set_type},
    Option{"--type", 0, "KIND", kRecordType, "the same as --kind", set_type},
    Option{"--agent", 0, "NAME", kOther, "of this agent's sandbox alone", set_agent},
    Option{"--run", 0, "RUN", kOther, "of this run alone; the start of its id is enough", set_of_run},
    Option{"--lines", 'n', "N", kOther, "the last N records", set_count},
    Option{"--follow", 'f', "", kFlag, "go on with what is recorded from now on", set_follow},
    Option{"--json", 0, "", kFlag, "print the records, one JSON object a line", set_json},
};
constexpr std::array kAuditGroups = {OptionGroup{"Options", kAuditOptions}};

constexpr std::array kQuestionsOptions = {
    Option{"--follow", 'f', "", kFlag, "go on, and be the one who answers: whatever asks from now on waits for you",
           set_follow},
    Option{"--json", 0, "", kFlag, "print JSON, an object a line", set_json},
};
constexpr std::array kQuestionsGroups = {OptionGroup{"Options", kQuestionsOptions}};
constexpr std::array kAnswerOptions = {
    Option{"--minutes", 0, "N", kOther, "with session: for so long", set_minutes},
};
constexpr std::array kAnswerGroups = {OptionGroup{"Options", kAnswerOptions}};
constexpr std::array kRevokeOptions = {
    Option{"--kill", 0, "", kFlag, "end the commands that were allowed it", set_kill},
    kJson,
};
constexpr std::array kRevokeGroups = {OptionGroup{"Options", kRevokeOptions}};

constexpr std::array kRunSynopsis = {Text("hutch run [OPTION...] [--] COMMAND [ARGUMENT...]"),
                                     Text("hutch run [OPTION...] -c STRING")};
constexpr std::array kRunExamples = {
    Text("hutch run -- make test"),
    Text("hutch run --timeout 2m --memory 2G -- python3 train.py"),
    Text("hutch run --allow-write ~/.cache/pip --deny-read .env -- pip install --user ./pkg"),
    Text("hutch run --allow-domain example.org --allow-domain '*.example.net' -- ./agent"),
    Text("hutch run --json -c 'npm test 2>&1 | tail'"),
};
constexpr std::array kExplainSynopsis = {Text("hutch explain [OPTION...] [PATH|HOST...]")};
constexpr std::array kExplainExamples = {Text("hutch explain"), Text("hutch explain ~/.ssh example.org"),
                                         Text("hutch explain --policy ci.json --json")};
constexpr std::array kCheckSynopsis = {Text("hutch check [OPTION...] read|write PATH"),
                                       Text("hutch check [OPTION...] connect HOST[:PORT]"),
                                       Text("hutch check [OPTION...] socket PATH")};
constexpr std::array kCheckExamples = {
    Text("hutch check read ~/.ssh/id_ed25519"), Text("hutch check --allow-write build write build/out.o"),
    Text("hutch check connect api.github.com:443"), Text("hutch check socket \"$SSH_AUTH_SOCK\"")};
constexpr std::array kCheckWords = {Text("read"), Text("write"), Text("connect"), Text("socket")};
constexpr std::array kDoctorSynopsis = {Text("hutch doctor [--json]"), Text("hutch doctor --backend B [--json]")};
constexpr std::array kDoctorExamples = {Text("hutch doctor"), Text("hutch doctor --backend vm")};
constexpr std::array kDoctorOptions = {
    Option{"--backend", 0, "B", ValueKind::kBackend, "try a sandbox of an agent there", set_backend}, kJson};
constexpr std::array kDoctorGroups = {OptionGroup{"Options", kDoctorOptions}};
constexpr std::array kSelftestSynopsis = {
    Text("hutch selftest --attacks [--backend NAME]... [--json] [ATTACK|KIND]..."),
    Text("hutch selftest --attacks --list [--json] [ATTACK|KIND]...")};
constexpr std::array kSelftestExamples = {Text("hutch selftest --attacks"),
                                          Text("hutch selftest --attacks --backend namespace git"),
                                          Text("hutch selftest --attacks --list kernel")};
constexpr std::array kSelftestOptions = {
    Option{"--attacks", 0, "", ValueKind::kFlag, "run the attacks that hutch has to hold", set_attacks},
    Option{"--backend", 0, "NAME", ValueKind::kBackend, "on this backend only (repeatable)", add_backend},
    Option{"--list", 0, "", ValueKind::kFlag, "list the attacks and run nothing", set_list}, kJson};
constexpr std::array kSelftestGroups = {OptionGroup{"Options", kSelftestOptions}};
constexpr std::array kConfigSynopsis = {Text("hutch config"),
                                        Text("hutch config show|path|edit|enable|disable [--scope SCOPE]"),
                                        Text("hutch config enable|disable --session"),
                                        Text("hutch config get KEY [--scope SCOPE]"),
                                        Text("hutch config set|add|remove KEY [VALUE] [--scope SCOPE]"),
                                        Text("hutch config check [FILE]"),
                                        Text("hutch config schema|reload|preset [NAME]"),
                                        Text("hutch config import FILE|PRESET [--scope SCOPE]")};
constexpr std::array kConfigExamples = {Text("hutch config add network.allowedDomains example.org"),
                                        Text("hutch config set limits.memory 2G --scope default"),
                                        Text("hutch config disable --session"),
                                        Text("hutch config import ~/.srt-settings.json")};
constexpr std::array kConfigWords = {Text("show"),   Text("check"),  Text("edit"),   Text("path"),   Text("get"),
                                     Text("set"),    Text("add"),    Text("remove"), Text("enable"), Text("disable"),
                                     Text("schema"), Text("import"), Text("reload"), Text("preset")};
constexpr std::array kSettingsSynopsis = {
    Text("hutch settings show|edit|path|schema [--json]"), Text("hutch settings get KEY [--json]"),
    Text("hutch settings set KEY VALUE [--json]"), Text("hutch settings remove KEY [--json]")};
constexpr std::array kSettingsExamples = {Text("hutch settings set daemon.listen 127.0.0.1:8642"),
                                          Text("hutch settings set sandbox.defaults.memoryLimit 512m"),
                                          Text("hutch settings set security.sandboxOnly true")};
constexpr std::array kSettingsWords = {Text("show"), Text("get"),  Text("set"),   Text("remove"),
                                       Text("edit"), Text("path"), Text("schema")};
constexpr std::array kStatusSynopsis = {Text("hutch status [--line] [--policy FILE] [--json]")};
constexpr std::array kStatusExamples = {Text("hutch status"), Text("PS1='$(hutch status --line) \\$ '")};
constexpr std::array kLogSynopsis = {Text("hutch log [-n N] [--follow] [--json]")};
constexpr std::array kLogExamples = {Text("hutch log -n 5"), Text("hutch log --follow")};
constexpr std::array kWhySynopsis = {Text("hutch why [--json] [RUN]")};
constexpr std::array kWhyExamples = {Text("hutch why"), Text("hutch why 3f9a")};
constexpr std::array kAuditSynopsis = {Text("hutch audit [OPTION...]")};
constexpr std::array kAuditExamples = {Text("hutch audit --since 24h --kind refusal"),
                                       Text("hutch audit --run 3f9a --json"),
                                       Text("hutch audit --kind connection --follow")};
constexpr std::array kQuestionsSynopsis = {Text("hutch questions [--follow] [--json]")};
constexpr std::array kQuestionsExamples = {Text("hutch questions"), Text("hutch questions --follow")};
constexpr std::array kAnswerSynopsis = {Text("hutch answer [--minutes N] ID CHOICE")};
constexpr std::array kAnswerExamples = {Text("hutch answer 3f9a.1 once"), Text("hutch answer 3f9a.2 no"),
                                        Text("hutch answer --minutes 30 3f9a.3 session")};
constexpr std::array kRevokeSynopsis = {Text("hutch revoke [--kill] [--json] HOST[:PORT]|PATH")};
constexpr std::array kRevokeExamples = {Text("hutch revoke example.org"), Text("hutch revoke --kill example.org:443")};
constexpr std::array kCompletionSynopsis = {Text("hutch completion bash|zsh|fish")};
constexpr std::array kCompletionExamples = {Text("source <(hutch completion bash)"),
                                            Text("hutch completion zsh > ~/.zfunc/_hutch"),
                                            Text("hutch completion fish > ~/.config/fish/completions/hutch.fish")};
constexpr std::array kShells = {Text("bash"), Text("zsh"), Text("fish")};
constexpr std::array kHelpSynopsis = {Text("hutch help [VERB]")};

constexpr Text kRunDescription =
    "Runs one command in a sandbox and ends with its exit code. The command may read and write the\n"
    "current directory and read the system; the rest of your home, the other processes and the\n"
    "network are not there unless a rule says so. Options of hutch end at COMMAND: what follows is\n"
    "the command's own.\n"
    "\n"
    "Exit code: the command's own; 124 after a timeout, 125 when hutch failed or the input was wrong,\n"
    "126 when the command cannot be executed, 127 when it was not found, 128+n after signal n.";

constexpr std::array kVerbs = {
    Verb{"run",
         "run one command in a sandbox",
         kRunSynopsis,
         kRunDescription,
         kRunGroups,
         kRunExamples,
         {},
         OptionsEnd::kAtFirstWord,
         finish_run},
    Verb{"explain",
         "print a sandbox's plan and the rules behind it",
         kExplainSynopsis,
         "Prints what `hutch run` would do with the same options: mounts, environment, limits and the rule\n"
         "behind each; with a PATH or a HOST, what would become of it and which rule decides. Starts nothing.",
         kPlaceGroups,
         kExplainExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_explain},
    Verb{"check", "say whether a path or host is reachable, and why", kCheckSynopsis,
         "Says whether a sandbox with these options could read or write PATH, or connect to HOST (port 443\n"
         "unless it says another), and which rule decides. Resolves nothing: of a name it says what the\n"
         "rules say of it. Exit code: 0 when it could, 1 when not, or when it would have to be asked for.",
         kPlaceGroups, kCheckExamples, kCheckWords, OptionsEnd::kAtDashes, finish_check},
    Verb{"doctor",
         "report what works on this host, with remedies",
         kDoctorSynopsis,
         "Tries every backend and says whether it works or why not, with what to type; and how limits are\n"
         "held, what the kernel offers, and where hutch keeps its files.\n"
         "--backend makes an agent there, and says of running a command, the network, the agent's user,\n"
         "the package manager and the bridge to the host whether each works; nothing of it stays. Exit\n"
         "code: 1 when one does not.",
         kDoctorGroups,
         kDoctorExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_doctor},
    Verb{"selftest",
         "attack this host's backends and report what held",
         kSelftestSynopsis,
         "Runs each attack on every backend that isolates and works here, as the user who calls it, and on\n"
         "the backend none, where the attack is to succeed: that is the control. Prints a table, then what\n"
         "fell, what could not be run here and why. Words choose attacks by a part of their name, or by\n"
         "their kind. Nothing that it makes stays. It needs python3; attacks on git need git, and those on\n"
         "the network between two hosts need root. Exit code: 1 when an attack succeeded in a sandbox.",
         kSelftestGroups,
         kSelftestExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_selftest},
    Verb{"config", "show, check and change policies", kConfigSynopsis,
         "Without an action, on a terminal: what holds here, a switch for this session, and your policies to\n"
         "be changed by keys. show prints the policy that holds here, path its file, check says what is wrong\n"
         "with your policies or with FILE. set, add, remove, enable, disable and edit change one policy,\n"
         "import takes over one that another sandbox wrote (settings of srt, pi's default.json and\n"
         "projects.json). What is wrong is said, and not saved. What is saved reaches the sandboxes that run;\n"
         "reload has what you changed by hand reach them. schema prints the JSON Schema; preset the\n"
         "policies for coding agents (run --policy claude-code), of which import NAME saves one. VALUE is\n"
         "plain text where KEY takes text, else JSON. Without --scope: the project that this directory is\n"
         "in, or this directory.",
         kConfigGroups, kConfigExamples, kConfigWords, OptionsEnd::kAtDashes, finish_config},
    Verb{"settings", "show and change settings outside of policies", kSettingsSynopsis,
         "What is set for the daemon, for new agents and for all of them, in config.json. show prints every\n"
         "key with what holds, path the file, schema its JSON Schema. What is wrong is said, and not saved.\n"
         "VALUE is plain text where KEY takes text, else JSON. The daemon reads its own part when it starts.",
         kJsonGroups, kSettingsExamples, kSettingsWords, OptionsEnd::kAtDashes, finish_settings},
    Verb{"status",
         "summarize in one line what a sandbox here may do",
         kStatusSynopsis,
         "Prints the status line and the policy behind it. --line prints the line alone, red where the sandbox\n"
         "is disabled (unless NO_COLOR is set), for a prompt or a status bar.",
         kStatusGroups,
         kStatusExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_status},
    Verb{"log",
         "list past runs",
         kLogSynopsis,
         "Lists runs, the newest last.",
         kLogGroups,
         kLogExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_log},
    Verb{"why",
         "list blocked operations and the rule behind each",
         kWhySynopsis,
         "Says what was refused in RUN, and by which rule; without RUN, in the last run that was refused\n"
         "something. The start of an id is enough.",
         kJsonGroups,
         kWhyExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_why},
    Verb{"audit",
         "print the full record of runs, connections and decisions",
         kAuditSynopsis,
         "Prints every record, oldest first. With --follow it goes on until it is ended.",
         kAuditGroups,
         kAuditExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_audit},
    Verb{"questions",
         "list pending approval requests",
         kQuestionsSynopsis,
         "Lists the questions that wait for an answer, of every sandbox of yours. With --follow it goes on: as\n"
         "long as it runs somebody is there to answer, so that a command without a terminal waits.",
         kQuestionsGroups,
         kQuestionsExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_questions},
    Verb{"answer",
         "answer an approval request",
         kAnswerSynopsis,
         "CHOICE is one that `hutch questions` lists for it: once, session (that run), tree, project, new,\n"
         "everywhere or no. The first answer holds; who was faster is told to whoever comes late.",
         kAnswerGroups,
         kAnswerExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_answer},
    Verb{"revoke",
         "revoke permissions granted to running sandboxes",
         kRevokeSynopsis,
         "Answers that allowed HOST for a run or a session hold no longer, and its connections end; where the\n"
         "policy that holds here has an entry for exactly HOST, that goes as well; without PORT those\n"
         "for a port of it too. PATH is a Unix socket, or a file or directory, which is hidden again or no\n"
         "longer written. What a command has read it keeps: --kill ends the commands that had it, of an agent\n"
         "all that run.",
         kRevokeGroups,
         kRevokeExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_revoke},
    Verb{"completion",
         "print a completion script for a shell",
         kCompletionSynopsis,
         "Prints a script that completes verbs and options.",
         {},
         kCompletionExamples,
         kShells,
         OptionsEnd::kAtDashes,
         finish_completion},
    Verb{"help",
         "explain a verb",
         kHelpSynopsis,
         "Prints this list, or the options of VERB.",
         {},
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_help},
};

// completion and help come last in the list.
constexpr std::ptrdiff_t kAfterAgents = 2;

}  // namespace

std::span<const Verb> verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> joined(kVerbs.begin(), kVerbs.end() - kAfterAgents);
    joined.insert(joined.end(), agent_verbs().begin(), agent_verbs().end());
    joined.insert(joined.end(), host_verbs().begin(), host_verbs().end());
    joined.insert(joined.end(), plugin_verbs().begin(), plugin_verbs().end());
    joined.insert(joined.end(), user_verbs().begin(), user_verbs().end());
    joined.insert(joined.end(), kVerbs.end() - kAfterAgents, kVerbs.end());
    return joined;
  }();
  return all;
}

std::span<const VerbGroup> verb_groups() {
  static const std::vector<VerbGroup> all = {
      {"Start here", {"run", "explain", "check", "why", "config", "doctor", "agent", "exec", "shell", "mcp"}},
      {"Runs and policies", {"questions", "answer", "revoke", "status", "log", "audit", "settings"}},
      {"Agents", {"ps", "logs", "attach", "wait", "kill", "task", "tool", "plugin", "skill", "memory", "events"}},
      {"Files and secrets", {"artifacts", "secret", "share", "unshare", "shared"}},
      {"Images and machines", {"image", "vm", "pool"}},
      {"Serving", {"serve", "daemon"}},
      {"An OS user for agents", {"init", "deinit", "network", "service"}},
      {"Upkeep", {"clients", "selftest", "paths", "completion", "help"}},
  };
  return all;
}

const Verb* find_verb(std::string_view name) {
  const std::span<const Verb> all = verbs();
  const auto found = std::ranges::find(all, name, &Verb::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace hutch::cli
