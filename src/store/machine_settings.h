// sandbox.json: what virtual machines are like, as text and as values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::store {

struct MachineSettings {
  bool auto_start = true;      // with the daemon
  unsigned cpus = 2;           // 1 to 8; of a sandbox whose limits say nothing
  unsigned memory_gb = 2;      // 1 to 8, GiB, likewise
  enum class Network { kOutbound, kNone } network = Network::kOutbound;
  bool operator==(const MachineSettings&) const = default;
};

// The keys, in the order in which they are shown.
std::span<const std::string_view> machine_setting_names();

// `source` begins every error. Errors: what is no object, unknown keys, values of another type or out of range.
Result<MachineSettings> parse_machine_settings(std::string_view text, std::string_view source);

// `settings` with one changed; the value is as it stands in the file: "4", "true", "none".
Result<MachineSettings> with_machine_setting(MachineSettings settings, std::string_view key, std::string_view value);

// Each of machine_setting_names(): as with_machine_setting() takes it.
std::string machine_setting_text(const MachineSettings& settings, std::string_view key);

std::string machine_settings_text(const MachineSettings& settings);  // of the file

// In the directory of hutch's configuration; what the file does not say is as usual, also where there is none.
class MachineSettingsFile {
 public:
  explicit MachineSettingsFile(std::string directory) : directory_(std::move(directory)) {}
  std::string path() const { return directory_ + "/sandbox.json"; }
  Result<MachineSettings> read() const;
  Status change(std::string_view key, std::string_view value) const;

 private:
  std::string directory_;
};

}  // namespace hutch::store
