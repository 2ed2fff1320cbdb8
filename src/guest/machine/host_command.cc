// The words of hutch-host.
#include "guest/machine/host_command.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace hutch::guest {

namespace {

using Words = std::span<const std::string_view>;
using Read = std::expected<HostRequest, std::string>;

std::unexpected<std::string> wrong(std::string message) { return std::unexpected(std::move(message)); }

// {"NAME": TEXT, ...} where TEXT may be "-": what comes on standard input.
HostRequest post(std::string path, std::string_view name, std::string_view text, std::string_view others = {}) {
  HostRequest request{.path = std::move(path)};
  request.body = cat({"{", others, others.empty() ? "" : ",", json_string(name), ":"});
  request.behind = "}";
  if (text == "-") {
    request.input = HostInput::kText;
  } else {
    request.body += cat({json_string(text), std::exchange(request.behind, {})});
  }
  return request;
}

Read secrets(Words words) {
  if (words.size() != 2 || words[0] != "get") return wrong("secrets get NAME");
  return HostRequest{.method = "GET", .path = cat({"/api/secrets/", in_path(words[1])})};
}

Read config(Words words) {
  if (words.size() == 2 && words[0] == "get") {
    return HostRequest{.method = "GET", .path = cat({"/api/config/", in_path(words[1])})};
  }
  if (words.size() != 3 || words[0] != "set") return wrong("config get KEY, or config set KEY VALUE|-");
  return post(cat({"/api/config/", in_path(words[1])}), "value", words[2]);
}

Read inference(Words words) {
  std::string model;
  std::string_view message;
  for (std::size_t i = 1; i + 1 < words.size() && words[0] == "chat"; i += 2) {
    if (words[i] == "-m" || words[i] == "--message") message = words[i + 1];
    if (words[i] == "--model") model = cat({"\"model\":", json_string(words[i + 1])});
  }
  if (message.empty() || words.size() % 2 == 0) return wrong("inference chat [--model MODEL] -m MESSAGE|-");
  HostRequest request = post("/api/inference/chat", "content", message, R"("role":"user")");
  request.body = cat({"{", model, model.empty() ? "" : ",", R"("messages":[)", request.body});
  (request.input == HostInput::kText ? request.behind : request.body) += "]}";
  request.answer = HostRequest::Answer::kStream;
  return request;
}

Read agent(Words words) {
  if (words.size() == 3 && words[0] == "memory" && words[1] == "query") {
    return post("/api/agent/memory/query", "query", words[2]);
  }
  if (words.size() == 3 && words[0] == "memory" && words[1] == "store") {
    return post("/api/agent/memory/store", "content", words[2]);
  }
  if (words.size() == 3 && words[0] == "dispatch") {
    return post("/api/agent/dispatch", "task", words[2], cat({R"("agent_id":)", json_string(words[1])}));
  }
  return wrong("agent memory query TEXT|-, agent memory store TEXT|-, or agent dispatch ID TASK|-");
}

Read events(Words words) {
  if (words.size() >= 2 && words.size() <= 3 && words[0] == "emit") {
    const std::string type = cat({R"("type":)", json_string(words[1])});
    return post("/api/events/emit", "payload_text", words.size() == 3 ? words[2] : "{}", type);
  }
  if (words.empty() || words[0] != "listen") return wrong("events emit TYPE [JSON|-], or events listen [TYPE...]");
  HostRequest request{.method = "GET", .path = "/api/events/listen"};
  for (std::size_t i = 1; i < words.size(); ++i) request.path += cat({i == 1 ? "?" : "&", "type=", in_path(words[i])});
  request.answer = HostRequest::Answer::kStream;
  return request;
}

Read log(Words words) {
  std::string_view level = "info";
  if (words.size() == 3 && words[0] == "--level") {
    level = words[1];
    words = words.subspan(2);
  }
  if (words.size() != 1) return wrong("log [--level debug|info|warning|error] MESSAGE|-");
  return post("/api/log", "message", words[0], cat({R"("level":)", json_string(level)}));
}

Read plugin(Words words) {
  if (words.size() == 2 && words[0] == "check") {
    return HostRequest{.path = "/api/plugin/check", .body = cat({R"({"plugin_id":)", json_string(words[1]), "}"})};
  }
  if (words.size() != 1 || (words[0] != "create" && words[0] != "check")) {
    return wrong("plugin create or plugin check, with its JSON on standard input, or plugin check ID");
  }
  return HostRequest{.path = cat({"/api/plugin/", words[0]}), .input = HostInput::kBody};
}

}  // namespace

