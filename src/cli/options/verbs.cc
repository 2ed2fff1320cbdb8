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
    Option{"--backend", 0, "NAME", kBackend, "isolate with this (default namespace; none isolates nothing)",
           set_backend},
    Option{"--image", 0, "NAME", kOther, "use this image as root file system (hutch image list)", set_image},
    Option{"--policy", 0, "FILE", kPath, "use this policy, not the project's, your default or the built-in one",
           set_policy},
    Option{"--allow-read", 0, "PATH", kPath, "also readable; these four repeat and take * ? [..] **", set_allow_read},
    Option{"--deny-read", 0, "PATH", kPath, "not readable: it looks absent", set_deny_read},
    Option{"--allow-write", 0, "PATH", kPath, "also writable", set_allow_write},
    Option{"--deny-write", 0, "PATH", kPath, "not writable", set_deny_write},
    Option{"--no-outer-repository", 0, "", kFlag, "leave out the repository of a linked worktree or a submodule",
           set_no_outer_repository},
    Option{"--network", 0, "KIND", kNetwork, "none, outbound (all but this host and private addresses), or rules",
           set_network},
    Option{"--allow-domain", 0, "D[:PORT]", kOther, "also reachable: example.com, *.example.com, 10.0.0.0/8",
           set_allow_domain},
    Option{"--deny-domain", 0, "D[:PORT]", kOther, "never reachable, whatever allows it", set_deny_domain},
    Option{"--allow-udp", 0, "HOST:PORT", kOther, "allow UDP to that host, name or address, at that port",
           set_allow_udp},
    Option{"--allow-socket", 0, "PATH", kPath, "allow connecting to that Unix socket of this host: $SSH_AUTH_SOCK",
           set_allow_socket},
    Option{"--allow-host-port", 0, "N", kOther, "make port N of this host's loopback available inside",
           set_allow_host_port},
    Option{"--publish", 0, "HOST:SANDBOX", kOther, "publish the sandbox's port at this host's 127.0.0.1:HOST",
           set_publish},
};
constexpr std::array kPlaceProcess = {
    Option{"--cwd", 0, "DIR", kDirectory, "start in DIR, not in the current directory", set_cwd},
    Option{"--env", 0, "K[=V]", kVariable, "set a variable; only K passes yours (repeatable)", set_environment},
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
    Option{"-c", 'c', "STRING", kOther, "run STRING in a shell instead of a COMMAND", set_shell},
    Option{"--json", 0, "", kFlag, "print the outcome as one JSON object, output included", set_json},
    Option{"--wide", 0, "", kFlag, "start in a home, above it, or in a directory of other projects", set_wide},
    Option{"--control-fd", 0, "N", kOther, "talk to the caller over descriptor N", set_control_fd},
};

constexpr std::array kRunGroups = {OptionGroup{"What it may reach", kPlaceReach},
                                   OptionGroup{"How it starts", kPlaceProcess}, OptionGroup{"Limits", kPlaceLimits},
                                   OptionGroup{"Other", kRunOther}};
constexpr std::array kPlaceGroups = {OptionGroup{"What it may reach", kPlaceReach},
                                     OptionGroup{"How it starts", kPlaceProcess}, OptionGroup{"Limits", kPlaceLimits},
                                     OptionGroup{"Other", kJsonAlone}};

constexpr std::array kLogOptions = {
    Option{"--lines", 'n', "N", kOther, "the last N runs (20)", set_count},
    Option{"--follow", 'f', "", kFlag, "continue with new events", set_follow},
    Option{"--json", 0, "", kFlag, "print the runs, one JSON object a line", set_json},
};
constexpr std::array kLogGroups = {OptionGroup{"Options", kLogOptions}};

constexpr std::array kConfigOptions = {
    Option{"--scope", 0, "SCOPE", kScope,
           "project (the entry that covers this directory), new (an entry for this\n"
           "directory itself), or default (every directory without an entry)",
           set_scope},
    Option{"--session", 0, "", kFlag, "enable, disable: only for this session; nothing is saved", set_session},
    kJson,
};
constexpr std::array kConfigGroups = {OptionGroup{"Options", kConfigOptions}};
constexpr std::array kStatusOptions = {
    Option{"--policy", 0, "FILE", kPath, "use this policy", set_policy},
    Option{"--line", 0, "", kFlag, "print only the line", set_line},
    kJson,
};
constexpr std::array kStatusGroups = {OptionGroup{"Options", kStatusOptions}};

