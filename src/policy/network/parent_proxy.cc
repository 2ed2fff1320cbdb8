// Reads proxies' URLs and NO_PROXY, and decides for a host.
#include "policy/network/parent_proxy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "policy/network/address_kinds.h"
#include "policy/network/domains.h"

namespace hutch::policy {

namespace {

constexpr int kHttpPort = 80;

Result<ParentProxies> of_policy(const ParentProxy& proxy);
Result<ParentProxies> of_environment(std::span<const std::string> environment);
std::string_view variable(std::span<const std::string> environment, std::string_view upper);
std::optional<std::string_view> exact_variable(std::span<const std::string> environment, std::string_view name);
Result<std::string> basic_authorization(std::string_view user_info);
std::string base64(std::string_view bytes);
int hex_digit(char character);
std::string lowered(std::string_view text);
bool skips(const NoProxyEntry& entry, const Host& host, int port);
bool is_below(std::string_view host, std::string_view domain);
bool is_local_name(std::string_view name);

}  // namespace

Result<ParentProxies> parent_proxies(const Network& network, std::span<const std::string> environment) {
  return network.parent_proxy ? of_policy(*network.parent_proxy) : of_environment(environment);
}

const ProxyServer* proxy_for(const ParentProxies& proxies, const Host& host, int port) {
  // The proxy would take these for itself, and it may run here.
  if (is_local_name(host.name) || (host.address && is_loopback(*host.address))) return nullptr;
  const std::optional<ProxyServer>& proxy = port == kHttpPort ? proxies.http : proxies.https;
  if (!proxy) return nullptr;
  const auto skip = [&](const NoProxyEntry& entry) { return skips(entry, host, port); };
  return std::ranges::any_of(proxies.no_proxy, skip) ? nullptr : &*proxy;
}

Result<ProxyServer> parse_proxy(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end != std::string_view::npos) {
    const std::string scheme = lowered(url.substr(0, scheme_end));
    if (scheme != "http") {
      return fail(Error::unsupported(
          cat({"a proxy of the kind ", printable(scheme, 16), ":// is not supported; only http:// is"})));
    }
    url.remove_prefix(scheme_end + 3);
  }
  const std::size_t user_end = url.rfind('@');
  std::string_view place = user_end == std::string_view::npos ? url : url.substr(user_end + 1);
  if (place.ends_with('/')) place.remove_suffix(1);
  ProxyServer proxy;
  // What the reader of hosts says quotes its text, which may be a piece of a password here.
  auto target = parse_host_port(place);
  if (!target) return fail(Error::invalid("is not the URL of a proxy; write http://HOST:PORT"));
  proxy.host = std::move(target->host);
  proxy.port = target->port.value_or(kHttpPort);
  if (user_end != std::string_view::npos) proxy.authorization = TRY(basic_authorization(url.substr(0, user_end)));
  return proxy;
}

Result<NoProxyEntry> parse_no_proxy(std::string_view text) {
  using Kind = NoProxyEntry::Kind;
  if (text == "*") return NoProxyEntry{.kind = Kind::kEverything};
  // An IPv6 address needs no brackets here, where it has no port.
  if (const auto range = parse_address_range(text)) return NoProxyEntry{.kind = Kind::kRange, .range = *range};
  const std::string starred = text.starts_with('.') ? cat({"*", text}) : std::string(text);
  HostPattern pattern = TRY(parse_domain(starred, DomainList::kDenied));
  NoProxyEntry entry{.name = std::move(pattern.name), .range = pattern.range, .port = pattern.port};
  switch (pattern.kind) {
    case HostPattern::Kind::kEverything: entry.kind = Kind::kEverything; break;
    case HostPattern::Kind::kBelow: entry.kind = Kind::kBelow; break;
    case HostPattern::Kind::kName: entry.kind = Kind::kDomain; break;
    case HostPattern::Kind::kRange: entry.kind = Kind::kRange; break;
  }
  return entry;
}

std::string describe(const ProxyServer& proxy) {
  const bool v6 = proxy.host.address && proxy.host.address->family == IpFamily::kV6;
  return cat({"http://", v6 ? "[" : "", proxy.host.name, v6 ? "]" : "", ":", std::to_string(proxy.port)});
}

