// Options and words of the verbs that go through the daemon.
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "cli/options/option_values.h"
#include "policy/units.h"

namespace hutch::cli {

namespace {

using Text = std::string_view;

constexpr int kDescriptorMax = 1 << 20;

struct NamedSignal {
  Text name;
  int number;
};
constexpr std::array kSignals = {
    NamedSignal{"HUP", SIGHUP},   NamedSignal{"INT", SIGINT},   NamedSignal{"QUIT", SIGQUIT},
    NamedSignal{"KILL", SIGKILL}, NamedSignal{"TERM", SIGTERM}, NamedSignal{"USR1", SIGUSR1},
    NamedSignal{"USR2", SIGUSR2}, NamedSignal{"STOP", SIGSTOP}, NamedSignal{"CONT", SIGCONT}};

Result<int> number_of(const std::string& text, int max) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= max) return value;
  return fail(Error::invalid(cat({"\"", printable(text), "\" is not a whole number from 1 to ", std::to_string(max)})));
}

// "AGENT -- COMMAND": the dashes are no part of the command.
void drop_dashes(std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
}

Result<Arguments> finish_process(Draft&& draft, std::string action) {
  static constexpr std::array kNames = {Text("an agent"), Text("a process (hutch ps AGENT shows them)")};
  TRY(expect_words(draft, kNames));
  return Arguments(ProcessArguments{.action = std::move(action),
                                    .agent = std::move(draft.words[0]),
                                    .pid = std::move(draft.words[1]),
                                    .follow = draft.follow,
                                    .signal = draft.signal,
                                    .form = draft.run.form});
}

}  // namespace

Status set_detach(Draft& draft, const std::string&) {
  draft.detach = Detach::kYes;
  return {};
}

Status set_interactive(Draft& draft, const std::string&) {
  draft.input = Input::kOwn;
  return {};
}

Status set_tty(Draft& draft, const std::string&) {
  draft.tty = Tty::kYes;
  return {};
}

Status set_agent(Draft& draft, const std::string& value) {
  draft.agent = value;
  return {};
}

Status set_force(Draft& draft, const std::string&) {
  draft.removing = service::Removing::kUsed;
  return {};
}

Status set_kernel(Draft& draft, const std::string& value) {
  draft.kernel = value;
  return {};
}

Status set_modules(Draft& draft, const std::string& value) {
  draft.modules = value;
  return {};
}

Status set_root(Draft& draft, const std::string& value) {
  draft.root = value;
  return {};
}

Status set_recipe(Draft& draft, const std::string& value) {
  draft.recipe = value;
  return {};
}

Status set_dockerfile(Draft& draft, const std::string& value) {
  draft.dockerfile = value;
  return {};
}

Status set_turn(Draft& draft, const std::string& value) {
  draft.turn = value;
  return {};
}

Status set_idle(Draft& draft, const std::string& value) {
  draft.idle = std::chrono::milliseconds(0);
  if (value != "never") draft.idle = TRY(policy::parse_duration(value));
  return {};
}

Status set_ready_fd(Draft& draft, const std::string& value) {
  draft.ready_fd = TRY(number_of(value, kDescriptorMax));
  return {};
}

Status set_listen(Draft& draft, const std::string& value) {
  draft.listen = value;
  return {};
}

Status set_token_file(Draft& draft, const std::string& value) {
  draft.token_file = value;
  return {};
}

Status set_signal(Draft& draft, const std::string& value) {
  const Text name = value.starts_with("SIG") ? Text(value).substr(3) : Text(value);
  const auto known = std::ranges::find(kSignals, name, &NamedSignal::name);
  const Result<int> number = known != kSignals.end() ? Result<int>(known->number) : number_of(value, NSIG - 1);
  if (!number) {
    return fail(Error::invalid(cat({"\"", printable(value), "\" is no signal; write TERM, INT, KILL, ... or a number ",
                                    "from 1 to ", std::to_string(NSIG - 1)})));
  }
  draft.signal = *number;
  return {};
}

Result<Arguments> finish_agent(Draft&& draft) {
  const std::span<const Text> actions = find_verb("agent")->word_choices;
  if (draft.words.empty())
    return fail(
        Error::invalid("what is missing: create, list, show, set, allow, deny, install, start, stop, reset or remove"));
  AgentArguments agent{.action = std::move(draft.words[0]), .name = {}, .settings = {}, .form = draft.run.form};
  if (std::ranges::find(actions, agent.action) == actions.end()) {
    return fail(unknown_word("unknown action", agent.action, actions));
  }
  draft.words.erase(draft.words.begin());
  if (agent.action != "list") {
    if (draft.words.empty()) return fail(Error::invalid("the agent's name is missing"));
    agent.name = std::move(draft.words[0]);
    draft.words.erase(draft.words.begin());
  }
  const bool names_hosts = agent.action == "allow" || agent.action == "deny";
  if (agent.action == "create" || agent.action == "set" || agent.action == "install" || names_hosts) {
    agent.settings = std::exchange(draft.words, {});
  }
  if (names_hosts && agent.settings.empty()) {
    return fail(Error::invalid("a host is missing: example.com, *.example.com, 10.0.0.0/8, each with :PORT if wanted"));
  }
  if (agent.action == "install" && agent.settings.empty()) return fail(Error::invalid("a package is missing: jq"));
  if (agent.action == "set" && agent.settings.empty()) return fail(Error::invalid("KEY=VALUE is missing"));
  TRY(expect_words(draft, {}));
  return Arguments(std::move(agent));
}

