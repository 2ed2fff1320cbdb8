// From the network section to a Network: each value, then what has to hold between them.
#include "policy/document/network_reader.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "policy/document/amend.h"
#include "policy/network/domains.h"
#include "policy/network/parent_proxy.h"
#include "policy/network/sockets.h"
#include "policy/network/udp.h"

namespace hutch::policy {

namespace {

using nlohmann::json;

Status read_domains(const json& list, std::string_view name, DomainList kind, std::vector<std::string>& out);
Status read_reasons(const json& section, Network& network);
Status read_denied_addresses(const json& section, Network& network);
Status read_dns_denial(const json& section, Network& network);
Status read_rules(const json& section, Network& network);
Result<HttpRule> read_rule(const json& value);
Status read_methods(const json& list, HttpRule& rule);
Status read_paths(const json& list, HttpRule& rule);
Status read_headers(const json& headers, HttpRule& rule);
Status check_header_name(const std::string& name);
Status read_sockets(const json& section, Network& network);
Status read_udp(const json& section, Network& network);
Status read_ports(const json& section, Network& network);
Status read_parent_proxy(const json& section, Network& network);
Status read_tls(const json& section, Network& network);
Status check_openings(const Network& network);
bool overlap(const HostPattern& a, const HostPattern& b);
bool is_token(std::string_view text);
bool has_control(std::string_view text);
const json* find_member(const json& object, std::string_view name);
std::string at(std::string_view list, std::size_t index);
std::unexpected<Error> wrong_value(std::string_view what, std::string_view reason);

}  // namespace

Result<Network> read_network(std::string_view text) {
  const json section = parse_json(text);
  Network network;
  if (section.is_string()) {
    const std::string& word = section.get_ref<const std::string&>();
    // A word of files alone: no option of a run opens everything.
    network.mode = word == "host" ? NetworkMode::kHost : network_mode_of(word).value_or(NetworkMode::kNone);
    return network;
  }
  if (section.is_array()) {
    TRY(read_domains(section, "network", DomainList::kAllowed, network.allowed_domains));
    return network;
  }
  if (const json* list = find_member(section, "allowedDomains")) {
    TRY(read_domains(*list, "network.allowedDomains", DomainList::kAllowed, network.allowed_domains));
  }
  if (const json* list = find_member(section, "deniedDomains")) {
    TRY(read_domains(*list, "network.deniedDomains", DomainList::kDenied, network.denied_domains));
  }
  TRY(read_reasons(section, network));
  const json* strict = find_member(section, "strictAllowlist");
  if (strict != nullptr && strict->get<bool>()) network.asking = Asking::kNever;
  TRY(read_denied_addresses(section, network));
  TRY(read_dns_denial(section, network));
  TRY(read_rules(section, network));
  TRY(read_sockets(section, network));
  TRY(read_udp(section, network));
  TRY(read_ports(section, network));
  TRY(read_parent_proxy(section, network));
  TRY(read_tls(section, network));
  TRY(check_openings(network));
  return network;
}

namespace {

Status read_domains(const json& list, std::string_view name, DomainList kind, std::vector<std::string>& out) {
  for (const json& item : list) {
    const std::string where = at(name, out.size());
    if (!item.is_string()) return wrong_value(where, "must be a string");
    out.push_back(item.get<std::string>());
    TRY_CTX(check_domain(out.back(), kind), where);
  }
  return {};
}

Status read_reasons(const json& section, Network& network) {
  const json* reasons = find_member(section, "deniedDomainReasons");
  if (reasons == nullptr) return {};
  for (const auto& [entry, reason] : reasons->items()) {
    if (std::ranges::find(network.denied_domains, entry) == network.denied_domains.end()) {
      return wrong_value("network.deniedDomainReasons",
                         cat({"\"", printable(entry, 64), "\" is not an entry of network.deniedDomains"}));
    }
    network.denied_reasons.emplace_back(entry, reason.get<std::string>());
  }
  return {};
}

Status read_denied_addresses(const json& section, Network& network) {
  const json* list = find_member(section, "deniedResolvedAddresses");
  if (list == nullptr) return {};
  std::vector<std::string>& out = network.denied_resolved_addresses;
  for (const json& item : *list) {
    const std::string where = at("network.deniedResolvedAddresses", out.size());
    out.push_back(item.get<std::string>());
    TRY_CTX(parse_address_range(out.back()), cat({where, ": \"", printable(out.back(), 64), "\""}));
  }
  return {};
}

Status read_dns_denial(const json& section, Network& network) {
  const json* value = find_member(section, "dnsDenial");
  if (value != nullptr && *value == "nxdomain") network.dns_denial = DnsDenial::kNameError;
  return {};
}

Status read_rules(const json& section, Network& network) {
  const json* list = find_member(section, "rules");
  if (list == nullptr) return {};
  for (const json& value : *list) {
    network.rules.push_back(TRY_CTX(read_rule(value), at("network.rules", network.rules.size())));
  }
  return {};
}

Result<HttpRule> read_rule(const json& value) {
  static constexpr std::array<std::string_view, 4> kKnown = {"host", "methods", "paths", "headers"};
  if (!value.is_object()) return fail(Error::invalid("must be an object with a \"host\""));
  for (const auto& [name, content] : value.items()) {
    if (std::ranges::find(kKnown, name) == kKnown.end()) {
      const auto near = nearest(name, kKnown);
      return wrong_value(printable(name), near ? cat({"unknown key; did you mean ", *near, "?"})
                                               : "unknown key; known ones here are host, methods, paths, headers");
    }
  }
  HttpRule rule;
  const json* host = find_member(value, "host");
  if (host == nullptr || !host->is_string()) return wrong_value("host", "is missing, or no string");
  rule.host = host->get<std::string>();
  TRY_CTX(check_domain(rule.host, DomainList::kAllowed), "host");
  if (const json* methods = find_member(value, "methods")) TRY(read_methods(*methods, rule));
  if (const json* paths = find_member(value, "paths")) TRY(read_paths(*paths, rule));
  if (const json* headers = find_member(value, "headers")) TRY(read_headers(*headers, rule));
  return rule;
}

Status read_methods(const json& list, HttpRule& rule) {
  if (!list.is_array() || list.empty())
    return wrong_value("methods", "must be a list of methods; leave it out for all");
  for (const json& item : list) {
    const std::string where = at("methods", rule.methods.size());
    if (!item.is_string()) return wrong_value(where, "must be a string");
    const std::string method = item.get<std::string>();
    const bool lower = std::ranges::any_of(method, [](char character) { return character >= 'a' && character <= 'z'; });
    if (!is_token(method) || lower) return wrong_value(where, "is not a method in upper case, such as GET");
    if (method == "CONNECT") return wrong_value(where, "CONNECT is of proxies, and no request of a host");
    rule.methods.push_back(method);
  }
  return {};
}

Status read_paths(const json& list, HttpRule& rule) {
  if (!list.is_array() || list.empty()) return wrong_value("paths", "must be a list of patterns; leave it out for all");
  for (const json& item : list) {
    const std::string where = at("paths", rule.paths.size());
    if (!item.is_string()) return wrong_value(where, "must be a string");
    const std::string path = item.get<std::string>();
    if (!path.starts_with('/')) return wrong_value(where, cat({"\"", printable(path, 64), "\" does not start with /"}));
    if (has_control(path) || path.find_first_of(" ?#") != std::string::npos) {
      return wrong_value(where, "is a pattern of the path alone: no blanks, no ? and no #");
    }
    rule.paths.push_back(path);
  }
  return {};
}

Status read_headers(const json& headers, HttpRule& rule) {
  static constexpr std::string_view kForm = "must be {\"set\": {\"Name\": \"value\"}, \"remove\": [\"Name\"]}";
  if (!headers.is_object()) return wrong_value("headers", kForm);
  for (const auto& [name, content] : headers.items()) {
    const bool known = (name == "set" && content.is_object()) || (name == "remove" && content.is_array());
    if (!known) return wrong_value("headers", kForm);
  }
  if (const json* set = find_member(headers, "set")) {
    for (const auto& [name, content] : set->items()) {
      TRY_CTX(check_header_name(name), "headers.set");
      // A value may be a secret: no message holds it.
      if (!content.is_string()) return wrong_value(cat({"headers.set.", name}), "must be a string");
      const std::string text = content.get<std::string>();
      if (has_control(text)) return wrong_value(cat({"headers.set.", name}), "holds a control character");
      rule.set_headers.emplace_back(name, text);
    }
  }
  if (const json* remove = find_member(headers, "remove")) {
    for (const json& item : *remove) {
      if (!item.is_string()) return wrong_value(at("headers.remove", rule.remove_headers.size()), "must be a string");
      TRY_CTX(check_header_name(item.get_ref<const std::string&>()), "headers.remove");
      rule.remove_headers.push_back(item.get<std::string>());
    }
  }
  return {};
}

// RFC 9110 7.6.1, and those that say where a message ends or whom it is for.
Status check_header_name(const std::string& name) {
  static constexpr std::array<std::string_view, 12> kGateways = {
      "host",       "connection", "content-length",   "transfer-encoding",   "upgrade",           "te", "trailer",
      "keep-alive", "expect",     "proxy-connection", "proxy-authorization", "proxy-authenticate"};
  if (!is_token(name)) return fail(Error::invalid(cat({"\"", printable(name, 64), "\" is not a header's name"})));
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A')) : character;
  });
  if (std::ranges::find(kGateways, lower) == kGateways.end()) return {};
  return fail(Error::invalid(cat({name, " is the gateway's own business"})));
}

