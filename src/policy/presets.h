// Policies that hutch brings, by name: for coding agents that are run whole in a sandbox.
#pragma once

#include <span>
#include <string_view>

namespace hutch::policy {

struct Preset {
  std::string_view name;
  std::string_view about;
  std::string_view text;  // as a policy file holds it
};

std::span<const Preset> presets();

// Null where there is none of that name.
const Preset* find_preset(std::string_view name);

}  // namespace hutch::policy
