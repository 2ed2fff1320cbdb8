// Holds the output that is kept for one key to a bound.
#include "server/e2b/output_shares.h"

#include <algorithm>

namespace hutch::server {

struct OutputShares::Member::Shares {
  explicit Shares(std::uint64_t all) : most(all) {}

  struct Key {
    std::uint64_t bytes = 0;  // of all that are in it
    std::map<KeepsOutput*, KeepsOutput::Kept> keepers{};
  };

  void look_again(Key& key, KeepsOutput& keeper) {
    const KeepsOutput::Kept now = keeper.kept();
    KeepsOutput::Kept& known = key.keepers[&keeper];
    key.bytes = key.bytes - known.bytes + now.bytes;
    known = now;
  }

  const std::uint64_t most;
  std::mutex mutex;
  std::map<std::string, Key> by_key;
};

OutputShares::OutputShares(std::uint64_t most) : shares_(std::make_shared<Shares>(most)) {}

OutputShares::~OutputShares() = default;

OutputShares::Member::Member(std::shared_ptr<Shares> shares, std::string key, KeepsOutput& keeper)
    : shares_(std::move(shares)), key_(std::move(key)), keeper_(keeper) {
  const std::scoped_lock lock(shares_->mutex);
  shares_->by_key[key_].keepers.emplace(&keeper_, KeepsOutput::Kept());
}

OutputShares::Member::~Member() {
  const std::scoped_lock lock(shares_->mutex);
  const auto key = shares_->by_key.find(key_);
  const auto mine = key->second.keepers.find(&keeper_);
  key->second.bytes -= mine->second.bytes;
  key->second.keepers.erase(mine);
  if (key->second.keepers.empty()) shares_->by_key.erase(key);
}

void OutputShares::Member::changed() {
  const std::scoped_lock lock(shares_->mutex);
  Shares::Key& key = shares_->by_key[key_];
  shares_->look_again(key, keeper_);
  // Others read, or write, meanwhile: what is known of one may be old, and nobody is looked at for ever.
  for (std::size_t looks = 2 * key.keepers.size(); key.bytes > shares_->most && looks > 0; --looks) {
    const auto largest =
        std::ranges::max_element(key.keepers, {}, [](const auto& one) { return one.second.droppable; });
    if (largest->second.droppable == 0) return;
    largest->first->drop(key.bytes - shares_->most);
    shares_->look_again(key, *largest->first);
  }
}

std::unique_ptr<OutputShares::Member> OutputShares::join(const std::string& key, KeepsOutput& keeper) {
  return std::make_unique<Member>(shares_, key, keeper);
}

}  // namespace hutch::server
