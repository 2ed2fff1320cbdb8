// Names of hosts in a policy.
#include "policy/domains.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace hutch::policy {

namespace {

struct HostPort {
  std::string_view host;
  std::optional<int> port;
};

std::optional<HostPort> split_port(std::string_view text);
bool valid_label(std::string_view label);
bool valid_bracketed(std::string_view host);
bool same_name(std::string_view a, std::string_view b);
std::string_view without_dot(std::string_view host);
const std::string* find_match(const std::vector<std::string>& entries, const HostPort& target);

}  // namespace

Status check_domain(std::string_view entry, DomainList list) {
  const auto wrong = [&](std::string_view reason) {
    return fail(Error::invalid(cat({"\"", printable(entry), "\": ", reason})));
  };
  const std::optional<HostPort> parts = split_port(entry);
  if (!parts || parts->host.empty()) return wrong("is not a host name; write example.com, *.example.com or host:port");
  std::string_view host = parts->host;
  if (host.size() > 253) return wrong("is longer than a host name can be");
  if (host == "*") {
    return list == DomainList::kDenied ? Status()
                                       : wrong("would allow every host; name them, or say network \"outbound\"");
  }
  if (host.front() == '[') return valid_bracketed(host) ? Status() : wrong("is not an IPv6 address in brackets");
  const bool wild = host.starts_with("*.");
  if (wild) host.remove_prefix(2);
  const std::vector<std::string_view> labels = split(host, '.');
  if (!std::ranges::all_of(labels, valid_label)) {
    return wrong("is not a host name: labels of letters, digits and -, without a scheme or a path");
  }
  if (wild && labels.size() < 2) return wrong("is too broad: at least two labels have to follow \"*.\"");
  return {};
}

bool matches_domain(std::string_view entry, std::string_view host, int port) {
  const std::optional<HostPort> parts = split_port(entry);
  if (!parts || (parts->port && *parts->port != port)) return false;
  const std::string_view name = without_dot(host);
  if (parts->host == "*") return true;
  if (!parts->host.starts_with("*.")) return same_name(parts->host, name);
  const std::string_view suffix = parts->host.substr(1);
  return name.size() > suffix.size() && same_name(suffix, name.substr(name.size() - suffix.size()));
}

HostDecision decide_host_name(const Network& network, std::string_view target) {
  static constexpr int kDefaultPort = 443;
  std::optional<HostPort> host = split_port(target);
  if (!host || host->host.empty()) return {.allowed = false, .rule = "default", .why = "is not a host name"};
  if (!host->port) host->port = kDefaultPort;
  if (network.mode == NetworkMode::kNone) {
    return {.allowed = false, .rule = "network \"none\"", .why = "nothing is reachable"};
  }
  if (const std::string* denied = find_match(network.denied_domains, *host)) {
    return {.allowed = false, .rule = cat({"network.deniedDomains \"", *denied, "\""}), .why = "an entry denies it"};
  }
  if (const std::string* allowed = find_match(network.allowed_domains, *host)) {
    return {.allowed = true, .rule = cat({"network.allowedDomains \"", *allowed, "\""}), .why = "an entry allows it"};
  }
  if (network.mode == NetworkMode::kOutbound) {
    return {.allowed = true, .rule = "network \"outbound\"", .why = "everything but the host and private addresses"};
  }
  return {.allowed = false, .rule = "default", .why = "no entry of network.allowedDomains names it"};
}

namespace {

std::optional<HostPort> split_port(std::string_view text) {
  std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon != std::string_view::npos && bracket != std::string_view::npos && colon < bracket) {
    colon = std::string_view::npos;
  }
  if (colon == std::string_view::npos) return HostPort{text, std::nullopt};
  const std::string_view digits = text.substr(colon + 1);
  if (digits.empty() || digits.size() > 5) return std::nullopt;
  int port = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    port = port * 10 + (digit - '0');
  }
  if (port < 1 || port > 65535) return std::nullopt;
  return HostPort{text.substr(0, colon), port};
}

bool valid_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
  return std::ranges::all_of(label, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '-' || character == '_';
  });
}

bool valid_bracketed(std::string_view host) {
  if (host.size() < 4 || host.back() != ']') return false;
  const std::string_view inside = host.substr(1, host.size() - 2);
  return inside.find(':') != std::string_view::npos &&
         inside.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A')) : character;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view without_dot(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

const std::string* find_match(const std::vector<std::string>& entries, const HostPort& target) {
  for (const std::string& entry : entries) {
    if (matches_domain(entry, target.host, *target.port)) return &entry;
  }
  return nullptr;
}

}  // namespace

}  // namespace hutch::policy
