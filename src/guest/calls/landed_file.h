// Makes a file of hutch's in a directory that sandboxes may write, with its whole content.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/files/delegate.h"

namespace hutch::guest {

struct LandedContent {
  std::string_view bytes;
  mode_t mode = 0;
  std::int64_t modified_ns = 0;
};

// kNameless: the file gets its name once its content is final (open(2), O_TMPFILE). kNamed: for file systems without
// that, it is written under the name; no rule may let a sandbox write a file of that name.
enum class Landing { kNameless, kNamed };

// What has the name is removed first, as git does it. An error if the name then leads to another file, or the file has
// a second name or another content: it is removed. The current directory must be a proc(5) (sys::stay_in).
Result<sys::Resolved> land_file(int directory, const std::string& name, const LandedContent& content);
Result<sys::Resolved> land_file(int directory, const std::string& name, const LandedContent& content, Landing how);

// Likewise.
Result<sys::Resolved> land_link(int directory, const std::string& name, const std::string& target);

}  // namespace hutch::guest
