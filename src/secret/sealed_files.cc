// The vault that is a directory of sealed files.
#include "base/text.h"
#include "secret/sealed_file.h"
#include "secret/sealed_key.h"
#include "secret/vault.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::secret {

namespace {

class SealedFiles final : public Vault {
 public:
  SealedFiles(std::string directory, std::unique_ptr<Keyring> keyring)
      : directory_(std::move(directory)), key_(directory_, std::move(keyring)) {}

  Result<std::optional<std::string>> read(const std::string& agent) override {
    const std::string path = path_of(agent);
    if (!TRY(sys::status_of(path))) return std::optional<std::string>();
    const std::string_view key = TRY(key_.load());
    const std::string sealed = TRY(sys::regular_file_text(path, kSealedBytesMax));
    return std::optional(TRY_CTX(open_sealed(sealed, key, agent), path));
  }

  Status write(const std::string& agent, const std::string& text) override {
    TRY_CTX(sys::make_private_directories(directory_), "make the directory of secrets");
    const std::string_view key = TRY(key_.load());
    const std::string sealed = TRY(seal(text, key, agent));
    return sys::replace_file(path_of(agent), sealed);
  }

  Status remove(const std::string& agent) override {
    const std::string path = path_of(agent);
    if (!TRY(sys::status_of(path))) return {};
    return sys::unlink_at(sys::kCwd, path);
  }

  Result<KeyPlace> key_place() override { return key_.place(); }

  Status keep_key_in(KeyPlace place) override {
    TRY_CTX(sys::make_private_directories(directory_), "make the directory of secrets");
    return key_.move_to(place);
  }

 private:
  std::string path_of(const std::string& agent) const { return cat({directory_, "/", agent, ".sealed"}); }

  const std::string directory_;
  SealedKey key_;
};

}  // namespace

std::unique_ptr<Vault> sealed_files(std::string directory, std::unique_ptr<Keyring> keyring) {
  return std::make_unique<SealedFiles>(std::move(directory), std::move(keyring));
}

}  // namespace hutch::secret
