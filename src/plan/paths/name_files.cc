// The files by which programs find addresses.
#include "plan/paths/name_files.h"

#include <algorithm>
#include <span>

#include "base/decimal.h"
#include "base/text.h"
#include "policy/network/hosts.h"

namespace hutch::plan {

namespace {

constexpr std::size_t kSearchDomainsMax = 6;
constexpr std::size_t kSearchBytesMax = 256;
constexpr unsigned kNdotsMax = 15;

// Splits one line into words at spaces and tabs.
std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    if (end != 0) words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// systemd-resolved writes "." if there is no domain. This skips it, and every other word that is not a host name.
std::vector<std::string> search_domains(const std::vector<std::string_view>& words) {
  std::vector<std::string> domains;
  std::size_t bytes = 0;
  for (const std::string_view word : words) {
    const auto host = policy::canonical_host(word);
    if (!host || host->address) continue;
    bytes += host->name.size() + 1;
    if (domains.size() == kSearchDomainsMax || bytes > kSearchBytesMax) break;
    if (std::ranges::find(domains, host->name) == domains.end()) domains.push_back(host->name);
  }
  return domains;
}

}  // namespace

SearchRules read_search_rules(std::string_view text) {
  static constexpr std::string_view kNdots = "ndots:";
  SearchRules rules;
  for (const std::string_view line : split(text.substr(0, kResolverBytesMax), '\n')) {
    // A keyword begins its line (resolv.conf(5)), so an indented line does not count.
    std::vector<std::string_view> words = words_of_line(line);
    if (words.empty() || !line.starts_with(words.front())) continue;
    const std::string_view keyword = words.front();
    words.erase(words.begin());
    // The last of these lines counts.
    if (keyword == "search") rules.domains = search_domains(words);
    if (keyword == "domain" && !words.empty()) rules.domains = search_domains({words.front()});
    if (keyword != "options") continue;
    for (const std::string_view word : words) {
      const auto number = word.starts_with(kNdots) ? decimal_of(word.substr(kNdots.size())) : std::nullopt;
      if (number) rules.ndots = std::min<unsigned>(*number, kNdotsMax);
    }
  }
  return rules;
}

HostTable read_hosts(std::string_view text) {
  HostTable table;
  for (std::string_view line : split(text.substr(0, kHostsBytesMax), '\n')) {
    line = line.substr(0, line.find('#'));
    const std::vector<std::string_view> words = words_of_line(line);
    const auto address = words.size() < 2 ? std::nullopt : parse_ip(words.front());
    if (!address) continue;
    for (const std::string_view word : std::span(words).subspan(1)) {
      const auto host = policy::canonical_host(word);
      if (!host || host->address) continue;
      if (table.size() == kHostNamesMax && !table.contains(host->name)) continue;
      std::vector<IpAddress>& addresses = table[host->name];
      const bool is_new = std::ranges::find(addresses, *address) == addresses.end();
      if (is_new && addresses.size() < kHostAddressesMax) addresses.push_back(*address);
    }
  }
  return table;
}

std::string_view stem_of(const SearchRules& rules, std::string_view name) {
  for (const std::string& domain : rules.domains) {
    if (name.size() < domain.size() + 2 || !name.ends_with(domain)) continue;
    const std::size_t dot = name.size() - domain.size() - 1;
    if (name[dot] == '.') return name.substr(0, dot);
  }
  return {};
}

std::string resolver_file(const SearchRules& rules, NetworkKind network) {
  if (network != NetworkKind::kGateway) return "# This sandbox has no network, and so no name server.\n";
  std::string text = "# The gateway of this sandbox answers, by the rules of its policy.\nnameserver 127.0.0.1\n";
  if (!rules.domains.empty()) text += cat({"search ", join(rules.domains, " "), "\n"});
  if (rules.ndots != 1) text += cat({"options ndots:", std::to_string(rules.ndots), "\n"});
  return text;
}

std::string hosts_file(std::string_view hostname) {
  return cat({"127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 ", hostname, "\n"});
}

}  // namespace hutch::plan
