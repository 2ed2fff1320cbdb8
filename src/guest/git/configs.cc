// Judges and replaces configurations of repositories that are not the sandbox's.
#include "guest/git/configs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "guest/git/wall.h"
#include "plan/git/config.h"
#include "plan/git/config_change.h"
#include "sys/files/beneath.h"
#include "sys/files/tree.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

constexpr mode_t kConfigMode = 0644;

struct ConfigText {
  std::string text;
  mode_t mode = kConfigMode;
};

// An absent file has no settings.
Result<ConfigText> config_text(const Entry& entry, const std::string& name) {
  const auto there = sys::look_at_name(entry.at(), name);
  if (!there && there.error().sys_errno == ENOENT) return ConfigText();
  if (!there || !S_ISREG(there->mode)) return fail(Error::from_errno("the call", EPERM));
  const UniqueFd file = TRY(sys::open_at(entry.at(), name, O_RDONLY | O_NONBLOCK, 0));
  if (!S_ISREG(TRY(sys::look_at(file.get())).mode)) return fail(Error::from_errno("the call", EPERM));
  return ConfigText{TRY(sys::read_at(file.get(), 0, plan::kGitConfigChangeBytesMax + 1)), there->mode & 0777};
}

// What git reads of each work tree once extensions.worktreeConfig is set (git-worktree(1)). A sandbox without a
// supervisor could have left one that names a program, while git did not read it.
plan::WorktreeConfigs worktree_configs(const Entry& config, std::string_view of_main_tree) {
  using enum plan::WorktreeConfigs;
  if (config.name != "config" || !plan::is_harmless_git_config(of_main_tree)) return kUnknown;
  const auto listing = sys::open_listing_at(config.at(), "worktrees");
  if (!listing) return listing.error().sys_errno == ENOENT ? kHarmless : kUnknown;
  const auto worktrees = sys::names_in(listing->get(), "worktrees");
  if (!worktrees) return kUnknown;
  const auto is_harmless = [&](const sys::TreeEntry& worktree) {
    const auto found = config_text(config, cat({"worktrees/", worktree.name, "/config.worktree"}));
    return found && plan::is_harmless_worktree_config(found->text);
  };
  return std::ranges::all_of(*worktrees, is_harmless) ? kHarmless : kUnknown;
}

}  // namespace

Result<std::optional<std::string>> GitConfigs::replace(const Entry& from, const Entry& to, Repository repository,
                                                       const std::function<void()>& tell) {
  // From here on only this copy counts: other processes may have the lock open.
  const ConfigText written = TRY(config_text(from, from.name));
  ConfigText present = TRY(config_text(to, to.name));
  const ConfigText beside = TRY(config_text(to, to.name == "config" ? "config.worktree" : "config"));
  const std::string before = present.text;
  Known& one = known(to.path, std::move(present.text));
  auto held = plan::held_git_config_change(one.before, written.text, beside.text);
  if (held == plan::kWorktreeConfigSetting && repository == Repository::kOwn) {
    held = plan::held_git_config_change(one.before, written.text, beside.text, worktree_configs(to, beside.text));
  }
  if (held) return held;
  if (plan::is_told_git_config_change(before, written.text)) tell();
  TRY(put_judged(to.at(), to.name, written.text, present.mode, 0));
  one.made = written.text;
  TRY(sys::unlink_with(from.at(), from.name, 0));
  return std::optional<std::string>();
}

Status GitConfigs::keep_lock(const UniqueFd& made) {
  const sys::Resolved what = TRY(sys::look_at(made.get()));
  std::erase_if(locks_, [](const Lock& lock) {
    const auto now = sys::look_at(lock.file.get());
    return now && now->links == 0;
  });
  if (locks_.size() == kKnownMax) locks_.erase(locks_.begin());
  UniqueFd file = TRY(sys::duplicate(made.get()));
  locks_.push_back({std::move(file), what});
  return {};
}

bool GitConfigs::is_own_lock(const sys::Resolved& what) const {
  return std::ranges::any_of(locks_, [&](const Lock& lock) { return lock.what.is_same(what); });
}

GitConfigs::Known& GitConfigs::known(const std::string& path, std::string present) {
  const auto found = std::ranges::find(known_, path, &Known::path);
  if (found != known_.end() && found->made == present) return *found;
  if (found != known_.end()) known_.erase(found);
  if (known_.size() == kKnownMax) known_.erase(known_.begin());
  return known_.emplace_back(Known{path, present, present});
}

}  // namespace hutch::guest
