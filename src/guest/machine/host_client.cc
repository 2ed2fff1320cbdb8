// The way of a command to the bridge and back.
#include "guest/machine/host_client.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/text.h"
#include "guest/machine/chunks.h"
#include "guest/machine/host_command.h"
#include "guest/machine/port_command.h"
#include "plan/make/bridge_place.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/connected_stream.h"
#include "sys/net/local_socket.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kHeadBytesMax = 64 << 10;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kInputBytesMax = 8 << 20;
constexpr std::string_view kUsualPlace = "/run/hutch/bridge.sock";

int complain(HostExit code, std::string_view message) {
  (void)sys::write_all(2, cat({"hutch-host: ", message, "\n"}));
  return static_cast<int>(code);
}

std::string variable(std::string_view name) {
  for (const std::string& entry : sys::own_environment()) {
    if (entry.starts_with(name)) return entry.substr(name.size());
  }
  return {};
}

std::string bridge_path() {
  std::string place = variable("HUTCH_BRIDGE=");
  return place.empty() ? std::string(kUsualPlace) : place;
}

// The values of a plugin's tools are the plugin's.
void add_plugin(HostRequest& request) {
  if (!request.path.starts_with("/api/config/")) return;
  const std::string plugin = variable("HUTCH_PLUGIN=");
  if (!plugin.empty()) request.path += cat({"?plugin=", in_path(plugin)});
}

// By a socket of that name, or at a port: "tcp:ADDRESS:PORT".
Result<UniqueFd> connect_to_bridge(const std::string& place) {
  if (!place.starts_with(plan::kBridgeAddressBegin)) return sys::connect_local(place);
  const std::string_view words = std::string_view(place).substr(plan::kBridgeAddressBegin.size());
  const std::size_t colon = words.rfind(':');
  const auto address = parse_ip(words.substr(0, colon));
  if (!address || colon == words.npos) return fail(Error::invalid(cat({place, ": no address"})));
  const std::string_view digits = words.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size())
    return fail(Error::invalid(cat({place, ": no port"})));
  return sys::connected_stream({*address, port});
}

Status add_input(HostRequest& request) {
  if (request.input == HostInput::kNone) return {};
  std::string input = TRY_CTX(sys::read_to_end(0, kInputBytesMax), "read standard input");
  if (request.input == HostInput::kBody) {
    request.body = std::move(input);
    return {};
  }
  // The line end that `echo` writes is no part of a value.
  if (input.ends_with('\n')) input.pop_back();
  request.body += cat({json_string(input), request.behind});
  return {};
}

// "HTTP/1.1 200 OK"; 0 where it is none.
int status_of(std::string_view head) {
  int status = 0;
  if (!head.starts_with("HTTP/1.") || head.size() < 12) return 0;
  const auto [end, error] = std::from_chars(head.data() + 9, head.data() + 12, status);
  return error == std::errc() && end == head.data() + 12 ? status : 0;
}

// The daemon's own head, as it writes it.
bool is_chunked(std::string_view head) { return head.contains("\r\nTransfer-Encoding: chunked"); }

// What comes first. A network between here and the host may accept a connection before it knows that nobody is behind
// it, and end it then: that is no bridge as well.
Result<std::string> read_some_first(int socket) {
  std::array<char, 16384> bytes{};
  const auto count = sys::read_some(socket, bytes);
  if (count && *count > 0) return std::string(bytes.data(), *count);
  return fail(Error::not_found(count ? "the host did not answer" : count.error().message));
}

// Prints the answer as it comes: of one that went well on standard output, else on standard error.
Result<HostExit> print_answer(int socket, const HostRequest& request) {
  std::array<char, 16384> bytes{};
  std::string head = TRY(read_some_first(socket));
  std::size_t end = head.find(kHeadEnd);
  while (end == std::string::npos) {
    const std::size_t count = TRY(sys::read_some(socket, bytes));
    if (count == 0 || head.size() > kHeadBytesMax) return fail(Error::invalid("the host's answer broke off"));
    head.append(bytes.data(), count);
    end = head.find(kHeadEnd);
  }
  const HostExit code = exit_of(status_of(head));
  const int out = code == HostExit::kDone ? 1 : 2;
  const bool json = request.form == HostRequest::Form::kJson;
  if (out == 2 && !json) TRY(sys::write_all(out, "hutch-host: "));
  const bool chunked = is_chunked(std::string_view(head).substr(0, end));
  Chunks chunks;
  std::string_view piece = std::string_view(head).substr(end + kHeadEnd.size());
  char last = '\n';
  for (;;) {
    const auto body = chunked ? chunks.take(piece) : std::optional(std::string(piece));
    if (!body) return fail(Error::invalid("the host's answer is damaged"));
    if (!body->empty()) {
      TRY(sys::write_all(out, *body));
      last = body->back();
    }
    if (chunked && chunks.is_whole()) break;
    const std::size_t count = TRY(sys::read_some(socket, bytes));
    if (count == 0) break;
    piece = {bytes.data(), count};
  }
  if (last != '\n') TRY(sys::write_all(out, "\n"));
  if (chunked && !chunks.is_whole()) return fail(Error::invalid("the host's answer broke off"));
  return code;
}

}  // namespace

int serve_host_command(std::span<const char* const> arguments) {
  const std::vector<std::string_view> words(arguments.begin(), arguments.end());
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "help")) {
    return sys::write_all(1, host_usage() + "\n") ? 0 : static_cast<int>(HostExit::kFailed);
  }
  if (words.size() == 2 && words[0] == "port") return serve_port_command(words[1]);
  auto request = host_request(words);
  if (!request) return complain(HostExit::kUsage, request.error());
  add_plugin(*request);
  if (const Status read = add_input(*request); !read) return complain(HostExit::kBadValue, read.error().message);
  const std::string path = bridge_path();
  const auto socket = connect_to_bridge(path);
  if (!socket) {
    return complain(HostExit::kUnavailable, cat({"there is no bridge to the host here: ", socket.error().message}));
  }
  const Status sent = sys::write_all(socket->get(), http_bytes(*request));
  // What was refused before all of it was sent is answered all the same.
  const auto code = print_answer(socket->get(), *request);
  if (code) return static_cast<int>(*code);
  const bool is_away = code.error().code == Code::kNotFound;
  return complain(is_away ? HostExit::kUnavailable : HostExit::kFailed,
                  sent ? code.error().message : sent.error().message);
}

}  // namespace hutch::guest
