// The engine of containers that listens on a Unix socket here: dockerd or podman, by the Docker Engine API.
#pragma once

#include <chrono>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/container/engine_answers.h"
#include "backend/container/engine_place.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::backend::container {

class Engine {
 public:
  // The first socket where one listens. The error says what to type.
  static Result<Engine> find(const EngineEnvironment& environment);

  const std::string& socket() const { return socket_; }
  const EngineVersion& version() const { return version_; }
  Result<EngineInfo> info() const;

  // --- containers, by name or id ---

  // `body` as create_body() makes it. The error of an image that is not there is Code::kNotFound.
  Result<std::string> create(const std::string& name, const std::string& body) const;
  Status start(const std::string& container) const;
  Result<ContainerState> state(const std::string& container) const;
  // At an absolute path of one that has not started, a last symbolic link not followed; absent: nothing.
  Result<std::optional<PathInside>> look(const std::string& container, const std::string& path) const;
  // The names of all with the label `label`=`value`, whatever they do, that are as hutch makes them.
  Result<std::vector<std::string>> names_of(std::string_view label, std::string_view value) const;
  // With all that runs in it and its layer, and waits until it is gone. One that is not there is fine.
  Status remove(const std::string& container) const;

  // --- images ---

  Result<std::optional<EngineImage>> image(const std::string& name) const;  // absent: the engine has none of that name
  // What has been changed in a container that runs becomes an image over its own, with these labels; one that had the
  // name loses it. Nothing runs in the container meanwhile.
  using Labels = std::map<std::string, std::string, std::less<>>;
  Status commit(const std::string& container, const std::string& image, const Labels& labels) const;
  // It has another name as well; an image that had that one loses it. Code::kNotFound where there is none.
  Status tag(const std::string& image, const std::string& name) const;
  // With the layers that are no other's. One that is not there is fine; false then.
  Result<bool> remove_image(const std::string& image) const;
  // The archive of a root file system (tar(5)), to its end, becomes the image.
  Status import_image(const std::string& image, int archive) const;

 private:
  // podman looks for its runtimes at its first request, which takes seconds on a busy machine.
  static constexpr std::chrono::seconds kPatience{30};

  explicit Engine(std::string socket) : socket_(std::move(socket)) {}
  Result<UniqueFd> connect() const;
  // One connection for each: the engine may have been started anew since the last.
  Result<std::string> ask(std::string_view method, std::string_view target, std::string_view body = {},
                          std::chrono::seconds patience = kPatience) const;
  Result<Answer> exchange(std::string_view method, std::string_view target, std::string_view body,
                          std::chrono::seconds patience) const;
  Result<EngineVersion> ask_version() const;
  std::string versioned(std::initializer_list<std::string_view> target) const;

  std::string socket_;
  EngineVersion version_;
};

}  // namespace hutch::backend::container
