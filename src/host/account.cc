// Reads passwd(5) text.
#include "host/account.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace hutch::host {

std::optional<Account> find_account(std::string_view passwd, std::uint32_t uid) {
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() != 7) continue;
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), number);
    if (error != std::errc() || end != fields[2].data() + fields[2].size() || number != uid) continue;
    return Account{std::string(fields[0]), std::string(fields[5])};
  }
  return std::nullopt;
}

bool is_plain_user_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '-' && std::ranges::all_of(name, plain);
}

}  // namespace hutch::host
