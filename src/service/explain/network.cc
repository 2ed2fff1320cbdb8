// What explain says of the network: who may be reached, whose TLS is opened, which ports lead in and out.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "policy/network/parent_proxy.h"
#include "service/explain/explain.h"

namespace hutch::service {

namespace {

using ordered_json = nlohmann::ordered_json;
using policy::Network;
using policy::NetworkMode;

std::string_view mode_name(NetworkMode mode);
bool is_strict(const Network& network);
std::string_view first_line(const Prepared& prepared);
std::string domain_lines(const Network& network);
std::string rule_line(const policy::HttpRule& rule);
std::string port_lines(const Network& network);
std::string proxy_line(const Prepared& prepared);
std::string line(std::initializer_list<std::string_view> pieces);
std::string shown(const std::string& text);
std::string joined(const std::vector<std::string>& texts);
std::string reason_of(const Network& network, const std::string& entry);
ordered_json rule_json(const policy::HttpRule& rule);
ordered_json proxy_json(const std::optional<policy::ProxyServer>& proxy);

}  // namespace

std::string network_text(const Prepared& prepared) {
  const Network& network = prepared.policy.network;
  std::string out = cat({"reach\n", line({first_line(prepared)})});
  for (const std::string& entry : network.allow_unix_sockets) out += line({"the Unix socket ", shown(entry)});
  if (prepared.plan.network != plan::NetworkKind::kGateway) return out;
  out += domain_lines(network);
  for (const policy::HttpRule& rule : network.rules) out += rule_line(rule);
  for (const std::string& entry : network.tls.exclude_domains) out += line({"never opens TLS of ", shown(entry)});
  for (const std::string& path : network.tls.extra_ca_paths) out += line({"trusts the certificates of ", shown(path)});
  for (const std::string& entry : network.allowed_udp) out += line({"UDP may reach ", shown(entry)});
  out += port_lines(network);
  out += proxy_line(prepared);
  if (network.dns_denial == policy::DnsDenial::kNameError) out += line({"a refused name is answered NXDOMAIN"});
  return out;
}

std::string network_json(const Prepared& prepared) {
  const Network& network = prepared.policy.network;
  ordered_json denied = ordered_json::array();
  for (const std::string& entry : network.denied_domains) {
    denied.push_back({{"entry", entry}, {"reason", reason_of(network, entry)}});
  }
  ordered_json rules = ordered_json::array();
  for (const policy::HttpRule& rule : network.rules) rules.push_back(rule_json(rule));
  ordered_json published = ordered_json::array();
  for (const policy::PublishedPort& port : network.publish) {
    published.push_back({{"host", port.host}, {"sandbox", port.sandbox}});
  }
  const ordered_json object = {
      {"mode", prepared.backend == BackendKind::kNone ? "host" : mode_name(network.mode)},
      {"allowed_domains", network.allowed_domains},
      {"denied_domains", std::move(denied)},
      {"strict", is_strict(network)},
      {"denied_resolved_addresses", network.denied_resolved_addresses},
      {"dns_denial", network.dns_denial == policy::DnsDenial::kRefused ? "refused" : "nxdomain"},
      {"rules", std::move(rules)},
      {"tls_never_opened", network.tls.exclude_domains},
      {"extra_ca_certificates", network.tls.extra_ca_paths},
      {"allowed_udp", network.allowed_udp},
      {"allowed_unix_sockets", network.allow_unix_sockets},
      {"host_ports", network.host_ports},
      {"publish", std::move(published)},
      {"parent_proxy",
       {{"http", proxy_json(prepared.parent_proxies.http)}, {"https", proxy_json(prepared.parent_proxies.https)}}}};
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

namespace {

std::string_view mode_name(NetworkMode mode) {
  switch (mode) {
    case NetworkMode::kNone: return "none";
    case NetworkMode::kOutbound: return "outbound";
    case NetworkMode::kRules: return "rules";
    case NetworkMode::kHost: return "host";
  }
  return "";
}

bool is_strict(const Network& network) {
  return network.asking == policy::Asking::kNever || network.connect_questions == policy::Asking::kNever;
}

std::string_view first_line(const Prepared& prepared) {
  const Network& network = prepared.policy.network;
  if (prepared.backend == BackendKind::kNone)
    return "everything that this host reaches: the backend none holds none of the rules";
  switch (network.mode) {
    case NetworkMode::kNone: return "nothing, and nobody is asked";
    case NetworkMode::kOutbound: return "everything but this host and private addresses";
    case NetworkMode::kHost: return "everything that this host reaches, held by no rule";
    case NetworkMode::kRules: break;
  }
  return is_strict(network) ? "what is named here; everything else is denied"
                            : "what is named here; everything else is asked for, or denied";
}

std::string domain_lines(const Network& network) {
  std::string out;
  for (const std::string& entry : network.denied_domains) {
    const std::string reason = reason_of(network, entry);
    out += line({"deny ", shown(entry), reason.empty() ? "" : ": ", printable(reason)});
  }
  for (const std::string& entry : network.allowed_domains) out += line({"allow ", shown(entry)});
  for (const std::string& entry : network.denied_resolved_addresses) {
    out += line({"never connects to ", shown(entry), ", whatever name leads there"});
  }
  return out;
}

// Values of headers may be secrets: their names alone.
std::string rule_line(const policy::HttpRule& rule) {
  std::string changes;
  for (const auto& [name, value] : rule.set_headers) changes += cat({", sets ", name});
  for (const std::string& name : rule.remove_headers) changes += cat({", removes ", name});
  return line({"allow ", shown(rule.host), ", TLS opened to let through ",
               rule.methods.empty() ? "every method" : joined(rule.methods), " of ",
               rule.paths.empty() ? "every path" : joined(rule.paths), changes});
}

std::string port_lines(const Network& network) {
  std::string out;
  for (const int port : network.host_ports) {
    out += line({"port ", std::to_string(port), " of this host's loopback, at the same port inside"});
  }
  for (const policy::PublishedPort& port : network.publish) {
    out += line({"port ", std::to_string(port.sandbox), " of the sandbox is 127.0.0.1:", std::to_string(port.host),
                 " of this host"});
  }
  return out;
}

std::string proxy_line(const Prepared& prepared) {
  const auto named = [](const policy::ProxyServer& proxy) {
    return cat({policy::describe(proxy), proxy.authorization.empty() ? "" : " (with credentials)"});
  };
  std::string out;
  const policy::ParentProxies& proxies = prepared.parent_proxies;
  if (proxies.http) out += line({"port 80 goes out through ", named(*proxies.http)});
  if (proxies.https) out += line({"other ports go out through ", named(*proxies.https)});
  return out;
}

std::string line(std::initializer_list<std::string_view> pieces) { return cat({"  ", cat(pieces), "\n"}); }

std::string shown(const std::string& text) { return printable(text); }

std::string joined(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) parts.push_back(printable(text));
  return join(parts, " ");
}

std::string reason_of(const Network& network, const std::string& entry) {
  for (const auto& [denied, reason] : network.denied_reasons) {
    if (denied == entry) return reason;
  }
  return {};
}

ordered_json rule_json(const policy::HttpRule& rule) {
  ordered_json set = ordered_json::array();
  for (const auto& [name, value] : rule.set_headers) set.push_back(name);
  return {{"host", rule.host},
          {"opens_tls", true},
          {"methods", rule.methods},
          {"paths", rule.paths},
          {"sets_headers", std::move(set)},
          {"removes_headers", rule.remove_headers}};
}

ordered_json proxy_json(const std::optional<policy::ProxyServer>& proxy) {
  if (!proxy) return nullptr;
  return {{"url", policy::describe(*proxy)}, {"credentials", !proxy->authorization.empty()}};
}

}  // namespace

}  // namespace hutch::service
