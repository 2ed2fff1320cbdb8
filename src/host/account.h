// Whose account this is, from the text of /etc/passwd: a static program must not load NSS modules (getpwuid(3)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hutch::host {

struct Account {
  std::string name;
  std::string home;
};

// The first line of passwd(5) text for `uid`; lines that are not well formed are passed over.
std::optional<Account> find_account(std::string_view passwd, std::uint32_t uid);

// Whether `name` can stand in an environment and in a message: letters, digits, "_", "-" and ".".
bool is_plain_user_name(std::string_view name);

}  // namespace hutch::host
