// Any command line is either parsed or refused with one line that a terminal can show. Words are parted by NUL bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "cli/options/arguments.h"
#include "cli/options/help.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  for (const std::string_view word : hutch::split(input, '\0')) words.emplace_back(word);
  const auto arguments = hutch::cli::parse_arguments(words);
  if (!arguments) {
    const std::string& message = arguments.error().message;
    CHECK(!message.empty());
    for (const char c : message) CHECK(static_cast<unsigned char>(c) >= 0x20);
    return 0;
  }
  if (const auto* run = std::get_if<hutch::service::RunRequest>(&*arguments)) {
    CHECK(run->shell.has_value() != !run->command.empty());
    CHECK(run->control_fd == -1 || run->control_fd >= 3);
  }
  if (const auto* help = std::get_if<hutch::cli::HelpArguments>(&*arguments)) {
    CHECK(!hutch::cli::help_text(help->verb).empty());
  }
  return 0;
}
