// The vault that is a directory of sealed files.
#include "base/text.h"
#include "secret/sealed_file.h"
#include "secret/vault.h"
#include "sys/beneath.h"
#include "sys/files.h"
#include "sys/tree.h"
#include "sys/whole_file.h"

namespace hutch::secret {

namespace {

class SealedFiles final : public Vault {
 public:
  explicit SealedFiles(std::string directory) : directory_(std::move(directory)) {}
  ~SealedFiles() override { wipe(key_); }

  std::string_view name() const override { return "file"; }

  Result<std::optional<std::string>> read(const std::string& agent) override {
    const std::string path = path_of(agent);
    if (!TRY(sys::status_of(path))) return std::optional<std::string>();
    TRY(load());
    const std::string sealed = TRY(sys::regular_file_text(path, kSealedBytesMax));
    return std::optional(TRY_CTX(open_sealed(sealed, key_, agent), path));
  }

  Status write(const std::string& agent, const std::string& text) override {
    TRY_CTX(sys::make_private_directories(directory_), "make the directory of secrets");
    TRY(load());
    const std::string sealed = TRY(seal(text, key_, agent));
    return sys::replace_file(path_of(agent), sealed);
  }

  Status remove(const std::string& agent) override {
    const std::string path = path_of(agent);
    if (!TRY(sys::status_of(path))) return {};
    return sys::unlink_at(sys::kCwd, path);
  }

 private:
  std::string path_of(const std::string& agent) const { return cat({directory_, "/", agent, ".sealed"}); }

  Status load() {
    if (key_.empty()) key_ = TRY(load_key(directory_ + "/key"));
    return {};
  }

  const std::string directory_;
  std::string key_;
};

}  // namespace

std::unique_ptr<Vault> sealed_files(std::string directory) {
  return std::make_unique<SealedFiles>(std::move(directory));
}

}  // namespace hutch::secret
