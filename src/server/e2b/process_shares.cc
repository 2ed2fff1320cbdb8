// Counts the processes that are followed.
#include "server/e2b/process_shares.h"

#include "base/text.h"
#include "server/e2b/key_memory.h"
#include "sys/process/readiness.h"

namespace hutch::server {

Room room_of(const std::string& key, const Share& share) {
  const std::size_t most = key.empty() ? share.most : share.most / 2;
  if (share.own >= most) return Room::kKeyHasItsMost;
  return share.taken >= share.most ? Room::kAllTaken : Room::kFree;
}

Result<std::shared_ptr<void>> ProcessShares::take(const std::string& key) {
  const std::scoped_lock lock(shares_->mutex);
  const auto known = shares_->by_key.find(key);
  const std::size_t own = known != shares_->by_key.end() ? known->second : 0;
  const Room room = room_of(key, {own, shares_->taken, shares_->most});
  if (room != Room::kFree) {
    const bool is_own = room == Room::kKeyHasItsMost;
    return fail(full_error(cat({is_own ? "this key has " : "there are ", std::to_string(is_own ? own : shares_->taken),
                                " processes already, which is the most: end some of them"})));
  }
  ++shares_->taken;
  ++shares_->by_key[key];
  return std::shared_ptr<void>(nullptr, [shares = shares_, key](void*) {
    const std::scoped_lock giving(shares->mutex);
    --shares->taken;
    const auto mine = shares->by_key.find(key);
    if (--mine->second == 0) shares->by_key.erase(mine);
  });
}

// Of all sandboxes together: each takes a thread and some six descriptors, of which the daemon needs the most for
// others.
Result<std::shared_ptr<void>> take_process_place(const std::string& key) {
  static constexpr std::size_t kDescriptorsEach = 24;
  static ProcessShares shares(sys::raise_descriptor_limit() / kDescriptorsEach);
  return shares.take(key);
}

}  // namespace hutch::server