Result<Arguments> finish_exec(Draft&& draft) {
  if (draft.words.empty())
    return fail(Error::invalid("an agent is missing; usage: hutch exec [OPTION...] AGENT -- COMMAND"));
  ExecArguments exec;
  exec.agent = std::move(draft.words[0]);
  draft.words.erase(draft.words.begin());
  drop_dashes(draft.words);
  if (draft.words.empty())
    return fail(Error::invalid("a command is missing; usage: hutch exec [OPTION...] AGENT -- COMMAND"));
  exec.command = std::move(draft.words);
  exec.environment = std::move(draft.run.place.environment);
  exec.cwd = draft.run.place.cwd.value_or("");
  exec.timeout = draft.run.place.limits.timeout.value_or(std::chrono::milliseconds(0));
  exec.detach = draft.detach;
  exec.tty = draft.tty;
  exec.input = draft.input;
  exec.form = draft.run.form;
  return Arguments(std::move(exec));
}

Result<Arguments> finish_shell(Draft&& draft) {
  static constexpr std::array kNames = {Text("an agent")};
  TRY(expect_words(draft, kNames));
  ExecArguments exec;
  exec.agent = std::move(draft.words[0]);
  exec.cwd = draft.run.place.cwd.value_or("");
  return Arguments(std::move(exec));
}

Result<Arguments> finish_ps(Draft&& draft) {
  static constexpr std::array kNames = {Text("an agent")};
  TRY(expect_words(draft, kNames));
  return Arguments(
      ProcessArguments{.action = "ps", .agent = std::move(draft.words[0]), .pid = {}, .form = draft.run.form});
}

Result<Arguments> finish_logs(Draft&& draft) { return finish_process(std::move(draft), "logs"); }
Result<Arguments> finish_attach(Draft&& draft) { return finish_process(std::move(draft), "attach"); }
Result<Arguments> finish_kill(Draft&& draft) { return finish_process(std::move(draft), "kill"); }
Result<Arguments> finish_wait(Draft&& draft) { return finish_process(std::move(draft), "wait"); }

Result<Arguments> finish_tool(Draft&& draft) {
  const std::span<const Text> actions = find_verb("tool")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("what is missing: list or call"));
  const std::string action = draft.words[0];
  if (std::ranges::find(actions, action) == actions.end()) return fail(unknown_word("unknown action", action, actions));
  ToolArguments tool;
  tool.form = draft.run.form;
  tool.turn = std::move(draft.turn);
  if (action == "list") {
    if (draft.words.size() > 1) tool.agent = std::move(draft.words[1]);
    if (draft.words.size() > 2) return fail(Error::invalid(cat({"unexpected \"", printable(draft.words[2]), "\""})));
    return Arguments(std::move(tool));
  }
  if (draft.words.size() == 3) draft.words.emplace_back("{}");
  static constexpr std::array kNames = {Text("call"), Text("an agent"), Text("a tool's name"), Text("JSON")};
  TRY(expect_words(draft, kNames));
  tool.agent = std::move(draft.words[1]);
  tool.tool = std::move(draft.words[2]);
  tool.arguments = std::move(draft.words[3]);
  return Arguments(std::move(tool));
}

Status set_mcp_client(Draft& draft, const std::string& name) {
  if (service::find_mcp_client(name) == nullptr) {
    std::vector<Text> names;
    for (const service::McpClient& client : service::mcp_clients()) names.push_back(client.name);
    return fail(unknown_word("unknown client", name, names));
  }
  draft.mcp.client = name;
  return {};
}

Status set_mcp_project(Draft& draft, const std::string&) {
  draft.mcp.scope = service::McpScope::kProject;
  return {};
}

Status set_mcp_print(Draft& draft, const std::string&) {
  draft.mcp.consent = McpArguments::Consent::kShow;
  return {};
}

Status set_mcp_yes(Draft& draft, const std::string&) {
  draft.mcp.consent = McpArguments::Consent::kGiven;
  return {};
}

