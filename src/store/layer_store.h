// The layers: what each agent has changed of its image, and of which image that is.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "store/image_store.h"

namespace hutch::store {

class LayerStore {
 public:
  explicit LayerStore(const std::string& data) : directory_(data + "/layers") {}

  const std::string& directory() const { return directory_; }
  std::string place(const std::string& agent) const { return directory_ + "/" + agent; }
  // What the sandbox has of it: files of its users.
  std::string kept(const std::string& agent) const { return place(agent) + "/kept"; }
  // What is being made, and what is being removed: no layers. No agent's name has a dot.
  std::string part(const std::string& agent) const { return directory_ + "/." + agent + ".part"; }
  std::string rest(const std::string& agent) const { return directory_ + "/." + agent + ".gone"; }

  // The image that the agent's layer lies over, as it was when the layer began.
  Result<std::optional<ImageManifest>> find(const std::string& agent) const;
  // An empty layer over it, from one moment to the next.
  Status make(const std::string& agent, const ImageManifest& image) const;
  // It is no layer from then on, and lies in rest(). False where there was none.
  Result<bool> put_away(const std::string& agent) const;
  // Of what lies in `place`.
  static Result<std::optional<ImageManifest>> image_of(const std::string& place);

 private:
  std::string directory_;
};

}  // namespace hutch::store
