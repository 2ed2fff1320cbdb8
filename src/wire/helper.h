// The messages between a person's hutch and hutch-helper, which is root: what may be asked of it is what stands here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "wire/message.h"

namespace hutch::wire {

// A sandbox that is an OS user of this machine. Who asks is for the kernel to say, and which users that person may have
// for root's files; of the plan only what is here is the person's to choose.
struct HelperStart {
  std::uint32_t version = kVersion;
  std::uint32_t user = 0;  // the OS user's number
  Service service = Service::kOneCommand;
  plan::NetworkKind network = plan::NetworkKind::kNone;
  std::vector<std::uint16_t> host_ports;
  std::vector<plan::UdpCapture> udp;
  std::uint64_t tmp_bytes = 0;
  std::uint64_t memory_bytes = 0;  // of the limits 0 is none
  std::uint64_t pids = 0;
  std::uint64_t cpu_millis = 0;
  // Where TLS is opened: what is to be trusted in there, in the place of the machine's stores. Empty: these stay.
  std::string authority;
  std::string bundle;
  std::string java_store;
  plan::bpf::Program seccomp;  // for the person's own good: privileges are gone before it is installed
};
// How often the limits were met so far.
struct HelperCount {};
// An OS user for one more agent of the person's, where root has let them have those; what it is called follows from the
// two names. In the place of a sandbox.
struct HelperMakeUser {
  std::uint32_t version = kVersion;
  std::string agent;
};
// There is no message for the end: it is that of the connection, or of its sending side.
using ToHelper = std::variant<HelperStart, HelperCount, HelperMakeUser>;

// It has a first process, by this machine's number. The stream to its guest travels along.
struct HelperStarted {
  std::uint32_t pid = 0;
};
struct HelperCounted {
  std::uint64_t killed_for_memory = 0;
  std::uint64_t pids_refused = 0;
};
// Nothing was started.
struct HelperRefused {
  Error error;
};
// The user is there, and the person's.
struct HelperMade {
  std::uint32_t user = 0;
};
using FromHelper = std::variant<HelperStarted, HelperCounted, HelperRefused, HelperMade>;

std::string encode(const ToHelper& message);
std::string encode(const FromHelper& message);
Result<ToHelper> decode_to_helper(const FrameHeader& header, std::string_view body);
Result<FromHelper> decode_from_helper(const FrameHeader& header, std::string_view body);

}  // namespace hutch::wire
