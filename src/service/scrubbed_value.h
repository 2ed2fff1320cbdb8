// A value without what its agent keeps secret.
#pragma once

#include "secret/scrubber.h"
#include "tool/value.h"

namespace hutch::service {

// With every text in it scrubbed, and every member's name.
tool::Value scrubbed(const secret::Scrubber& scrubber, const tool::Value& value);

}  // namespace hutch::service
