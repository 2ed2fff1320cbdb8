// What is read of an image of the OCI image format, or of docker's: which layers it has, and how it is to be run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::service {

struct OciBlob {
  std::string digest;  // sha256 in hexadecimal, without "sha256:"
  std::uint64_t size = 0;
  bool operator==(const OciBlob&) const = default;
};

struct OciManifest {
  OciBlob config;
  std::vector<OciBlob> layers;  // the lowest first
};

inline constexpr std::size_t kOciLayersMax = 128;

// A manifest (OCI image specification, "Image Manifest"; docker's version 2, schema 2). An index, which names manifests
// of several machines, is an error, and so is a layer that is kept elsewhere or is no tar.
Result<OciManifest> parse_oci_manifest(std::string_view json);

// The variables of an image's configuration, "NAME=VALUE", each name once and one that a variable can have; what is
// none, or is hutch's own to say (HOME, USER, TMPDIR), is left out.
Result<std::vector<std::string>> parse_oci_environment(std::string_view json);

// "python:3.12" of "registry.example:5000/library/python:3.12@sha256:...", as an image of hutch's may be called; an
// error where the reference says no such name (an archive's path).
Result<std::string> name_of_reference(std::string_view reference);

// What skopeo(1) calls it: a reference without a transport ("docker://", "oci-archive:") is a registry's.
Result<std::string> with_transport(std::string_view reference);

}  // namespace hutch::service
