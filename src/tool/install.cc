// sandbox_install, _pip_install, _npm_install: the sandbox's own package managers, by argument vectors.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/alpine_names.h"
#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/packages.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

constexpr std::chrono::seconds kProbeTimeout{10};

struct SystemManager {
  Manager manager;
  std::array<std::string_view, 2> programs;  // where it may be
};
constexpr std::array<SystemManager, 3> kSystemManagers = {{{Manager::kApk, {"/sbin/apk", "/usr/sbin/apk"}},
                                                           {Manager::kApt, {"/usr/bin/apt-get", "/bin/apt-get"}},
                                                           {Manager::kDnf, {"/usr/bin/dnf", "/usr/bin/dnf5"}}}};

struct Found {
  Manager manager;
  std::string program;
};

// Absent: it has none. An error: the sandbox could not be asked.
Result<std::optional<Found>> find_system_manager(Place& place);
std::vector<std::string> names_for(Manager manager, std::vector<std::string> names);
std::optional<Envelope> check_packages(const Call& call, Manager manager);
std::vector<std::string> begin_arguments(const Found& found, Users users);
std::vector<std::string> install_arguments(const Found& found, const std::vector<std::string>& packages, Users users);
void drop_downloads(const Call& call, const Found& found);
bool needs_update(const Found& found, const CommandEnd& end);
bool was_interrupted(const Found& found, const CommandEnd& end);
Command command_of(const Call& call, std::vector<std::string> arguments);
Result<CommandEnd> install_with(const Call& call, const Found& found, const std::vector<std::string>& packages);
Envelope no_root(const Call& call, const Error& error);
// Whether a program can be started; else the refusal that says that it is missing.
std::optional<Envelope> probe(const Call& call, std::vector<std::string> arguments, std::string_view missing);
Envelope install_answer(const Call& call, const Result<CommandEnd>& end, const std::vector<std::string>& packages);
void tell_names(const std::vector<std::string>& packages, const std::vector<std::string>& names, Envelope& envelope);
std::string combined(const CommandEnd& end);
bool is_about_hosts(std::string_view text);

}  // namespace

Envelope install_packages(const Call& call) {
  const auto looked = find_system_manager(call.context.place);
  if (!looked) return failed("Failed to look for the sandbox's package manager", looked.error(), Retry::kYes);
  const std::optional<Found>& found = *looked;
  if (!found) {
    return final_failure(Kind::kUnavailable, "The sandbox has none of the package managers apk, apt-get and dnf.");
  }
  if (std::optional<Envelope> refused = check_packages(call, found->manager)) return std::move(*refused);
  const std::vector<std::string> packages = call.arguments.texts("packages");
  const std::vector<std::string> names = names_for(found->manager, packages);
  const Result<CommandEnd> end = install_with(call, *found, names);
  if (!end && end.error().code == Code::kUnsupported) return no_root(call, end.error());
  if (end && end->exit_code == 0) {
    drop_downloads(call, *found);
    if (const Status kept = call.context.place.keep_system(); !kept) {
      return failed("The packages were installed, and could not be kept", kept.error(), Retry::kYes);
    }
  }
  Envelope envelope = install_answer(call, end, names);
  tell_names(packages, names, envelope);
  return envelope;
}

Envelope install_with_pip(const Call& call) {
  if (std::optional<Envelope> refused = check_packages(call, Manager::kPip)) return std::move(*refused);
  if (auto missing = probe(call, {"python3", "--version"}, "python3 is not installed in the sandbox image")) {
    return std::move(*missing);
  }
  Place& place = call.context.place;
  const std::string& home = place.layout().home;
  const std::string python = cat({home, "/.venv/bin/python"});
  // By a link of the system's own name: a virtual environment that was only half made has no pip.
  if (!ask<wire::FileStat>(place, wire::StatFile{{home, ".venv/bin/pip"}})) {
    Command make = command_of(call, {"python3", "-m", "venv", cat({home, "/.venv"})});
    const Result<CommandEnd> made = place.run(make);
    if (!made || made->exit_code != 0) return install_answer(call, made, {});
  }
  std::vector<std::string> arguments = {python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
                                        "--"};
  for (std::string& name : call.arguments.texts("packages")) arguments.push_back(std::move(name));
  return install_answer(call, place.run(command_of(call, std::move(arguments))), call.arguments.texts("packages"));
}

