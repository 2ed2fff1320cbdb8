// Removing everything in the root of this process.
#include "unpack/remove.h"

#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::unpack {

Status remove_everything() {
  const UniqueFd root = TRY(sys::open_listing("/"));
  for (const sys::TreeEntry& entry : TRY(sys::names_in(root.get(), "/"))) {
    const auto status = TRY(sys::status_at(root.get(), entry.name));
    if (!status) continue;
    if (status->kind == sys::EntryKind::kDirectory) {
      TRY(sys::remove_tree("/" + entry.name));
    } else {
      TRY(sys::unlink_at(root.get(), entry.name));
    }
  }
  return {};
}

}  // namespace hutch::unpack
