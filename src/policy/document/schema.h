// The JSON Schema of policy files, made from the table of keys; docs/policy.schema.json is this text.
#pragma once

#include <string>

namespace hutch::policy {

std::string policy_schema();

}  // namespace hutch::policy
