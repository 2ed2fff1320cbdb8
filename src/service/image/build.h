// Images of packages, built by mmdebstrap(1) from where this machine takes its own.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "service/image/images.h"
#include "store/image_store.h"

namespace hutch::service {

struct BuildRequest {
  std::string name;                   // as typed; empty: the default image
  std::optional<std::string> recipe;  // a file; without one the default image's own, which is that image's alone
};

// Errors: a name that is taken, a recipe that is none, no mmdebstrap, no release among the machine's package sources,
// and what mmdebstrap says. Nothing is left of a build that failed.
Result<store::ImageManifest> build_image(const BuildRequest& request, const plan::HostFacts& facts,
                                         const TellImage& tell);

// Whether signals that end this process are the build's to take. A daemon has its own way to hear of them.
enum class Signals { kOwn, kOthers };
// The default image's archive, built once more for whoever `use`s it: it reads to the end.
Status build_default_archive(Signals signals, const plan::HostFacts& facts, const TellImage& tell,
                             const std::function<Status(int archive)>& use, const BuildStop* stop = nullptr);
// Builds the default image if that is the name and the image is missing. A second caller waits for the first one's
// build. `stop` ends the build, or the wait, and leaves nothing behind.
Status ensure_image(const std::string& typed, Signals signals, const plan::HostFacts& facts, const TellImage& tell,
                    const BuildStop* stop = nullptr);

}  // namespace hutch::service
