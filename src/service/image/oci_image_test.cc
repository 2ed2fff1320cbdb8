// Manifests, configurations and references of images: what is taken of them, and what is refused.
#include "service/image/oci_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kHex(64, 'a');
const std::string kOther(64, 'b');

std::string blob(const std::string& type, const std::string& digest = "sha256:" + kHex) {
  return cat({R"({"mediaType": ")", type, R"(", "digest": ")", digest, R"(", "size": 7})"});
}

const std::string kTar = "application/vnd.oci.image.layer.v1.tar";
const std::string kConfig = blob("application/vnd.oci.image.config.v1+json", "sha256:" + kOther);

std::string manifest(const std::string& layers, const std::string& config = kConfig) {
  return cat({R"({"schemaVersion": 2, "config": )", config, R"(, "layers": [)", layers, "]}"});
}

TEST(OciManifest, NamesItsBlobsFromTheLowest) {
  const auto read = parse_oci_manifest(manifest(blob(kTar) + "," + blob(kTar + "+gzip", "sha256:" + kOther)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->config, (OciBlob{kOther, 7}));
  EXPECT_THAT(read->layers, ElementsAre(OciBlob{kHex, 7}, OciBlob{kOther, 7}));
  EXPECT_TRUE(parse_oci_manifest(manifest(blob("application/vnd.docker.image.rootfs.diff.tar.gzip"))));
}

TEST(OciManifest, AnythingElseIsAnError) {
  const std::string many = [] {
    std::string text = blob(kTar);
    for (std::size_t i = 0; i < kOciLayersMax; ++i) text += "," + blob(kTar);
    return text;
  }();
  const std::string bad[] = {
      "",
      "null",
      "[]",
      "{}",
      "{",
      std::string(5000, '['),
      manifest(""),
      manifest(many),
      manifest(blob("text/plain")),
      manifest(blob(kTar), "null"),
      manifest(blob(kTar, "sha512:" + kHex)),
      manifest(blob(kTar, "sha256:../../x")),
      manifest(blob(kTar, "sha256:" + std::string(64, 'A'))),
      manifest(blob(kTar, "sha256:" + kHex + "a")),
      manifest(cat({R"({"mediaType": ")", kTar, R"(", "digest": "sha256:)", kHex, R"(", "size": -1})"})),
      manifest(cat({R"({"mediaType": ")", kTar, R"(", "digest": "sha256:)", kHex, R"(", "size": 99999999999999})"})),
      R"({"manifests": []})",
      std::string(1 << 21, ' ')};
  for (const std::string& text : bad) EXPECT_FALSE(parse_oci_manifest(text)) << text.substr(0, 200);
}

TEST(OciEnvironment, HoldsVariablesThatAreSome) {
  const auto read = parse_oci_environment(
      R"({"config": {"Env": ["PATH=/go/bin:/bin", "A=", "A=twice", "B", "=x", "1X=y", "X Y=z", 7, "HOME=/root",
          "USER=root", "TMPDIR=/x", "LANG=C.UTF-8", "Z=a\u0000b"]}})");
  ASSERT_TRUE(read);
  EXPECT_THAT(*read, ElementsAre("PATH=/go/bin:/bin", "A=", "LANG=C.UTF-8"));
  for (const char* none : {"{}", R"({"config": null})", R"({"config": {"Env": null}})", R"({"config": []})"}) {
    EXPECT_THAT(*parse_oci_environment(none), IsEmpty()) << none;
  }
  EXPECT_FALSE(parse_oci_environment("[]"));
  std::string many = R"({"config": {"Env": ["X=y")";
  for (int i = 0; i < 1000; ++i) many += cat({",\"N", std::to_string(i), "=\""});
  EXPECT_THAT(*parse_oci_environment(many + "]}}"), SizeIs(128));
}

TEST(ImageReference, SaysAName) {
  EXPECT_EQ(*name_of_reference("python:3.12-slim"), "python:3.12-slim");
  EXPECT_EQ(*name_of_reference("python"), "python:latest");
  EXPECT_EQ(*name_of_reference("docker://host.example:5000/a/b/tool:1@sha256:" + kHex), "tool:1");
  for (const char* none : {"oci-archive:/x/python", "oci:python", "dir:x", "docker://", "host.example/A"}) {
    const auto name = name_of_reference(none);
    ASSERT_FALSE(name) << none;
    EXPECT_THAT(name.error().message, HasSubstr("what it is to be called"));
  }
}

TEST(ImageReference, IsARegistrysWhereItNamesNoTransport) {
  EXPECT_EQ(*with_transport("python:3.12"), "docker://python:3.12");
  EXPECT_EQ(*with_transport("host.example:5000/x"), "docker://host.example:5000/x");
  for (const char* own : {"docker://x", "oci:/a/b", "oci-archive:x.tar", "docker-daemon:x:latest"}) {
    EXPECT_EQ(*with_transport(own), own);
  }
  for (const char* bad : {"", "-x", "/a", "./a", "a b", "a\n", "\x1b[1m"}) EXPECT_FALSE(with_transport(bad)) << bad;
  EXPECT_FALSE(with_transport(std::string(2000, 'a')));
}

}  // namespace
}  // namespace hutch::service
