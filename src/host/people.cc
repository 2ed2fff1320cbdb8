// Which OS users a person may run sandboxes as.
#include "host/people.h"

#include "base/text.h"
#include "host/account.h"
#include "plan/os_user.h"
#include "sys/files.h"
#include "sys/tree.h"

namespace hutch::host {

namespace {

constexpr std::size_t kAccountsMax = 16 << 20;
constexpr unsigned kOthersWrite = 0022;
constexpr unsigned kSticky = 01000;

}  // namespace

Result<bool> may_become(std::uint32_t person, const std::string& user) {
  if (!is_plain_user_name(user) || user.starts_with('.')) return false;
  const std::string entry = plan::people_entry(person, user);
  if (!TRY(sys::status_of(entry))) return false;
  TRY(check_is_roots(entry));
  return true;
}

Result<std::string> person_name(std::uint32_t person) {
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountsMax));
  const auto account = find_account(passwd, person);
  return account && is_plain_user_name(account->name) ? account->name : std::to_string(person);
}

Result<std::vector<OsUser>> agents_users() {
  std::vector<OsUser> users;
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountsMax));
  for (const std::string_view line : split(passwd, '\n')) {
    const std::string_view name = line.substr(0, line.find(':'));
    auto user = plan::is_os_user_name(name) ? find_user(passwd, "", name) : std::nullopt;
    if (user && user->uid != 0 && user->home == plan::os_user_home(name)) users.push_back(std::move(*user));
  }
  return users;
}

Status check_is_roots(const std::string& path) {
  for (std::string at = path; !at.empty(); at = at.substr(0, at.rfind('/'))) {
    const auto status = TRY(sys::status_of(at));
    const bool is_last = at == path;
    const bool fits = status && status->kind == (is_last ? sys::EntryKind::kFile : sys::EntryKind::kDirectory);
    // In a sticky directory nobody else renames or removes what is root's (path_resolution(7)).
    const bool open = fits && (status->mode & kOthersWrite) != 0 && (is_last || (status->mode & kSticky) == 0);
    if (fits && status->uid == 0 && !open) continue;
    return fail(
        {Code::kPermissionDenied, 0,
         cat({printable(at), " is not root's alone: its owner has to be root, and nobody else may change it"})});
  }
  return {};
}

}  // namespace hutch::host
