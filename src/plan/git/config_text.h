// Reads git's configuration strictly: where its meaning is in doubt, there is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

// A setting of git-config(1). Section and key are in lower case. Absent values ("[core] bare") mean true to git.
struct GitConfigEntry {
  std::string section;
  std::string subsection;
  std::string key;
  std::optional<std::string> value;
  bool operator==(const GitConfigEntry&) const = default;
};

// All settings, in their order. Nothing for a text that git refuses, or that its versions could read in different ways:
// control characters other than tabs and line ends, a byte order mark, an empty subsection, a key without a section.
std::optional<std::vector<GitConfigEntry>> read_git_config(std::string_view text);

}  // namespace hutch::plan
