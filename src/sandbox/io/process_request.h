// What a command in a sandbox that stays is to be.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "wire/message.h"

namespace hutch::sandbox {

enum class ErrorStream { kApart, kIntoOutput };

// A terminal of the command's own whose output is kept, for all three of its streams.
struct KeptTerminal {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

// A file that output goes to as well.
struct LogFile {
  UniqueFd file{};
  std::string name{};  // as whoever asks for it calls it
};

struct ProcessRequest {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string cwd;
  std::chrono::milliseconds timeout{0};  // of the wall clock; 0: none
  ErrorStream error = ErrorStream::kApart;  // of streams that are kept
  std::optional<KeptTerminal> terminal{};   // in place of them
  enum class Shown { kYes, kNo } shown = Shown::kYes;  // in list(), and told of
  std::uint64_t processes_max = 0;       // as wire::Exec has them
  std::uint64_t address_space_max = 0;
  LogFile log{};                         // of streams that are kept
};

// Streams of whoever asks: what passes there is seen by nobody else. `mask` says which of 0, 1 and 2 they are, in
// order.
struct GivenStreams {
  std::vector<UniqueFd> descriptors;
  std::uint8_t mask = 7;
  wire::TerminalUse terminal = wire::TerminalUse::kNone;  // of its own, for those streams that are not given
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
  std::string modes;  // sys::terminal_modes
};

}  // namespace hutch::sandbox