Result<Arguments> finish_mcp(Draft&& draft) {
  const std::span<const Text> actions = find_verb("mcp")->word_choices;
  McpArguments mcp = std::move(draft.mcp);
  mcp.agent = std::move(draft.agent);
  mcp.form = draft.run.form;
  if (!draft.words.empty()) {
    TRY(expect_words(draft, std::array{Text("what")}));
    mcp.action = std::move(draft.words[0]);
    if (std::ranges::find(actions, mcp.action) == actions.end()) {
      return fail(unknown_word("unknown action", mcp.action, actions));
    }
  }
  const bool changes = mcp.action == "install" || mcp.action == "remove";
  if (changes && mcp.client.empty()) {
    return fail(Error::invalid(cat({"hutch mcp ", mcp.action, ": --client CLIENT says whose; hutch mcp list"})));
  }
  const bool sets =
      !mcp.client.empty() || mcp.scope != service::McpScope::kUser || mcp.consent != McpArguments::Consent::kAsked;
  if (!changes && sets) {
    return fail(Error::invalid("--client, --project, --print and --yes are for hutch mcp install and remove"));
  }
  if (!mcp.agent.empty() && !mcp.action.empty() && mcp.action != "install") {
    return fail(Error::invalid("--agent is for hutch mcp and hutch mcp install"));
  }
  return Arguments(std::move(mcp));
}

Result<Arguments> finish_serve(Draft&& draft) {
  TRY(expect_words(draft, {}));
  if (draft.listen.empty() != draft.token_file.empty()) {
    return fail(Error::invalid("--listen and --token-file go together: whoever connects by TCP has to show the token"));
  }
  return Arguments(ServeArguments{draft.idle, draft.ready_fd, std::move(draft.listen), std::move(draft.token_file)});
}

Result<Arguments> finish_daemon(Draft&& draft) {
  static constexpr std::array kNames = {Text("what (status or stop)")};
  TRY(expect_words(draft, kNames));
  const std::span<const Text> actions = find_verb("daemon")->word_choices;
  if (std::ranges::find(actions, draft.words[0]) == actions.end()) {
    return fail(unknown_word("unknown action", draft.words[0], actions));
  }
  return Arguments(DaemonArguments{std::move(draft.words[0]), draft.run.form});
}

Status check_image_options(const Draft& draft) {
  const bool builds = draft.words[0] == "build";
  if (draft.recipe && !builds) return fail(Error::invalid("--recipe is for hutch image build"));
  if (draft.dockerfile && !builds) return fail(Error::invalid("--dockerfile is for hutch image build"));
  if (draft.dockerfile && draft.recipe) {
    return fail(Error::invalid("--recipe and --dockerfile: an image is built of one of them"));
  }
  if (draft.removing == service::Removing::kUsed && draft.words[0] != "remove") {
    return fail(Error::invalid("--force is for hutch image remove"));
  }
  return {};
}

Result<Arguments> finish_image(Draft&& draft) {
  const std::span<const Text> actions = find_verb("image")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch image: what? build, import, pull, list, show or remove"));
  if (std::ranges::find(actions, draft.words[0]) == actions.end()) {
    return fail(unknown_word("unknown action", draft.words[0], actions));
  }
  static constexpr std::array kNames = {Text("what"), Text("the image's name"), Text("an archive (FILE.tar, or -)")};
  static constexpr std::array kPullNames = {Text("what"), Text("an image (python:3.12, oci-archive:FILE)"),
                                            Text("the image's name")};
  const bool builds = draft.words[0] == "build";
  const bool pulls = draft.words[0] == "pull";
  std::size_t count = draft.words[0] == "list" ? 1 : draft.words[0] == "import" ? 3 : 2;
  // What may be left out: the default image's name, the name that a reference says, the context.
  if (builds && draft.words.size() == 1 && !draft.dockerfile) count = 1;
  if ((pulls || draft.dockerfile) && draft.words.size() == 3) count = 3;
  TRY(expect_words(draft, std::span(pulls ? kPullNames : kNames).first(count)));
  TRY(check_image_options(draft));
  draft.words.resize(kNames.size());
  if (pulls) std::swap(draft.words[1], draft.words[2]);
  return Arguments(ImageArguments{std::move(draft.words[0]), std::move(draft.words[1]), std::move(draft.words[2]),
                                  std::move(draft.recipe), std::move(draft.dockerfile), draft.removing,
                                  draft.run.form});
}

Status set_vm_yes(Draft& draft, const std::string&) {
  draft.yes = true;
  return {};
}

