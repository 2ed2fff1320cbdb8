// Images of registries, and of the archives that engines of containers write: skopeo(1) fetches, hutch-unpack unpacks.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "service/image/images.h"
#include "service/image/oci_image.h"
#include "store/image_store.h"

namespace hutch::service {

struct PullRequest {
  std::string reference;  // "python:3.12", "docker://HOST/NAME:TAG", "oci-archive:FILE"
  std::string name;       // as typed; empty: what the reference says
};

// Errors: a name that is taken, a reference that is none, no skopeo, what skopeo says, and an image that is none: whose
// layers are other bytes than their digests say, lead out of the tree, or are too many. Nothing is left of one.
Result<store::ImageManifest> pull_image(const PullRequest& request, const plan::HostFacts& facts,
                                        const TellImage& tell);

// The same of a reference that skopeo knows, which becomes files of an image that is being made. `uid` is whose
// accounts at registries it uses.
Result<FilledImage> fill_by_skopeo(const std::string& reference, const ImagePlace& place, std::uint32_t uid,
                                   const TellImage& tell);

// Its manifest; what that names is in `directory`, which is there and empty, by digests that skopeo has looked at.
// `scratch` is a directory without anything of others.
Result<OciManifest> fetch_image(const std::string& reference, const std::string& directory, const std::string& scratch,
                                std::uint32_t uid, const TellImage& tell);

}  // namespace hutch::service
