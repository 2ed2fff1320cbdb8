// What takes agents' secrets out of what is shown of them.
#include "service/agent/scrubber.h"

#include <iterator>
#include <utility>
#include <vector>

#include "service/common/scrubbed_value.h"

namespace hutch::service {

using secret::Scrubber;

Scrubber scrubber_of(AgentService& agents, const std::string& agent) {
  const auto known = agents.secrets().of(agent);
  return known ? Scrubber(*known) : Scrubber::withholding(known.error().message);
}

Scrubber scrubber_of_all(AgentService& agents) {
  const auto list = agents.list();
  if (!list) return Scrubber::withholding(list.error().message);
  std::vector<secret::Secret> all;
  for (const auto& shown : *list) {
    auto known = agents.secrets().of(shown.record.name);
    if (!known) return Scrubber::withholding(known.error().message);
    std::ranges::move(*known, std::back_inserter(all));
  }
  return Scrubber(all);
}

void scrub_members(const Scrubber& scrubber, tool::Value::Object& object,
                   std::initializer_list<std::string_view> names) {
  if (scrubber.empty()) return;
  for (const std::string_view name : names) {
    const auto found = object.find(name);
    if (found != object.end()) found->second = scrubbed(scrubber, found->second);
  }
}

}  // namespace hutch::service
