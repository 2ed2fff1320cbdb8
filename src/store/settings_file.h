// config.json on the disk: read whole, changed under a lock.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/settings.h"

namespace hutch::store {

class SettingsFile {
 public:
  explicit SettingsFile(std::string directory) : directory_(std::move(directory)) {}

  std::string path() const { return directory_ + "/config.json"; }
  // Absent where there is none.
  Result<std::optional<std::string>> text() const;
  // What holds: nothing is set where there is no file.
  Result<Settings> read() const;

  // Replaces all of it by what `change` makes of it. The file is not touched unless it is right, before and after; two
  // at once are done one after the other.
  using Change = std::function<Result<std::string>(const std::string& text)>;
  Status change(const Change& change) const;

 private:
  std::string directory_;
};

}  // namespace hutch::store
