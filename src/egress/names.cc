// The addresses that the gateway's DNS gives to names.
#include "egress/names.h"

#include <algorithm>
#include <iterator>

#include "plan/make/gateway_names.h"

namespace hutch::egress {

Names::Names(std::uint32_t names_max) : names_max_(std::min(names_max, plan::kNameNumbersMax - 1)) {}

plan::NameAddresses Names::addresses_of(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    if (!found->second->kept) entries_.splice(entries_.begin(), entries_, found->second);
    return plan::name_addresses(found->second->number);
  }
  if (entries_.size() >= names_max_) {
    by_name_.erase(entries_.back().name);
    by_number_.erase(entries_.back().number);
    entries_.pop_back();
  }
  entries_.push_front({std::string(name), next_number(), false});
  const auto entry = entries_.begin();
  by_name_.emplace(entry->name, entry);
  by_number_.emplace(entry->number, entry);
  return plan::name_addresses(entry->number);
}

void Names::keep(std::string_view name, const IpAddress& address) {
  if (by_name_.contains(name)) return;
  kept_.push_front({std::string(name), plan::name_number(address), true});
  by_name_.emplace(kept_.front().name, kept_.begin());
  by_number_.emplace(kept_.front().number, kept_.begin());
}

std::optional<std::string> Names::name_of(const IpAddress& address) const {
  if (!plan::is_name_address(address)) return std::nullopt;
  const auto found = by_number_.find(plan::name_number(address));
  if (found == by_number_.end()) return std::nullopt;
  return found->second->name;
}

// Round the whole range before a number comes again.
std::uint32_t Names::next_number() {
  do {
    last_number_ = last_number_ % (plan::kNameNumbersMax - 1) + 1;
  } while (by_number_.contains(last_number_));
  return last_number_;
}

}  // namespace hutch::egress
