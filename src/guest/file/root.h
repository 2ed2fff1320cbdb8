// The root of a request's places, and what is opened below it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files/beneath.h"
#include "wire/files.h"

namespace hutch::guest {

struct Root {
  UniqueFd fd;
  std::string path;  // canonical, as whoever makes an absolute link sees it
};

Result<Root> open_root(const wire::FilePlace& place);

// As sys::open_beneath, and it goes through absolute symbolic links whose text lies below the root as well.
Result<UniqueFd> open_below(const Root& root, const std::string& path, sys::Beneath how);

// What an absolute path is below the root, by its text alone.
std::optional<std::string> below(const Root& root, std::string_view absolute);

}  // namespace hutch::guest
