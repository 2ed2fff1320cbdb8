// Checks directories as git does.
#include "guest/git/wall.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/text.h"
#include "plan/git/config.h"
#include "sys/files/beneath.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kSamplesMax = 64;
constexpr std::size_t kNewRepositoryNamesMax = 1024;
constexpr std::uint64_t kHooksBytesMax = 64 << 10;
constexpr int kTakenNamesMax = 16;
constexpr std::size_t kRandomBytes = 8;
constexpr unsigned kOnlyNew = 1;  // RENAME_NOREPLACE of renameat2(2)
constexpr std::array<std::string_view, 4> kParts = {"HEAD", "objects", "refs", "commondir"};

Status held() { return fail(Error::from_errno("the call", EPERM)); }

std::string_view plain_name(const Entry& entry) {
  const std::string_view name = entry.name;
  return name.substr(0, name.find('/'));
}

std::string_view parent_path(std::string_view path) { return path.substr(0, path.rfind('/')); }

// A name that cannot be looked at may exist: a process can close its directory and open it again.
bool may_be_there(int directory, const std::string& name) {
  const auto found = sys::look_at_name(directory, name);
  return found || found.error().sys_errno != ENOENT;
}

plan::GitParts parts_in(int directory, std::string_view prefix) {
  plan::GitParts parts;
  for (const std::string_view name : kParts) {
    if (may_be_there(directory, cat({prefix, name}))) parts = plan::with_part(parts, name);
  }
  return parts;
}

// The file gets a new inode, because a process may have the checked file open.
Status seal_config(const Entry& entry, const std::string& name) {
  const auto found = sys::look_at_name(entry.at(), name);
  if (!found) return found.error().sys_errno == ENOENT ? Status() : held();
  if (!S_ISREG(found->mode)) return held();
  const UniqueFd file = TRY(sys::open_at(entry.at(), name, O_RDONLY, 0));
  const std::string text = TRY(sys::read_at(file.get(), 0, plan::kGitConfigBytesMax + 1));
  if (!plan::is_harmless_git_config(text, parent_path(entry.path))) return held();
  return put_judged(entry.at(), name, text, found->mode & 0777, 0);
}

// More names than the templates of git have are not looked through: another sandbox could act meanwhile.
Status check_hooks(const Entry& entry) {
  const auto found = sys::look_at_name(entry.at(), "hooks");
  if (!found && found.error().sys_errno == ENOENT) return {};
  if (!found || !S_ISDIR(found->mode)) return held();
  const UniqueFd hooks = TRY(sys::open_listing_at(entry.at(), "hooks"));
  // A directory that once had millions of names keeps its blocks on ext4, and the kernel reads all of them.
  if (TRY(sys::file_status(hooks.get(), "")).size > kHooksBytesMax) return held();
  const std::vector<sys::TreeEntry> names = TRY(sys::first_names(hooks.get(), kSamplesMax + 1));
  const auto is_sample = [](const sys::TreeEntry& hook) { return plan::is_sample_hook(hook.name); };
  return names.size() <= kSamplesMax && std::ranges::all_of(names, is_sample) ? Status() : held();
}

// A directory of an object's name, which judge_git_name() refuses in a repository. More names are not looked through.
Status check_object_names(const Entry& entry) {
  const UniqueFd directory = TRY(sys::open_listing_at(entry.at(), "."));
  if (TRY(sys::file_status(directory.get(), "")).size > kHooksBytesMax) return held();
  const std::vector<sys::TreeEntry> names = TRY(sys::first_names(directory.get(), kNewRepositoryNamesMax + 1));
  const auto is_object = [](const sys::TreeEntry& one) { return plan::is_object_name(one.name); };
  return names.size() <= kNewRepositoryNamesMax && std::ranges::none_of(names, is_object) ? Status() : held();
}

Status complete_repository(const Entry& entry, const plan::GitParts& parts) {
  using enum plan::JudgedFile;
  const bool is_worktree = plan::judged_file(cat({parent_path(entry.path), "/commondir"})) == kCommonDirectory;
  if (parts.common_directory && !is_worktree) return held();
  TRY(check_object_names(entry));
  TRY(seal_config(entry, "config"));
  TRY(seal_config(entry, "config.worktree"));
  return check_hooks(entry);
}

}  // namespace

