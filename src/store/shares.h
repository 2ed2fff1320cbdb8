// What is shared with agents' OS users: the trees, the directories that were opened on the way to them, the lists that
// files had before, and the copies, in a database of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/setup/sharing.h"
#include "store/database.h"

namespace hutch::store {

enum class ShareState {
  kPreparing,  // no file was changed yet
  kSharing,    // some may be
  kShared,
  kEnding,  // some may be again what they were
};
std::string_view name_of(ShareState state);  // "preparing", ...

struct Share {
  std::int64_t id = 0;
  std::string path{};  // canonical
  std::string user{};  // the OS user's name when the share was made
  std::uint32_t agent = 0;  // its id
  std::uint32_t owner = 0;  // of the path
  plan::ShareMode mode = plan::ShareMode::kReadOnly;
  ShareState state = ShareState::kPreparing;
  std::string since{};  // format_time
  // What is shared is that file, wherever its name is; 0: not known.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;  // likewise
};

// A file's lists as they were before the first share that touched it.
struct OriginalLists {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string path{};  // where it was
  plan::AclBefore lists{};
  bool is_linked = false;  // it had several names
  bool is_grouped = false;  // its group was one of agents' already
};

// A directory above a share that its agent was let through.
struct OpenedDirectory {
  std::string path{};
  std::uint32_t agent = 0;
  plan::Acl before{};  // without what sharing gave; empty: it had none
};

// Files of somebody's in the home of an agent's OS user, as they were when they were copied.
struct Copy {
  std::int64_t id = 0;
  std::string source{};  // canonical
  std::string user{};    // the OS user's name when it was made
  std::uint32_t agent = 0;
  std::string home{};  // likewise
  std::string into{};  // below the home
  std::string temporary{};  // its name in the home until it was whole
  enum class State { kCopying, kCopied } state = State::kCopying;
  std::string since{};  // format_time
};

// The registry, held by this process alone until it goes.
class Shares {
 public:
  // Makes it where there is none. While another process holds it: Code::kConflict.
  static Result<Shares> open(const std::string& data);

  Result<std::vector<Share>> list();
  Result<std::int64_t> add(const Share& share);
  Status update(std::int64_t id, plan::ShareMode mode, ShareState state);
  Status set_root(const Share& share);  // its device, inode and time of birth
  // What is known of files at its path, by another number of their file system.
  Status renumber(const Share& share, std::uint64_t device);
  Status remove(std::int64_t id);

  // All of them or none. What is known of a file already stays.
  Status remember(const std::vector<OriginalLists>& files);
  Result<std::vector<OriginalLists>> originals();
  Status forget(const std::vector<OriginalLists>& files);

  Status add_opened(const OpenedDirectory& directory);
  Result<std::vector<OpenedDirectory>> opened();  // in the order in which they were
  Status remove_opened(const OpenedDirectory& directory);

  Result<std::vector<Copy>> copies();
  Result<std::int64_t> add_copy(const Copy& copy);
  Status finish_copy(std::int64_t id);
  Status remove_copy(std::int64_t id);

 private:
  Shares(UniqueFd lock, Database database) : lock_(std::move(lock)), database_(std::move(database)) {}

  UniqueFd lock_;
  Database database_;
};

}  // namespace hutch::store
