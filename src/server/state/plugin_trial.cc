// A plugin tried out in a fresh sandbox.
#include "server/state/plugin_trial.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "base/text.h"
#include "plugin/commands.h"
#include "service/plugins/tools.h"
#include "service/pool/pooled_place.h"
#include "tool/excerpt.h"

namespace hutch::server {

namespace {

using std::chrono::seconds;
using tool::Value;

constexpr seconds kSetupTimeout{300};
constexpr seconds kToolTimeout{60};  // of a tool that names none
constexpr seconds kSmallTimeout{30};
constexpr seconds kTrialTimeout{600};  // of all of it
constexpr std::size_t kShownCharacters = 4000;

struct Manager {
  std::string_view name;  // as recipes have it
  std::string_view query;  // of the package $1
};
constexpr std::array kManagers = {
    Manager{"apt", "command -v dpkg-query >/dev/null || exit 9; dpkg-query -W -f '${db:Status-Status}' \"$1\""},
    Manager{"apk", "command -v apk >/dev/null || exit 9; apk info -e \"$1\""},
    Manager{"dnf", "command -v rpm >/dev/null || exit 9; rpm -q \"$1\""}};

struct Ended {
  int exit_code = 0;
  bool timed_out = false;
  std::string output{};
  std::string error{};
  std::string both() const { return cat({output, error}); }
};

enum class Came { kWell, kNot };

class Trial {
 public:
  Trial(sandbox::PooledSandbox& sandbox, const plugin::Recipe& recipe, const std::stop_token& stop)
      : sandbox_(sandbox),
        recipe_(recipe),
        stop_(stop),
        directory_(cat({service::kPoolHome, "/plugins/", recipe.id})) {}

  Result<Value> run();

 private:
  struct Wish {
    std::vector<std::string> arguments;
    std::vector<std::string> environment{};
    std::string cwd{};
    seconds timeout = kSmallTimeout;
    std::string_view input{};
  };
  Result<Ended> command(const Wish& wish);
  Result<bool> packages();
  Result<bool> files();
  Result<bool> set_up();
  Status try_tool(const plugin::Tool& tool);
  Result<std::chrono::milliseconds> time_for(seconds wished) const;
  bool note(std::string_view step, Came came, std::string log);
  std::vector<std::string> environment() const;

