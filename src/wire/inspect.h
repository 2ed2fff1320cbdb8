// The messages between the egress gateway and hutch-inspect, which reads HTTP and opens TLS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"
#include "wire/message.h"

namespace hutch::wire {

// --- to the inspector ---

struct InspectStart {
  std::uint32_t version = kVersion;
  std::vector<std::string> extra_ca_paths;
  bool java_store = false;  // is wanted
  std::string authority{};  // as InspectReady has it: goes on with that one; empty: makes one
};

enum class InspectForm {
  kOrigin,  // the client believes that it speaks to the host itself
  kProxy,   // the client speaks to a proxy: its first request names the host in its target
};

// One connection: the client's and the upstream's descriptor travel along, in this order. Nothing has been read of
// either. The inspector owns both from here on.
struct Inspect {
  std::uint64_t id = 0;
  std::string host;  // canonical: what the connection was made to
  std::uint16_t port = 0;
  InspectForm form = InspectForm::kOrigin;
  bool tls = false;  // the client begins with a TLS hello, which is to be opened
  std::vector<policy::HttpRule> rules;  // empty: every request whose Host agrees
  // What the sandbox has instead of secrets, and their values: of TLS alone.
  std::vector<std::pair<std::string, std::string>> placeholders{};
};

// That connection is no longer allowed.
struct InspectEnd {
  std::uint64_t id = 0;
};

using ToInspector = std::variant<InspectStart, Inspect, InspectEnd>;

// --- from the inspector ---

struct InspectReady {
  std::string ca_certificate;  // PEM, for the trust stores of the sandbox
  std::string java_store;      // it, and what the machine trusts, as Java keeps them; empty where it is not wanted
  std::string authority{};     // its certificate and key in PEM, to be given to a successor
};
struct InspectFailed {
  Error error;
};
struct InspectRefused {
  std::uint64_t id = 0;
  std::string what;  // "DELETE /repos/x", "Host: other.example"
  std::string why;
};
struct InspectClosed {
  std::uint64_t id = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

using FromInspector = std::variant<InspectReady, InspectFailed, InspectRefused, InspectClosed>;

// Whole frames, header included; as wire/message.h.
std::string encode(const ToInspector& message);
std::string encode(const FromInspector& message);
Result<ToInspector> decode_to_inspector(const FrameHeader& header, std::string_view body);
Result<FromInspector> decode_from_inspector(const FrameHeader& header, std::string_view body);

}  // namespace hutch::wire
