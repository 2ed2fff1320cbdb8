// Which repositories of git sandboxes have made, from one sandbox to the next.
#include "service/common/sandbox_repositories.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/sha256.h"
#include "base/text.h"
#include "host/state_dirs.h"
#include "plan/git/config.h"
#include "plan/git/files.h"
#include "plan/git/known_commits.h"
#include "sys/files/beneath.h"
#include "sys/files/birth.h"
#include "sys/files/create.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

constexpr std::size_t kSamplesMax = 64;
constexpr std::size_t kKeptMax = 4096;

// What makes a repository the user's if it changes; absent if it can be no sandbox's: a setting is one that no sandbox
// writes, a hook is there, or a file is larger than hutch judges.
std::optional<std::string> configured(const std::string& directory) {
  Sha256 sum;
  for (const std::string_view name : {"config", "config.worktree", "commondir"}) {
    const auto text = sys::regular_file_text(cat({directory, "/", name}), plan::kGitConfigBytesMax);
    if (!text && text.error().sys_errno != ENOENT) return std::nullopt;
    const bool is_config = name != "commondir";
    if (text && is_config && !plan::is_harmless_git_config(*text, directory)) return std::nullopt;
    sum.add(name);
    sum.add(text ? cat({" ", std::to_string(text->size()), " ", *text}) : std::string("-"));
  }
  const std::string hooks = cat({directory, "/hooks"});
  const auto opened = sys::open_listing(hooks);
  if (!opened && opened.error().sys_errno != ENOENT) return std::nullopt;
  const auto names = opened ? sys::first_names(opened->get(), kSamplesMax + 1) : Result<std::vector<sys::TreeEntry>>();
  if (!names || names->size() > kSamplesMax) return std::nullopt;
  const auto is_sample = [](const sys::TreeEntry& hook) { return plan::is_sample_hook(hook.name); };
  if (!std::ranges::all_of(*names, is_sample)) return std::nullopt;
  return sum.finish();
}

// They are of repositories that are gone, mostly; one that is left is the user's by that.
void drop_oldest(int place, const std::vector<sys::TreeEntry>& names) {
  std::vector<std::pair<std::int64_t, std::string>> by_time;
  for (const sys::TreeEntry& name : names) {
    const auto status = sys::file_status(place, name.name);
    by_time.emplace_back(status ? status->modified_ns : 0, name.name);
  }
  std::ranges::sort(by_time);
  by_time.resize(by_time.size() / 2);
  for (const auto& [time, name] : by_time) (void)sys::unlink_at(place, name);
}

bool has_names(const std::string& place) {
  const auto opened = sys::open_listing(place);
  const auto names = opened ? sys::first_names(opened->get(), 1) : Result<std::vector<sys::TreeEntry>>();
  return names && !names->empty();
}

}  // namespace

std::optional<plan::RepositoryIdentity> repository_identity(const std::string& directory) {
  const auto opened = sys::open_exact(directory);
  const auto what = opened ? sys::look_at(opened->get()) : Result<sys::Resolved>(sys::Resolved());
  const auto born_ns = opened ? sys::birth_ns(opened->get(), ".") : Result<std::int64_t>(0);
  if (!opened || !what || !born_ns || *born_ns == 0) return std::nullopt;
  return plan::RepositoryIdentity{what->device, what->inode, *born_ns};
}

SandboxRepositories::SandboxRepositories(const std::string& data)
    : data_(data), place_(cat({data, "/git-made"})), has_any_(has_names(place_)) {}

std::string SandboxRepositories::file_of(const plan::RepositoryIdentity& identity) const {
  return cat({place_, "/", plan::known_commits_file(identity.device, identity.inode, identity.born_ns)});
}

bool SandboxRepositories::take(const std::string& directory) {
  const auto identity = has_any_ ? repository_identity(directory) : std::nullopt;
  if (!identity) return false;
  static constexpr std::size_t kSumMax = 128;
  const auto kept = sys::regular_file_text(file_of(*identity), kSumMax);
  if (!kept || configured(directory) != *kept) return false;
  const auto is_it = [&](const MadeRepository& one) { return one.directory == directory; };
  if (std::ranges::none_of(taken_, is_it)) taken_.push_back({directory, *identity});
  return true;
}

std::vector<plan::RepositoryIdentity> SandboxRepositories::identities() const {
  std::vector<plan::RepositoryIdentity> found;
  for (const MadeRepository& one : taken_) found.push_back(one.identity);
  return found;
}

void SandboxRepositories::keep(const MadeRepository& repository) {
  const std::string file = file_of(repository.identity);
  const auto state = repository_identity(repository.directory) == repository.identity ? configured(repository.directory)
                                                                                      : std::nullopt;
  if (!state) {
    (void)sys::unlink_at(sys::kCwd, file);
    return;
  }
  const auto kept = sys::regular_file_text(file, state->size());
  if (kept && *kept == *state) return;
  if (!sys::make_private_directories(place_)) return;
  const auto opened = sys::open_listing(place_);
  const auto names = opened ? sys::first_names(opened->get(), kKeptMax) : Result<std::vector<sys::TreeEntry>>();
  if (!names) return;
  if (names->size() == kKeptMax) drop_oldest(opened->get(), *names);
  // A part of it is no state of any repository's.
  const auto journal = sys::open_journal(file);
  if (journal && sys::set_size(journal->get(), 0)) (void)sys::append(journal->get(), *state);
}

Result<SandboxRepositories> sandbox_repositories(const plan::HostFacts& facts) {
  return SandboxRepositories(TRY(host::own_state_dirs(facts.uid, facts.home)).data);
}

}  // namespace hutch::service
