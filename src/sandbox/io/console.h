// What a virtual machine writes on its console: the last of it, for as long as somebody may ask, the machine gone or
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace hutch::sandbox {

// Any thread may use it. All of it is the machine's words: nothing in it is believed, or shown on a terminal as it is.
class Console {
 public:
  static constexpr std::size_t kKeptBytes = 64 << 10;

  void add(std::string_view bytes);
  void end();  // the machine has gone

  // What is kept from the byte `offset` on.
  struct Read {
    std::string bytes;
    std::uint64_t skipped = 0;  // before them, and kept no more
    std::uint64_t next = 0;     // the offset behind them
    bool ended = false;         // no more will come
  };
  Read read(std::uint64_t offset) const;

 private:
  mutable std::mutex mutex_;
  std::string kept_;
  std::uint64_t total_ = 0;  // bytes so far
  bool ended_ = false;
};

// What there is to read, at most as much as is kept; `from`, which does not block, is closed at its end.
void read_console(UniqueFd& from, Console& to);

}  // namespace hutch::sandbox
