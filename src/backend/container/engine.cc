// One request and one answer at a time, none of which takes longer than its time.
#include "backend/container/engine.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"

namespace hutch::backend::container {

namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kRemovalLook{20};
constexpr std::chrono::seconds kRemovalPatience{10};
constexpr std::chrono::minutes kCommitPatience{5};  // the engine reads, or removes, all that was changed
constexpr std::chrono::minutes kImportPatience{5};  // of what is left to do once it has the archive

std::string_view remedy(const Error& error) {
  if (error.code == Code::kPermissionDenied) {
    return "let this user use it (group docker is as good as root), or start podman's own for this user: "
           "systemctl --user enable --now podman.socket";
  }
  return "install and start one, such as docker.io or podman (systemctl enable --now podman.socket), or set "
         "DOCKER_HOST=unix:///path/of/its/socket";
}

Result<Answer> read_answer(int socket, std::string_view method, Time until) {
  AnswerReader reader(method);
  std::array<char, 16'384> bytes{};
  while (!reader.done()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wait{socket, POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail({Code::kTimeout, 0, "the engine does not answer in time"});
    }
    const std::size_t count = TRY(sys::read_some(socket, bytes));
    if (count == 0) {
      TRY(reader.end());
      break;
    }
    TRY(reader.take({bytes.data(), count}));
  }
  return reader.answer();
}

struct NameAndTag {
  std::string_view name;
  std::string_view tag;
};

NameAndTag name_and_tag(std::string_view image) {
  const std::size_t colon = image.rfind(':');
  const bool tagged = colon != std::string::npos && image.find('/', colon) == std::string::npos;
  return {image.substr(0, tagged ? colon : image.size()), tagged ? image.substr(colon + 1) : "latest"};
}

// As it is, it is part of a request, and of an instruction in there.
Status check_label(std::string_view value) {
  static constexpr std::string_view kPlain = ".-_:,/";
  const auto is_plain = [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || kPlain.contains(c);
  };
  if (std::ranges::all_of(value, is_plain)) return {};
  return fail(Error::invalid(cat({printable(value), " cannot be a label"})));
}

// As a part of a query (RFC 3986, 2.1).
std::string escaped(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const auto byte = static_cast<unsigned char>(c);
    if (plain) out += c;
    if (!plain) out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

Status send_archive(int socket, const std::string& target, int archive) {
  std::vector<char> bytes(256 << 10);
  TRY(sys::send_all(socket, chunked_request_head("POST", target, "application/x-tar"), {}));
  for (;;) {
    const std::size_t count = TRY(sys::read_some(archive, bytes));
    if (count > 0) TRY(sys::send_all(socket, chunk_head(count), {}));
    TRY(sys::send_all(socket, count > 0 ? std::string_view(bytes.data(), count) : "0\r\n", {}));
    TRY(sys::send_all(socket, kChunkEnd, {}));
    if (count == 0) return {};
  }
}

}  // namespace

Result<Engine> Engine::find(const EngineEnvironment& environment) {
  const std::vector<std::string> sockets = TRY(engine_sockets(environment));
  Error refused = Error::not_found(cat({"no engine of containers listens at ", join(sockets, ", ")}));
  for (const std::string& path : sockets) {
    const Result<UniqueFd> socket = sys::connect_local(path);
    if (!socket) {
      if (socket.error().code != Code::kNotFound && refused.code == Code::kNotFound) refused = socket.error();
      continue;
    }
    Engine engine(path);
    engine.version_ = TRY_CTX(engine.ask_version(), path);
    return engine;
  }
  refused.message += cat({"; ", remedy(refused)});
  return fail(std::move(refused));
}

// For /version, podman looks up the packages of its helper programs by dpkg-query(1) or rpm(8): that takes most of a
// second at each start of a container.
Result<EngineVersion> Engine::ask_version() const {
  const Answer ping = TRY(exchange("GET", "/_ping", {}, kPatience));
  if (std::optional<EngineVersion> podman = read_podman_ping(ping)) return *std::move(podman);
  return read_version(TRY(ask("GET", "/version")));
}

Result<EngineInfo> Engine::info() const {
  const std::string body = TRY_CTX(ask("GET", versioned({"/info"})), socket_);
  return read_info(body);
}

Result<std::string> Engine::create(const std::string& name, const std::string& body) const {
  return read_created(TRY(ask("POST", versioned({"/containers/create?name=", name}), body)));
}

Status Engine::start(const std::string& container) const {
  TRY(ask("POST", versioned({"/containers/", container, "/start"})));
  return {};
}

Result<ContainerState> Engine::state(const std::string& container) const {
  return read_container_state(TRY(ask("GET", versioned({"/containers/", container, "/json"}))));
}

Result<std::optional<PathInside>> Engine::look(const std::string& container, const std::string& path) const {
  const std::string target = versioned({"/containers/", container, "/archive?path=", escaped(path)});
  const Answer answer = TRY(exchange("HEAD", target, {}, kPatience));
  if (answer.status == 404) return std::optional<PathInside>();
  TRY(good_body(answer, cat({"HEAD ", target})));
  return std::optional(TRY(read_path_stat(answer.path_stat)));
}

Result<std::vector<std::string>> Engine::names_of(std::string_view label, std::string_view value) const {
  const std::string filter = nlohmann::json{{"label", {cat({label, "=", value})}}}.dump();
  return read_own_names(TRY(ask("GET", versioned({"/containers/json?all=1&filters=", escaped(filter)}))));
}

// While a removal is under way already, as that of a container that ended by itself, docker answers that it conflicts,
// and podman that it failed.
Status Engine::remove(const std::string& container) const {
  const Time until = std::chrono::steady_clock::now() + kRemovalPatience;
  for (;;) {
    const auto removed = ask("DELETE", versioned({"/containers/", container, "?force=1&v=1"}));
    if (removed || removed.error().code == Code::kNotFound) return {};
    const Error& error = removed.error();
    const bool may_pass = error.sys_errno == 0 && (error.code == Code::kConflict || error.code == Code::kSystem);
    if (!may_pass || std::chrono::steady_clock::now() > until) return fail(removed.error());
    TRY(sys::poll({}, kRemovalLook));
  }
}

Result<std::optional<EngineImage>> Engine::image(const std::string& name) const {
  const auto found = ask("GET", versioned({"/images/", name, "/json"}));
  if (!found && found.error().code == Code::kNotFound) return std::optional<EngineImage>();
  if (!found) return fail(found.error());
  return std::optional(TRY(read_image(*found)));
}

Status Engine::commit(const std::string& container, const std::string& image, const Labels& labels) const {
  const auto [repository, tag] = name_and_tag(image);
  std::string target = versioned({"/commit?container=", container, "&repo=", repository, "&tag=", tag});
  for (const auto& [name, value] : labels) {
    TRY_CTX(check_label(value), name);
    target += cat({"&changes=LABEL%20", name, "%3D", value});
  }
  TRY(ask("POST", target, "{}", kCommitPatience));
  return {};
}

Status Engine::tag(const std::string& image, const std::string& name) const {
  const auto [repository, tag] = name_and_tag(name);
  TRY(ask("POST", versioned({"/images/", image, "/tag?repo=", repository, "&tag=", tag})));
  return {};
}

Result<bool> Engine::remove_image(const std::string& image) const {
  const auto removed = ask("DELETE", versioned({"/images/", image, "?force=1"}), {}, kCommitPatience);
  if (!removed && removed.error().code != Code::kNotFound) return fail(removed.error());
  return removed.has_value();
}

Status Engine::import_image(const std::string& image, int archive) const {
  const auto [repository, tag] = name_and_tag(image);
  const std::string target = versioned({"/images/create?fromSrc=-&repo=", repository, "&tag=", tag});
  const UniqueFd socket = TRY(connect());
  // Whoever closes before the end says why, which is read below.
  (void)send_archive(socket.get(), target, archive);
  const std::string what = cat({"POST ", target});
  const Answer answer =
      TRY_CTX(read_answer(socket.get(), "POST", std::chrono::steady_clock::now() + kImportPatience), what);
  return check_imported(TRY(good_body(answer, what)));
}

Result<UniqueFd> Engine::connect() const {
  Result<UniqueFd> connected = sys::connect_local(socket_);
  if (connected) {
    TRY(sys::set_send_timeout(connected->get(), kPatience));
    return connected;
  }
  // Not to be taken for an engine's answer that something is not there.
  return fail({Code::kSystem, connected.error().sys_errno,
               cat({"the engine does not listen any more: ", connected.error().message})});
}

std::string Engine::versioned(std::initializer_list<std::string_view> target) const {
  std::string path = cat({"/v", version_.api});
  for (const std::string_view part : target) path += part;
  return path;
}

Result<std::string> Engine::ask(std::string_view method, std::string_view target, std::string_view body,
                                std::chrono::seconds patience) const {
  return good_body(TRY(exchange(method, target, body, patience)), cat({method, " ", target}));
}

Result<Answer> Engine::exchange(std::string_view method, std::string_view target, std::string_view body,
                                std::chrono::seconds patience) const {
  const Time until = std::chrono::steady_clock::now() + patience;
  const UniqueFd socket = TRY(connect());
  TRY(sys::write_all(socket.get(), request_text(method, target, body)));
  return TRY_CTX(read_answer(socket.get(), method, until), cat({method, " ", target}));
}

}  // namespace hutch::backend::container
