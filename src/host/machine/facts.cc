// The probes behind HostFacts.
#include "host/machine/facts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "host/machine/account.h"
#include "host/machine/cgroups.h"
#include "host/reach.h"
#include "host/state_dirs.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "sys/process/host_info.h"
#include "sys/process/lockdown.h"
#include "sys/process/readiness.h"
#include "sys/process/rlimits.h"

namespace hutch::host {

namespace {

constexpr std::size_t kPasswdBytesMax = 16 << 20;

Result<std::optional<Account>> own_account(std::uint32_t uid);
Status add_account(plan::HostFacts& facts);
Result<std::string> usable_home(const std::optional<Account>& account);
Result<std::vector<plan::RootEntry>> root_entries();
Result<std::vector<std::string>> proc_names();
Result<std::vector<std::string>> store_dirs(const plan::HostFacts& facts);
Status add_counts(plan::HostFacts& facts);
std::string hidden_file(const StateDirs& dirs);
plan::FileType file_type(sys::EntryType type);

bool is_beyond_this_user(const Error& error) {
  static constexpr std::array kRefusals = {EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG};
  return std::ranges::find(kRefusals, error.sys_errno) != kRefusals.end();
}

}  // namespace

Result<plan::HostFacts> probe_facts() {
  plan::HostFacts facts;
  facts.uid = sys::user_id();
  facts.gid = sys::group_id();
  TRY_CTX(add_account(facts), "find the home directory");
  facts.cwd = TRY_CTX(sys::working_directory(), "find the current directory");
  sys::SystemName system = TRY(sys::system_name());
  facts.architecture = std::move(system.machine);
  facts.kernel = std::move(system.kernel);
  facts.root = TRY_CTX(root_entries(), "look at /");
  // Their mode holds everybody else off.
  if (facts.uid == 0) facts.proc_names = TRY_CTX(proc_names(), "look at /proc");
  facts.landlock_abi = TRY(sys::landlock_abi());
  TRY_CTX(add_counts(facts), "look at limits");
  facts.store_dirs = TRY_CTX(store_dirs(facts), "find hutch's own directories");
  return facts;
}

Status hide_own_file(const StateDirs& dirs, const std::string& path) {
  return sys::replace_file(hidden_file(dirs), path);
}

Status make_store_directories(const plan::HostFacts& facts) {
  for (const std::string& directory : facts.store_dirs) {
    if (sys::exists(directory)) continue;
    Status made = sys::make_private_directories(directory);
    if (!made && !is_beyond_this_user(made.error())) TRY_CTX(std::move(made), "make hutch's own directory");
  }
  return {};
}

void add_cgroup_facts(plan::HostFacts& facts) {
  const CgroupPlace place = find_cgroup_place(facts.uid);
  facts.cgroup = place.kind;
  facts.cgroup_note = place.note;
}

Result<std::string> home_directory() { return usable_home(TRY(own_account(sys::user_id()))); }

namespace {

Result<std::optional<Account>> own_account(std::uint32_t uid) {
  const Result<std::string> passwd = sys::read_file("/etc/passwd", kPasswdBytesMax);
  if (passwd) return find_account(*passwd, uid);
  if (is_out_of_reach(passwd.error())) return std::nullopt;
  return fail(passwd.error());
}

Status add_account(plan::HostFacts& facts) {
  const std::optional<Account> account = TRY(own_account(facts.uid));
  facts.user = std::to_string(facts.uid);
  if (account && is_plain_user_name(account->name)) {
    facts.user = account->name;
  } else if (const auto user = sys::environment_variable("USER"); user && is_plain_user_name(*user)) {
    facts.user = *user;  // an account of LDAP and its like is not in the file
  }
  facts.home = TRY(usable_home(account));
  return {};
}

// What the shell calls home comes first: that is where this person's files are. A home of "/" is no home (system
// accounts have it): hiding it would hide everything.
Result<std::string> usable_home(const std::optional<Account>& account) {
  std::vector<std::string> candidates;
  if (auto variable = sys::environment_variable("HOME")) candidates.push_back(std::move(*variable));
  if (account) candidates.push_back(account->home);
  for (const std::string& candidate : candidates) {
    if (!candidate.starts_with('/')) continue;
    Result<std::string> canonical = sys::canonical_path(candidate);
    if (!canonical && !is_out_of_reach(canonical.error())) return fail(std::move(canonical).error());
    if (canonical && *canonical != "/") return canonical;
  }
  return "/nonexistent";
}

Result<std::vector<plan::RootEntry>> root_entries() {
  std::vector<plan::RootEntry> entries;
  for (sys::DirectoryEntry& entry : TRY(sys::list_directory("/", sys::Listing::kAll))) {
    plan::RootEntry found = {.name = std::move(entry.name), .type = file_type(entry.type), .link = {}};
    if (found.type == plan::FileType::kSymlink) {
      Result<std::string> link = sys::read_link("/" + found.name);
      if (!link && link.error().code == Code::kNotFound) continue;  // it went between the two calls
      if (!link) return fail(std::move(link).error());
      found.link = std::move(*link);
    }
    entries.push_back(std::move(found));
  }
  return entries;
}

Result<std::vector<std::string>> proc_names() {
  std::vector<std::string> names;
  for (sys::DirectoryEntry& entry : TRY(sys::list_directory("/proc", sys::Listing::kStopAtNumbers))) {
    names.push_back(std::move(entry.name));
  }
  return names;
}

Status add_counts(plan::HostFacts& facts) {
  static constexpr std::size_t kNumberBytesMax = 32;
  for (int resource = 0; resource < plan::kResources; ++resource) {
    const sys::ProcessLimit limit = TRY(sys::limit_of(resource));
    const bool raised = resource == plan::kOpenFilesResource;
    facts.process_limits.push_back({resource, raised ? sys::usual_descriptor_limit() : limit.soft, limit.hard});
  }
  for (const std::string_view name : plan::kUserCounts) {
    const auto text = sys::read_file(cat({"/proc/sys/user/", name}), kNumberBytesMax);
    std::uint64_t most = 0;
    // A kernel without the file has no such count.
    if (!text || std::from_chars(text->data(), text->data() + text->size(), most).ec != std::errc()) continue;
    facts.user_counts.push_back({std::string(name), most});
  }
  facts.memory_bytes = sys::memory_of_machine();
  return {};
}

// Holds the path that hide_own_file() was told, so that every process of this user's that starts sandboxes reads it.
std::string hidden_file(const StateDirs& dirs) { return cat({dirs.runtime, "/hidden"}); }

// As typed and, where it exists and is reached by a symlink, canonical too: both names must lead nowhere.
Result<std::vector<std::string>> store_dirs(const plan::HostFacts& facts) {
  const StateDirs dirs = TRY(own_state_dirs(facts.uid, facts.home));
  std::vector<std::string> found;
  std::vector<std::string> places = {dirs.config, dirs.data, dirs.runtime};
  Result<std::string> hidden = sys::read_file(hidden_file(dirs), limits::kPathBytesMax);
  if (!hidden && !is_out_of_reach(hidden.error())) return fail(std::move(hidden).error());
  if (hidden && !hidden->empty()) places.push_back(std::move(*hidden));
  for (const std::string& dir : places) {
    found.push_back(dir);
    Result<std::string> canonical = sys::canonical_path(dir);
    if (!canonical && !is_out_of_reach(canonical.error())) return fail(std::move(canonical).error());
    if (canonical && *canonical != dir) found.push_back(std::move(*canonical));
  }
  return found;
}

plan::FileType file_type(sys::EntryType type) {
  switch (type) {
    case sys::EntryType::kFile: return plan::FileType::kFile;
    case sys::EntryType::kDirectory: return plan::FileType::kDirectory;
    case sys::EntryType::kSymlink: return plan::FileType::kSymlink;
    case sys::EntryType::kOther: return plan::FileType::kOther;
  }
  return plan::FileType::kOther;
}

}  // namespace

}  // namespace hutch::host
