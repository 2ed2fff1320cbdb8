// Where all secrets of an agent are kept as one text.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "secret/keyring.h"
#include "secret/sealed_key.h"

namespace hutch::secret {

// Not for several threads at once.
class Vault {
 public:
  virtual ~Vault() = default;
  virtual Result<std::optional<std::string>> read(const std::string& agent) = 0;
  virtual Status write(const std::string& agent, const std::string& text) = 0;
  virtual Status remove(const std::string& agent) = 0;  // nothing there is no error

  // Of the key that opens them.
  virtual Result<KeyPlace> key_place() = 0;
  virtual Status keep_key_in(KeyPlace place) = 0;
};

// Below `directory`, mode 0700: `key`, unless the keyring has it, and AGENT.sealed for each agent, written whole.
std::unique_ptr<Vault> sealed_files(std::string directory, std::unique_ptr<Keyring> keyring);

}  // namespace hutch::secret
