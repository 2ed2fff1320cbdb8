// The one table of routes.
#include "server/http/routes.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::server::http {

namespace {

std::optional<std::map<std::string, std::string>> match(std::string_view pattern, const Target& target) {
  const auto wanted = split(pattern.substr(1), '/');
  if (wanted.size() != target.segments.size()) return std::nullopt;
  std::map<std::string, std::string> parts;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string& segment = target.segments[i];
    if (wanted[i].starts_with('{')) {
      if (segment.empty()) return std::nullopt;
      parts[std::string(wanted[i].substr(1, wanted[i].size() - 2))] = segment;
    } else if (wanted[i] != segment) {
      return std::nullopt;
    }
  }
  return parts;
}

}  // namespace

std::vector<Route> all_routes() {
  std::vector<Route> all;
  for (const auto routes : {agent_routes(), exec_routes(), exec_socket_routes(), process_routes(), file_routes(),
                            tool_routes(), event_routes(), question_routes(), session_routes(), pool_routes(),
                            task_routes(), artifact_routes(), plugin_routes(), mcp_routes()}) {
    all.insert(all.end(), routes.begin(), routes.end());
  }
  return all;
}

std::vector<Route> all_e2b_routes() {
  std::vector<Route> all;
  for (const auto routes : {e2b_sandbox_routes(), e2b_unsupported_routes(), e2b_process_routes(), e2b_file_routes(),
                            e2b_content_routes()}) {
    all.insert(all.end(), routes.begin(), routes.end());
  }
  return all;
}

// HEAD is answered wherever GET is, by the same route (RFC 9110 9.1).
std::variant<Chosen, NotChosen> choose_route(std::string_view method, const Target& target) {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> all = all_routes();
    const std::vector<Route> of_e2b = all_e2b_routes();
    all.insert(all.end(), of_e2b.begin(), of_e2b.end());
    return all;
  }();
  std::vector<std::string> allowed;
  for (const Route& route : kRoutes) {
    auto parts = match(route.pattern, target);
    if (!parts) continue;
    if (route.method == (method == "HEAD" ? "GET" : method)) return Chosen{&route, std::move(*parts)};
    allowed.emplace_back(route.method);
    if (route.method == "GET") allowed.emplace_back("HEAD");
  }
  if (allowed.empty()) return NotChosen{{404, "not_found", "there is nothing at this path"}, {}};
  std::ranges::sort(allowed);
  std::string allow = join(allowed, ", ");
  return NotChosen{{405, "method_not_allowed", cat({"this path takes ", allow})}, allow};
}

}  // namespace hutch::server::http
