// Images: root file systems of their own for sandboxes. Importing, listing, removing, and what a plan needs of one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/facts.h"
#include "plan/make/make_plan.h"
#include "store/image_store.h"

namespace hutch::service {

// service/image/build_stop.h. As a null pointer: nothing ends it.
struct BuildStop;

struct ImageRequest {
  std::string name;     // as typed
  std::string archive;  // a path, or "-" for standard input
};

// Notes on the way, for a person.
using TellImage = std::function<void(const std::string& line)>;

// The files of an image that is being made.
struct ImagePlace {
  std::string files;    // canonical: the directory that becomes its root, there and empty
  std::string scratch;  // a path beside it with nothing there; what is made there goes with the making
  const plan::IdMap& ids;
};
struct FilledImage {
  std::string digest;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t special = 0;             // devices and the like that were left out
  std::vector<std::string> environment;  // of its configuration, "NAME=VALUE"
};
using FillImage = std::function<Result<FilledImage>(const ImagePlace& place)>;

// Where an archive comes from. `end` is called once nobody reads it any more: why it is not what it should be is then
// its to say.
struct ArchiveSource {
  std::function<Result<UniqueFd>()> begin;
  std::function<Status()> end;
};
// The lock of an image that somebody else makes, once they are done. `stop` ends the wait.
Result<UniqueFd> wait_for_image(const std::string& lock, const std::string& name, const TellImage& tell,
                                const BuildStop* stop);
enum class IfThere { kError, kTaken };  // kTaken: that one is what is wanted; who makes it is waited for
// `stop` is of the wait: what fills the image has its own way to hear of it.
Result<store::ImageManifest> fill_image(const std::string& name, const FillImage& fill, IfThere if_there,
                                        const plan::HostFacts& facts, const TellImage& tell,
                                        const BuildStop* stop = nullptr);
Result<store::ImageManifest> make_image(const std::string& name, const ArchiveSource& source, IfThere if_there,
                                        const plan::HostFacts& facts, const TellImage& tell,
                                        const BuildStop* stop = nullptr);

// The archive becomes an image, or nothing does.
Result<store::ImageManifest> import_image(const ImageRequest& request, const plan::HostFacts& facts,
                                          const TellImage& tell);
Result<std::vector<store::ImageManifest>> list_images(const plan::HostFacts& facts);
Result<store::ImageManifest> show_image(const std::string& typed, const plan::HostFacts& facts);
// One that agents have is removed with kUsed alone: they cannot start until they have another.
enum class Removing { kUnused, kUsed };
Status remove_image(const std::string& typed, Removing removing, const plan::HostFacts& facts);
Error no_such_image(const std::string& name);

// What a plan needs of an image that is there and whose users this user still has.
Result<plan::ImageInput> image_input(const std::string& typed, const plan::HostFacts& facts);

}  // namespace hutch::service