Envelope install_with_npm(const Call& call) {
  if (std::optional<Envelope> refused = check_packages(call, Manager::kNpm)) return std::move(*refused);
  if (auto missing = probe(call, {"npm", "--version"}, "node/npm is not installed in the sandbox image")) {
    return std::move(*missing);
  }
  Place& place = call.context.place;
  // --prefix: without it npm looks for a package.json in the directories above.
  std::vector<std::string> arguments = {"npm",       "install",    cat({"--prefix=", place.layout().home}),
                                        "--no-fund", "--no-audit", "--"};
  for (std::string& name : call.arguments.texts("packages")) arguments.push_back(std::move(name));
  return install_answer(call, place.run(command_of(call, std::move(arguments))), call.arguments.texts("packages"));
}

namespace {

Result<std::optional<Found>> find_system_manager(Place& place) {
  // A sandbox that does not start answers nothing: not that a program is absent.
  TRY(ask<wire::FileStat>(place, wire::StatFile{{"/", "."}}));
  for (const SystemManager& candidate : kSystemManagers) {
    for (const std::string_view program : candidate.programs) {
      if (is_there(place, program)) return std::optional(Found{candidate.manager, std::string(program)});
    }
  }
  return std::optional<Found>();
}

// Recipes and models often use Alpine's names.
std::vector<std::string> names_for(Manager manager, std::vector<std::string> names) {
  if (manager != Manager::kApt) return names;
  for (std::string& name : names) name = debian_name_of(name).value_or(name);
  return names;
}

Envelope no_root(const Call& call, const Error& error) {
  Envelope envelope = final_failure(
      Kind::kUnavailable, cat({"This sandbox gives no root, so system packages cannot be installed in it (",
                               printable(error.message), "). Or use `sandbox_pip_install` or `sandbox_npm_install`."}));
  if (call.context.place.can_get_system()) envelope.extra = {{std::string(kNeeds), kNeedsSystem}};
  return envelope;
}

std::optional<Envelope> check_packages(const Call& call, Manager manager) {
  for (const std::string& name : call.arguments.texts("packages")) {
    if (is_package(manager, name)) continue;
    return bad_argument("packages",
                        fmt::format("Argument `packages` rejected: `{}` is no name of a package that {} is given.",
                                    printable(name, 100), name_of(manager)),
                        std::string(expected_package(manager)));
  }
  return std::nullopt;
}

// One try; with apt a second one after its lists were fetched, since images come without them, or after an installation
// that was broken off was brought to its end (dpkg(1), --configure).
Result<CommandEnd> install_with(const Call& call, const Found& found, const std::vector<std::string>& packages) {
  Place& place = call.context.place;
  Command command = command_of(call, install_arguments(found, packages, place.users()));
  command.user = User::kRoot;
  command.environment = {"DEBIAN_FRONTEND=noninteractive"};
  CommandEnd end = TRY(place.run(command));
  if (was_interrupted(found, end)) {
    Command repair = command;
    repair.arguments = {"dpkg", "--configure", "-a"};
    const CommandEnd repaired = TRY(place.run(repair));
    if (repaired.exit_code != 0) return repaired;
    end = TRY(place.run(command));
  }
  if (!needs_update(found, end)) return end;
  Command update = command;
  update.arguments = begin_arguments(found, place.users());
  update.arguments.emplace_back("update");
  const CommandEnd updated = TRY(place.run(update));
  if (updated.exit_code != 0) return updated;
  return place.run(command);
}

// What apt fetches with belongs to a user of its own, where it can become one (apt.conf(5), APT::Sandbox::User).
std::vector<std::string> begin_arguments(const Found& found, Users users) {
  std::vector<std::string> arguments = {found.program};
  const bool alone = found.manager == Manager::kApt && users == Users::kOne;
  if (alone) arguments.insert(arguments.end(), {"-o", "APT::Sandbox::User=root"});
  return arguments;
}

std::vector<std::string> install_arguments(const Found& found, const std::vector<std::string>& packages, Users users) {
  std::vector<std::string> arguments = begin_arguments(found, users);
  if (found.manager == Manager::kApk) {
    arguments.insert(arguments.end(), {"add", "--no-cache", "--"});
  } else if (found.manager == Manager::kApt) {
    arguments.insert(arguments.end(), {"install", "-y", "--no-install-recommends", "--"});
  } else {
    arguments.insert(arguments.end(), {"install", "-y", "--"});
  }
  arguments.insert(arguments.end(), packages.begin(), packages.end());
  return arguments;
}

// What was fetched has done its work, and would stay in the agent's layer; apk is told to keep nothing. The lists of
// what there is stay: the next installation needs no update for them. Where it fails the packages are there all the
// same.
void drop_downloads(const Call& call, const Found& found) {
  if (found.manager == Manager::kApk) return;
  Command command = command_of(call, begin_arguments(found, call.context.place.users()));
  command.arguments.emplace_back("clean");
  if (found.manager == Manager::kDnf) command.arguments.emplace_back("packages");
  command.user = User::kRoot;
  command.on_output = {};
  (void)call.context.place.run(command);
}

bool was_interrupted(const Found& found, const CommandEnd& end) {
  const bool failed = found.manager == Manager::kApt && end.exit_code == 100;
  return failed && combined(end).find("dpkg was interrupted") != std::string::npos;
}

bool needs_update(const Found& found, const CommandEnd& end) {
  if (found.manager != Manager::kApt || end.exit_code != 100) return false;
  const std::string text = combined(end);
  return text.find("Unable to locate package") != std::string::npos ||
         text.find("has no installation candidate") != std::string::npos || text.find("404") != std::string::npos;
}

std::optional<Envelope> probe(const Call& call, std::vector<std::string> arguments, std::string_view missing) {
  Command command = command_of(call, std::move(arguments));
  command.timeout = kProbeTimeout;
  command.on_output = {};
  const Result<CommandEnd> end = call.context.place.run(command);
  if (!end) return failed("Failed to look at the sandbox", end.error(), Retry::kYes);
  if (end->exit_code == 0) return std::nullopt;
  return final_failure(Kind::kUnavailable, std::string(missing));
}

Command command_of(const Call& call, std::vector<std::string> arguments) {
  const Layout& layout = call.context.place.layout();
  return {.arguments = std::move(arguments),
          .cwd = layout.home,
          .environment = environment(layout, layout.home),
          .timeout = call.context.install_timeout,
          .on_output = call.context.on_output,
          .stop = call.context.stop};
}

Envelope install_answer(const Call& call, const Result<CommandEnd>& end, const std::vector<std::string>& packages) {
  if (!end) return failed("Failed to run the package manager", end.error(), Retry::kYes);
  const std::string output = excerpt(combined(*end), kInstallCharacters);
  if (end->exit_code != 0 && !end->timed_out && !end->killed) {
    std::string message = fmt::format("Install failed (exit {}). Combined output: {}", end->exit_code, output);
    if (is_about_hosts(output)) {
      message +=
          " An installation reaches the hosts that the image's package manager is configured for, and those that "
          "network.allowedDomains of the policy names; a mirror that these lead to needs an entry there.";
    }
    Envelope envelope = failure(Kind::kExecutionError, std::move(message));
    envelope.extra = {{"exit_code", end->exit_code}};
    return envelope;
  }
  const std::chrono::seconds timeout = call.context.install_timeout;
  Envelope envelope = ended(*end, timeout,
                            {{"installed", Value::List(packages.begin(), packages.end())},
                             {"exit_code", end->exit_code},
                             {"output", output}});
  // Of what did not come to its end nothing is known to be installed.
  envelope.extra.erase("installed");
  if (end->timed_out) {
    envelope.message = fmt::format(
        "The package manager took longer than {} s and was ended. What it printed until "
        "then is in this answer. Try fewer packages at a time.",
        timeout.count());
  }
  return envelope;
}

// What became of names of Alpine's, and which were tried as they are.
void tell_names(const std::vector<std::string>& packages, const std::vector<std::string>& names, Envelope& envelope) {
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    if (packages[i] != names[i]) {
      envelope.warnings.push_back(cat({"`", packages[i], "` is `", names[i], "` in this sandbox."}));
    } else if (envelope.message.contains(cat({"Unable to locate package ", names[i]}))) {
      unknown.push_back(names[i]);
    }
  }
  if (unknown.empty()) return;
  envelope.message += cat({" Tried as they are, because hutch knows no Debian name for them: ", join(unknown, ", "),
                           ". Use the names of Debian's packages (`apt-cache search WORD` lists them)."});
}

// As apt, apk and dnf say that something could not be fetched.
bool is_about_hosts(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "Failed to fetch", "Could not resolve", "Temporary failure", "temporary error", "Curl error", "403  Forbidden"};
  return std::ranges::any_of(kWords, [&](std::string_view words) { return text.contains(words); });
}

std::string combined(const CommandEnd& end) {
  const auto text_of = [](const Kept& kept) { return excerpt(kept, kInstallCharacters); };
  return text_of(end.output) + text_of(end.error);
}

}  // namespace

}  // namespace hutch::tool
