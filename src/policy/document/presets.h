// Policies that hutch brings, by name: for coding agents that are run whole in a sandbox.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace hutch::policy {

struct Preset {
  std::string_view name;
  std::string_view about;
  std::string_view text;  // as a policy file holds it
  // Directories of the home ("~/...") that the program expects, each after those above it. A run makes those that are
  // absent: what is written in an absent directory would be lost, and a place that is the sandbox's own needs one.
  std::span<const std::string_view> state;
};

std::span<const Preset> presets();

// Null where there is none of that name.
const Preset* find_preset(std::string_view name);

// Whether a text can only mean a preset, and no file: a word without a slash or a dot.
bool may_be_preset(std::string_view typed);

// Says which there are, and the nearest; `context` is what was set: "--policy".
Error no_preset(std::string_view typed, std::string_view context);

}  // namespace hutch::policy
