// Images of a Dockerfile: an engine of containers builds it, what it has built becomes an image of hutch's as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "service/image/images.h"
#include "store/image_store.h"

namespace hutch::service {

struct DockerfileRequest {
  std::string name;     // as typed
  std::string file;     // the Dockerfile
  std::string context;  // the directory that its COPY is about; empty: the one that it lies in
};

// What of this machine says who builds.
struct BuilderFacts {
  bool is_host_named = false;  // DOCKER_HOST is set
  bool has_socket = false;     // dockerd's, at its usual place
  bool has_docker = false;
  bool has_podman = false;
};

enum class Builder { kDocker, kPodman };
// docker's client where a daemon of its kind is to be used, else podman, which needs none.
Result<Builder> choose_builder(const BuilderFacts& facts);

// argv of the build, and of writing what was built to `archive`.
std::vector<std::string> build_words(Builder builder, const DockerfileRequest& request, const std::string& name);
std::vector<std::string> save_words(Builder builder, const std::string& name, const std::string& archive);

// Errors: a name that is taken, no program that builds, and what that says. The engine keeps the image under `name`,
// where --backend container finds it.
Result<store::ImageManifest> build_dockerfile(const DockerfileRequest& request, const plan::HostFacts& facts,
                                              const TellImage& tell);

}  // namespace hutch::service
