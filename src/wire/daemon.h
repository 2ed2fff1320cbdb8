// The messages between the daemon and its own client, the command line: calls in JSON, with descriptors beside them.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "wire/message.h"

namespace hutch::wire {

// Something is wanted: {"verb": "agent.create", ...}. One connection has one call at a time.
struct Call {
  std::string json;
};
// Something for the call that is being carried out: bytes for a process, a signal.
struct CallInput {
  std::string json;
};
using ToDaemon = std::variant<Call, CallInput>;

// Something that happened while the call is carried out.
struct CallEvent {
  std::string json;
};
// The call's end.
struct CallResult {
  std::string json;
};
struct CallFailed {
  Error error;
};
using FromDaemon = std::variant<CallEvent, CallResult, CallFailed>;

// Bytes as text that JSON can hold, a code point for each: what a process writes need not be UTF-8.
std::string text_of_bytes(std::string_view bytes);
// An error where the text has a code point above 255.
Result<std::string> bytes_of_text(std::string_view text);

std::string encode(const ToDaemon& message);
std::string encode(const FromDaemon& message);
Result<ToDaemon> decode_to_daemon(const FrameHeader& header, std::string_view body);
Result<FromDaemon> decode_from_daemon(const FrameHeader& header, std::string_view body);

}  // namespace hutch::wire
