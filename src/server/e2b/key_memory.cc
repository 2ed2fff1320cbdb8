// Counts the bytes of each key.
#include "server/e2b/key_memory.h"

#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/text.h"

namespace hutch::server {

struct KeyMemory::Held::Rooms {
  explicit Rooms(std::uint64_t all) : most(all) {}
  const std::uint64_t most;
  std::mutex mutex;
  std::condition_variable given_back;
  std::map<std::string, std::uint64_t> by_key;  // none is zero

  bool has_room(const std::string& key, std::uint64_t more) const {
    const auto found = by_key.find(key);
    const std::uint64_t taken = found != by_key.end() ? found->second : 0;
    return more <= most && taken <= most - more;
  }
};

KeyMemory::KeyMemory(std::uint64_t most) : rooms_(std::make_shared<Held::Rooms>(most)) {}

Result<std::shared_ptr<KeyMemory::Held>> KeyMemory::hold(const std::string& key, std::uint64_t bytes,
                                                         Clock::time_point until) {
  auto held = std::make_shared<Held>(rooms_, key);
  TRY(held->resize(bytes, until));
  return held;
}

KeyMemory::Held::~Held() { shrink(0); }

Status KeyMemory::Held::resize(std::uint64_t bytes, Clock::time_point until) {
  if (bytes <= bytes_) {
    shrink(bytes);
    return {};
  }
  const std::uint64_t more = bytes - bytes_;
  std::unique_lock lock(rooms_->mutex);
  const auto has_room = [&] { return rooms_->has_room(key_, more); };
  // What is more than there ever is is not waited for.
  if (bytes > rooms_->most || !rooms_->given_back.wait_until(lock, until, has_room)) {
    return fail(full_error(cat({"the ", std::to_string(rooms_->most >> 20),
                                " MiB that are kept in memory for this key at once are taken: end some of what it "
                                "began, or ask for less"})));
  }
  rooms_->by_key[key_] += more;
  bytes_ = bytes;
  return {};
}

void KeyMemory::Held::shrink(std::uint64_t bytes) {
  if (bytes >= bytes_) return;
  {
    const std::scoped_lock lock(rooms_->mutex);
    const auto mine = rooms_->by_key.find(key_);
    mine->second -= bytes_ - bytes;
    if (mine->second == 0) rooms_->by_key.erase(mine);
  }
  bytes_ = bytes;
  rooms_->given_back.notify_all();
}

Error full_error(std::string message) { return {Code::kConflict, EDQUOT, std::move(message)}; }

bool is_full(const Error& error) { return error.code == Code::kConflict && error.sys_errno == EDQUOT; }

}  // namespace hutch::server
