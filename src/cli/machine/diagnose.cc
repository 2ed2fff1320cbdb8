// hutch doctor --backend.
#include "cli/machine/diagnose.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/machine/facts.h"
#include "service/vm/files.h"
#include "sys/files/journal.h"
#include "sys/process/unwaiting.h"
#include "tool/value.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::int64_t kSecondsMax = 60;  // for each check

struct Check {
  std::string_view name;
  std::string_view command;  // prints the detail; its exit code says whether it passed
};

// hutch-host is what is there in every sandbox and can connect: 6 says that nobody answered (docs/bridge.md).
constexpr std::array kChecks = {
    Check{"exec", "uname -srm"},
    Check{"network",
          "if [ -z \"$http_proxy\" ]; then echo 'none, as the policy says'; exit 0; fi\n"
          "HUTCH_BRIDGE=\"tcp:${http_proxy#http://}\" hutch-host config get doctor >/dev/null 2>&1\n"
          "if [ $? -eq 6 ]; then echo \"no answer at $http_proxy\"; exit 1; fi\n"
          "echo \"the gateway answers at $http_proxy\""},
    Check{"agentUser",
          "printf '%s (%s) in %s\\n' \"$(id -un)\" \"$(id -u)\" \"$HOME\"\n"
          "[ -d \"$HOME\" ] && [ -w \"$HOME\" ]"},
    Check{"packageManager",
          "if command -v apt-get >/dev/null 2>&1; then\n"
          "  apt-get -s -o Debug::NoLocking=1 check >/dev/null && apt-get --version | head -n 1\n"
          "elif command -v apk >/dev/null 2>&1; then apk --version && apk info -q >/dev/null\n"
          "else echo 'neither apt-get nor apk in its system'; exit 1; fi"},
    Check{"bridge",
          "hutch-host config get doctor >/dev/null 2>&1\n"
          "code=$?\n"
          "if [ $code -ne 0 ] && [ $code -ne 3 ]; then echo \"hutch-host: exit code $code\"; exit 1; fi\n"
          "echo \"the host answers at $HUTCH_BRIDGE\""},
};

struct Outcome {
  std::string_view name;
  bool passed = false;
  std::string detail{};
};

Outcome run_check(client::DaemonClient& daemon, const std::string& agent, const Check& check) {
  const std::string arguments =
      tool::json_text(Value::Object{{"command", std::string(check.command)}, {"timeout", kSecondsMax}});
  const auto envelope =
      daemon.call("tool.call", {{"agent", agent}, {"tool", "sandbox_exec"}, {"arguments", arguments}, {"turn", ""}});
  if (!envelope) return {check.name, false, envelope.error().message};
  const Value* result = member_of(*envelope, "result");
  if (result == nullptr) return {check.name, false, text_in(*envelope, "message")};
  std::string detail = text_in(*result, "stdout") + text_in(*result, "stderr");
  while (detail.ends_with('\n')) detail.pop_back();
  return {check.name, truth_in(*envelope, "ok") && number_in(*result, "exit_code") == 0, printable(detail, 400)};
}

// Of a backend that has machines: what they run by, which is no check.
std::string acceleration_of(policy::BackendKind backend) {
  if (backend != policy::BackendKind::kVm) return {};
  const auto facts = host::probe_facts();
  if (!facts) return facts.error().message;
  const auto status = service::vm_status(*facts);
  return status ? status->acceleration.words : status.error().message;
}

int print_outcomes(policy::BackendKind backend, const std::vector<Outcome>& outcomes, service::OutputForm form) {
  const std::string acceleration = acceleration_of(backend);
  const bool all = std::ranges::all_of(outcomes, &Outcome::passed);
  int printed = 0;
  if (form == service::OutputForm::kJson) {
    Value::List checks;
    for (const Outcome& one : outcomes) {
      checks.emplace_back(
          Value::Object{{"check", std::string(one.name)}, {"passed", one.passed}, {"detail", one.detail}});
    }
    Value::Object object = {{"backend", policy::name_of(backend)}, {"passed", all}, {"checks", std::move(checks)}};
    if (!acceleration.empty()) object.emplace("acceleration", acceleration);
    printed = print(tool::json_text(Value(std::move(object))) + "\n");
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const Outcome& one : outcomes) {
      rows.push_back({std::string(one.name), one.passed ? "passed" : "FAILED", one.detail});
    }
    if (!acceleration.empty()) rows.push_back({"runs by", "", printable(acceleration, 1000)});
    printed = print(table(rows));
  }
  return printed != 0 || all ? printed : 1;
}

}  // namespace

int diagnose(policy::BackendKind backend, service::OutputForm form) {
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const auto random = sys::random_hex(4);
  if (!random) return complain(random.error());
  // Root lets a person be a user by its name: the remedy of the first try has to fit the next one.
  const std::string agent = backend == policy::BackendKind::kUser ? std::string("hutch-doctor") : "doctor-" + *random;
  const auto made = daemon->call(
      "agent.create",
      {{"agent", agent},
       {"settings", Value::List{cat({"backend=", policy::name_of(backend)}), "autonomousExec.enabled=true"}}});
  if (!made) return complain(made.error());
  std::vector<Outcome> outcomes;
  for (const Check& check : kChecks) {
    if (form == service::OutputForm::kText) (void)sys::write_until_told(2, cat({"hutch: checking ", check.name, "\n"}));
    outcomes.push_back(run_check(*daemon, agent, check));
    // Nothing else can be tried where nothing runs.
    if (outcomes.size() == 1 && !outcomes.front().passed) break;
  }
  const auto removed = daemon->call("agent.remove", {{"agent", agent}, {"settings", Value::List()}});
  const int printed = print_outcomes(backend, outcomes, form);
  return removed ? printed : complain(removed.error());
}

}  // namespace hutch::cli
