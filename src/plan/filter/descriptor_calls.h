// The decision about each call that takes a descriptor of a supervised file, as data with reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hutch::plan {

// There are two kinds of descriptor of a supervised file. One is for reading, or O_PATH, on the sandbox's own mount,
// which is read-only. The other is for writing, on the writable copy; the supervisor hands it over once it has judged
// the name.
enum class DescriptorTreatment {
  kJudged,   // the filter stops it, and the supervisor judges it by the name that the file has by then
  kRefused,  // the filter refuses it for every file
  kContent,  // allowed: it takes a descriptor for writing, whose name was judged, and changes only content
  kHarmless,  // allowed: it changes no file, and gives nobody more than the descriptor already does
};

struct DescriptorCall {
  std::string_view call;     // its name in the table of calls, or the kernel's
  std::string_view variant;  // which form of it: the request of ioctl(2), or how a path leads to a descriptor
  DescriptorTreatment treatment = DescriptorTreatment::kRefused;
  std::string_view reason;
  std::optional<std::uint32_t> request{};  // the second argument of ioctl(2)
};

// Calls that only read, or wait, are not in the table. tests/access/descriptor_test.py makes each call of it.
std::span<const DescriptorCall> descriptor_calls();

}  // namespace hutch::plan
