// Frames between the daemon and its client, and the record of an agent that a call may set.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/agent_record.h"
#include "wire/daemon.h"

// The first byte chooses; what is read must come out the same when it is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      const auto record = hutch::store::parse_agent(bytes);
      if (!record) return 0;
      const auto again = hutch::store::parse_agent(hutch::store::format_agent(*record));
      if (!again || *again != *record) std::abort();
      return 0;
    }
    case 1: {
      hutch::store::AgentRecord record;
      record.name = "a";
      const auto changed = hutch::store::with_setting(record, bytes);
      if (changed && (changed->name != "a" || !hutch::store::parse_agent(hutch::store::format_agent(*changed))))
        std::abort();
      return 0;
    }
    default: break;
  }
  if (bytes.size() < hutch::wire::kFrameHeaderBytes) return 0;
  const auto header = hutch::wire::decode_header(bytes.substr(0, hutch::wire::kFrameHeaderBytes));
  if (!header) return 0;
  const std::string_view body = bytes.substr(hutch::wire::kFrameHeaderBytes);
  if (data[0] % 4 == 2) {
    const auto message = hutch::wire::decode_to_daemon(*header, body);
    if (message && hutch::wire::encode(*message).substr(hutch::wire::kFrameHeaderBytes) != body) std::abort();
  } else {
    const auto message = hutch::wire::decode_from_daemon(*header, body);
    if (message && hutch::wire::encode(*message).substr(hutch::wire::kFrameHeaderBytes) != body) std::abort();
  }
  return 0;
}
