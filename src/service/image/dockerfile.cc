// Images of a Dockerfile, by docker's client or podman.
#include "service/image/dockerfile.h"

#include "base/text.h"
#include "service/common/told_program.h"
#include "service/image/pull.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr const char* kDocker = "/usr/bin/docker";
constexpr const char* kPodman = "/usr/bin/podman";
constexpr const char* kSocket = "/var/run/docker.sock";

const char* program_of(Builder builder) { return builder == Builder::kDocker ? kDocker : kPodman; }

// It is the caller's own program, with the caller's own settings and accounts.
Status run_builder(Builder builder, std::vector<std::string> words, const TellImage& tell) {
  return run_told(program_of(builder), std::move(words), sys::own_environment(), tell);
}

Result<DockerfileRequest> with_context(DockerfileRequest request) {
  const std::string file = TRY_CTX(sys::canonical_path(request.file), "--dockerfile");
  if (request.context.empty()) request.context = file.substr(0, file.rfind('/') + 1);
  request.file = file;
  request.context = TRY(sys::canonical_path(request.context));
  const auto status = TRY(sys::status_of(request.context));
  if (status && status->kind == sys::EntryKind::kDirectory) return request;
  return fail(Error::invalid(cat({printable(request.context), ": is no directory"})));
}

}  // namespace

Result<Builder> choose_builder(const BuilderFacts& facts) {
  const bool daemon = facts.is_host_named || facts.has_socket;
  if (daemon && facts.has_docker) return Builder::kDocker;
  // Another engine is not what DOCKER_HOST asks for.
  if (facts.is_host_named) {
    return fail(Error::unsupported("DOCKER_HOST is set, and docker's client is missing; apt-get install docker.io"));
  }
  if (facts.has_podman) return Builder::kPodman;
  if (facts.has_docker) return Builder::kDocker;
  return fail(
      Error::unsupported("neither podman nor docker is here to build a Dockerfile; apt-get install podman, or hutch "
                         "image build --recipe FILE NAME, which makes an image of packages without either"));
}

std::vector<std::string> build_words(Builder builder, const DockerfileRequest& request, const std::string& name) {
  const std::string program = builder == Builder::kDocker ? "docker" : "podman";
  return {program, "build", "--tag", name, "--file", request.file, "--", request.context};
}

std::vector<std::string> save_words(Builder builder, const std::string& name, const std::string& archive) {
  if (builder == Builder::kDocker) return {"docker", "save", "--output", archive, "--", name};
  return {"podman", "save", "--format", "docker-archive", "--output", archive, "--", name};
}

Result<store::ImageManifest> build_dockerfile(const DockerfileRequest& typed, const plan::HostFacts& facts,
                                              const TellImage& tell) {
  const std::string name = TRY(store::image_name(typed.name));
  const DockerfileRequest request = TRY(with_context(typed));
  const Builder builder = TRY(choose_builder({.is_host_named = sys::environment_variable("DOCKER_HOST").has_value(),
                                              .has_socket = sys::exists(kSocket),
                                              .has_docker = sys::exists(kDocker),
                                              .has_podman = sys::exists(kPodman)}));
  const auto fill = [&](const ImagePlace& place) -> Result<FilledImage> {
    TRY(run_builder(builder, build_words(builder, request, name), tell));
    TRY(sys::make_private_directories(place.scratch));
    const std::string archive = place.scratch + "/archive.tar";
    TRY(run_builder(builder, save_words(builder, name, archive), tell));
    return fill_by_skopeo(cat({"docker-archive:", archive}), place, facts.uid, tell);
  };
  auto made = fill_image(name, fill, IfThere::kError, facts, tell);
  if (!made && made.error().code == Code::kConflict) return made;
  if (!made) return fail(std::move(made).error().with_context("build " + name));
  tell(cat({"Image \"", name, "\" built successfully"}));
  return made;
}

}  // namespace hutch::service
