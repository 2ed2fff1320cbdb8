// One request and one answer at a time, none of which takes longer than its time.
#include "backend/container/engine.h"

#include <poll.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "sys/io.h"
#include "sys/local_socket.h"

namespace hutch::backend::container {

namespace {

using Time = std::chrono::steady_clock::time_point;

std::string_view remedy(const Error& error) {
  if (error.code == Code::kPermissionDenied) {
    return "let this user use it (group docker is as good as root), or start podman's own for this user: "
           "systemctl --user enable --now podman.socket";
  }
  return "install and start one, such as docker.io or podman (systemctl enable --now podman.socket), or set "
         "DOCKER_HOST=unix:///path/of/its/socket";
}

Result<Answer> read_answer(int socket, Time until) {
  AnswerReader reader;
  std::array<char, 16 * 1024> bytes{};
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
    const std::string body = TRY_CTX(engine.get("/version"), path);
    engine.version_ = TRY_CTX(read_version(body), path);
    return engine;
  }
  refused.message += cat({"; ", remedy(refused)});
  return fail(std::move(refused));
}

Result<EngineInfo> Engine::info() const {
  const std::string body = TRY_CTX(get(cat({"/v", version_.api, "/info"})), socket_);
  return read_info(body);
}

Result<std::string> Engine::get(const std::string& target) const {
  const Time until = std::chrono::steady_clock::now() + kPatience;
  const UniqueFd socket = TRY(sys::connect_local(socket_));
  TRY(sys::set_send_timeout(socket.get(), kPatience));
  TRY(sys::write_all(socket.get(), cat({"GET ", target, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"})));
  const Answer answer = TRY_CTX(read_answer(socket.get(), until), cat({"GET ", target}));
  return good_body(answer, cat({"GET ", target}));
}

}  // namespace hutch::backend::container
