// The images: names, what is known of each, where its files lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/id_map.h"

namespace hutch::store {

// What is written down beside an image's files.
struct ImageManifest {
  std::string name;    // with its tag
  std::string digest;  // "sha256:..." of the archive
  std::string made;    // "2026-01-31T12:00:00Z"
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  plan::IdMap ids;  // whose ids its files have
  std::vector<std::string> environment{};  // "NAME=VALUE": what its commands have if nobody says otherwise
  bool operator==(const ImageManifest&) const = default;
};

std::string manifest_json(const ImageManifest& manifest);
// Whoever writes there may write what they like: anything that is no manifest is an error.
Result<ImageManifest> parse_manifest(std::string_view json);

// "python" is "python:latest". Small letters, digits, ".", "_", "-"; a tag may have large letters too.
Result<std::string> image_name(std::string_view typed);

class ImageStore {
 public:
  explicit ImageStore(const std::string& data) : directory_(data + "/images") {}

  const std::string& directory() const { return directory_; }
  std::string place(const std::string& name) const { return directory_ + "/" + name; }
  std::string files(const std::string& name) const { return place(name) + "/root"; }
  std::string lock(const std::string& name) const { return directory_ + "/." + name + ".lock"; }
  // What is being made: no image, whatever is in it.
  std::string part(const std::string& name) const { return directory_ + "/." + name + ".part"; }
  // What it is being made of: likewise. Without ":", which in names of archives begins what is meant of one.
  std::string scratch(std::string name) const {
    std::ranges::replace(name, ':', '=');
    return directory_ + "/." + name + ".from";
  }
  // What is being removed: likewise.
  std::string rest(const std::string& name) const { return directory_ + "/." + name + ".gone"; }

  Result<std::optional<ImageManifest>> find(const std::string& name) const;
  // By name. One whose manifest cannot be read is an error.
  Result<std::vector<ImageManifest>> list() const;

 private:
  std::string directory_;
};

}  // namespace hutch::store
