// Whose account this is, from the text of /etc/passwd: a static program must not load NSS modules (getpwuid(3)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::host {

struct Account {
  std::string name;
  std::string home;
};

// The first line of passwd(5) text for `uid`; lines that are not well formed are passed over.
std::optional<Account> find_account(std::string_view passwd, std::uint32_t uid);

// An account by its name, with every group that it is in (passwd(5), group(5)).
struct OsUser {
  std::string name;
  std::uint32_t uid = 0;
  std::vector<std::uint32_t> groups;
  std::string home;
};
std::optional<OsUser> find_user(std::string_view passwd, std::string_view group, std::string_view name);

// The same on this machine; absent where it has no such user.
Result<std::optional<OsUser>> find_os_user(std::string_view name);

// Whether `name` can stand in an environment and in a message: letters, digits, "_", "-" and ".".
bool is_plain_user_name(std::string_view name);

}  // namespace hutch::host
