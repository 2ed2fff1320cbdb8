// The target of a request line.
#include "inspect/target.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::inspect {

namespace {

int default_port(const wire::Inspect& connection) { return connection.tls ? 443 : 80; }

// With the port that the scheme means when none is named, so that it is compared.
std::string with_port(std::string_view authority, int port) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) return std::string(authority);
  return cat({authority, ":", std::to_string(port)});
}

}  // namespace

Result<RequestTarget> read_target(const Head& head, const wire::Inspect& connection) {
  const std::size_t hosts = count_headers(head.headers, "Host");
  if (hosts > 1) return fail(Error::invalid("more than one Host"));
  if (hosts == 0 && head.version >= 11) return fail(Error::invalid("there is no Host"));
  const std::string_view target = head.target;
  if (target.starts_with('/') || target == "*") {
    if (connection.form == wire::InspectForm::kProxy) return fail(Error::invalid("a proxy needs the whole URL"));
    return RequestTarget{std::nullopt, std::string(target)};
  }
  const std::string_view scheme = connection.tls ? "https://" : "http://";
  if (target.size() < scheme.size() || !same_name(target.substr(0, scheme.size()), scheme)) {
    return fail(Error::invalid(head.method == "CONNECT" ? "CONNECT inside a connection" : "the target is no path"));
  }
  const std::string_view rest = target.substr(scheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  if (authority.empty() || authority.contains('@')) return fail(Error::invalid("the URL names no host, or a user"));
  const std::string_view path = rest.substr(end);
  return RequestTarget{with_port(authority, default_port(connection)),
                       path.starts_with('/') ? std::string(path) : cat({"/", path})};
}

std::string host_field(const wire::Inspect& connection) {
  const bool bracketed = connection.host.contains(':');
  std::string field = bracketed ? cat({"[", connection.host, "]"}) : connection.host;
  if (connection.port != default_port(connection)) field += cat({":", std::to_string(connection.port)});
  return field;
}

}  // namespace hutch::inspect