  sandbox::PooledSandbox& sandbox_;
  const plugin::Recipe& recipe_;
  const std::stop_token stop_;
  const std::string directory_;
  const sandbox::Process::Clock::time_point end_ = sandbox::Process::Clock::now() + kTrialTimeout;
  bool ok_ = true;
  Value::List steps_;
  Value::List tools_;
};

bool Trial::note(std::string_view step, Came came, std::string log) {
  const bool ok = came == Came::kWell;
  ok_ = ok_ && ok;
  steps_.emplace_back(Value::Object{{"step", step}, {"ok", ok}, {"log", std::move(log)}});
  return ok;
}

std::vector<std::string> Trial::environment() const {
  return {cat({"HUTCH_PLUGIN=", recipe_.id}), cat({"OSAURUS_PLUGIN=", recipe_.id}),
          cat({"HUTCH_PLUGIN_DIR=", directory_}), "PIP_BREAK_SYSTEM_PACKAGES=1"};
}

// What is left of the trial's own, at most.
Result<std::chrono::milliseconds> Trial::time_for(seconds wished) const {
  if (stop_.stop_requested()) return fail({Code::kTimeout, 0, "it was cancelled"});
  const auto left = std::chrono::floor<std::chrono::milliseconds>(end_ - sandbox::Process::Clock::now());
  if (left.count() > 0) return std::min<std::chrono::milliseconds>(wished, left);
  return fail({Code::kTimeout, 0, cat({"it took longer than ", std::to_string(kTrialTimeout.count()), " s"})});
}

Result<Ended> Trial::command(const Wish& wish) {
  const std::chrono::milliseconds timeout = TRY(time_for(wish.timeout));
  sandbox::ProcessRequest request;
  request.arguments = wish.arguments;
  request.environment = environment();
  std::ranges::copy(wish.environment, std::back_inserter(request.environment));
  request.cwd = wish.cwd;
  request.timeout = timeout;
  const auto input = wish.input.empty() ? sandbox::Input::kNone : sandbox::Input::kWritten;
  const auto process = TRY(sandbox_.spawn(std::move(request), input));
  const auto until = sandbox::Process::Clock::now() + timeout + kSmallTimeout;
  if (!wish.input.empty()) {
    // One that ends before it has read all says so by its exit code.
    (void)process->write_input(wish.input, until);
    process->close_input();
  }
  std::optional<sandbox::ProcessEnd> end;
  while (!end && sandbox::Process::Clock::now() < until) {
    end = process->wait(sandbox::Process::Clock::now() + std::chrono::milliseconds(200));
    if (!end && stop_.stop_requested()) sandbox_.end(process, sandbox::EndedBy::kSignal);
  }
  if (!end) return fail({Code::kTimeout, 0, "a command of the trial does not end"});
  Ended ended{.exit_code = end->exit_code, .timed_out = end->ended_by == sandbox::EndedBy::kTimeout};
  if (!end->reason.empty() && !ended.timed_out) ended.error = cat({end->reason, "\n"});
  ended.output = tool::excerpt(process->captured(sandbox::OutputStream::kOutput).head(), kShownCharacters);
  ended.error += tool::excerpt(process->captured(sandbox::OutputStream::kError).head(), kShownCharacters);
  return ended;
}

// Those that are not there cannot be had here: the sandbox has no network, and no root.
Result<bool> Trial::packages() {
  if (recipe_.dependencies.empty()) return note("packages", Came::kWell, "none");
  for (const Manager& manager : kManagers) {
    const auto names = plugin::packages_for(recipe_, manager.name);
    if (!names) continue;
    std::vector<std::string> missing;
    bool has_manager = true;
    for (const std::string& name : *names) {
      const Ended end = TRY(command({.arguments = {"/bin/sh", "-c", std::string(manager.query), "sh", name}}));
      has_manager = has_manager && end.exit_code != 9;
      const bool there = end.exit_code == 0 && (manager.name != "apt" || end.output == "installed");
      if (!there) missing.push_back(name);
    }
    if (!has_manager) continue;
    if (missing.empty()) return note("packages", Came::kWell, "all are there");
    return note("packages", Came::kNot, cat({"not there, and only installed for an agent: ", join(missing, ", ")}));
  }
  return note("packages", Came::kNot, "the sandbox has no manager that the recipe names packages for");
}

Result<bool> Trial::files() {
  const Ended made = TRY(command({.arguments = {"/bin/mkdir", "-p", directory_}}));
  if (made.exit_code != 0) return note("files", Came::kNot, made.both());
  for (const auto& [path, text] : recipe_.files) {
    const Ended written = TRY(command({.arguments = {"/bin/sh", "-c", "mkdir -p \"$(dirname \"$1\")\" && cat > \"$1\"",
                                                     "sh", cat({directory_, "/", path})},
                                       .input = text}));
    if (written.exit_code != 0) return note("files", Came::kNot, cat({path, ": ", written.both()}));
  }
  return note("files", Came::kWell, cat({std::to_string(recipe_.files.size()), " files"}));
}

Result<bool> Trial::set_up() {
  if (recipe_.setup.empty()) return note("setup", Came::kWell, "none");
  const Ended end =
      TRY(command({.arguments = {"/bin/sh", "-c", recipe_.setup}, .cwd = directory_, .timeout = kSetupTimeout}));
  if (end.timed_out) return note("setup", Came::kNot, cat({"took longer than 300 s: ", end.both()}));
  if (end.exit_code == 0) return note("setup", Came::kWell, end.both());
  return note("setup", Came::kNot, cat({"exit code ", std::to_string(end.exit_code), ": ", end.both()}));
}

Status Trial::try_tool(const plugin::Tool& tool) {
  Value::Object told = {{"name", service::plugin_tool_name(recipe_, tool)}, {"tried", tool.example.has_value()}};
  const auto say = [&](Came came, std::string message) {
    const bool ok = came == Came::kWell;
    ok_ = ok_ && ok;
    told.emplace("ok", ok);
    told.emplace("message", std::move(message));
    tools_.emplace_back(std::move(told));
    return Status();
  };
  if (!tool.example) return say(Came::kWell, "it has no example");
  auto variables = service::plugin_variables(tool, *tool.example);
  if (!variables) return say(Came::kNot, cat({"its example: ", variables.error().message}));
  const Ended end = TRY(command({.arguments = {"/bin/sh", "-c", tool.run},
                                 .environment = std::move(*variables),
                                 .cwd = directory_,
                                 .timeout = tool.timeout.value_or(kToolTimeout)}));
  told.emplace("exit_code", end.exit_code);
  told.emplace("stdout", end.output);
  told.emplace("stderr", end.error);
  if (end.timed_out) return say(Came::kNot, "took too long");
  if (end.exit_code != 0) return say(Came::kNot, cat({"exit code ", std::to_string(end.exit_code)}));
  return say(Came::kWell, "");
}

Result<Value> Trial::run() {
  bool goes_on = TRY(packages());
  // What is there may do all the same: a file that is missing is told as well.
  const bool has_files = TRY(files());
  goes_on = goes_on && has_files;
  if (!recipe_.secrets.empty()) note("secrets", Came::kWell, cat({"not given here: ", join(recipe_.secrets, ", ")}));
  goes_on = goes_on && TRY(set_up());
  for (const plugin::Tool& tool : recipe_.tools) {
    if (goes_on) TRY(try_tool(tool));
  }
  return Value(Value::Object{{"ok", ok_},
                             {"id", recipe_.id},
                             {"name", recipe_.name},
                             {"hash", plugin::content_hash(recipe_)},
                             {"notes", Value::List(recipe_.notes.begin(), recipe_.notes.end())},
                             {"steps", std::move(steps_)},
                             {"tools", std::move(tools_)}});
}

}  // namespace

Result<Value> try_plugin(PoolDesk& pool, const plugin::Recipe& recipe, const std::stop_token& stop) {
  const PoolDesk::Acquired acquired =
      TRY_CTX(pool.acquire({{"trust", "sandboxed"}}, [&stop] { return stop.stop_requested(); }), "have a sandbox");
  ++acquired.held->running;
  Trial trial(*acquired.held->lease.sandbox, recipe, stop);
  auto told = trial.run();
  --acquired.held->running;
  TRY_CTX(pool.give_back(acquired.id, PoolDesk::How::kRelease), "give the sandbox back");
  return told;
}

}  // namespace hutch::server
