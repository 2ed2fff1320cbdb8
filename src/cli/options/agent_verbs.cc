// The table of verbs that go through the daemon.
#include <array>

#include "cli/options/option_values.h"
#include "cli/options/verbs.h"

namespace hutch::cli {

namespace {

using enum ValueKind;
using Text = std::string_view;

constexpr std::array kExecOptions = {
    Option{"--detach", 'd', "", kFlag, "continue in the background; print the process id", set_detach},
    Option{"--interactive", 'i', "", kFlag, "with --detach: pass all of your standard input", set_interactive},
    Option{"--tty", 't', "", kFlag, "allocate a terminal, whatever your streams are", set_tty},
    Option{"--cwd", 0, "DIR", kOther, "start in DIR, not in the agent's working directory", set_cwd},
    Option{"--env", 0, "K[=V]", kVariable, "set a variable; only K passes yours (repeatable)", set_environment},
    Option{"--timeout", 0, "TIME", kOther, "end it and everything it started after TIME: 500ms, 30s, 2m", set_timeout},
    Option{"--json", 0, "", kFlag, "with --detach: print the process as JSON", set_json},
};
constexpr std::array kExecGroups = {OptionGroup{"Options", kExecOptions}};
constexpr std::array kShellOptions = {
    Option{"--cwd", 0, "DIR", kOther, "start in DIR, not in the agent's working directory", set_cwd},
};
constexpr std::array kShellGroups = {OptionGroup{"Options", kShellOptions}};
constexpr std::array kLogsOptions = {
    Option{"--follow", 'f', "", kFlag, "continue with new output, until it ends", set_follow},
    Option{"--json", 0, "", kFlag, "print the process and its output as one object; with --follow, at its end",
           set_json}};
constexpr std::array kLogsGroups = {OptionGroup{"Options", kLogsOptions}};
constexpr std::array kKillOptions = {
    Option{"--signal", 's', "SIGNAL", kOther, "TERM, INT, KILL, ... (default TERM, then KILL)", set_signal}};
constexpr std::array kKillGroups = {OptionGroup{"Options", kKillOptions}};
constexpr std::array kToolOptions = {
    Option{"--turn", 0, "ID", kOther, "the conversation turn, for limits per turn", set_turn}, kJson};
constexpr std::array kToolGroups = {OptionGroup{"Options", kToolOptions}};
constexpr std::array kMcpOptions = {
    Option{"--agent", 0, "NAME", kOther, "serve this agent, not that of the working directory", set_agent},
    Option{"--client", 0, "CLIENT", kOther, "install, remove: which client", set_mcp_client},
    Option{"--project", 0, "", kFlag, "install, remove: this directory's file, not yours", set_mcp_project},
    Option{"--print", 0, "", kFlag, "install: show the entry; write nothing", set_mcp_print},
    Option{"--yes", 'y', "", kFlag, "install, remove: without asking", set_mcp_yes},
    kJson};
constexpr std::array kMcpGroups = {OptionGroup{"Options", kMcpOptions}};
constexpr std::array kServeOptions = {
    Option{"--listen", 0, "ADDRESS:PORT", kOther, "serve HTTP and MCP on this TCP port as well", set_listen},
    Option{"--token-file", 0, "FILE", kPath,
           "the bearer token of those who connect by TCP; made, and readable\nfor you alone, where it is not there",
           set_token_file},
    Option{"--idle", 0, "TIME", kOther, "exit after TIME without clients and processes: 10m, or never", set_idle},
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
    Option{"--dockerfile", 0, "FILE", kPath, "build: build this Dockerfile with a container engine", set_dockerfile},
    Option{"--force", 0, "", kFlag, "remove: even if agents use it", set_force}};
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
    Option{"--modules", 0, "DIR", kPath, "provision: its modules, if the kernel is a PATH (/lib/modules/RELEASE)",
           set_modules},
    Option{"--root", 0, "FILE", kPath, "provision: an archive of the root (.tar, an image's, or -)", set_root},
    Option{"--follow", 'f', "", kFlag, "console: continue with new output, until the VM ends", set_follow},
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
    Option{"--backend", 0, "B", kBackend, "fill: isolate with this", set_backend},
    Option{"--trust", 0, "T", kOther, "fill: sandboxed (default; no network) or trusted", set_trust},
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
    Option{"--detach", 'd', "", kFlag, "run: continue in the background; print the task id", set_detach},
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
         "An agent has a persistent home, a policy, limits, and a sandbox that starts when needed. Inside, its\n"
         "home is /workspace/agents/NAME; all agents share /workspace/shared; /output holds what it hands out.\n"
         "`reset` ends the sandbox, discards changes of an image and keeps the home. `remove` also deletes the\n"
         "home, and lists what it deleted. Settings apply from the next start on; tool settings\n"
         "(autonomousExec) and the network apply immediately. `network` is none, outbound, rules or\n"
         "registries; `allow` and `deny` name hosts. `install` installs system packages; an agent without an\n"
         "image gets the default one if you agree, or if image=auto is set.",
         kJsonGroups, kAgentExamples, kAgentWords, OptionsEnd::kAtDashes, finish_agent},
    Verb{"exec",
         "run a command in an agent's sandbox",
         kExecSynopsis,
         "Runs COMMAND with your standard streams and exits with its exit code (hutch's own are those of\n"
         "`hutch run`). The command gets a terminal if one of your streams is one, or with --tty. It ends when\n"
         "you leave. With --detach it continues; `hutch logs`, `attach`, `wait` and `kill` take its id.",
         kExecGroups,
         kExecExamples,
         {},
         OptionsEnd::kAtFirstWord,
         finish_exec},
    Verb{"shell",
         "open a login shell in an agent's sandbox",
         kShellSynopsis,
         "Opens a login shell on a terminal of its own.",
         kShellGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_shell},
    Verb{"ps",
         "list processes in an agent's sandbox",
         kPsSynopsis,
         "Lists running processes, and the last ones that have ended.",
         kJsonGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_ps},
    Verb{"logs",
         "print a process's output",
         kLogsSynopsis,
         "Prints the recorded output of a process that was started with --detach or by a tool: the first and\n"
         "the last MiB of each stream. The exit code says whether printing worked, with --follow too; `hutch\n"
         "wait` and `hutch attach` exit with the process's own code.",
         kLogsGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_logs},
    Verb{"attach",
         "follow a process and write to its input",
         kAttachSynopsis,
         "Like `hutch logs --follow`; what you type goes to the process if it was started with an input. A\n"
         "process with a terminal (hutch exec -d -t) gets your keys and window size, and you see its screen\n"
         "from now on. Ctrl-P Ctrl-Q detaches; the process continues. Exits with the process's exit code, or\n"
         "with 0 if you detached.",
         {},
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_attach},
    Verb{"wait",
         "wait for a process to exit",
         kWaitSynopsis,
         "Exits with the process's exit code.",
         {},
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_wait},
    Verb{"kill",
         "kill a process and everything it started",
         kKillSynopsis,
         "Sends TERM, then KILL after two seconds.",
         kKillGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_kill},
    Verb{"tool", "list and call an agent's tools", kToolSynopsis,
         "Calls a tool as a model would, and prints its envelope. `-` reads the arguments from standard input.\n"
         "Exit code: 0 if the envelope says ok, else 1.",
         kToolGroups, kToolExamples, kToolWords, OptionsEnd::kAtDashes, finish_tool},
    Verb{"mcp", "serve an agent's tools over the Model Context Protocol", kMcpSynopsis,
         "Speaks MCP on standard input and output, for the configuration of a coding agent. install writes\n"
         "this entry into the client's file after showing it: into your own file, or with --project into that\n"
         "of this directory. The rest of the file stays. list prints the clients that hutch knows, and which\n"
         "of them have the entry.",
         kMcpGroups, kMcpExamples, kMcpWords, OptionsEnd::kAtDashes, finish_mcp},
    Verb{"serve",
         "run the daemon that keeps agents' sandboxes",
         kServeSynopsis,
         "Verbs that need the daemon start it; it exits after ten minutes without use. A daemon that you start\n"
         "by hand runs until you stop it. `hutch settings` sets everything else.",
         kServeGroups,
         kServeExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_serve},
    Verb{"daemon",
         "show the daemon's status or stop it",
         kDaemonSynopsis,
         "`stop` ends the sandboxes of all agents.",
         kJsonGroups,
         {},
         kDaemonWords,
         OptionsEnd::kAtDashes,
         finish_daemon},
    Verb{"image", "build, pull and manage images for sandboxes", kImageSynopsis,
         "import unpacks an archive of a root file system, in an isolated process, and stores it as NAME\n"
         "(\"python\" is \"python:latest\"). It rejects archives that are damaged, contain devices, or lead out of\n"
         "the tree. A run with --image NAME uses the image as its system, and may change its copy. build makes\n"
         "an image of packages with mmdebstrap, from this host's package sources. Without NAME it builds\n"
         "hutch-sandbox (Python, Node, git, compilers), which hutch also builds when it is first needed. With\n"
         "--dockerfile a container engine (docker, podman) builds it; CONTEXT is what COPY reads. pull fetches\n"
         "an image from a registry with skopeo, or takes oci-archive:FILE, docker-archive:FILE, oci:DIR.",
         kImageGroups, kImageExamples, kImageWords, OptionsEnd::kAtDashes, finish_image},
    Verb{"vm", "build VM images; start and stop agents' VMs", kVmSynopsis,
         "provision downloads a kernel from this host's package sources, without installing it, or takes one\n"
         "from a file. It builds the root file system like `hutch image build`, or from your archive. An\n"
         "interrupted provision continues from its last complete step. hutch checks the results against\n"
         "checksums at each start. start, stop and restart apply to the VMs of all agents; start provisions\n"
         "first if needed. config shows or sets autoStart (true, false), cpus (1 to 8), memoryGB (1 to 8) and\n"
         "network (outbound, none), from a VM's next start on. console prints the last 64 KiB of the console\n"
         "of an agent's VM, also after it has ended. reset builds everything again, remove deletes it; agents'\n"
         "files stay.",
         kVmGroups, kVmExamples, kVmWords, OptionsEnd::kAtDashes, finish_vm},
    Verb{"pool", "keep sandboxes ready in advance", kPoolSynopsis,
         "The daemon hands these sandboxes out over HTTP (/v1/pool), one to each client, and ends them when\n"
         "they are returned. stats counts them. fill creates COUNT (1) idle sandboxes of a kind and waits for\n"
         "them. drain ends the idle ones. All end with the daemon.",
         kPoolGroups, kPoolExamples, kPoolWords, OptionsEnd::kAtDashes, finish_pool},
    Verb{"task", "give an agent's coding agent a task", kTaskSynopsis,
         "Runs the command of the agent's codeAgent in its sandbox, with TEXT as one argument: in place of\n"
         "{task} in its args, or as the last. `-` reads TEXT from standard input. Prints the command's output,\n"
         "then on standard error the files that it changed; exits with the command's exit code. The task ends\n"
         "when you leave. An agent runs one task at a time. `list` prints running tasks and the last ended\n"
         "ones.",
         kTaskGroups, kTaskExamples, kTaskWords, OptionsEnd::kAtDashes, finish_task},
    Verb{"paths",
         "print where hutch keeps its files",
         kPathsSynopsis,
         "Prints every location, and what it holds.",
         kJsonGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_paths},
};

}  // namespace

std::span<const Verb> agent_verbs() { return kAgentVerbs; }

}  // namespace hutch::cli
