// How many bytes of memory things take.
#include "server/e2b/costs.h"

namespace hutch::server::e2b {

namespace {

constexpr std::uint64_t kTextCopies = 4;
constexpr std::uint64_t kValueBytes = 192;  // a node of the parser's tree, and one of ours
constexpr std::uint64_t kWordBytes = 64;
constexpr std::uint64_t kWordCopies = 2;  // the process shows its own
constexpr std::uint64_t kEntryBytes = 192;

}  // namespace

std::uint64_t cost_of_text(std::uint64_t bytes) { return bytes * kTextCopies; }

std::uint64_t cost_of_json(std::string_view text) {
  std::uint64_t values = 1;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '[' || c == '{' || c == ',' || c == ':')) {
      ++values;
    }
  }
  return cost_of_text(text.size()) + values * kValueBytes;
}

std::uint64_t cost_of(const FollowedCommand& command) {
  const auto word = [](std::string_view text) { return kWordCopies * (kWordBytes + text.size()); };
  std::uint64_t bytes = word(command.program) + word(command.cwd) + word(command.tag);
  for (const std::string& argument : command.arguments) bytes += word(argument);
  for (const auto& [name, value] : command.variables) bytes += word(name) + word(value);
  return bytes;
}

std::uint64_t cost_of(const wire::FileEntries& listing) {
  std::uint64_t bytes = 0;
  for (const wire::FileEntry& entry : listing.entries) {
    bytes += kEntryBytes + entry.path.size() + entry.stat.target.size();
  }
  return bytes;
}

}  // namespace hutch::server::e2b
