// Which OS users a person may run sandboxes as.
#include "host/machine/people.h"

#include "base/decimal.h"
#include "base/text.h"
#include "host/machine/account.h"
#include "plan/setup/os_user.h"
#include "plan/setup/os_user_numbers.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::host {

namespace {

constexpr std::size_t kAccountBytesMax = 16 << 20;
constexpr unsigned kOthersWrite = 0022;
constexpr unsigned kSticky = 01000;
constexpr std::size_t kEntryMax = 4096;

Result<std::string> person_in(const std::string& entry) {
  const std::string text = TRY(sys::read_file(entry, kEntryMax));
  return text.substr(0, text.find('\n'));
}

// Root's word about somebody who is called as that person is.
Result<bool> is_said_of(std::uint32_t person, const std::string& file) {
  if (!TRY(sys::status_of(file))) return false;
  TRY(check_is_roots(file));
  const std::string called = TRY(person_name(person));
  const std::string meant = TRY(person_in(file));
  return meant == called;
}

}  // namespace

Result<bool> may_become(std::uint32_t person, const std::string& user) {
  if (!is_plain_user_name(user) || user.starts_with('.')) return false;
  return is_said_of(person, plan::people_entry(person, user));
}

Result<bool> may_have_agents_users(std::uint32_t person) { return is_said_of(person, plan::agents_grant(person)); }

Status check_is_no_daemon(const OsUser& user) {
  const auto marker = TRY(sys::status_of(plan::daemon_marker(user.uid)));
  const auto unit = TRY(sys::status_of(plan::service_unit_file(user.name)));
  const auto files = TRY(sys::status_of(plan::daemon_files(user.name)));
  if (!marker && !unit && (!files || files->uid == 0)) return {};
  return fail({Code::kConflict, 0,
               cat({"hutch's daemon is the user ", user.name,
                    ", and what is the same user would have all that is the daemon's: give the agent a user of its own "
                    "(--agent NAME), or take that daemon away (hutch service deinit)"})});
}

Status check_is_no_person(const OsUser& user) {
  if (user.home == plan::os_user_home(user.name)) return {};
  const plan::NumberRange people =
      plan::people_numbers(sys::read_file("/etc/login.defs", kAccountBytesMax).value_or(""));
  if (user.uid < people.first || user.uid > people.last) return {};
  return fail({Code::kConflict, 0,
               cat({"the user ", printable(user.name), " of this machine is a person, with the home ",
                    printable(user.home), ": what is that user has all that is theirs, and is no agent"})});
}

// The directory of a process in /proc is its effective user's, be it readable or not (proc(5)).
Status check_is_at_rest(const OsUser& user, std::string_view why) {
  for (const sys::DirectoryEntry& entry : TRY(sys::list_directory("/proc", sys::Listing::kAll))) {
    if (!decimal_of(entry.name)) continue;
    const auto status = sys::status_of(cat({"/proc/", entry.name}));
    if (!status || !*status || (*status)->uid != user.uid) continue;
    return fail({Code::kConflict, 0, cat({"process ", entry.name, " runs as ", user.name, ", ", why})});
  }
  return {};
}

Result<std::optional<std::uint32_t>> person_who_may_become(std::string_view person, const std::string& user) {
  const std::string people = cat({plan::kHelperPlace, "/people"});
  if (!sys::exists(people)) return std::optional<std::uint32_t>();
  for (const sys::DirectoryEntry& entry : TRY(sys::list_directory(people, sys::Listing::kAll))) {
    const auto number = decimal_of(entry.name);
    const std::string file = number ? plan::people_entry(*number, user) : std::string();
    if (!sys::exists(file)) continue;
    const std::string called = TRY(person_in(file));
    if (called == person || called == plan::leaving_person(person)) return number;
  }
  return std::optional<std::uint32_t>();
}

Result<std::string> person_name(std::uint32_t person) {
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountBytesMax));
  const auto account = find_account(passwd, person);
  return account && is_plain_user_name(account->name) ? account->name : std::to_string(person);
}

Result<std::vector<OsUser>> agents_users() {
  std::vector<OsUser> users;
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kAccountBytesMax));
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