HostExit exit_of(int status) {
  switch (status) {
    case 200: return HostExit::kDone;
    case 400:
    case 405:
    case 413: return HostExit::kBadValue;
    case 401:
    case 403: return HostExit::kRefused;
    case 404: return HostExit::kNotFound;
    case 429: return HostExit::kTooMany;
    case 503: return HostExit::kUnavailable;
    default: return HostExit::kFailed;
  }
}

std::expected<HostRequest, std::string> host_request(Words words) {
  std::vector<std::string_view> plain;
  auto form = HostRequest::Form::kText;
  for (const std::string_view word : words) {
    // Only before the command: behind it everything is the command's own.
    if (word == "--json" && plain.empty()) {
      form = HostRequest::Form::kJson;
    } else {
      plain.push_back(word);
    }
  }
  // Or as the last word, as it is typed.
  if (plain.size() > 1 && plain.back() == "--json") {
    form = HostRequest::Form::kJson;
    plain.pop_back();
  }
  if (plain.empty()) return wrong(host_usage());
  const Words rest = Words(plain).subspan(1);
  const auto read = [&]() -> Read {
    if (plain[0] == "secrets") return secrets(rest);
    if (plain[0] == "config") return config(rest);
    if (plain[0] == "inference") return inference(rest);
    if (plain[0] == "agent") return agent(rest);
    if (plain[0] == "events") return events(rest);
    if (plain[0] == "log") return log(rest);
    if (plain[0] == "plugin") return plugin(rest);
    return wrong(host_usage());
  };
  Read request = read();
  if (request) request->form = form;
  return request;
}

std::string host_usage() {
  return "hutch-host [--json] COMMAND\n"
         "  secrets get NAME\n"
         "  config get KEY | config set KEY VALUE|-\n"
         "  log [--level debug|info|warning|error] MESSAGE|-\n"
         "  events emit TYPE [JSON|-] | events listen [TYPE...]\n"
         "  agent memory query TEXT|- | agent memory store TEXT|-\n"
         "  agent dispatch ID TASK|-\n"
         "  inference chat [--model MODEL] -m MESSAGE|-\n"
         "  plugin create | plugin check    (its JSON on standard input)\n"
         "  plugin check ID                 (of ~/plugins/ID)\n"
         "  port PORT                       (a connection to it, by standard input and output)";
}

std::string http_bytes(const HostRequest& request) {
  const bool json = request.form == HostRequest::Form::kJson;
  const bool streams = request.answer == HostRequest::Answer::kStream;
  std::string bytes =
      cat({request.method, " ", request.path, streams ? " HTTP/1.1\r\nHost: host\r\nConnection: close" : " HTTP/1.0",
           "\r\nAccept: ", json ? "application/json" : "text/plain", "\r\n"});
  if (request.method == "GET") return bytes + "\r\n";
  return cat({bytes, "Content-Type: application/json\r\nContent-Length: ", std::to_string(request.body.size()),
              "\r\n\r\n", request.body});
}

std::string json_string(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string made = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      made += cat({"\\", std::string_view(&c, 1)});
    } else if (byte < 0x20) {
      made += cat({"\\u00", kDigits.substr(byte >> 4U, 1), kDigits.substr(byte & 15U, 1)});
    } else {
      made += c;
    }
  }
  return made + "\"";
}

std::string in_path(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (plain) {
      made += c;
    } else {
      made += cat({"%", kDigits.substr(byte >> 4U, 1), kDigits.substr(byte & 15U, 1)});
    }
  }
  return made;
}

bool is_host_program(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "hutch-host" || name == "osaurus-host";
}

}  // namespace hutch::guest
