// Why a machine ended, by what stands on its console.
#include "backend/last_words.h"

#include "base/text.h"

namespace hutch::backend {

namespace {

constexpr std::size_t kShownBytes = 200;
constexpr std::string_view kGuestSays = "hutch-guest: ";
constexpr std::string_view kKernelSays = "Kernel panic";

// A serial line's ends are "\r\n", and the kernel puts the time before what it says.
std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('\r'));
  const std::size_t begin = line.find_first_not_of(' ');
  return begin == line.npos ? std::string_view() : line.substr(begin);
}

}  // namespace

std::string last_words_of(std::string_view console) {
  std::string_view last;
  std::string_view of_kernel;
  std::string_view of_guest;
  for (const std::string_view whole : split(console, '\n')) {
    const std::string_view line = trimmed(whole);
    if (line.empty()) continue;
    last = line;
    if (line.starts_with(kGuestSays)) of_guest = line;
    if (const std::size_t at = line.find(kKernelSays); at != line.npos) of_kernel = line.substr(at);
  }
  const std::string_view said = !of_guest.empty() ? of_guest : !of_kernel.empty() ? of_kernel : last;
  return printable(said, kShownBytes);
}

std::string with_last_words(std::string_view console) {
  const std::string said = last_words_of(console);
  return said.empty() ? said : cat({"; its last words: ", said});
}

}  // namespace hutch::backend
