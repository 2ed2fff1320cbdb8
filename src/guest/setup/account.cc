// A line of the image's /etc/passwd: written beside, and renamed over the file, which lies in the layer from then on.
#include "guest/setup/account.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/unique_fd.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kBytesMax = 1 << 20;
constexpr const char* kBeside = ".hutch-account";

bool has_name(std::string_view text, std::string_view line);
Result<UniqueFd> open_directory(int root, const std::string& path);

}  // namespace

Status add_account(int root, const plan::MountStep& step) {
  const std::size_t slash = step.target.rfind('/');
  const std::string name = step.target.substr(slash + 1);
  const UniqueFd directory = TRY(open_directory(root, step.target.substr(1, slash - 1)));
  const auto status = sys::status_at(directory.get(), name);
  const bool there = status && status->has_value();
  if (!status) return fail(status.error());
  if (there && (*status)->kind != sys::EntryKind::kFile) return {};
  std::string text;
  UniqueFd before;
  if (there) {
    before = TRY(sys::open_beneath(directory.get(), name, sys::Beneath::kRead));
    text = TRY(sys::read_to_end(before.get(), kBytesMax));
  }
  if (has_name(text, step.source)) return {};
  const Status cleared = sys::unlink_at(directory.get(), kBeside);
  if (!cleared && cleared.error().sys_errno != ENOENT) return cleared;
  const UniqueFd file = TRY(sys::make_file(directory.get(), kBeside, 0644));
  TRY(sys::write_all(file.get(), cat({step.source, "\n", text})));
  TRY(sys::copy_owner_and_mode(there ? before.get() : directory.get(), file.get()));
  if (!there) TRY(sys::set_mode(file.get(), 0644));
  return sys::rename_at(directory.get(), kBeside, directory.get(), name, sys::Replacing::kAllowed);
}

namespace {

// By the field that comes first in these files (passwd(5), group(5)).
bool has_name(std::string_view text, std::string_view line) {
  const std::string_view field = line.substr(0, line.find(':') + 1);
  return text.starts_with(field) || text.contains(cat({"\n", field}));
}

Result<UniqueFd> open_directory(int root, const std::string& path) {
  const Status made = sys::make_directory(root, path, 0755);
  if (!made && made.error().sys_errno != EEXIST) return fail(made.error());
  return sys::open_beneath(root, path, sys::Beneath::kListing);
}

}  // namespace

}  // namespace hutch::guest
