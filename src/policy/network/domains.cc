// Entries that name hosts.
#include "policy/network/domains.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace hutch::policy {

namespace {

// An entry cut at its port, which stands behind the last colon that is in no IPv6 address.
struct Pieces {
  std::string_view host;
  std::optional<std::string_view> port;
};

Result<Pieces> cut(std::string_view entry);
std::string_view host_of_page(std::string_view entry);
Result<HostPattern> parse_host(std::string_view host, DomainList list);
Result<HostPattern> parse_below(std::string_view name, DomainList list);
Result<HostPattern> parse_range(std::string_view text, DomainList list);

}  // namespace

Result<HostPattern> parse_domain(std::string_view entry, DomainList list) {
  const auto parse = [&]() -> Result<HostPattern> {
    if (const std::string_view host = host_of_page(entry); !host.empty())
      return fail(Error::invalid(cat({"is the address of a page; write the host alone: ", printable(host, 64)})));
    const Pieces pieces = TRY(cut(entry));
    HostPattern pattern = TRY(parse_host(pieces.host, list));
    if (!pieces.port) return pattern;
    pattern.port = parse_port(*pieces.port);
    if (!pattern.port) return fail(Error::invalid("a port is a number from 1 to 65535"));
    return pattern;
  };
  auto pattern = parse();
  if (pattern) return pattern;
  Error error = std::move(pattern).error();
  const std::string quoted = cat({"\"", printable(entry, 64), "\""});
  if (error.message.starts_with(quoted)) return fail(std::move(error));
  return fail(std::move(error).with_context(quoted));
}

Status check_domain(std::string_view entry, DomainList list) {
  TRY(parse_domain(entry, list));
  return {};
}

bool matches_domain(std::string_view entry, const Host& host, int port) {
  const auto pattern = parse_domain(entry, DomainList::kDenied);
  return pattern && pattern->matches(host, port);
}

bool matches_domain(std::string_view entry, std::string_view host, int port) {
  const auto canonical = canonical_host(host);
  return canonical && matches_domain(entry, *canonical, port);
}

bool HostPattern::matches(const Host& host, int asked) const { return (!port || *port == asked) && matches_host(host); }

bool HostPattern::matches_host(const Host& host) const {
  switch (kind) {
    case Kind::kEverything: return true;
    case Kind::kBelow:
      return !host.address && host.name.size() > name.size() + 1 && host.name.ends_with(name) &&
             host.name[host.name.size() - name.size() - 1] == '.';
    case Kind::kName: return !host.address && host.name == name;
    case Kind::kRange: return host.address && range.contains(unmapped(*host.address));
  }
  return false;
}

bool HostPattern::holds(const IpAddress& address) const { return kind == Kind::kRange && range_holds(range, address); }

Result<IpRange> parse_address_range(std::string_view text) {
  std::string plain(text);
  if (plain.starts_with('[')) {
    const std::size_t end = plain.find(']');
    const bool closed = end != std::string::npos && (end + 1 == plain.size() || plain[end + 1] == '/');
    if (!closed) return fail(Error::invalid("is not a range of addresses; write [fd00::]/8 or [fd00::1]"));
    plain.erase(end, 1);
    plain.erase(0, 1);
    if (plain.find(':') == std::string::npos) return fail(Error::invalid("brackets are for IPv6 addresses"));
  }
  const std::optional<IpRange> range = parse_ip_range(plain);
  if (!range) {
    return fail(
        Error::invalid("is not a range of addresses; write 10.0.0.0/8 or fd00::/8, without bits behind the "
                       "prefix"));
  }
  static const IpRange kMapped = {*parse_ip("::ffff:0.0.0.0"), 96};
  if (range->bits < kMapped.bits || !kMapped.contains(range->base)) return *range;
  return IpRange{unmapped(range->base), range->bits - kMapped.bits};
}

bool range_holds(const IpRange& range, const IpAddress& address) {
  if (range.contains(address)) return true;
  const std::optional<IpAddress> inner = embedded_v4(address);
  return inner && range.contains(*inner);
}

namespace {

// As people copy it from a browser; empty if the entry has neither a scheme nor a path.
std::string_view host_of_page(std::string_view entry) {
  static constexpr std::string_view kScheme = "://";
  const std::size_t scheme = entry.find(kScheme);
  if (scheme != std::string_view::npos) entry.remove_prefix(scheme + kScheme.size());
  const std::size_t path = entry.find('/');
  std::string_view host = entry.substr(0, path);
  host.remove_prefix(host.rfind('@') + 1);
  if (scheme != std::string_view::npos) return host;
  // A range of addresses has a slash too.
  const bool is_name =
      host.find_first_not_of("0123456789.:[]-_") != std::string_view::npos && std::ranges::count(host, ':') < 2;
  return path != std::string_view::npos && is_name ? host : std::string_view();
}

Result<Pieces> cut(std::string_view entry) {
  const std::size_t bracket = entry.rfind(']');
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return Pieces{entry, {}};
  if (bracket == std::string_view::npos && entry.find(':') != colon) {
    if (entry.find('/') != std::string_view::npos) return Pieces{entry, {}};
    return fail(Error::invalid("an IPv6 address is written in brackets: [::1] or [::1]:443"));
  }
  return Pieces{entry.substr(0, colon), entry.substr(colon + 1)};
}

Result<HostPattern> parse_host(std::string_view host, DomainList list) {
  if (host.empty()) {
    return fail(Error::invalid("is not a host name; write example.com, *.example.com or host:port"));
  }
  if (host == "*") {
    if (list == DomainList::kDenied) return HostPattern{.kind = HostPattern::Kind::kEverything};
    return fail(Error::invalid("would allow every host; name them, or say network \"outbound\""));
  }
  if (host.starts_with("*.")) return parse_below(host.substr(2), list);
  if (host.find('*') != std::string_view::npos) {
    return fail(Error::invalid("is not a host name: a star stands at the start alone, as in *.example.com"));
  }
  const std::size_t slash = host.find('/');
  const bool range = slash != std::string_view::npos && slash + 1 < host.size() &&
                     host.find_first_not_of("0123456789abcdefABCDEFx.:[]/") == std::string_view::npos;
  if (range) return parse_range(host, list);
  Host canonical = TRY(canonical_host(host));
  if (!canonical.address) return HostPattern{.kind = HostPattern::Kind::kName, .name = std::move(canonical.name)};
  const int bits = canonical.address->family == IpFamily::kV4 ? 32 : 128;
  return HostPattern{.kind = HostPattern::Kind::kRange, .range = {*canonical.address, bits}};
}

Result<HostPattern> parse_below(std::string_view name, DomainList list) {
  Host canonical = TRY(canonical_host(name));
  if (canonical.address) {
    return fail(Error::invalid("names are below names alone; write a range of addresses as 10.0.0.0/8"));
  }
  if (list == DomainList::kAllowed && canonical.name.find('.') == std::string::npos) {
    return fail(Error::invalid("is too broad: at least two labels have to follow \"*.\""));
  }
  return HostPattern{.kind = HostPattern::Kind::kBelow, .name = std::move(canonical.name)};
}

Result<HostPattern> parse_range(std::string_view text, DomainList list) {
  const IpRange range = TRY(parse_address_range(text));
  if (range.bits == 0 && list == DomainList::kAllowed) {
    return fail(Error::invalid("would allow every address; name them, or say network \"outbound\""));
  }
  return HostPattern{.kind = HostPattern::Kind::kRange, .range = range};
}

}  // namespace

}  // namespace hutch::policy