Status read_sockets(const json& section, Network& network) {
  const json* list = find_member(section, "allowUnixSockets");
  if (list == nullptr) return {};
  for (const json& item : *list) {
    const std::string where = at("network.allowUnixSockets", network.allow_unix_sockets.size());
    network.allow_unix_sockets.push_back(item.get<std::string>());
    TRY_CTX(check_socket_entry(network.allow_unix_sockets.back()), where);
  }
  return {};
}

// The rules about requests are there by now.
Status read_udp(const json& section, Network& network) {
  const json* list = find_member(section, "allowedUdp");
  if (list == nullptr) return {};
  for (const json& item : *list) {
    const std::string where = at("network.allowedUdp", network.allowed_udp.size());
    network.allowed_udp.push_back(item.get<std::string>());
    TRY_CTX(parse_udp(network.allowed_udp.back()), where);
  }
  TRY_CTX(check_udp(network), "network.allowedUdp");
  return {};
}

Status read_ports(const json& section, Network& network) {
  if (const json* list = find_member(section, "hostPorts")) {
    for (const json& item : *list) {
      const std::string where = at("network.hostPorts", network.host_ports.size());
      const bool fits = item.is_number_integer() && item >= 1 && item <= 65535;
      if (!fits) return wrong_value(where, "must be a port, a number from 1 to 65535");
      network.host_ports.push_back(item.get<int>());
    }
  }
  if (const json* list = find_member(section, "publish")) {
    for (const json& item : *list) {
      const std::string where = at("network.publish", network.publish.size());
      network.publish.push_back(TRY_CTX(parse_published(item.get_ref<const std::string&>()), where));
    }
  }
  TRY_CTX(check_ports(network), "network");
  return {};
}

