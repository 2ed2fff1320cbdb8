// Moves what a command left in a repository to where git does not find it.
#include "service/git/aside.h"

#include <chrono>
#include <string_view>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

// A command chooses a name of up to 255 bytes (NAME_MAX), and what hutch adds needs some.
constexpr std::size_t kNameBytesMax = 160;
constexpr std::size_t kAsideRandomBytes = 8;
constexpr int kAttempts = 3;

// While this exists, the owner of `directory` may change the names in it: a command could have made it read-only.
class Writable {
 public:
  explicit Writable(int directory) : directory_(directory) {
    static constexpr std::uint32_t kWriteAndSearch = 0300;
    const auto status = sys::file_status(directory, "");
    if (!status || status->owner != sys::user_id()) return;
    if ((status->mode & kWriteAndSearch) == kWriteAndSearch) return;
    mode_ = status->mode;
    is_changed_ = sys::set_directory_mode(directory, mode_ | kWriteAndSearch).has_value();
  }
  ~Writable() {
    if (is_changed_) (void)sys::set_directory_mode(directory_, mode_);
  }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

 private:
  const int directory_;
  std::uint32_t mode_ = 0;
  bool is_changed_ = false;
};

// The moment, then random texts: a command can have taken the names of many moments.
std::string name_part(int attempt) {
  if (attempt > 0) return sys::random_hex(kAsideRandomBytes).value_or(std::to_string(attempt));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Replaces nothing. Not every file system can do both at once (RENAME_NOREPLACE).
bool move_to_free(int from, const std::string& name, int to, const std::string& new_name) {
  const auto there = sys::status_at(to, new_name);
  return there && !*there && sys::rename_at(from, name, to, new_name, sys::Replacing::kAllowed).has_value();
}

// Moves `path` by the descriptor of its directory: this sandbox, if it continues, or another one could put a link on
// the way there, and the link's target is the user's. Empty: `path` was not moved.
std::string move_aside(const std::string& path, const std::string& quarantine) {
  const std::string above = path.substr(0, path.rfind('/'));
  const std::string name = path.substr(above.size() + 1);
  const std::string start = name.substr(0, kNameBytesMax);
  const auto directory = sys::open_exact(above);
  if (!directory) return {};
  const Writable writable(directory->get());
  const bool has_place = sys::make_private_directories(quarantine).has_value();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string part = name_part(attempt);
    const std::string aside = cat({quarantine, "/", start, "-", part});
    if (has_place && move_to_free(directory->get(), name, sys::kCwd, aside)) return aside;
  }
  // Another file system, for instance. A name with that end is of no reference (git-check-ref-format(1)).
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string beside = cat({"quarantine-", start, "-", name_part(attempt), ".lock"});
    if (move_to_free(directory->get(), name, directory->get(), beside)) return cat({above, "/", beside});
  }
  return {};
}

}  // namespace

std::string taken_away(const std::string& path, const std::string& quarantine) {
  if (quarantine.empty()) return "it may be yours, so it stays: look at it before you run git there";
  const std::string aside = move_aside(path, quarantine);
  if (aside.empty()) return "it could not be moved away: remove it before you run git there";
  return cat({printable(path), " was moved to ", printable(aside)});
}

}  // namespace hutch::service
