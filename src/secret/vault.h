// Where all secrets of an agent are kept as one text: files under a key, or the session's Secret Service.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace hutch::secret {

// Not for several threads at once.
class Vault {
 public:
  virtual ~Vault() = default;
  virtual std::string_view name() const = 0;
  virtual Result<std::optional<std::string>> read(const std::string& agent) = 0;
  virtual Status write(const std::string& agent, const std::string& text) = 0;
  virtual Status remove(const std::string& agent) = 0;  // nothing there is no error
};

// Below `directory`, mode 0700: `key`, and AGENT.sealed for each agent, written whole.
std::unique_ptr<Vault> sealed_files(std::string directory);

}  // namespace hutch::secret
