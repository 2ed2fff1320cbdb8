// The last of what a virtual machine writes on its console.
#include "sandbox/io/console.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "sys/io.h"

namespace hutch::sandbox {

void Console::add(std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  total_ += bytes.size();
  kept_ += bytes;
  if (kept_.size() > kKeptBytes) kept_.erase(0, kept_.size() - kKeptBytes);
}

void Console::end() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
}

Console::Read Console::read(std::uint64_t offset) const {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t first = total_ - kept_.size();
  const std::uint64_t from = std::clamp(offset, first, total_);
  return {
      .bytes = kept_.substr(from - first), .skipped = from - std::min(offset, from), .next = total_, .ended = ended_};
}

void read_console(UniqueFd& from, Console& to) {
  std::array<char, 4096> bytes;
  for (std::size_t read = 0; from && read < Console::kKeptBytes;) {
    const auto count = sys::read_some(from.get(), bytes);
    if (!count && count.error().sys_errno == EAGAIN) return;
    if (!count || *count == 0) return from.reset();
    to.add({bytes.data(), *count});
    read += *count;
  }
}

}  // namespace hutch::sandbox
