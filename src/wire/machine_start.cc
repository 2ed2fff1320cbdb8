// The first bytes for a machine.
#include "wire/machine_start.h"

namespace hutch::wire {

namespace {

constexpr std::string_view kBegin = "hutch-s3";
constexpr std::size_t kClockBytes = 8;

}  // namespace

std::string encode_machine_start(const MachineStart& start) {
  std::string bytes(kBegin);
  const auto clock = static_cast<std::uint64_t>(start.clock_ns);
  for (std::size_t i = 0; i < kClockBytes; ++i) bytes.push_back(static_cast<char>(clock >> (8 * i)));
  bytes += start.entropy;
  bytes.resize(kMachineStartBytes);
  bytes[kMachineStartBytes - 3] = start.network ? 'n' : '-';
  bytes[kMachineStartBytes - 2] = start.directories ? 'd' : '-';
  bytes.back() = start.again ? 'a' : '-';
  return bytes;
}

Result<MachineStart> decode_machine_start(std::string_view bytes) {
  if (bytes.size() != kMachineStartBytes || !bytes.starts_with(kBegin)) {
    return fail(Error::invalid("the host does not say how to start"));
  }
  std::uint64_t clock = 0;
  for (std::size_t i = 0; i < kClockBytes; ++i) {
    clock |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[kBegin.size() + i])) << (8 * i);
  }
  return MachineStart{static_cast<std::int64_t>(clock),
                      std::string(bytes.substr(kBegin.size() + kClockBytes, kEntropyBytes)),
                      bytes[kMachineStartBytes - 3] == 'n', bytes[kMachineStartBytes - 2] == 'd', bytes.back() == 'a'};
}

}  // namespace hutch::wire
