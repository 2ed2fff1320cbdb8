// Layers below the data directory. What is in them belongs to users of the image: hutch-unpack removes it.
#include "service/image/layers.h"

#include "base/text.h"
#include "service/image/unpacker.h"
#include "store/layer_store.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr std::size_t kDigestShown = 19;  // "sha256:" and twelve digits

Status clear_rest(const store::LayerStore& store, const std::string& agent);

}  // namespace

Result<std::string> layer_over(const store::ImageManifest& image, const std::string& agent,
                               const host::StateDirs& dirs) {
  const store::LayerStore store(dirs.data);
  const auto below = TRY(store.find(agent));
  if (!below) {
    TRY_CTX(store.make(agent, image), "make the agent's layer");
  } else if (below->digest != image.digest || below->ids != image.ids) {
    const std::string shown = printable(std::string_view(below->digest).substr(0, kDigestShown));
    const std::string other = below->digest == image.digest ? "and that has other users by now"
                                                            : cat({"and this is another image: ", image.name});
    return fail(
        Error{Code::kConflict, 0,
              cat({"what agent ", agent, " changed is a layer over ", printable(below->name), " (", shown,
                   ") as it was, ", other, "; hutch agent reset ", agent, " drops the layer and keeps the home"})});
  }
  return sys::canonical_path(store.kept(agent));
}

Result<std::string> remove_layer(const std::string& agent, const host::StateDirs& dirs) {
  const store::LayerStore store(dirs.data);
  TRY(clear_rest(store, agent));
  if (!TRY(store.put_away(agent))) return std::string();
  TRY(clear_rest(store, agent));
  return store.place(agent);
}

Status remove_agent_tree(const std::string& directory, const plan::IdMap* ids) {
  const Status removed = sys::remove_tree(directory);
  if (removed || ids == nullptr || removed.error().code != Code::kPermissionDenied) return removed;
  return remove_files(directory, *ids);
}

namespace {

// Its manifest goes last: what a removal that broke off has left still says whose files they are.
Status clear_rest(const store::LayerStore& store, const std::string& agent) {
  const std::string rest = store.rest(agent);
  const auto image = TRY(store::LayerStore::image_of(rest));
  if (image) TRY_CTX(remove_files(rest + "/kept", image->ids), "remove the agent's layer");
  return sys::remove_tree(rest);
}

}  // namespace

}  // namespace hutch::service
