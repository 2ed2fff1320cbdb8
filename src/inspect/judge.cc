// Whether a request may pass.
#include "inspect/judge.h"

#include <algorithm>
#include <charconv>

#include "base/ip_address.h"
#include "base/text.h"
#include "policy/network/rules.h"

namespace hutch::inspect {

namespace {

// These frame the message or lead it elsewhere, whatever a rule says.
constexpr std::string_view kOurs[] = {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Trailer",
                                      "TE",   "Keep-Alive"};

// Frameworks and proxies use these in place of the request's method, target or host. A rule that names methods or paths
// has judged those of the request itself.
constexpr std::string_view kOverrides[] = {"X-HTTP-Method-Override",
                                           "X-HTTP-Method",
                                           "X-Method-Override",
                                           "X-Original-Method",
                                           "X-Original-URL",
                                           "X-Original-URI",
                                           "X-Rewrite-URL",
                                           "X-Forwarded-Host",
                                           "X-Forwarded-URI",
                                           "X-Forwarded-Path",
                                           "X-Forwarded-Prefix",
                                           "X-Forwarded-Method",
                                           "X-Original-Host",
                                           "X-Host",
                                           "X-HTTP-Host-Override",
                                           "X-Forwarded-Server",
                                           "Forwarded",
                                           "X-Envoy-Original-Path"};

struct NamedHost {
  std::string_view host;
  std::optional<std::string_view> port;
};

bool is_override(std::string_view name);
std::optional<NamedHost> take_apart(std::string_view authority);
Refusal host_mismatch(const wire::Inspect& connection, const RequestView& request, std::string_view authority);
Refusal blocked(const wire::Inspect& connection, const RequestView& request);
std::string request_text(const RequestView& request);

}  // namespace

Judgement judge(const wire::Inspect& connection, const RequestView& request) {
  Judgement judgement;
  for (const std::string_view authority : request.authorities) {
    if (agrees(authority, connection)) continue;
    judgement.refusal = host_mismatch(connection, request, authority);
    return judgement;
  }
  if (request.method == "CONNECT") {
    judgement.refusal = malformed_request("CONNECT inside a connection");
    return judgement;
  }
  if (!request.target.starts_with('/') && !(request.target == "*" && request.method == "OPTIONS")) {
    judgement.refusal = malformed_request("the target is no path");
    return judgement;
  }
  const policy::RequestDecision decision = policy::decide_request(connection.rules, request.method, request.target);
  if (!decision.allowed) {
    judgement.refusal = blocked(connection, request);
    return judgement;
  }
  judgement.rule = decision.rule;
  judgement.target = request.target;
  if (decision.rule != nullptr && !decision.rule->paths.empty()) {
    judgement.target = policy::normal_target(request.target).value_or(judgement.target);
  }
  return judgement;
}

bool agrees(std::string_view authority, const wire::Inspect& connection) {
  const std::optional<NamedHost> named = take_apart(authority);
  if (!named) return false;
  if (named->port) {
    const std::string text(*named->port);
    std::uint16_t port = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || stop != text.data() + text.size() || port != connection.port) return false;
  }
  std::string_view host = named->host;
  if (const std::optional<IpAddress> address = parse_ip(host)) return address == parse_ip(connection.host);
  if (host.ends_with('.')) host.remove_suffix(1);
  return !host.empty() && same_name(host, connection.host);
}

void apply_rule(const policy::HttpRule& rule, Headers& headers) {
  const auto is_ours = [](std::string_view name) {
    return std::ranges::any_of(kOurs, [&](std::string_view ours) { return same_name(ours, name); });
  };
  if (!rule.methods.empty() || !rule.paths.empty()) {
    std::erase_if(headers, [](const Header& header) { return is_override(header.name); });
  }
  for (const std::string& name : rule.remove_headers) {
    if (!is_ours(name)) remove_header(headers, name);
  }
  for (const auto& [name, value] : rule.set_headers) {
    if (is_ours(name) || !is_token(name) || !is_field_value(value)) continue;
    remove_header(headers, name);
    headers.push_back({name, value});
  }
}

Refusal malformed_request(std::string_view why) {
  return {400, "malformed-request", cat({"hutch: the request is malformed: ", why, "\n"}), "a malformed request",
          std::string(why)};
}

Refusal upstream_failure(std::string_view error, std::string_view text) {
  return {502, error, cat({"hutch: ", text, "\n"}), {}, std::string(text)};
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Error";
  }
}

namespace {

// CGI gateways treat "_" and "-" in a name alike (RFC 3875, 4.1.18).
bool is_override(std::string_view name) {
  std::string plain(name);
  std::ranges::replace(plain, '_', '-');
  return std::ranges::any_of(kOverrides, [&](std::string_view one) { return same_name(one, plain); });
}

std::optional<NamedHost> take_apart(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view host = authority.substr(1, close - 1);
    const std::string_view rest = authority.substr(close + 1);
    if (!parse_ip(host) || !host.contains(':')) return std::nullopt;
    if (rest.empty()) return NamedHost{host, std::nullopt};
    if (!rest.starts_with(':')) return std::nullopt;
    return NamedHost{host, rest.substr(1)};
  }
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos) return NamedHost{authority, std::nullopt};
  return NamedHost{authority.substr(0, colon), authority.substr(colon + 1)};
}

Refusal host_mismatch(const wire::Inspect& connection, const RequestView& request, std::string_view authority) {
  const std::string named = printable(authority, 256);
  Refusal refusal{403, "host-mismatch", {}, {}, {}};
  refusal.text = cat({"hutch: the request names the host \"", named, "\", but the connection was made to ",
                      connection.host, " port ", std::to_string(connection.port), "\n"});
  refusal.what = cat({request_text(request), ", Host: ", named});
  refusal.why = cat({"the connection was made to ", connection.host});
  return refusal;
}

Refusal blocked(const wire::Inspect& connection, const RequestView& request) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  Refusal refusal{403, "blocked-by-rule", {}, request_text(request), {}};
  if (request.target.starts_with('/') && !policy::normal_target(request.target)) {
    refusal.why = "no rule about this host allows it, and its path can be read in more than one way";
    refusal.text = cat({"hutch: ", request_text(request), " is not allowed: ", refusal.why,
                        "; a rule of network.rules without \"paths\" would allow it: {\"host\": \"", connection.host,
                        "\", \"methods\": [\"", printable(request.method, 64), "\"]}\n"});
    return refusal;
  }
  refusal.why = "no rule about this host allows it";
  refusal.text =
      cat({"hutch: ", request_text(request), " is not allowed: none of network.rules about ", connection.host,
           " matches; this one would allow it: {\"host\": \"", connection.host, "\", \"methods\": [\"",
           printable(request.method, 64), "\"], \"paths\": [\"", printable(path, 512), "\"]}\n"});
  return refusal;
}

// Without the query, where secrets are.
std::string request_text(const RequestView& request) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  return cat({printable(request.method, 64), " ", printable(path, 512)});
}

}  // namespace

}  // namespace hutch::inspect
