// What is decided about each call that takes a descriptor of a supervised file, as data with reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace hutch::plan {

// A descriptor of a supervised file is one of two: for reading, or O_PATH, on the sandbox's own mount, which is
// read-only; or for writing, on the writable copy, handed over by the supervisor once the name was judged.
enum class DescriptorTreatment {
  kJudged,   // the filter holds it, and the supervisor judges it by the name that the file has by then
  kRefused,  // the filter refuses it, whatever it is about
  kContent,  // it goes on: it takes a descriptor for writing, whose name was judged, and changes content alone
  kHarmless,  // it goes on: it changes no file, and gives nobody more than the descriptor already does
};

struct DescriptorCall {
  std::string_view call;     // its name in the table of calls, or the kernel's
  std::string_view variant;  // which form of it: what ioctl(2) is asked for, or how a path leads to a descriptor
  DescriptorTreatment treatment = DescriptorTreatment::kRefused;
  std::string_view reason;
  std::optional<std::uint32_t> request{};  // the second argument of ioctl(2)
};

// Calls that only read, or wait, are not among them. tests/access/descriptor_test.py makes each of them.
std::span<const DescriptorCall> descriptor_calls();

}  // namespace hutch::plan
