// Brings a policy that has changed to sandboxes that run.
#include "service/agent/spread.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <utility>

#include "base/text.h"

namespace hutch::service {

namespace {

// What is new may have to be hidden in many places.
constexpr std::chrono::milliseconds kReloadWait{15000};

constexpr std::array<std::string_view, 3> kOfNetwork = {"network", "allowedDomains", "deniedDomains"};

AgentSandbox::Notes spread(const std::vector<std::shared_ptr<AgentSandbox>>& sandboxes) {
  const auto until = std::chrono::steady_clock::now() + kReloadWait;
  std::vector<std::pair<std::string, std::future<AgentSandbox::Notes>>> reloading;
  for (const auto& sandbox : sandboxes) {
    const std::string name = cat({"agent ", sandbox->record().name});
    for (auto& one : sandbox->reload_policy()) reloading.emplace_back(name, std::move(one));
  }
  AgentSandbox::Notes all;
  for (auto& [name, told] : reloading) {
    if (told.wait_until(until) != std::future_status::ready) {
      all.lines.push_back(cat({name, " has not said yet that it holds there"}));
      continue;
    }
    const AgentSandbox::Notes notes = told.get();
    for (const std::string& line : notes.lines) all.lines.push_back(cat({name, ": ", line}));
    all.is_as_it_was = all.is_as_it_was || notes.is_as_it_was;
  }
  return all;
}

}  // namespace

bool is_of_network(std::string_view setting) {
  std::string_view key = setting.substr(0, setting.find('='));
  if (key.ends_with('+')) key.remove_suffix(1);
  return std::ranges::find(kOfNetwork, key) != kOfNetwork.end();
}

std::vector<std::string> spread_policy_to_all(const std::vector<std::shared_ptr<AgentSandbox>>& sandboxes) {
  return spread(sandboxes).lines;
}

Result<std::vector<std::string>> spread_policy_to(const std::shared_ptr<AgentSandbox>& sandbox) {
  AgentSandbox::Notes notes = spread({sandbox});
  if (!notes.is_as_it_was) return std::move(notes.lines);
  std::string all;
  for (const std::string& line : notes.lines) all += cat({all.empty() ? "" : "; ", line});
  return fail(Error{Code::kConflict, 0,
                    cat({all, "; what was set is kept for its next start: mend that and set it again, or say hutch ",
                         "agent stop ", sandbox->record().name})});
}

}  // namespace hutch::service
