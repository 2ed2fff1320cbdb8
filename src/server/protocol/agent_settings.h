// An agent's settings as JSON has them, turned into those of `hutch agent set`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tool/value.h"

namespace hutch::server {

// {"limits": {"memory": "1G"}} as limits.memory=1G. Null is no value that a key could have, and would be the text
// "null" there: an error.
Result<std::vector<std::string>> settings_of(const tool::Value::Object& object);

}  // namespace hutch::server
