// Hosts in commands, and names of packages.
#include "plugin/commands.h"

#include <algorithm>

#include "base/alpine_names.h"
#include "base/text.h"
#include "policy/network/hosts.h"

namespace hutch::plugin {

namespace {

bool is_scheme(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

Result<std::string> host_at(std::string_view authority) {
  const auto wrong = [&](std::string_view why) {
    return fail(Error::invalid(cat({"the address ://", printable(authority, 80), " ", why})));
  };
  if (authority.contains('@')) return wrong("has a user in it, which can be taken for the host");
  if (authority.find_first_of("$`*?{}[]\\") != std::string_view::npos) return wrong("does not say its host plainly");
  const auto parsed = policy::parse_host_port(authority);
  if (!parsed) return wrong("names no host");
  if (parsed->host.address) return wrong("is an address of the network: name a host");
  return parsed->host.name;
}

}  // namespace

Result<std::vector<std::string>> hosts_in(std::string_view command) {
  static constexpr std::string_view kMark = "://";
  std::vector<std::string> hosts;
  for (std::size_t at = command.find(kMark); at != std::string_view::npos; at = command.find(kMark, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_scheme(command[begin - 1])) --begin;
    const std::string_view rest = command.substr(at + kMark.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/ \t\r\n\"'<>|&;()#,"));
    // "file:///etc": no host at all.
    if (command.substr(begin, at - begin) == "file" && authority.empty()) continue;
    std::string host = TRY(host_at(authority));
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(std::move(host));
  }
  return hosts;
}

Status check_hosts(const Recipe& recipe, const std::vector<std::string>& allowed) {
  const auto check = [&](const std::string& command, const std::string& what) -> Status {
    const auto hosts = hosts_in(command);
    if (!hosts) return fail(Error::invalid(cat({what, " rejected: ", hosts.error().message})));
    for (const std::string& host : *hosts) {
      if (std::ranges::find(allowed, host) != allowed.end()) continue;
      return fail(Error::invalid(cat({what, " rejected: it references non-allowed host: ", host})));
    }
    return {};
  };
  TRY(check(recipe.setup, "Setup command"));
  for (const Tool& tool : recipe.tools) TRY(check(tool.run, cat({"Tool `", tool.id, "` run command"})));
  return {};
}

Result<std::vector<std::string>> packages_for(const Recipe& recipe, std::string_view manager) {
  std::vector<std::string> names;
  if (recipe.dependencies.empty()) return names;
  const auto own = recipe.dependencies.find(std::string(manager));
  if (own != recipe.dependencies.end() && !recipe.is_plain_list) return own->second;
  const auto alpine = recipe.dependencies.find("apk");
  if (alpine == recipe.dependencies.end()) {
    return fail(Error::invalid(cat({"dependencies: none are named for ", manager, ", which the sandbox has"})));
  }
  if (manager == "apk") return alpine->second;
  for (const std::string& name : alpine->second) {
    std::string translated = manager == "apt" ? debian_name_of(name).value_or(name) : name;
    if (manager == "dnf" && name.starts_with("py3-")) translated = cat({"python3-", name.substr(4)});
    if (std::ranges::find(names, translated) == names.end()) names.push_back(std::move(translated));
  }
  return names;
}

}  // namespace hutch::plugin
