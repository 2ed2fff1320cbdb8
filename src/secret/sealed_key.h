// The key of sealed files, and where it is kept.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "secret/keyring.h"

namespace hutch::secret {

enum class KeyPlace { kFile, kSecretService };
std::string_view name_of(KeyPlace place);
Result<KeyPlace> parse_key_place(std::string_view name);

// Not for several threads at once.
class SealedKey {
 public:
  SealedKey(std::string directory, std::unique_ptr<Keyring> keyring)
      : directory_(std::move(directory)), keyring_(std::move(keyring)) {}
  ~SealedKey();

  Result<KeyPlace> place() const;

  // Made, and kept in a file, where there is none. One that the keyring did not give is asked for again after 5
  // seconds.
  Result<std::string_view> load();

  // The same key from then on in the other place alone: whenever this is killed, one of both has it, and is asked.
  Status move_to(KeyPlace place);

 private:
  using Clock = std::chrono::steady_clock;
  std::string file() const { return directory_ + "/key"; }
  std::string marker() const { return directory_ + "/key-is-in-secret-service"; }
  Result<std::string> find();
  Status move_to_keyring();
  Status move_to_file();

  const std::string directory_;
  const std::unique_ptr<Keyring> keyring_;
  std::string key_;
  std::optional<Error> failure_;
  Clock::time_point failed_at_;
};

}  // namespace hutch::secret
