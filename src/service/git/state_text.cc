// The files in which git keeps an operation for later, as hutch reads and remembers them.
#include "service/git/state_text.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::service {

std::optional<GitStateText> state_text(const std::string& path, std::size_t& left, std::string* closed) {
  const auto status = sys::status_of(path);
  if (!status && closed != nullptr && status.error().sys_errno != ENOTDIR && closed->empty()) *closed = path;
  if (!status || !*status) return std::nullopt;
  if ((*status)->kind != sys::EntryKind::kFile) return GitStateText();
  auto text = sys::regular_file_text(path, std::min(plan::kGitStateBytesMax, left));
  if (!text) return GitStateText();
  left -= text->size();
  return GitStateText(std::move(*text));
}

bool has_other_names(const std::string& path) {
  const auto status = sys::file_status(sys::kCwd, path);
  return status && status->kind == sys::EntryKind::kFile && status->links > 1;
}

std::string found_state(const GitStateText& text) {
  if (!text) return "-";
  Sha256 sum;
  sum.add(*text);
  return sum.finish();
}

std::string found_state(const sys::FileVersion& version) {
  return cat(
      {std::to_string(version.device), ".", std::to_string(version.inode), ".", std::to_string(version.changed_ns)});
}

bool is_closed_inside(const std::string& directory) {
  const auto inside = sys::status_of(cat({directory, "/HEAD"}));
  return !inside && inside.error().sys_errno == EACCES;
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::int64_t last_change(const std::string& path) {
  const auto version = sys::file_version(path);
  return version ? version->changed_ns : std::numeric_limits<std::int64_t>::max();
}

}  // namespace hutch::service
