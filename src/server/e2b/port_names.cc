// Names of ports, and heads of requests for them.
#include "server/e2b/port_names.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/base64.h"
#include "base/decimal.h"
#include "base/ip_address.h"
#include "base/sha256.h"
#include "base/text.h"

namespace hutch::server::http {

namespace {

constexpr std::string_view kLocal = "localhost";

// Of one connection alone, said anew, or of the daemon (RFC 9110 7.6.1).
constexpr std::array<std::string_view, 10> kNotForwarded = {
    "connection", "keep-alive",     "proxy-connection",         "te",      "expect",
    "x-api-key",  "x-access-token", "e2b-traffic-access-token", "upgrade", "e2b-sandbox-id"};

bool is_plain_id(std::string_view id) {
  return !id.empty() &&
         std::ranges::all_of(id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

bool is_below_localhost(std::string_view host) {
  constexpr std::string_view kBelow = ".localhost";
  const std::string_view name = host.substr(0, host.find(':'));
  return name.size() > kBelow.size() && equal_ignoring_case(name.substr(name.size() - kBelow.size()), kBelow);
}

// What follows "Basic ".
std::optional<std::string_view> basic_words(std::string_view value) {
  constexpr std::string_view kScheme = "Basic ";
  if (!equal_ignoring_case(value.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return trimmed(value.substr(kScheme.size()));
}

// "user:password".
std::optional<std::string> basic_text(const Request& request) {
  const std::string* given = request.field("authorization");
  const auto words = given == nullptr ? std::nullopt : basic_words(*given);
  const auto decoded = words ? from_base64(*words) : std::nullopt;
  return decoded ? std::optional<std::string>(*decoded) : std::nullopt;
}

bool holds_secret(std::string_view text, std::span<const std::string> secrets) {
  return std::ranges::any_of(secrets, [&](const std::string& one) { return !one.empty() && text.contains(one); });
}

// As it is, or in a word of base64. Of a password that cannot be read nobody knows whether it is one of them.
bool carries_secret(const Field& field, std::span<const std::string> secrets) {
  if (holds_secret(field.value, secrets)) return true;
  const auto basic = basic_words(field.value);
  if (basic && field.name.ends_with("authorization") && !from_base64(*basic)) return true;
  return std::ranges::any_of(split(field.value, ' '), [&](std::string_view word) {
    const auto decoded = from_base64(word);
    return decoded && holds_secret(*decoded, secrets);
  });
}

}  // namespace

std::optional<SandboxPort> port_of_host(std::string_view host) {
  const std::size_t dot = host.find('.');
  const std::string_view first = host.substr(0, dot);
  const std::size_t dash = first.find('-');
  if (dot == std::string_view::npos || dash == std::string_view::npos) return std::nullopt;
  SandboxPort found;
  const auto port = decimal_of(first.substr(0, dash));
  if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max() || *port == kEnvdPort)
    return std::nullopt;
  found.port = static_cast<std::uint16_t>(*port);
  found.id = first.substr(dash + 1);
  if (!is_plain_id(found.id)) return std::nullopt;
  return found;
}

std::string domain_for(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : host.substr(colon);
  std::string_view name = host.substr(0, colon);
  if (name.empty()) return {};
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  const bool is_address = parse_ip(name).has_value();
  return cat({is_address || name.ends_with(kLocal) ? kLocal : name, port});
}

std::string port_token(std::string_view token) {
  std::string text = to_base64(hmac_sha256(token, "hutch: ports of a sandbox"));
  // The alphabet for URLs, without padding (RFC 4648, 5).
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  std::erase(text, '=');
  return text;
}

bool asks_for_upgrade(const Request& request) {
  const std::string* connection = request.field("connection");
  return request.field("upgrade") != nullptr && connection != nullptr && lists_value(*connection, "upgrade");
}

std::optional<std::string> basic_user(const Request& request) {
  const auto decoded = basic_text(request);
  return decoded ? std::optional(decoded->substr(0, decoded->find(':'))) : std::nullopt;
}

std::optional<std::string> basic_password(const Request& request) {
  const auto decoded = basic_text(request);
  const std::size_t colon = decoded ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return decoded->substr(colon + 1);
}

std::string forwarded_head(const Request& request, std::span<const std::string> secrets) {
  std::string head =
      cat({request.method, " ", request.target, " HTTP/1.", std::to_string(request.minor_version), "\r\n"});
  for (const Field& field : request.fields) {
    if (std::ranges::find(kNotForwarded, field.name) != kNotForwarded.end()) continue;
    if (carries_secret(field, secrets)) continue;
    head += cat({field.name, ": ", field.value, "\r\n"});
  }
  if (asks_for_upgrade(request)) {
    head += cat({"connection: Upgrade\r\nupgrade: ", *request.field("upgrade"), "\r\n\r\n"});
  } else {
    head += "connection: close\r\n\r\n";
  }
  return head;
}

bool may_be_of_other_page(const Request& request) {
  const std::string* site = request.field("sec-fetch-site");
  const std::string* host = request.field("host");
  if (site != nullptr && *site != "same-origin" && *site != "none") return true;
  if (site == nullptr && (host == nullptr || !is_below_localhost(*host))) return true;
  const std::string* origin = request.field("origin");
  return origin != nullptr && (host == nullptr || *origin != cat({"http://", *host}));
}

}  // namespace hutch::server::http