Status read_parent_proxy(const json& section, Network& network) {
  const json* value = find_member(section, "parentProxy");
  if (value == nullptr) return {};
  ParentProxy proxy;
  if (const json* http = find_member(*value, "http")) proxy.http = http->get<std::string>();
  if (const json* https = find_member(*value, "https")) proxy.https = https->get<std::string>();
  if (const json* list = find_member(*value, "noProxy")) {
    if (list->is_array()) proxy.no_proxy = list->get<std::vector<std::string>>();
    std::string words = list->is_string() ? list->get<std::string>() : std::string();
    std::ranges::replace(words, ' ', ',');
    for (const std::string_view word : split(words, ',')) {
      if (!word.empty()) proxy.no_proxy.emplace_back(word);
    }
  }
  network.parent_proxy = std::move(proxy);
  TRY(parent_proxies(network, {}));
  return {};
}

Status read_tls(const json& section, Network& network) {
  const json* value = find_member(section, "tlsTerminate");
  if (value == nullptr) return {};
  if (const json* list = find_member(*value, "excludeDomains")) {
    TRY(read_domains(*list, "network.tlsTerminate.excludeDomains", DomainList::kDenied, network.tls.exclude_domains));
  }
  if (const json* list = find_member(*value, "extraCaCertPaths")) {
    for (const json& item : *list) {
      if (item.get_ref<const std::string&>().empty())
        return wrong_value(at("network.tlsTerminate.extraCaCertPaths", network.tls.extra_ca_paths.size()), "is empty");
      network.tls.extra_ca_paths.push_back(item.get<std::string>());
    }
  }
  return {};
}

// A rule about requests of a host whose requests may not be read cannot hold.
Status check_openings(const Network& network) {
  for (std::size_t index = 0; index < network.rules.size(); ++index) {
    const HostPattern rule = TRY(parse_domain(network.rules[index].host, DomainList::kAllowed));
    for (const std::string& entry : network.tls.exclude_domains) {
      if (!overlap(rule, TRY(parse_domain(entry, DomainList::kDenied)))) continue;
      return wrong_value(
          at("network.rules", index),
          cat({"\"", printable(network.rules[index].host, 64),
               "\" cannot hold: TLS of this host may not be opened, says network.tlsTerminate.excludeDomains \"",
               printable(entry, 64), "\""}));
    }
  }
  return {};
}

// Whether some host and port is of both.
bool overlap(const HostPattern& a, const HostPattern& b) {
  using Kind = HostPattern::Kind;
  if (a.port && b.port && *a.port != *b.port) return false;
  if (a.kind == Kind::kEverything || b.kind == Kind::kEverything) return true;
  if (a.kind == Kind::kRange || b.kind == Kind::kRange) {
    return a.kind == b.kind && (a.range.contains(b.range.base) || b.range.contains(a.range.base));
  }
  if (a.kind == Kind::kName) return b.matches_host({a.name, std::nullopt});
  if (b.kind == Kind::kName) return a.matches_host({b.name, std::nullopt});
  return a.name == b.name || a.matches_host({b.name, std::nullopt}) || b.matches_host({a.name, std::nullopt});
}

// RFC 9110 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char character) {
    const bool letter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
    const bool digit = character >= '0' && character <= '9';
    return letter || digit || std::string_view("!#$%&'*+-.^_`|~").find(character) != std::string_view::npos;
  });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char character) { return static_cast<unsigned char>(character) < ' ' || character == 0x7f; });
}

const json* find_member(const json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string at(std::string_view list, std::size_t index) { return cat({list, "[", std::to_string(index), "]"}); }

std::unexpected<Error> wrong_value(std::string_view what, std::string_view reason) {
  return fail(Error::invalid(cat({what, ": ", reason})));
}

}  // namespace

}  // namespace hutch::policy
