// Names of ports, and heads of requests for them.
#include "server/port_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/base64.h"
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

}  // namespace

std::optional<SandboxPort> port_of_host(std::string_view host) {
  const std::size_t dot = host.find('.');
  const std::string_view first = host.substr(0, dot);
  const std::size_t dash = first.find('-');
  if (dot == std::string_view::npos || dash == std::string_view::npos) return std::nullopt;
  SandboxPort found;
  const auto [end, error] = std::from_chars(first.data(), first.data() + dash, found.port);
  if (error != std::errc() || end != first.data() + dash || found.port == 0 || found.port == kEnvdPort) {
    return std::nullopt;
  }
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

std::string forwarded_head(const Request& request, Authorization authorization) {
  std::string head =
      cat({request.method, " ", request.target, " HTTP/1.", std::to_string(request.minor_version), "\r\n"});
  for (const Field& field : request.fields) {
    if (std::ranges::find(kNotForwarded, field.name) != kNotForwarded.end()) continue;
    if (field.name == "authorization" && authorization == Authorization::kTaken) continue;
    head += cat({field.name, ": ", field.value, "\r\n"});
  }
  if (asks_for_upgrade(request)) {
    head += cat({"connection: Upgrade\r\nupgrade: ", *request.field("upgrade"), "\r\n\r\n"});
  } else {
    head += "connection: close\r\n\r\n";
  }
  return head;
}

bool is_of_other_page(const Request& request) {
  const std::string* site = request.field("sec-fetch-site");
  if (site != nullptr && *site != "same-origin" && *site != "none") return true;
  const std::string* origin = request.field("origin");
  const std::string* host = request.field("host");
  return origin != nullptr && (host == nullptr || *origin != cat({"http://", *host}));
}

}  // namespace hutch::server::http
