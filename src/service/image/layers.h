// An agent's layer over its image: it begins with the first start, and lasts until the agent is reset or removed.
#pragma once

#include <string>

#include "base/result.h"
#include "host/state_dirs.h"
#include "store/image_store.h"

namespace hutch::service {

// The directory that keeps what the agent changes of the image; made where there is none. Code::kConflict where the
// agent has a layer over another image.
Result<std::string> layer_over(const store::ImageManifest& image, const std::string& agent,
                               const host::StateDirs& dirs);

// Where it was; empty where there was none. No sandbox of the agent runs.
Result<std::string> remove_layer(const std::string& agent, const host::StateDirs& dirs);

// A tree that an agent with an image may have written: files of other users of its image are removed as well.
Status remove_agent_tree(const std::string& directory, const plan::IdMap* ids);

}  // namespace hutch::service
