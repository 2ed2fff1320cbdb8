// Reading and changing config.json.
#include "store/settings_file.h"

#include <cerrno>

#include "base/limits.h"
#include "host/paths/paths.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::store {

Result<std::optional<std::string>> SettingsFile::text() const {
  auto text = sys::regular_file_text(path(), limits::kJsonBytesMax);
  if (text) return std::optional(std::move(*text));
  if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return std::optional<std::string>();
  return fail(std::move(text).error());
}

Result<Settings> SettingsFile::read() const {
  const auto found = TRY(text());
  return found ? parse_settings(*found, path()) : Settings();
}

Status SettingsFile::change(const Change& change) const {
  TRY(sys::make_private_directories(directory_));
  // The policies' own, which is a file of its own: those that are replaced are another file each time.
  const UniqueFd lock = TRY(sys::open_journal(directory_ + "/lock"));
  TRY(sys::lock_journal(lock.get()));
  const std::string before = TRY(text()).value_or("{}\n");
  TRY(parse_settings(before, path()));
  const std::string after = TRY(change(before));
  TRY(parse_settings(after, path()));
  // A link, to where a person keeps their settings, stays one.
  const host::CanonicalPath target = TRY(host::canonical_path(path()));
  return sys::replace_file(target.path, after);
}

}  // namespace hutch::store
