// Shares a tree of one's own with an agent's OS user, and takes it back: hutch share, shared, unshare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/machine/account.h"
#include "host/state_dirs.h"
#include "plan/setup/sharing.h"
#include "store/shares.h"

namespace hutch::service {

struct ShareRequest {
  std::string path;  // as typed
  host::OsUser user;
  plan::ShareMode mode = plan::ShareMode::kReadWrite;
};

// Who is doing it, and what is not to be shared.
struct Sharer {
  std::uint32_t uid = 0;
  std::vector<std::uint32_t> groups{};
  unsigned umask = 0;
  std::string home;  // canonical
  host::StateDirs dirs;
};

struct ShareVoice {
  // Whether the user may pass through these directories, outermost first. An error ends it with nothing done.
  std::function<Status(const std::vector<std::string>& directories)> consent;
  std::function<void(std::size_t done, std::size_t total)> progress;  // `total` 0: not known yet
};

struct ShareReport {
  store::Share share;
  std::size_t files = 0;    // files and directories that were looked at
  std::size_t changed = 0;  // of these
  std::vector<std::string> opened{};     // directories above it that the agent was let through, or no longer is
  std::size_t linked = 0;      // files with names outside of it: for reading alone
  std::size_t elsewhere = 0;   // what is mounted in it, left out
  std::size_t unreadable = 0;  // directories that its owner may not list, left out
  std::size_t moved_links = 0;  // files with several names that have none in it any more
  std::size_t open_links = 0;  // files that have got names outside of it, by which their modes let the agent in
  std::size_t of_others = 0;   // files of others in which the agent keeps an entry
  bool gone = false;           // nothing is at that path any more, or something else
  std::vector<std::string> left{};  // directories where an agent may have hidden something from who takes it back
  bool is_settled = true;           // an agent moved nothing while it was taken back
  std::vector<std::string> covered{};  // places where an agent has mounted something over what was shared
  bool is_over() const { return !gone && left.empty() && covered.empty() && is_settled; }
};

// Nobody else may do more than before. Of a share that is there already the mode changes, and what was moved into it is
// included. Errors, with nothing done: a path that is not there; "/", the home itself, hutch's own files, and what they
// are in; a file system without access control lists; files of others that the agent cannot use; no consent to open a
// directory on the way.
Result<ShareReport> share(const ShareRequest& request, const Sharer& sharer, const ShareVoice& voice);

// What is known of files that are not at their path any more, or may be where nobody can look.
enum class Gone { kKept, kForgotten };

// Restores what sharing found: access control lists, the directories on the way. Where another share gives something
// too, that stays. What the agent made remains its own, and its owner's to use. Code::kNotFound for what is not shared;
// Code::kConflict, with the share known still, where the agent may have kept something: what was shared is not at that
// path, or not all of it could be looked at; unless that is to be forgotten. `user` is an OS user's name, who need not
// be there any more; empty: of all.
Result<std::vector<ShareReport>> end_share(const std::string& path, const std::string& user, Gone gone,
                                           const Sharer& sharer, const ShareVoice& voice);

// All that the sharer shared with that user, by number: before the user goes. What is not over stays known.
Result<std::vector<ShareReport>> end_shares_with(const host::OsUser& user, const Sharer& sharer,
                                                 const ShareVoice& voice);

// What is never given to an agent: "/", the home itself, hutch's own files, and what they are in. `path` is canonical.
Status check_place(const std::string& path, const host::OsUser& user, const Sharer& sharer);

Result<std::vector<store::Share>> list_shares(const Sharer& sharer);

// The commands of acl(5)'s own tools that grant what `share` grants, one line each, for who wants to see or type them.
Result<std::vector<std::string>> share_commands(const ShareRequest& request, const Sharer& sharer);

}  // namespace hutch::service
