// Counts the processes that are followed.
#include "server/process_shares.h"

#include "base/text.h"

namespace hutch::server {

Result<std::shared_ptr<void>> ProcessShares::take(const std::string& key) {
  const std::scoped_lock lock(shares_->mutex);
  const auto known = shares_->by_key.find(key);
  const std::size_t own = known != shares_->by_key.end() ? known->second : 0;
  const std::size_t most = key.empty() ? shares_->most : shares_->most / 2;
  if (own >= most || shares_->taken >= shares_->most) {
    return fail({Code::kConflict, 0,
                 cat({own >= most ? "this key has " : "there are ", std::to_string(own >= most ? own : shares_->taken),
                      " processes already, which is the most: end some of them"})});
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

}  // namespace hutch::server
