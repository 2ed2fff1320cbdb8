// What an agent's settings open and close of the network.
#include "service/agent/network.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/limits.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "service/common/package_hosts.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// Files of the person's own that name registries, of pip, npm, Cargo and Yarn: those that no sandbox may write. Of
// RubyGems and Bundler a sandbox that may write the home could name hosts for another.
constexpr std::array<std::string_view, 6> kFilesOfHome = {".config/pip/pip.conf", ".pip/pip.conf", ".npmrc",
                                                          ".cargo/config.toml",   ".cargo/config", ".yarnrc.yml"};

void add_hosts_of(const std::vector<std::string>& more, std::vector<std::string>& hosts) {
  for (const std::string& host : more) {
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
}

}  // namespace

void AgentNetworkNow::set(store::AgentNetwork network) {
  const std::scoped_lock lock(mutex_);
  network_ = std::move(network);
}

policy::NetworkOptions AgentNetworkNow::options() const {
  store::AgentNetwork network;
  {
    const std::scoped_lock lock(mutex_);
    network = network_;
  }
  policy::NetworkOptions options;
  options.agent = agent_;
  options.mode = policy::network_mode_of(network.mode);
  const bool registries = network.mode == "registries";
  if (network.mode == "rules" || registries) options.mode = policy::NetworkMode::kRules;
  // Nothing is reachable, whatever the list says; it holds again with another mode.
  if (options.mode == policy::NetworkMode::kNone) return options;
  options.allow_domains = std::move(network.allowed_domains);
  options.deny_domains = std::move(network.denied_domains);
  if (registries) {
    const auto facts = host::probe_facts();
    add_hosts_of(registry_hosts(facts ? facts->home : std::string()), options.allow_domains);
  }
  return options;
}

std::vector<std::string> registry_hosts(const std::string& home) {
  std::vector<std::string> hosts;
  for (const auto& found : {package_hosts("/"), language_hosts("/")}) {
    if (found) add_hosts_of(*found, hosts);
  }
  for (const std::string_view file : kFilesOfHome) {
    const auto text = sys::regular_file_text(cat({home, "/", file}), limits::kJsonBytesMax);
    if (text) add_hosts_of(package_hosts_in(*text), hosts);
  }
  return hosts;
}

}  // namespace hutch::service
