// The environment of a command.
#include "plan/environment.h"
#include "plan/machine_address.h"

#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr std::string_view kLoopback = "127.0.0.1";

using Variables = std::map<std::string, std::string, std::less<>>;

Variables caller_variables(const std::vector<std::string>& entries);
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
  for (const std::string_view name : {"PATH", "TERM", "LANG"}) {
    const auto found = caller.find(name);
    const bool of_host = name == "PATH" && (input.image != nullptr || in_machine);
    if (found != caller.end() && !of_host && (of_person || name == "PATH")) variables.insert(*found);
  }
  if (input.image != nullptr) set_of_image(variables, *input.image, input.facts.home);
  variables.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (of_person) {
    variables["HOME"] = input.facts.home;
    variables["USER"] = input.facts.user;
    variables["TMPDIR"] = "/tmp";
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

namespace {

Variables caller_variables(const std::vector<std::string>& entries) {
  Variables variables;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) variables.try_emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

// What the host says of the language and the terminal holds.
void set_of_image(Variables& variables, const ImageInput& image, const std::string& home) {
  variables.merge(caller_variables(image.environment));
  const auto path = variables.try_emplace("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin").first;
  // What pip installs for the user is found there.
  path->second = cat({home, "/.local/bin:", path->second});
}

// Programs that know these ask by name and are told why a host is refused; the others reach the gateway without them.
// curl reads http_proxy in lower case alone.
void set_proxies(Variables& variables, std::string_view host) {
  const std::string place = cat({host, ":", std::to_string(kProxyPort)});
  for (const char* name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}) {
    variables[name] = cat({"http://", place});
  }
  for (const char* name : {"ALL_PROXY", "all_proxy"}) variables[name] = cat({"socks5h://", place});
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
