// Skills: texts that tell a model how to do something with hutch, each of which its person can switch off.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/state_dirs.h"

namespace hutch::service {

struct Skill {
  std::string_view id;
  std::string_view title;
  std::string_view summary;
  std::string_view text;  // Markdown
};
std::span<const Skill> all_skills();
// By its id or its title, in any case; null: there is none.
const Skill* find_skill(std::string_view name);

inline constexpr std::string_view kPluginSkill = "sandbox-plugin-creator";

// Which are switched off is a file of the data directory.
class Skills {
 public:
  explicit Skills(const host::StateDirs& dirs) : path_(dirs.data + "/skills.json") {}

  // What cannot be read switches everything off.
  bool is_enabled(std::string_view id) const;
  enum class Switch { kOff, kOn };
  Status set(std::string_view id, Switch to) const;

 private:
  Result<std::vector<std::string>> disabled() const;
  const std::string path_;
};

}  // namespace hutch::service
