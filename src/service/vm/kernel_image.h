// What is read of a kernel before it is started: Documentation/x86/boot.rst.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::service {

// More than any that a distribution has.
inline constexpr std::size_t kKernelBytesMax = 64 << 20;

// The release ("6.1.0-18-amd64") of a Linux for x86-64 that a boot loader can start, a bzImage (vmlinuz). Anything else
// is an error that says what it looks like.
Result<std::string> kernel_release(std::string_view image);

}  // namespace hutch::service