Result<Arguments> finish_vm(Draft&& draft) {
  const std::span<const Text> actions = find_verb("vm")->word_choices;
  if (draft.words.empty())
    return fail(Error::invalid(cat({"hutch vm: what? ", join({actions.begin(), actions.end()}, ", ")})));
  const std::string action = draft.words[0];
  if (std::ranges::find(actions, action) == actions.end()) return fail(unknown_word("unknown action", action, actions));
  const bool looks = action == "console";
  if (draft.follow == Follow::kYes && !looks) return fail(Error::invalid("--follow is for hutch vm console"));
  if (looks) {
    TRY(expect_words(draft, std::array{Text("console"), Text("an agent")}));
  } else if (action == "config") {
    if (draft.words.size() > 3) return fail(Error::invalid("hutch vm config [KEY [VALUE]]"));
  } else {
    TRY(expect_words(draft, std::array{Text("what")}));
  }
  if ((draft.kernel || draft.root || draft.modules) && action != "provision") {
    const char* given = draft.kernel ? "--kernel" : draft.root ? "--root" : "--modules";
    return fail(Error::invalid(cat({given, " is for hutch vm provision"})));
  }
  if (draft.yes && action != "reset" && action != "remove") {
    return fail(Error::invalid("--yes is for hutch vm reset and hutch vm remove"));
  }
  draft.words.resize(3);
  return Arguments(VmArguments{.action = action,
                               .provision = {.kernel = std::move(draft.kernel).value_or(""),
                                             .root = std::move(draft.root).value_or(""),
                                             .modules = std::move(draft.modules).value_or("")},
                               .agent = looks ? draft.words[1] : std::string(),
                               .follow = draft.follow,
                               .key = std::move(draft.words[1]),
                               .value = std::move(draft.words[2]),
                               .yes = draft.yes,
                               .form = draft.run.form});
}

Result<Arguments> finish_pool(Draft&& draft) {
  static constexpr int kPoolCountMax = 100'000;
  const std::span<const Text> actions = find_verb("pool")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch pool: what? stats, fill or drain"));
  if (std::ranges::find(actions, draft.words[0]) == actions.end()) {
    return fail(unknown_word("unknown action", draft.words[0], actions));
  }
  PoolArguments pool{.action = draft.words[0], .count = 1, .wish = {}, .form = draft.run.form};
  const service::PlaceRequest& place = draft.run.place;
  const auto wish = [&](const char* key, std::string value) { pool.wish.emplace_back(key, std::move(value)); };
  if (place.backend) wish("backend", std::string(policy::name_of(*place.backend)));
  if (!draft.trust.empty()) wish("trust", draft.trust);
  if (place.image) wish("image", *place.image);
  if (place.limits.memory_bytes) wish("memory", std::to_string(*place.limits.memory_bytes));
  if (place.limits.cpu_millis) wish("cpu", std::to_string(static_cast<double>(*place.limits.cpu_millis) / 1000));
  const bool fills = pool.action == "fill";
  if (!fills && !pool.wish.empty()) return fail(Error::invalid("options of a sandbox are for hutch pool fill"));
  if (fills && draft.words.size() == 2) {
    pool.count = static_cast<std::size_t>(TRY(number_of(draft.words[1], kPoolCountMax)));
    return Arguments(std::move(pool));
  }
  static constexpr std::array kNames = {Text("what (stats, fill or drain)")};
  TRY(expect_words(draft, kNames));
  return Arguments(std::move(pool));
}

Result<Arguments> finish_task(Draft&& draft) {
  const std::span<const Text> actions = find_verb("task")->word_choices;
  if (draft.words.empty()) return fail(Error::invalid("hutch task: what? run, list, show or cancel"));
  TaskArguments task{.action = draft.words[0], .form = draft.run.form};
  if (std::ranges::find(actions, task.action) == actions.end()) {
    return fail(unknown_word("unknown action", task.action, actions));
  }
  const bool runs = task.action == "run";
  const auto timeout = draft.run.place.limits.timeout;
  if (!runs && (timeout || draft.detach == Detach::kYes)) {
    return fail(Error::invalid("--timeout and --detach are for hutch task run"));
  }
  static constexpr std::array kRun = {Text("run"), Text("an agent"), Text("what it is to do, as one word or -")};
  static constexpr std::array kList = {Text("list"), Text("an agent")};
  static constexpr std::array kOther = {Text("what"), Text("a task (hutch task list shows them)")};
  const std::size_t listed = std::min<std::size_t>(draft.words.size(), kList.size());
  if (runs) TRY(expect_words(draft, kRun));
  if (task.action == "list") TRY(expect_words(draft, std::span(kList).first(listed)));
  if (!runs && task.action != "list") TRY(expect_words(draft, kOther));
  draft.words.resize(kRun.size());
  (runs || task.action == "list" ? task.agent : task.id) = std::move(draft.words[1]);
  task.text = std::move(draft.words[2]);
  if (timeout) task.timeout = *timeout;
  if (draft.detach == Detach::kYes) task.action = "start";
  return Arguments(std::move(task));
}

Result<Arguments> finish_paths(Draft&& draft) {
  TRY(expect_words(draft, {}));
  return Arguments(PathsArguments{draft.run.form});
}

}  // namespace hutch::cli