constexpr std::array kAuditOptions = {
    Option{"--since", 0, "TIME", kOther, "only records newer than TIME: 30m, 12h", set_since},
    Option{"--kind", 0, "KIND", kRecordType, "only start, end, refusal, connection, decision or service (repeatable)",
           set_type},
    Option{"--type", 0, "KIND", kRecordType, "the same as --kind", set_type},
    Option{"--agent", 0, "NAME", kOther, "only this agent's sandbox", set_agent},
    Option{"--run", 0, "RUN", kOther, "only this run; the start of its id is enough", set_of_run},
    Option{"--lines", 'n', "N", kOther, "the last N records", set_count},
    Option{"--follow", 'f', "", kFlag, "continue with new records", set_follow},
    Option{"--json", 0, "", kFlag, "print the records, one JSON object a line", set_json},
};
constexpr std::array kAuditGroups = {OptionGroup{"Options", kAuditOptions}};

constexpr std::array kQuestionsOptions = {
    Option{"--follow", 'f', "", kFlag, "continue; new requests wait for your answer", set_follow},
    Option{"--json", 0, "", kFlag, "print JSON, one object a line", set_json},
};
constexpr std::array kQuestionsGroups = {OptionGroup{"Options", kQuestionsOptions}};
constexpr std::array kAnswerOptions = {
    Option{"--minutes", 0, "N", kOther, "with session: for N minutes", set_minutes},
};
constexpr std::array kAnswerGroups = {OptionGroup{"Options", kAnswerOptions}};
constexpr std::array kRevokeOptions = {
    Option{"--kill", 0, "", kFlag, "end the commands that had access", set_kill},
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
    Option{"--attacks", 0, "", ValueKind::kFlag, "run the attacks", set_attacks},
    Option{"--backend", 0, "NAME", ValueKind::kBackend, "only on this backend (repeatable)", add_backend},
    Option{"--list", 0, "", ValueKind::kFlag, "list the attacks; run nothing", set_list}, kJson};
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
    "Runs one command in a sandbox and exits with its exit code. The command can read the system, and\n"
    "read and write the current directory. The rest of your home, other processes and the network are out\n"
    "of reach unless a rule allows them. hutch's options end at COMMAND; everything after it belongs to\n"
    "the command.\n"
    "\n"
    "Exit code: the command's own; 124 after a timeout; 125 if hutch failed or its input was wrong; 126\n"
    "if the command cannot be executed; 127 if it was not found; 128+n after signal n.";

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
         "Prints what `hutch run` would do with the same options: mounts, environment, limits, and the rule\n"
         "behind each. With a PATH or a HOST, prints whether the sandbox could reach it and which rule\n"
         "decides. Starts nothing.",
         kPlaceGroups,
         kExplainExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_explain},
    Verb{"check", "say whether a path or host is reachable, and why", kCheckSynopsis,
         "Says whether a sandbox with these options could read or write PATH, or connect to HOST (port 443 by\n"
         "default), and which rule decides. Resolves no names: for a name it prints what the rules say. Exit\n"
         "code: 0 if it could; 1 if it could not, or if hutch would have to ask.",
         kPlaceGroups, kCheckExamples, kCheckWords, OptionsEnd::kAtDashes, finish_check},
    Verb{"doctor",
         "report what works on this host, with remedies",
         kDoctorSynopsis,
         "Tries every backend and says whether it works; if not, why, and what to type. Also says how limits\n"
         "are enforced, what the kernel offers, and where hutch keeps its files.\n"
         "--backend creates a temporary agent on that backend, and says whether each of these works: running a\n"
         "command, the network, the agent's user, the package manager, the bridge to the host. Exit code: 1 if\n"
         "one does not.",
         kDoctorGroups,
         kDoctorExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_doctor},
    Verb{"selftest",
         "attack this host's backends and report what held",
         kSelftestSynopsis,
         "Runs each attack on every backend that isolates and works here, as the calling user. It also runs\n"
         "each on the backend none, where the attack must succeed: that is the control. Prints a table, then\n"
         "what succeeded, and what could not run here and why. Words select attacks by a part of their name,\n"
         "or by kind. It leaves nothing behind. It needs python3; attacks on git need git, and those on the\n"
         "network between two hosts need root. Exit code: 1 if an attack succeeded in a sandbox.",
         kSelftestGroups,
         kSelftestExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_selftest},
    Verb{"config", "show, check and change policies", kConfigSynopsis,
         "Without an action, on a terminal: shows the current policy, turns the sandbox off and on for a\n"
         "session, and edits your policies with keys. show prints the policy of this directory, path its file.\n"
         "check reports errors in your policies or in FILE. set, add, remove, enable, disable and edit change\n"
         "one policy. import takes over the policy of another sandbox (settings of srt, pi's default.json and\n"
         "projects.json). Invalid changes are rejected and not saved. A saved change reaches running\n"
         "sandboxes; reload does the same for changes that you made by hand. schema prints the JSON Schema.\n"
         "preset prints the policies for coding agents (run --policy claude-code); import NAME saves one.\n"
         "VALUE is plain text if KEY takes text, else JSON. Without --scope: the project that contains this\n"
         "directory, or this directory.",
         kConfigGroups, kConfigExamples, kConfigWords, OptionsEnd::kAtDashes, finish_config},
    Verb{"settings", "show and change settings outside of policies", kSettingsSynopsis,
         "Settings of the daemon, of new agents and of all agents, in config.json. show prints every key and\n"
         "its current value, path the file, schema its JSON Schema. Invalid values are rejected and not saved.\n"
         "VALUE is plain text if KEY takes text, else JSON. The daemon reads its own settings when it starts.",
         kJsonGroups, kSettingsExamples, kSettingsWords, OptionsEnd::kAtDashes, finish_settings},
    Verb{"status",
         "summarize in one line what a sandbox here may do",
         kStatusSynopsis,
         "Prints the status line and the policy behind it. --line prints only the line, for a prompt or a\n"
         "status bar. It is red if the sandbox is disabled, unless NO_COLOR is set.",
         kStatusGroups,
         kStatusExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_status},
    Verb{"log",
         "list past runs",
         kLogSynopsis,
         "Lists runs, newest last.",
         kLogGroups,
         kLogExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_log},
    Verb{"why",
         "list blocked operations and the rule behind each",
         kWhySynopsis,
         "Lists what was blocked in RUN, and the rule behind each; without RUN, in the last run in which\n"
         "something was blocked. The start of an id is enough.",
         kJsonGroups,
         kWhyExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_why},
    Verb{"audit",
         "print the full record of runs, connections and decisions",
         kAuditSynopsis,
         "Prints every record, oldest first. With --follow it continues until you end it.",
         kAuditGroups,
         kAuditExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_audit},
    Verb{"questions",
         "list pending approval requests",
         kQuestionsSynopsis,
         "Lists the pending approval requests of all your sandboxes. With --follow it continues, and counts as\n"
         "somebody who can answer: a command without a terminal then waits for you.",
         kQuestionsGroups,
         kQuestionsExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_questions},
    Verb{"answer",
         "answer an approval request",
         kAnswerSynopsis,
         "CHOICE is one of those that `hutch questions` lists: once, session (that run), tree, project, new,\n"
         "everywhere or no. The first answer wins; later ones learn who was faster.",
         kAnswerGroups,
         kAnswerExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_answer},
    Verb{"revoke",
         "revoke permissions granted to running sandboxes",
         kRevokeSynopsis,
         "Withdraws answers that allowed HOST for a run or a session, and ends its connections. If the policy\n"
         "of this directory has an entry for exactly HOST, removes that entry; without PORT, also entries for\n"
         "a port of HOST. PATH is a Unix socket, or a file or directory; hutch hides it again or makes it\n"
         "read-only. A command keeps what it has read: --kill ends the commands that had access; of an agent,\n"
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
