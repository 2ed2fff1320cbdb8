// Writes contents that are about to be lost.
#include "guest/git/kept_contents.h"

#include <fcntl.h>

#include <cerrno>

#include "base/text.h"
#include "sys/files/delegate.h"
#include "sys/files/journal.h"
#include "sys/io.h"

namespace hutch::guest {

Result<std::string> KeptContents::keep(const std::string& name, std::string_view bytes) {
  static constexpr std::size_t kNameBytesMax = 128;
  static constexpr std::size_t kSuffixRandomBytes = 8;
  if (!directory_) return fail(Error::from_errno("a quarantine", ENOENT));
  if (files_ >= kFilesMax || bytes_ + bytes.size() > kBytesMax) return fail(Error::from_errno("a quarantine", ENOSPC));
  std::string own = cat({name.substr(0, kNameBytesMax), "-", TRY(sys::random_hex(kSuffixRandomBytes))});
  const UniqueFd file = TRY(sys::make_at(directory_.get(), own, O_WRONLY, 0600));
  Status written = sys::write_all(file.get(), bytes);
  if (!written) (void)sys::unlink_with(directory_.get(), own, 0);
  TRY(written);
  ++files_;
  bytes_ += bytes.size();
  return own;
}

} // namespace hutch::guest
