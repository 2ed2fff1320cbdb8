// Who is at work for a plugin of an agent.
#include "service/plugins/uses.h"

#include "base/text.h"

namespace hutch::service {

namespace {

Error being_removed(const std::string& agent, const std::string& plugin) {
  return {Code::kConflict, 0, cat({"plugin ", plugin, " of ", agent, " is being removed"})};
}

}  // namespace

PluginUses::Use::~Use() {
  // First: what it calls uses the rest.
  outer_.reset();
  const std::scoped_lock lock(uses_.mutex_);
  uses_.works_[of_].uses.erase(this);
  uses_.drop_if_idle(of_);
  uses_.changed_.notify_all();
}

bool PluginUses::Use::is_removed() const {
  const std::scoped_lock lock(uses_.mutex_);
  return is_removed_;
}

Result<std::unique_ptr<PluginUses::Use>> PluginUses::begin(const std::string& agent, const std::string& plugin,
                                                           const std::stop_token& outer) {
  auto use = std::make_unique<Use>(*this, Of(agent, plugin));
  {
    const std::scoped_lock lock(mutex_);
    Works& works = works_[use->of_];
    if (!works.is_closed) works.uses.insert(use.get());
    if (works.is_closed) return fail(being_removed(agent, plugin));
  }
  use->outer_ = std::make_unique<std::stop_callback<std::function<void()>>>(
      outer, [stop = use->stop_]() mutable { (void)stop.request_stop(); });
  return use;
}

PluginUses::Closing::~Closing() {
  const std::scoped_lock lock(uses_.mutex_);
  uses_.works_[of_].is_closed = false;
  uses_.drop_if_idle(of_);
  uses_.changed_.notify_all();
}

bool PluginUses::Closing::await(std::chrono::milliseconds patience) {
  std::unique_lock lock(uses_.mutex_);
  return uses_.changed_.wait_for(lock, patience, [this] { return uses_.works_[of_].uses.empty(); });
}

Result<std::unique_ptr<PluginUses::Closing>> PluginUses::close(const std::string& agent, const std::string& plugin) {
  std::vector<std::stop_source> ending;
  const Of of(agent, plugin);
  {
    const std::scoped_lock lock(mutex_);
    Works& works = works_[of];
    if (std::exchange(works.is_closed, true)) return fail(being_removed(agent, plugin));
    for (Use* use : works.uses) {
      use->is_removed_ = true;
      ending.push_back(use->stop_);
    }
  }
  auto closing = std::make_unique<Closing>(*this, of);
  // Without the lock: whoever is told may be at its end.
  for (std::stop_source& one : ending) (void)one.request_stop();
  return closing;
}

std::vector<std::pair<std::string, std::string>> PluginUses::at_work(const std::string& agent) const {
  std::vector<Of> found;
  const std::scoped_lock lock(mutex_);
  for (const auto& [of, works] : works_) {
    if (!works.uses.empty() && (agent.empty() || of.first == agent)) found.push_back(of);
  }
  return found;
}

void PluginUses::drop_if_idle(const Of& of) {
  const auto found = works_.find(of);
  if (found != works_.end() && found->second.uses.empty() && !found->second.is_closed) works_.erase(found);
}

}  // namespace hutch::service
