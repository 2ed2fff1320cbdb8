// Fuzzes the readers of the host's files of names and of configurations that include others: what comes out is within
// its limits, and the sandbox's own file reads back as what it was made of.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plan/paths/checked_files.h"
#include "plan/paths/name_files.h"
#include "policy/network/hosts.h"

namespace {

using namespace hutch;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_name(const std::string& name) {
  const auto host = policy::canonical_host(name);
  require(host && host->name == name && !host->address);
}

void check_search_rules(std::string_view text) {
  const plan::SearchRules rules = plan::read_search_rules(text);
  require(rules.ndots <= 15 && rules.domains.size() <= 6);
  std::size_t bytes = 0;
  for (const std::string& domain : rules.domains) {
    check_name(domain);
    bytes += domain.size() + 1;
    require(plan::stem_of({.domains = {domain}}, "a." + domain) == "a");
  }
  require(bytes <= 256);
  require(plan::read_search_rules(plan::resolver_file(rules, plan::NetworkKind::kGateway)) == rules);
}

void check_hosts(std::string_view text) {
  const plan::HostTable table = plan::read_hosts(text);
  require(table.size() <= plan::kHostNamesMax);
  for (const auto& [name, addresses] : table) {
    check_name(name);
    require(!addresses.empty() && addresses.size() <= plan::kHostAddressesMax);
  }
}

void check_includes(std::string_view text) {
  const auto includes = plan::includes_of(plan::kCheckedConfigs[0], text);
  require(includes.size() <= plan::kIncludesMax);
  for (const std::string& include : includes) {
    require(include.starts_with('/') && include.find('\n') == std::string::npos);
    require(include.find('\0') == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_search_rules(text);
  check_hosts(text);
  check_includes(text);
  return 0;
}
