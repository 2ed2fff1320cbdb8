// Certificates as Java keeps those that it trusts: a JKS file, which every version of it reads.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace hutch::inspect {

// Of certificates in DER. The digest that ends it is made with Java's usual password, "changeit".
Result<std::string> java_store(std::span<const std::string> certificates);

}  // namespace hutch::inspect
