// The one table of routes: method, path, what the body is, who handles it. docs/openapi.json is held against it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/http/exchange.h"

namespace hutch::server::http {

// kNone: what comes is passed over. kStream: the handler reads it, of any length.
enum class BodyType { kNone, kJson, kBytes, kStream };

// An answer, or that it was streamed, or that the connection was another protocol's and is done with. An error becomes
// an answer of its kind.
struct Streamed {};
struct Upgraded {};
using Handled = Result<std::variant<Answer, Streamed, Upgraded>>;

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/agents/{name}"
  BodyType body = BodyType::kNone;
  Handled (*handle)(Exchange& exchange) = nullptr;
  // Whether whoever comes by TCP shows what is asked for here; null: the daemon's token. It is asked before the body is
  // read: who shows nothing has nothing kept, and the handler, which refuses it in its own words, finds no body.
  bool (*is_shown)(Exchange& exchange) = nullptr;
};

std::vector<Route> all_routes();  // hutch's own
std::vector<Route> all_e2b_routes();  // of the E2B-compatible API

std::span<const Route> agent_routes();
std::span<const Route> exec_routes();
std::span<const Route> exec_socket_routes();
std::span<const Route> process_routes();
std::span<const Route> file_routes();
std::span<const Route> tool_routes();
std::span<const Route> event_routes();
std::span<const Route> mcp_routes();
std::span<const Route> question_routes();
std::span<const Route> session_routes();
std::span<const Route> pool_routes();
std::span<const Route> task_routes();
std::span<const Route> artifact_routes();
std::span<const Route> plugin_routes();
std::span<const Route> e2b_sandbox_routes();
std::span<const Route> e2b_unsupported_routes();
std::span<const Route> e2b_process_routes();
std::span<const Route> e2b_file_routes();
std::span<const Route> e2b_content_routes();

// The route of a request, with the parts of its path; else a refusal: 404, or 405 with the methods that there are.
struct Chosen {
  const Route* route = nullptr;
  std::map<std::string, std::string> parts;
};
struct NotChosen {
  Refusal refusal;
  std::string allow;
};
std::variant<Chosen, NotChosen> choose_route(std::string_view method, const Target& target);

}  // namespace hutch::server::http