Status judge_git_name(const Entry& entry, MadeOf what) {
  using enum plan::GitName;
  const std::string_view name = plain_name(entry);
  const plan::GitName kind = plan::git_name(name);
  const std::string_view directory = parent_path(entry.path);
  // git writes such a name into "commondir" where the user's references say so, and takes hooks and configuration from
  // the directory of that name.
  if (plan::is_object_name(name)) {
    return directory.ends_with("/.git") || plan::is_git_directory(parts_in(entry.at(), "")) ? held() : Status();
  }
  if (kind == kOther) {
    if (!directory.ends_with("/hooks") || plan::is_sample_hook(name)) return {};
    return plan::is_git_directory(parts_in(entry.at(), "../")) ? held() : Status();
  }
  // In a ".git", rules protect these names before the directory is a repository.
  if (directory.ends_with("/.git")) return {};
  const plan::GitParts parts = parts_in(entry.at(), "");
  const bool is_one = plan::is_git_directory(parts);
  if (kind == kConfig) return is_one ? held() : Status();
  if (kind == kHooks) return is_one && what != MadeOf::kNewDirectory ? held() : Status();
  const plan::GitParts with = plan::with_part(parts, name);
  if (kind == kCommonDirectory && is_one && !parts.common_directory) return held();
  return is_one || !plan::is_git_directory(with) ? Status() : complete_repository(entry, with);
}

Status judge_hooks_outside(int directory, std::string_view path, std::string_view name) {
  name = name.substr(0, name.find('/'));
  if (!path.ends_with("/hooks") || plan::is_sample_hook(name)) return {};
  return plan::is_git_directory(parts_in(directory, "../")) ? held() : Status();
}

bool is_repository(const Entry& entry) {
  return plan::git_name(plain_name(entry)) != plan::GitName::kOther && plan::is_git_directory(parts_in(entry.at(), ""));
}

Status judge_made_git_name(const Entry& entry, const MadeName& made) {
  using enum plan::GitName;
  const plan::GitName kind = plan::git_name(plain_name(entry));
  if (kind != kPart && kind != kCommonDirectory) return judge_git_name(entry, made.what);
  if (made.was_repository || parent_path(entry.path).ends_with("/.git")) return {};
  const plan::GitParts parts = parts_in(entry.at(), "");
  return plan::is_git_directory(parts) ? complete_repository(entry, parts) : Status();
}

// Another sandbox may have put something into the directory, so that it cannot be removed, and may have taken a name.
void take_back(const Entry& entry) {
  const std::string name(plain_name(entry));
  if (sys::unlink_with(entry.at(), name, 0) || sys::unlink_with(entry.at(), name, AT_REMOVEDIR)) return;
  for (int tries = 0; tries < kTakenNamesMax; ++tries) {
    const auto random = sys::random_hex(kRandomBytes);
    if (!random) return;
    const std::string other = cat({plan::kOwnNameStart, *random});
    const Status moved = sys::rename_with(entry.at(), name, entry.at(), other, kOnlyNew);
    if (moved || moved.error().sys_errno != EEXIST) return;
  }
}

bool is_part(const Entry& entry) { return plan::git_name(plain_name(entry)) == plan::GitName::kPart; }

bool is_kept_part(const Entry& entry) {
  if (!is_part(entry)) return false;
  if (!parent_path(entry.path).ends_with("/.git")) return false;
  // Names that are protected since the start are mounts.
  const auto is_mounted = [&](const char* name) {
    const auto found = sys::look_at_name(entry.at(), name);
    return found && found->mount != entry.directory->twin.mount;
  };
  return is_mounted("config") || is_mounted("hooks");
}

bool moves_worktrees(const Entry& from, const std::string& to) {
  if (plan::takes_worktrees_away(from.path, to)) return true;
  if (!from.path.ends_with("/.git") || to.ends_with("/.git")) return false;
  return std::ranges::any_of(std::array{"worktrees", "modules"},
                             [&](const char* name) { return may_be_there(from.at(), cat({from.name, "/", name})); });
}

bool is_config_of_repository(const Entry& entry) {
  return plan::git_name(plain_name(entry)) == plan::GitName::kConfig &&
         plan::is_git_directory(parts_in(entry.at(), ""));
}

Status put_judged(int directory, const std::string& name, std::string_view text, mode_t mode, unsigned flags) {
  // A killed supervisor may have left this file.
  (void)sys::unlink_with(directory, kUnderwayName, 0);
  const UniqueFd own = TRY(sys::open_at(directory, kUnderwayName, O_WRONLY | O_CREAT | O_EXCL, mode));
  Status moved = sys::write_all(own.get(), text);
  if (moved) moved = sys::rename_with(directory, kUnderwayName, directory, name, flags);
  if (!moved) (void)sys::unlink_with(directory, kUnderwayName, 0);
  return moved;
}

}  // namespace hutch::guest
