// hutch vm.
#include "cli/machine/vm.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cli/terminal/consent.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/machine/facts.h"
#include "service/live/machine_layer.h"
#include "store/machine_settings.h"
#include "sys/process/unwaiting.h"
#include "tool/value.h"
#include "wire/daemon.h"

namespace hutch::cli {

namespace {

using client::DaemonClient;
using client::Value;

void say_progress(const std::string& line) { (void)sys::write_until_told(2, cat({"hutch: ", line, "\n"})); }

// An agent that has one.
struct Machine {
  std::string agent;
  std::string status;
  std::string reason;
  std::vector<std::string> pending;  // settings that it has from its next start on
};

// Nothing runs where no daemon does.
Result<std::vector<Machine>> machines(DaemonClient* daemon) {
  std::vector<Machine> found;
  if (daemon == nullptr) return found;
  const Value all = TRY(daemon->call("machine.list", {}));
  const auto* list = all.get<Value::List>();
  for (const Value& one : list != nullptr ? *list : Value::List()) {
    Machine& machine = found.emplace_back(text_in(one, "agent"), text_in(one, "status"), text_in(one, "reason"));
    const Value* pending = member_of(one, "pending");
    const auto* names = pending != nullptr ? pending->get<Value::List>() : nullptr;
    for (const Value& name : names != nullptr ? *names : Value::List()) {
      if (const auto* text = name.get<std::string>()) machine.pending.push_back(*text);
    }
  }
  return found;
}

Result<std::optional<DaemonClient>> running_daemon() {
  auto daemon = own_daemon(DaemonClient::Start::kNever);
  if (daemon) return std::optional(std::move(*daemon));
  if (daemon.error().code == Code::kNotFound) return std::optional<DaemonClient>();
  return fail(daemon.error());
}

Status stop_all() {
  auto daemon = TRY(running_daemon());
  for (const Machine& machine : TRY(machines(daemon ? &*daemon : nullptr))) {
    if (machine.status != "running" && machine.status != "starting") continue;
    say_progress(cat({"stopping the machine of ", machine.agent}));
    TRY(daemon->call("agent.stop", {{"agent", machine.agent}}));
  }
  return {};
}

// The plugins of agents need their packages again once the machines are made anew. Before that, for whatever ends it
// half-way, and after it, since a call meanwhile may have found them still.
Status expect_resets() {
  auto daemon = TRY(own_daemon());
  for (const Machine& machine : TRY(machines(&daemon))) {
    TRY(daemon.call("plugin.expect_reset", {{"agent", machine.agent}}));
  }
  return {};
}

Status start_all(const plan::HostFacts& facts) {
  if (!TRY(service::vm_status(facts)).provisioned) TRY(service::provision_vm({}, facts, say_progress));
  TRY(service::refresh_vm(facts, say_progress));
  auto daemon = TRY(own_daemon());
  const auto all = TRY(machines(&daemon));
  if (all.empty()) say_progress("no agent has a machine yet; hutch agent create NAME backend=vm");
  for (const Machine& machine : all) {
    if (machine.status == "running") continue;
    say_progress(cat({"starting the machine of ", machine.agent}));
    TRY_CTX(daemon.call("agent.start", {{"agent", machine.agent}}), machine.agent);
  }
  return {};
}

Status ask_consent_to(const VmArguments& arguments, std::string_view what, std::string_view question) {
  if (arguments.yes) return {};
  return ask_consent({.what = what,
                      .question = question,
                      .option = "--yes does it without asking",
                      .declined = "nothing was changed"});
}

Status reset(const VmArguments& arguments, const plan::HostFacts& facts) {
  const service::VmProvisionRequest request = TRY(service::last_vm_request(facts));
  if (request.root == "-") {
    return fail(Error::invalid("its root came by standard input; hutch vm provision --root - < FILE makes it anew"));
  }
  TRY(ask_consent_to(
      arguments,
      "Machines are stopped, and what they start from is made anew. Agents, their files and plugins stay, what "
      "root has installed goes.\n",
      "Do it?"));
  TRY(expect_resets());
  TRY(stop_all());
  TRY(service::provision_vm(request, facts, say_progress));
  TRY(service::remove_machine_layers(facts));
  return expect_resets();
}

Status remove_files(const VmArguments& arguments, const plan::HostFacts& facts) {
  const auto status = service::vm_status(facts);
  if (status && !status->provisioned) return service::remove_vm(facts);
  TRY(ask_consent_to(
      arguments,
      "Machines are stopped, and kernel, initramfs and root are deleted, with what root has installed. Agents, their "
      "files and plugins stay.\n",
      "Do it?"));
  TRY(expect_resets());
  TRY(stop_all());
  TRY(service::remove_vm(facts));
  TRY(service::remove_machine_layers(facts));
  return expect_resets();
}

Result<store::MachineSettingsFile> settings_file() { return store::MachineSettingsFile(TRY(own_dirs()).config); }

Status print_config(const VmArguments& arguments) {
  const store::MachineSettingsFile file = TRY(settings_file());
  const store::MachineSettings settings = TRY(file.read());
  std::string text;
  if (!arguments.key.empty()) {
    const auto names = store::machine_setting_names();
    if (std::ranges::find(names, arguments.key) == names.end()) {
      return fail(Error::invalid(
          cat({printable(arguments.key, 64), ": no such setting; ", join({names.begin(), names.end()}, ", ")})));
    }
    text = store::machine_setting_text(settings, arguments.key) + "\n";
  } else if (arguments.form == service::OutputForm::kJson) {
    text = store::machine_settings_text(settings);
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const std::string_view name : store::machine_setting_names()) {
      rows.push_back({std::string(name), store::machine_setting_text(settings, name)});
    }
    text = table(rows);
  }
  return sys::write_until_told(1, text);
}

Status configure(const VmArguments& arguments) {
  if (arguments.value.empty()) return print_config(arguments);
  const store::MachineSettingsFile file = TRY(settings_file());
  TRY(file.change(arguments.key, arguments.value));
  say_progress("machines have it from their next start on; hutch vm restart");
  return {};
}

Status print_status(const plan::HostFacts& facts, service::OutputForm form) {
  const service::VmStatus status = TRY(service::vm_status(facts));
  auto daemon = TRY(running_daemon());
  const auto all = TRY(machines(daemon ? &*daemon : nullptr));
  if (form == service::OutputForm::kJson) {
    Value::List list;
    for (const Machine& one : all) {
      list.emplace_back(Value::Object{{"agent", one.agent},
                                      {"status", one.status},
                                      {"reason", one.reason},
                                      {"pending", Value::List(one.pending.begin(), one.pending.end())}});
    }
    const Value value = Value::Object{{"provisioned", status.provisioned},
                                      {"kernel", status.kernel},
                                      {"made", status.made},
                                      {"bytes", static_cast<std::int64_t>(status.bytes)},
                                      {"snapshot", status.snapshot},
                                      {"accelerator", std::string(service::name_of(status.acceleration.accelerator))},
                                      {"acceleration", status.acceleration.words},
                                      {"directory", status.directory},
                                      {"machines", std::move(list)}};
    return sys::write_until_told(1, cat({tool::json_text(value), "\n"}));
  }
  if (!status.provisioned) return sys::write_until_told(1, "nothing is provisioned; hutch vm provision\n");
  std::vector<std::vector<std::string>> rows = {
      {"kernel", printable(status.kernel)},
      {"made", status.made},
      {"root", cat({std::to_string(status.bytes >> 20), "M"})},
      {"starts", status.snapshot ? "from a machine that was saved" : "from the beginning; hutch vm restart saves one"},
      {"runs by", printable(status.acceleration.words, 1000)},
      {"directory", printable(status.directory)}};
  for (const Machine& one : all) {
    rows.push_back(
        {"machine", cat({one.agent, ": ", one.status, one.reason.empty() ? "" : ": ", printable(one.reason)})});
    if (one.pending.empty()) continue;
    rows.push_back({"", cat({join(one.pending, ", "), ": from its next start on (hutch vm restart)"})});
  }
  return sys::write_until_told(1, table(rows));
}

constexpr std::size_t kLineMax = 64 << 10;  // of what a machine writes

// Lines as they came; what a terminal would obey in them is shown instead.
std::string shown_lines(std::string_view bytes) {
  std::string text;
  for (const std::string_view line : split(bytes, '\n')) {
    if (!text.empty()) text += '\n';
    text += printable(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line, std::string::npos);
  }
  return text;
}

Status print_console(const VmArguments& arguments) {
  auto daemon = TRY(own_daemon());
  // Of a line that has not ended yet, which may be cut within a character.
  std::string begun;
  const auto show = [&](const Value& piece) -> Status {
    if (arguments.form == service::OutputForm::kJson) return sys::write_until_told(1, tool::json_text(piece) + "\n");
    const Value* skipped = member_of(piece, "skipped");
    const auto* count = skipped != nullptr ? skipped->get<std::int64_t>() : nullptr;
    if (count != nullptr && *count > 0) say_progress(cat({std::to_string(*count), " bytes before are not kept"}));
    begun += TRY(wire::bytes_of_text(text_in(piece, "bytes")));
    // A machine may never end its line.
    if (begun.size() > kLineMax) begun += '\n';
    const std::size_t end = begun.rfind('\n');
    if (end == begun.npos) return {};
    const std::string lines = shown_lines(std::string_view(begun).substr(0, end));
    begun.erase(0, end + 1);
    return sys::write_until_told(1, lines + "\n");
  };
  TRY(daemon.call("machine.console", {{"agent", arguments.agent}, {"follow", arguments.follow == Follow::kYes}}, show));
  return begun.empty() ? Status() : sys::write_until_told(1, shown_lines(begun) + "\n");
}

Status act(const VmArguments& arguments) {
  if (arguments.action == "console") return print_console(arguments);
  if (arguments.action == "config") return configure(arguments);
  if (arguments.action == "stop") return stop_all();
  const plan::HostFacts facts = TRY(host::probe_facts());
  if (arguments.action == "remove") return remove_files(arguments, facts);
  if (arguments.action == "provision") TRY(service::provision_vm(arguments.provision, facts, say_progress));
  if (arguments.action == "reset") TRY(reset(arguments, facts));
  if (arguments.action == "restart") TRY(stop_all());
  if (arguments.action == "start" || arguments.action == "restart") TRY(start_all(facts));
  return print_status(facts, arguments.form);
}

}  // namespace

int vm(const VmArguments& arguments) {
  const Status done = act(arguments);
  return done ? 0 : complain(done.error());
}

}  // namespace hutch::cli
