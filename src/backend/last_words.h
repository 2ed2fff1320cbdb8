// Why a machine ended, by what stands on its console. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hutch::backend {

// The last line of hutch-guest's own, else the one in which a Linux kernel gives up ("Kernel panic"), else the last
// that says anything, which may be QEMU's: printable, at most 200 bytes. Empty where there is none.
std::string last_words_of(std::string_view console);

// "; its last words: ...", as it is put behind an error's message; "" where there are none.
std::string with_last_words(std::string_view console);

}  // namespace hutch::backend