namespace {

Result<ParentProxies> of_policy(const ParentProxy& proxy) {
  ParentProxies proxies;
  if (!proxy.http.empty()) proxies.http = TRY_CTX(parse_proxy(proxy.http), "network.parentProxy.http");
  if (!proxy.https.empty()) proxies.https = TRY_CTX(parse_proxy(proxy.https), "network.parentProxy.https");
  for (const std::string& entry : proxy.no_proxy) {
    proxies.no_proxy.push_back(TRY_CTX(parse_no_proxy(entry), "network.parentProxy.noProxy"));
  }
  return proxies;
}

Result<ParentProxies> of_environment(std::span<const std::string> environment) {
  const auto proxy_of = [&](std::string_view name) -> Result<std::optional<ProxyServer>> {
    std::string_view source = name;
    std::string_view url = variable(environment, name);
    if (url.empty()) {
      source = "ALL_PROXY";
      url = variable(environment, source);
    }
    if (url.empty()) return std::optional<ProxyServer>();
    return std::optional(TRY_CTX(parse_proxy(url), cat({"the environment's ", source})));
  };
  ParentProxies proxies;
  proxies.http = TRY(proxy_of("HTTP_PROXY"));
  proxies.https = TRY(proxy_of("HTTPS_PROXY"));
  if (!proxies.http && !proxies.https) return proxies;
  std::string list(variable(environment, "NO_PROXY"));
  std::ranges::replace(list, ' ', ',');
  for (const std::string_view text : split(list, ',')) {
    // Every program reads this variable in its own way; what cannot be read goes through the proxy.
    if (auto entry = parse_no_proxy(text)) proxies.no_proxy.push_back(*std::move(entry));
  }
  return proxies;
}

// An empty lower case variable says that there is none, whatever the other says.
std::string_view variable(std::span<const std::string> environment, std::string_view upper) {
  const auto found = exact_variable(environment, lowered(upper));
  return found ? *found : exact_variable(environment, upper).value_or("");
}

std::optional<std::string_view> exact_variable(std::span<const std::string> environment, std::string_view name) {
  for (const std::string_view entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// RFC 7617, of the percent-encoded user info of a URL (RFC 3986 3.2.1).
Result<std::string> basic_authorization(std::string_view user_info) {
  std::string plain;
  for (std::size_t at = 0; at < user_info.size(); ++at) {
    char character = user_info[at];
    if (character == '%') {
      const int high = at + 2 < user_info.size() ? hex_digit(user_info[at + 1]) : -1;
      const int low = at + 2 < user_info.size() ? hex_digit(user_info[at + 2]) : -1;
      if (high < 0 || low < 0) return fail(Error::invalid("its user or password has a % that encodes nothing"));
      character = static_cast<char>(high * 16 + low);
      at += 2;
    }
    if (static_cast<unsigned char>(character) < ' ' || character == 0x7f) {
      return fail(Error::invalid("its user or password holds a control character"));
    }
    plain += character;
  }
  if (plain.find(':') == std::string::npos) plain += ':';
  return cat({"Basic ", base64(plain)});
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      bits = bits << 8 | (index < group.size() ? static_cast<unsigned char>(group[index]) : 0U);
    }
    for (std::size_t index = 0; index < 4; ++index) {
      out += index <= group.size() ? kDigits[bits >> (18 - 6 * index) & 63] : '=';
    }
  }
  return out;
}

int hex_digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  if (character >= 'A' && character <= 'F') return character - 'A' + 10;
  return -1;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character + ('a' - 'A')) : character;
  });
  return out;
}

bool skips(const NoProxyEntry& entry, const Host& host, int port) {
  if (entry.port && *entry.port != port) return false;
  switch (entry.kind) {
    case NoProxyEntry::Kind::kEverything: return true;
    case NoProxyEntry::Kind::kDomain:
      return !host.address && (host.name == entry.name || is_below(host.name, entry.name));
    case NoProxyEntry::Kind::kBelow: return !host.address && is_below(host.name, entry.name);
    case NoProxyEntry::Kind::kRange: return host.address && entry.range.contains(*host.address);
  }
  return false;
}

bool is_below(std::string_view host, std::string_view domain) {
  return host.size() > domain.size() + 1 && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.';
}

// RFC 6761 6.3, and what systems call their loopback besides in /etc/hosts.
bool is_local_name(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kLocal = {"localhost",   "localhost.localdomain",   "localhost4",
                                                             "localhost6",  "localhost6.localdomain6", "ip6-localhost",
                                                             "ip6-loopback"};
  return name.ends_with(".localhost") || std::ranges::find(kLocal, name) != kLocal.end();
}

}  // namespace

}  // namespace hutch::policy
