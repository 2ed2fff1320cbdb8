// A layer is there once its directory has its name.
#include "store/layer_store.h"

#include <cerrno>

#include "base/limits.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::store {

namespace {

std::string manifest_of(const std::string& place) { return place + "/image.json"; }

}  // namespace

Result<std::optional<ImageManifest>> LayerStore::find(const std::string& agent) const { return image_of(place(agent)); }

Result<std::optional<ImageManifest>> LayerStore::image_of(const std::string& place) {
  const std::string path = manifest_of(place);
  const auto text = sys::regular_file_text(path, limits::kJsonBytesMax);
  if (!text && text.error().sys_errno == ENOENT) return std::optional<ImageManifest>();
  if (!text) return fail(text.error());
  return std::optional<ImageManifest>(TRY_CTX(parse_manifest(*text), path));
}

Status LayerStore::make(const std::string& agent, const ImageManifest& image) const {
  const std::string begun = part(agent);
  TRY(sys::remove_tree(begun));  // nobody but this user has had files in it
  TRY(sys::make_private_directories(begun + "/kept"));
  TRY(sys::replace_file(manifest_of(begun), manifest_json(image)));
  return sys::rename_at(sys::kCwd, begun, sys::kCwd, place(agent), sys::Replacing::kRefused);
}

Result<bool> LayerStore::put_away(const std::string& agent) const {
  if (!TRY(sys::status_of(place(agent)))) return false;
  TRY(sys::rename_at(sys::kCwd, place(agent), sys::kCwd, rest(agent), sys::Replacing::kRefused));
  return true;
}

}  // namespace hutch::store
