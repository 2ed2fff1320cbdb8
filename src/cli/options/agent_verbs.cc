// The table of verbs that go through the daemon.
#include <array>

#include "cli/options/option_values.h"
#include "cli/options/verbs.h"

namespace hutch::cli {

namespace {

using enum ValueKind;
using Text = std::string_view;

constexpr std::array kExecOptions = {
    Option{"--detach", 'd', "", kFlag, "go on in the background; prints the process's id", set_detach},
    Option{"--interactive", 'i', "", kFlag, "with --detach: it gets all of your standard input, and its end",
           set_interactive},
    Option{"--tty", 't', "", kFlag, "give it a terminal, whatever your own streams are", set_tty},
    Option{"--cwd", 0, "DIR", kOther, "start there; else at the agent's place of work", set_cwd},
    Option{"--env", 0, "K[=V]", kVariable, "set a variable; K alone passes your own (repeatable)", set_environment},
    Option{"--timeout", 0, "TIME", kOther, "end it and all that it started after TIME: 500ms, 30s, 2m", set_timeout},
    Option{"--json", 0, "", kFlag, "with --detach: print the process as JSON", set_json},
};
constexpr std::array kExecGroups = {OptionGroup{"Options", kExecOptions}};
constexpr std::array kShellOptions = {
    Option{"--cwd", 0, "DIR", kOther, "start there; else at the agent's place of work", set_cwd},
};
constexpr std::array kShellGroups = {OptionGroup{"Options", kShellOptions}};
constexpr std::array kLogsOptions = {
    Option{"--follow", 'f', "", kFlag, "go on with what it writes from now on, until it ends", set_follow},
    Option{"--json", 0, "", kFlag, "print the process and its output as one object; with --follow, at its end",
           set_json}};
constexpr std::array kLogsGroups = {OptionGroup{"Options", kLogsOptions}};
constexpr std::array kKillOptions = {Option{"--signal", 's', "SIGNAL", kOther,
                                            "TERM, INT, KILL, ...; without it TERM and, if need be, KILL", set_signal}};
constexpr std::array kKillGroups = {OptionGroup{"Options", kKillOptions}};
constexpr std::array kToolOptions = {
    Option{"--turn", 0, "ID", kOther, "the conversation's turn that a limit of commands counts in", set_turn}, kJson};
constexpr std::array kToolGroups = {OptionGroup{"Options", kToolOptions}};
constexpr std::array kMcpOptions = {
    Option{"--agent", 0, "NAME", kOther, "serve this agent; else that of the working directory", set_agent},
    Option{"--client", 0, "CLIENT", kOther, "install, remove: whose configuration", set_mcp_client},
    Option{"--project", 0, "", kFlag, "install, remove: in this directory's file, not in yours", set_mcp_project},
    Option{"--print", 0, "", kFlag, "install: show the entry, and write nothing", set_mcp_print},
    Option{"--yes", 'y', "", kFlag, "install, remove: without asking", set_mcp_yes},
    kJson};
constexpr std::array kMcpGroups = {OptionGroup{"Options", kMcpOptions}};
constexpr std::array kServeOptions = {
    Option{"--listen", 0, "ADDRESS:PORT", kOther, "serve HTTP and MCP on this TCP port as well", set_listen},
    Option{"--token-file", 0, "FILE", kPath,
           "the bearer token of those who connect by TCP; made, and readable\nfor you alone, where it is not there",
           set_token_file},
    Option{"--idle", 0, "TIME", kOther, "leave after TIME without a client and a process: 10m, or never", set_idle},
    Option{"--ready-fd", 0, "N", kOther, "close descriptor N once clients can connect", set_ready_fd}};
constexpr std::array kServeGroups = {OptionGroup{"Options", kServeOptions}};

constexpr std::array kAgentSynopsis = {Text("hutch agent create NAME [KEY=VALUE...]"),
                                       Text("hutch agent list [--json]"),
                                       Text("hutch agent show|start|stop|reset|remove NAME [--json]"),
                                       Text("hutch agent set NAME KEY=VALUE..."),
                                       Text("hutch agent allow|deny NAME HOST..."),
                                       Text("hutch agent install NAME PACKAGE... [--json]")};
constexpr std::array kAgentWords = {Text("create"), Text("list"),  Text("show"),    Text("set"),
                                    Text("allow"),  Text("deny"),  Text("install"), Text("start"),
                                    Text("stop"),   Text("reset"), Text("remove")};
constexpr std::array kAgentExamples = {Text("hutch agent create alice"),
                                       Text("hutch agent create bob image=debian"),
                                       Text("hutch agent create ci limits.memory=2G autonomousExec.enabled=true"),
                                       Text("hutch agent set alice policy=$PWD/policy.json"),
                                       Text("hutch agent create dev network=registries"),
                                       Text("hutch agent allow alice example.com '*.example.net:443'"),
                                       Text("hutch agent install alice jq"),
                                       Text("hutch agent show alice --json")};
constexpr std::array kExecSynopsis = {Text("hutch exec [OPTION...] AGENT -- COMMAND [ARGUMENT...]")};
constexpr std::array kExecExamples = {Text("hutch exec alice -- make test"),
                                      Text("hutch exec -d alice -- python3 -m http.server"),
                                      Text("hutch exec -d -t alice -- bash")};
constexpr std::array kShellSynopsis = {Text("hutch shell [--cwd DIR] AGENT")};
constexpr std::array kPsSynopsis = {Text("hutch ps [--json] AGENT")};
constexpr std::array kLogsSynopsis = {Text("hutch logs [--follow] [--json] AGENT PID")};
constexpr std::array kAttachSynopsis = {Text("hutch attach AGENT PID")};
constexpr std::array kWaitSynopsis = {Text("hutch wait AGENT PID")};
constexpr std::array kKillSynopsis = {Text("hutch kill [--signal SIGNAL] AGENT PID")};
constexpr std::array kToolSynopsis = {Text("hutch tool list [AGENT] [--json]"),
                                      Text("hutch tool call [--turn ID] AGENT NAME [JSON|-]")};
constexpr std::array kToolWords = {Text("list"), Text("call")};
constexpr std::array kToolExamples = {Text("hutch tool call alice sandbox_exec '{\"command\": \"make test\"}'"),
                                      Text("hutch tool call alice sandbox_write_file - < arguments.json")};
constexpr std::array kMcpSynopsis = {
    Text("hutch mcp [--agent NAME]"),
    Text("hutch mcp install --client CLIENT [--agent NAME] [--project] [--print|--yes]"),
    Text("hutch mcp remove --client CLIENT [--project] [--yes]"), Text("hutch mcp list [--json]")};
constexpr std::array kMcpWords = {Text("install"), Text("remove"), Text("list")};
constexpr std::array kMcpExamples = {Text("hutch mcp install --client claude-code"),
                                     Text("hutch mcp install --client codex --print")};
constexpr std::array kServeSynopsis = {Text("hutch serve [--idle TIME] [--listen ADDRESS:PORT --token-file FILE]")};
constexpr std::array kServeExamples = {Text("hutch serve --listen 127.0.0.1:8642 --token-file ~/.config/hutch/token")};
constexpr std::array kDaemonSynopsis = {Text("hutch daemon status|stop [--json]")};
constexpr std::array kDaemonWords = {Text("status"), Text("stop")};
constexpr std::array kImageOptions = {
    kJson, Option{"--recipe", 0, "FILE", kPath, "build: the packages, by name", set_recipe},
    Option{"--dockerfile", 0, "FILE", kPath, "build: what an engine of containers makes of it", set_dockerfile},
    Option{"--force", 0, "", kFlag, "remove: although agents have it", set_force}};
constexpr std::array kImageGroups = {OptionGroup{"Options", kImageOptions}};
constexpr std::array kImageSynopsis = {Text("hutch image build [--json] | build --recipe FILE NAME [--json]"),
                                       Text("hutch image build --dockerfile FILE NAME [CONTEXT] [--json]"),
                                       Text("hutch image pull REFERENCE [NAME] [--json]"),
                                       Text("hutch image import NAME FILE.tar[.gz|.xz|.zst]|- [--json]"),
                                       Text("hutch image list [--json]"),
                                       Text("hutch image show NAME [--json]"),
                                       Text("hutch image remove [--force] NAME")};
constexpr std::array kImageWords = {Text("build"), Text("import"), Text("pull"),
                                    Text("list"),  Text("show"),   Text("remove")};
constexpr std::array kImageExamples = {Text("hutch image build"), Text("hutch image import debian rootfs.tar.xz"),
                                       Text("hutch image pull python:3.12-slim"),
                                       Text("hutch run --image debian -- cat /etc/os-release")};
constexpr std::array kVmOptions = {
    kJson,
    Option{"--kernel", 0, "PACKAGE|PATH", kPath, "provision: the package of the kernel, or a bzImage", set_kernel},
    Option{"--modules", 0, "DIR", kPath, "provision: of a kernel that is a PATH (/lib/modules/RELEASE)", set_modules},
    Option{"--root", 0, "FILE", kPath, "provision: an archive of the root (.tar, an image's, or -)", set_root},
    Option{"--follow", 'f', "", kFlag, "console: go on with what comes, until the machine ends", set_follow},
    Option{"--yes", 'y', "", kFlag, "reset, remove: without asking", set_vm_yes}};
constexpr std::array kVmGroups = {OptionGroup{"Options", kVmOptions}};
constexpr std::array kVmSynopsis = {
    Text("hutch vm provision [--kernel PACKAGE|PATH [--modules DIR]] [--root FILE.tar|-] [--json]"),
    Text("hutch vm start|stop|restart|status [--json]"), Text("hutch vm console [--follow] [--json] AGENT"),
    Text("hutch vm config [KEY [VALUE]] [--json]"), Text("hutch vm reset|remove [--yes]")};
constexpr std::array kVmWords = {Text("provision"), Text("start"),  Text("stop"),  Text("restart"), Text("status"),
                                 Text("console"),   Text("config"), Text("reset"), Text("remove")};
constexpr std::array kVmExamples = {Text("hutch vm provision"), Text("hutch vm config memoryGB 4"),
                                    Text("hutch run --backend vm -- uname -a")};
constexpr std::array kPoolOptions = {
    Option{"--backend", 0, "B", kBackend, "fill: what isolates", set_backend},
    Option{"--trust", 0, "T", kOther, "fill: sandboxed (no network; as without it) or trusted", set_trust},
    Option{"--image", 0, "NAME", kOther, "fill: with this image", set_image},
    Option{"--memory", 0, "SIZE", kOther, "fill: with this limit of memory", set_memory},
    Option{"--cpus", 0, "N", kOther, "fill: with this limit of CPU time", set_cpus},
    kJson};
constexpr std::array kPoolGroups = {OptionGroup{"Options", kPoolOptions}};
constexpr std::array kPoolSynopsis = {Text("hutch pool stats [--json]"), Text("hutch pool fill [OPTION...] [COUNT]"),
                                      Text("hutch pool drain [--json]")};
constexpr std::array kPoolWords = {Text("stats"), Text("fill"), Text("drain")};
constexpr std::array kPoolExamples = {Text("hutch pool stats"), Text("hutch pool fill 2"),
                                      Text("hutch pool fill --trust trusted --memory 1G")};
constexpr std::array kTaskOptions = {
    Option{"--detach", 'd', "", kFlag, "run: go on in the background; prints the task's id", set_detach},
    Option{"--timeout", 0, "TIME", kOther,
           "run: end it and all that it started after TIME; else after 5m, or\n"
           "what sandbox.defaults.timeout says",
           set_timeout},
    kJson};
constexpr std::array kTaskGroups = {OptionGroup{"Options", kTaskOptions}};
constexpr std::array kTaskSynopsis = {Text("hutch task run [--timeout TIME] [-d] [--json] AGENT TEXT|-"),
                                      Text("hutch task list [--json] [AGENT]"), Text("hutch task show [--json] ID"),
                                      Text("hutch task cancel [--json] ID")};
constexpr std::array kTaskWords = {Text("run"), Text("list"), Text("show"), Text("cancel")};
constexpr std::array kTaskExamples = {
    Text("hutch agent set alice codeAgent.command=claude 'codeAgent.args=[\"-p\", \"--\", \"{task}\"]'"),
    Text("hutch task run alice 'Make the tests pass'"), Text("hutch task run -d --timeout 30m alice - < task.txt")};
constexpr std::array kPathsSynopsis = {Text("hutch paths [--json]")};

constexpr std::array kAgentVerbs = {
    Verb{"agent", "create, show, change, stop and remove agents", kAgentSynopsis,
         "An agent has a home that stays, a policy and limits, and a sandbox that starts when it is needed. In\n"
         "the sandbox its home is /workspace/agents/NAME; /workspace/shared is all agents', and /output is\n"
         "what it hands out. `reset` ends the sandbox, drops what was changed of an image and keeps the home;\n"
         "`remove` deletes the home as well, and says what it deleted. What is set holds from the next start\n"
         "on, but for its tools' part (autonomousExec) and its network, which hold at once. `network` is none,\n"
         "outbound, rules or registries; `allow` and `deny` name hosts. `install` installs system packages; to\n"
         "an agent without an image it gives the default one, when you say yes or image=auto is set.",
         kJsonGroups, kAgentExamples, kAgentWords, OptionsEnd::kAtDashes, finish_agent},
    Verb{"exec",
         "run a command in an agent's sandbox",
         kExecSynopsis,
         "Runs COMMAND with your standard streams, and ends with its exit code (those of hutch are as for\n"
         "`hutch run`). It has a terminal where one of your streams is one, or with --tty. When you leave, it\n"
         "ends; with --detach it goes on, and `hutch logs`, `attach`, `wait` and `kill` reach it by its id.",
         kExecGroups,
         kExecExamples,
         {},
         OptionsEnd::kAtFirstWord,
         finish_exec},
    Verb{"shell",
         "open a login shell in an agent's sandbox",
         kShellSynopsis,
         "A login shell, on a terminal of its own.",
         kShellGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_shell},
    Verb{"ps",
         "list processes in an agent's sandbox",
         kPsSynopsis,
         "Lists those that run, and the last of those that have ended.",
         kJsonGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_ps},
    Verb{"logs",
         "print a process's output",
         kLogsSynopsis,
         "Prints what is kept of the output of a process that was started with --detach, or by a tool: the\n"
         "first and the last MiB of each stream. The exit code says whether that was printed, with --follow\n"
         "too; `hutch wait` and `hutch attach` end with the process's own.",
         kLogsGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_logs},
    Verb{"attach",
         "follow a process and write to its input",
         kAttachSynopsis,
         "As `hutch logs --follow`; what you type goes to the process, if it was started with an input. To one\n"
         "that was started with a terminal (hutch exec -d -t) your own is given: its keys, its size, and what\n"
         "is shown from now on. Ctrl-P Ctrl-Q leaves it again, and it goes on. Ends with the process's exit\n"
         "code; with 0 when you left it.",
         {},
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_attach},
    Verb{"wait",
         "wait for a process to exit",
         kWaitSynopsis,
         "Ends with its exit code.",
         {},
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_wait},
    Verb{"kill",
         "kill a process and everything it started",
         kKillSynopsis,
         "TERM, two seconds to go by itself, then KILL.",
         kKillGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_kill},
    Verb{"tool", "list and call an agent's tools", kToolSynopsis,
         "Calls a tool as a model would, and prints its envelope. `-` reads the arguments from standard input.\n"
         "Exit code: 0 when the envelope says ok, else 1.",
         kToolGroups, kToolExamples, kToolWords, OptionsEnd::kAtDashes, finish_tool},
    Verb{"mcp", "serve an agent's tools over the Model Context Protocol", kMcpSynopsis,
         "Speaks MCP on standard input and output, for the configuration of a coding agent. install writes\n"
         "that entry into the client's file, once it has shown it: into yours, or with --project into that of\n"
         "this directory. All else in the file stays. list says which clients hutch knows, and who has it.",
         kMcpGroups, kMcpExamples, kMcpWords, OptionsEnd::kAtDashes, finish_mcp},
    Verb{"serve",
         "run the daemon that keeps agents' sandboxes",
         kServeSynopsis,
         "Verbs that need the daemon start it by themselves; it leaves when nobody uses it for ten minutes.\n"
         "Started by hand it stays until it is told to stop. `hutch settings` sets what is not typed here.",
         kServeGroups,
         kServeExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_serve},
    Verb{"daemon",
         "show the daemon's status or stop it",
         kDaemonSynopsis,
         "`stop` ends all sandboxes of agents.",
         kJsonGroups,
         {},
         kDaemonWords,
         OptionsEnd::kAtDashes,
         finish_daemon},
    Verb{"image", "build, pull and manage images for sandboxes", kImageSynopsis,
         "import unpacks the archive of a root file system, in a process that reaches nothing else, and keeps\n"
         "it under NAME (\"python\" is \"python:latest\"); what has devices, leads out of the tree or is damaged\n"
         "is no image afterwards. A run with --image NAME has it as its own system, and may change it.\n"
         "build makes one of packages, by mmdebstrap from where this machine takes its own: without NAME\n"
         "hutch-sandbox (Python, Node, git, compilers), which is also built when it is first needed; with\n"
         "--dockerfile an engine of containers (docker, podman) builds it, CONTEXT being what COPY is about.\n"
         "pull fetches one of a registry by skopeo, or takes oci-archive:FILE, docker-archive:FILE, oci:DIR.",
         kImageGroups, kImageExamples, kImageWords, OptionsEnd::kAtDashes, finish_image},
    Verb{"vm", "build VM images; start and stop agents' VMs", kVmSynopsis,
         "provision fetches a kernel from where this machine takes its packages, without installing it, or\n"
         "takes a file's, and builds the file system of the root as `hutch image build` does, or of an archive\n"
         "of yours; what was whole when it was killed is taken by the next. What is started later is held to\n"
         "the checksums that are taken now. start, stop and restart are for the machines of all agents that\n"
         "have one; start provisions first where nothing is. config shows or sets autoStart (true, false),\n"
         "cpus (1 to 8), memoryGB (1 to 8) and network (outbound, none), which hold from a machine's next\n"
         "start on. console prints the last 64 KiB that an agent's machine has written on its own, also after\n"
         "its end. reset makes all of it anew, remove deletes it; agents' files stay.",
         kVmGroups, kVmExamples, kVmWords, OptionsEnd::kAtDashes, finish_vm},
    Verb{"pool", "keep sandboxes ready in advance", kPoolSynopsis,
         "Sandboxes that the daemon gives out by HTTP (/v1/pool), one to each who asks, and ends when they are\n"
         "given back. stats says how many there are, fill has COUNT idle ones (1) of a kind and waits for\n"
         "them, drain ends the idle ones. The daemon's end is the end of all.",
         kPoolGroups, kPoolExamples, kPoolWords, OptionsEnd::kAtDashes, finish_pool},
    Verb{"task", "give an agent's coding agent a task", kTaskSynopsis,
         "Runs the command of the agent's codeAgent in its sandbox with TEXT as one argument, in place of\n"
         "{task} in its args or as the last; `-` reads it from standard input. What it prints is printed, then\n"
         "on standard error which files were changed; the exit code is the command's. When you leave, it ends.\n"
         "One task of an agent runs at a time. `list` has those that run and the last that have ended.",
         kTaskGroups, kTaskExamples, kTaskWords, OptionsEnd::kAtDashes, finish_task},
    Verb{"paths",
         "print where hutch keeps its files",
         kPathsSynopsis,
         "Prints every place, and what it is.",
         kJsonGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_paths},
};

}  // namespace

std::span<const Verb> agent_verbs() { return kAgentVerbs; }

}  // namespace hutch::cli
