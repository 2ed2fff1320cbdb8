// Reads passwd(5) text.
#include "host/machine/account.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/text.h"
#include "sys/files/files.h"

namespace hutch::host {

std::optional<Account> find_account(std::string_view passwd, std::uint32_t uid) {
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() != 7) continue;
    if (decimal_of(fields[2]) != uid) continue;
    return Account{std::string(fields[0]), std::string(fields[5])};
  }
  return std::nullopt;
}

std::optional<OsUser> find_user(std::string_view passwd, std::string_view group, std::string_view name) {
  std::optional<OsUser> user;
  for (const std::string_view line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() != 7 || fields[0] != name) continue;
    const auto uid = decimal_of(fields[2]);
    const auto gid = decimal_of(fields[3]);
    if (!uid || !gid) continue;
    user = OsUser{std::string(name), *uid, {*gid}, std::string(fields[5])};
    break;
  }
  for (const std::string_view line : split(group, '\n')) {
    const auto fields = split(line, ':');
    if (!user || fields.size() != 4) continue;
    const auto members = split(fields[3], ',');
    const auto gid = decimal_of(fields[2]);
    if (gid && std::ranges::find(members, name) != members.end()) user->groups.push_back(*gid);
  }
  return user;
}

Result<std::optional<OsUser>> find_os_user(std::string_view name) {
  static constexpr std::size_t kAccountsMax = 16 << 20;
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountsMax));
  const std::string group = TRY(sys::read_file("/etc/group", kAccountsMax));
  return find_user(passwd, group, name);
}

bool is_plain_user_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '-' && std::ranges::all_of(name, plain);
}

}  // namespace hutch::host
