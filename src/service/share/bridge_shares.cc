// What an agent's connections to the bridge have of the daemon.
#include "service/share/bridge_shares.h"

namespace hutch::service {

std::shared_ptr<void> BridgeShares::take(const std::string& agent, const std::string& what, std::size_t amount,
                                         std::size_t most) {
  const Of of(agent, what);
  const std::scoped_lock lock(mutex_);
  const auto found = taken_.find(of);
  const std::size_t taken = found != taken_.end() ? found->second : 0;
  if (amount > most || taken > most - amount) return nullptr;
  taken_[of] = taken + amount;
  return {this, [this, of, amount](void*) { give_back(of, amount); }};
}

void BridgeShares::give_back(const Of& of, std::size_t amount) {
  const std::scoped_lock lock(mutex_);
  const auto found = taken_.find(of);
  if ((found->second -= amount) == 0) taken_.erase(found);
}

bool BridgeShares::count(const std::string& agent, const std::string& what, const Rate& rate, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Uses& uses = uses_[{agent, what}];
  if (uses.count == 0 || now - uses.since >= rate.within) uses = {now, 0};
  if (uses.count >= rate.most) return false;
  ++uses.count;
  return true;
}

void BridgeShares::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(uses_, [&](const auto& one) { return one.first.first == agent; });
}

}  // namespace hutch::service
