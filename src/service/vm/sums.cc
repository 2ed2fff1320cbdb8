// Checksums of what virtual machines are started from.
#include "service/vm/sums.h"

#include "base/sha256.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"

namespace hutch::service {

namespace {

constexpr std::size_t kStep = 1 << 20;

Result<std::string> sum_of(const std::string& path) {
  const UniqueFd file = TRY(sys::open(path, sys::Open::kRead));
  Sha256 sum;
  for (std::uint64_t at = 0;;) {
    const std::string bytes = TRY(sys::read_at(file.get(), at, kStep));
    if (bytes.empty()) return sum.finish();
    sum.add(bytes);
    at += bytes.size();
  }
}

Result<std::string> sum_of_sparse(const std::string& path) {
  static constexpr std::size_t kBlock = 64 << 10;
  const UniqueFd file = TRY(sys::open(path, sys::Open::kRead));
  Sha256 sum;
  for (std::uint64_t at = 0;;) {
    const auto data = TRY(sys::next_data(file.get(), at));
    if (!data) return sum.finish();
    for (at = data->begin / kBlock * kBlock; at < data->end; at += kBlock) {
      const std::string bytes = TRY(sys::read_at(file.get(), at, kBlock));
      if (bytes.find_first_not_of('\0') == bytes.npos) continue;
      sum.add(cat({std::to_string(at), ":"}));
      sum.add(bytes);
    }
  }
}

}  // namespace

Result<std::string> sum_of_named(std::string_view name, const std::string& path) {
  const bool is_sparse = name == kMachineMemory || name == kRootedMemory || name == kRootedChanges;
  return is_sparse ? sum_of_sparse(path) : sum_of(path);
}

}  // namespace hutch::service
