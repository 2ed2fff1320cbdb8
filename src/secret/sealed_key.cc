// The key in a file, or by a word beside it that says so in a keyring.
#include "secret/sealed_key.h"

#include <utility>

#include "base/text.h"
#include "secret/sealed_file.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::secret {

namespace {

constexpr std::chrono::seconds kBetweenTries{5};

Status remove_if_there(const std::string& path) {
  if (!TRY(sys::status_of(path))) return {};
  return sys::unlink_at(sys::kCwd, path);
}

}  // namespace

std::string_view name_of(KeyPlace place) { return place == KeyPlace::kFile ? "file" : "secret-service"; }

Result<KeyPlace> parse_key_place(std::string_view name) {
  for (const KeyPlace place : {KeyPlace::kFile, KeyPlace::kSecretService}) {
    if (name == name_of(place)) return place;
  }
  return fail(Error::invalid(cat({"\"", printable(name, 64), "\": the key is kept in file, or in secret-service"})));
}

SealedKey::~SealedKey() { wipe(key_); }

Result<KeyPlace> SealedKey::place() const {
  return TRY(sys::status_of(marker())) ? KeyPlace::kSecretService : KeyPlace::kFile;
}

Result<std::string_view> SealedKey::load() {
  if (!key_.empty()) return std::string_view(key_);
  if (TRY(place()) == KeyPlace::kFile) {
    key_ = TRY(load_key(file()));
    return std::string_view(key_);
  }
  if (failure_ && Clock::now() < failed_at_ + kBetweenTries) return fail(*failure_);
  auto found = find();
  if (!found) {
    failure_ = found.error();
    failed_at_ = Clock::now();
    return fail(*failure_);
  }
  failure_.reset();
  key_ = std::move(*found);
  // One that a move which was killed has left.
  TRY(remove_if_there(file()));
  return std::string_view(key_);
}

Result<std::string> SealedKey::find() {
  auto text = TRY_CTX(keyring_->find(directory_), "the key of the secrets is in the Secret Service");
  if (!text) {
    return fail(Error::not_found(cat({"the Secret Service has no key of ", directory_,
                                      " any more: what it sealed is lost without it; where it is lost for good, "
                                      "remove that directory and set the secrets anew"})));
  }
  auto key = key_of_text(*text);
  wipe(*text);
  return key;
}

Status SealedKey::move_to(KeyPlace to) {
  TRY(load());
  if (TRY(place()) == to) return {};
  return to == KeyPlace::kFile ? move_to_file() : move_to_keyring();
}

Status SealedKey::move_to_keyring() {
  std::string text = text_of_key(key_);
  const Status kept = keyring_->keep(directory_, text);
  wipe(text);
  TRY(kept);
  std::string found = TRY(find());
  const bool same = found == key_;
  wipe(found);
  if (!same) return fail(Error{.message = "the Secret Service gives another key than it was given; the file stays"});
  TRY(sys::replace_file(marker(), "hutch secret key file takes it back\n"));
  return remove_if_there(file());
}

Status SealedKey::move_to_file() {
  TRY(sys::replace_file(file(), key_));
  TRY(remove_if_there(marker()));
  TRY_CTX(keyring_->remove(directory_), "the file has the key, and the Secret Service keeps it as well");
  return {};
}

}  // namespace hutch::secret
