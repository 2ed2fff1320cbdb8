// The file system of a machine's root: of packages, of an archive of one, or of an image's layers.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "service/image/images.h"

namespace hutch::service {

// Makes the file "system" in the directory `into`, which is empty. `root` is empty for the default image's packages,
// "-" for an archive at standard input, or a path: of a tar archive of a root file system, also compressed, of an
// archive of an image (OCI's, or docker's), or of a directory with OCI's layout. Errors: what is none of these, or
// holds nothing.
Status make_vm_root(const std::string& root, const std::string& into, const plan::HostFacts& facts,
                    const TellImage& tell);

}  // namespace hutch::service
