// Who builds a Dockerfile, and by which words.
#include "service/image/dockerfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Builder, IsTheDaemonsClientWhereThereIsADaemon) {
  EXPECT_EQ(*choose_builder({.has_socket = true, .has_docker = true, .has_podman = true}), Builder::kDocker);
  EXPECT_EQ(*choose_builder({.is_host_named = true, .has_docker = true, .has_podman = true}), Builder::kDocker);
}

TEST(Builder, IsPodmanWhereThereIsNoDaemonOrNoClient) {
  EXPECT_EQ(*choose_builder({.has_docker = true, .has_podman = true}), Builder::kPodman);
  EXPECT_EQ(*choose_builder({.has_socket = true, .has_podman = true}), Builder::kPodman);
  EXPECT_EQ(*choose_builder({.has_docker = true}), Builder::kDocker);
}

TEST(Builder, IsNoOtherThanTheOneThatWasNamed) {
  const auto none = choose_builder({.is_host_named = true, .has_podman = true});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("DOCKER_HOST"));
  const auto nobody = choose_builder({});
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().message, HasSubstr("apt-get install podman"));
}

TEST(Builder, HasNamesAndPathsBehindItsOptions) {
  const DockerfileRequest request{.name = "x", .file = "/p/Dockerfile", .context = "/p"};
  EXPECT_THAT(build_words(Builder::kPodman, request, "x:latest"),
              ElementsAre("podman", "build", "--tag", "x:latest", "--file", "/p/Dockerfile", "--", "/p"));
  EXPECT_THAT(save_words(Builder::kDocker, "x:latest", "/s/a.tar"),
              ElementsAre("docker", "save", "--output", "/s/a.tar", "--", "x:latest"));
}

}  // namespace
}  // namespace hutch::service
