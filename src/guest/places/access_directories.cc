// Directories that calls were made in.
#include "guest/places/access_directories.h"

#include <algorithm>
#include <utility>

namespace hutch::guest {

Directories::Shared Directories::find(const sys::Resolved& what) {
  const auto is_it = [&](const Shared& kept) { return kept->what.mount == what.mount && kept->what.is_same(what); };
  const auto found = std::ranges::find_if(kept_, is_it);
  if (found == kept_.end()) return nullptr;
  std::rotate(kept_.begin(), found, std::next(found));
  return kept_.front();
}

Directories::Shared Directories::add(Directory directory) {
  if (kept_.size() == kKept) kept_.pop_back();
  return *kept_.insert(kept_.begin(), std::make_shared<const Directory>(std::move(directory)));
}

}  // namespace hutch::guest
