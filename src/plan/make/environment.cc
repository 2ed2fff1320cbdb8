// The environment of a command.
#include "plan/make/environment.h"
#include "plan/make/machine_address.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kLoopback = "127.0.0.1";

// Variables of the caller that say how a person wants programs to talk to them. docs/environment.md gives the reason
// for each.
constexpr std::array<std::string_view, 9> kOfPerson = {
    "TERM", "LANG", "LANGUAGE", "TZ", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CI",
};
constexpr std::string_view kLocale = "LC_";

using Variables = std::map<std::string, std::string, std::less<>>;

Variables caller_variables(const std::vector<std::string>& entries);
void pass_of_person(Variables& variables, const Variables& caller);
void set_of_image(Variables& variables, const ImageInput& image, const std::string& home);
void set_proxies(Variables& variables, std::string_view host);
void set_trust(Variables& variables, std::string_view above);
Status add(Variables& variables, std::string_view name, std::optional<std::string_view> value, const Variables& caller);
bool valid_name(std::string_view name);

}  // namespace

Result<std::vector<std::string>> plan_environment(const PlanInput& input) {
  const Variables caller = caller_variables(input.caller_environment);
  Variables variables;
  const bool of_person = input.base_environment == BaseEnvironment::kPerson;
  const bool in_machine = input.os_user != nullptr && input.os_user->machine == OsUserInput::Machine::kVirtual;
  if (of_person) pass_of_person(variables, caller);
  // These name programs, which lie at other paths in an image and in a VM.
  if (input.image == nullptr && !in_machine) {
    for (const std::string_view name : {"PATH", "SHELL"}) {
      const auto found = caller.find(name);
      if (found != caller.end() && (of_person || name == "PATH")) variables.insert(*found);
    }
  }
  if (input.image != nullptr) set_of_image(variables, *input.image, input.facts.home);
  variables.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (of_person) {
    variables["HOME"] = input.facts.home;
    variables["USER"] = input.facts.user;
    variables["LOGNAME"] = input.facts.user;
    variables["TMPDIR"] = "/tmp";
    variables["HUTCH"] = "1";
    variables["HUTCH_BACKEND"] = input.backend;
  }
  if (input.network == NetworkKind::kGateway) set_proxies(variables, in_machine ? kHostOfMachine : kLoopback);
  if (input.trust.opening == TlsOpening::kSome) {
    set_trust(variables, input.os_user != nullptr ? kTrustOfOsUser : std::string_view());
  }
  for (const policy::EnvironmentEntry& entry : input.policy.environment) {
    TRY_CTX(add(variables, entry.name, entry.value, caller), "environment");
  }
  for (const std::string& entry : input.environment) {
    const std::size_t equals = entry.find('=');
    std::optional<std::string_view> value;
    if (equals != std::string::npos) value = std::string_view(entry).substr(equals + 1);
    TRY_CTX(add(variables, std::string_view(entry).substr(0, equals), value, caller), "--env");
  }
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(cat({name, "=", value}));
  return environment;
}

void add_working_directory(std::vector<std::string>& environment, const std::string& path) {
  static constexpr std::string_view kName = "PWD";
  const auto name_of = [](const std::string& entry) { return std::string_view(entry).substr(0, entry.find('=')); };
  const auto place = std::ranges::find_if(environment, [&](const auto& entry) { return name_of(entry) >= kName; });
  if (place != environment.end() && name_of(*place) == kName) return;
  environment.insert(place, cat({kName, "=", path}));
}

namespace {

Variables caller_variables(const std::vector<std::string>& entries) {
  Variables variables;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) variables.try_emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

void pass_of_person(Variables& variables, const Variables& caller) {
  for (const std::string_view name : kOfPerson) {
    const auto found = caller.find(name);
    if (found != caller.end()) variables.insert(*found);
  }
  for (auto found = caller.lower_bound(kLocale); found != caller.end() && found->first.starts_with(kLocale); ++found) {
    variables.insert(*found);
  }
}

// What the host says of the language and the terminal holds.
void set_of_image(Variables& variables, const ImageInput& image, const std::string& home) {
  variables.merge(caller_variables(image.environment));
  const auto path = variables.try_emplace("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin").first;
  // What pip installs for the user is found there.
  path->second = cat({home, "/.local/bin:", path->second});
}

// Programs that read these connect by name and get the reason for a refusal; the gateway captures the connections of
// other programs. curl reads http_proxy only in lower case. ALL_PROXY would have to name SOCKS, and clients that do not
// know socks5h:// (httpx, below many SDKs) then fail before they connect.
void set_proxies(Variables& variables, std::string_view host) {
  const std::string place = cat({host, ":", std::to_string(kProxyPort)});
  for (const char* name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}) {
    variables[name] = cat({"http://", place});
  }
  for (const char* name : {"NO_PROXY", "no_proxy"}) variables[name] = "localhost,127.0.0.1,::1";
}

void set_trust(Variables& variables, std::string_view above) {
  for (const TrustVariable& variable : kTrustVariables) {
    variables[std::string(variable.name)] = cat({above, variable.file});
  }
}

Status add(Variables& variables, std::string_view name, std::optional<std::string_view> value,
           const Variables& caller) {
  if (!valid_name(name)) {
    return fail(Error::invalid(cat({"\"", printable(name),
                                    "\" is not a name that a variable can have: letters, digits "
                                    "and _, not starting with a digit"})));
  }
  if (!value) {
    const auto found = caller.find(name);
    if (found == caller.end()) {
      return fail(Error::invalid(cat({name, " is not set here; write ", name, "=VALUE"})));
    }
    value = found->second;
  }
  if (value->find('\0') != std::string_view::npos) {
    return fail(Error::invalid(cat({name, ": a value cannot hold a NUL byte"})));
  }
  variables.insert_or_assign(std::string(name), std::string(*value));
  return {};
}

bool valid_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  for (const char character : name) {
    const bool letter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
    if (!letter && !(character >= '0' && character <= '9') && character != '_') return false;
  }
  return true;
}

}  // namespace

}  // namespace hutch::plan
