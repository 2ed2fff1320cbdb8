// A value without what its agent keeps secret.
#pragma once

#include "secret/scrubber.h"
#include "tool/value.h"

namespace hutch::service {

// With every text in it scrubbed, every member's name, and every number. Of an agent whose secrets cannot be read
// nothing of it is left.
tool::Value scrubbed(const secret::Scrubber& scrubber, const tool::Value& value);

}  // namespace hutch::service
