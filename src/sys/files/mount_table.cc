// The mounts of a mount namespace as the kernel lists them.
#include "sys/files/mount_table.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/decimal.h"
#include "base/text.h"
#include "sys/files/beneath.h"

namespace hutch::sys {

namespace {

// Blanks, tabs, newlines and backslashes are \ooo there.
std::string unescape(std::string_view field) {
  const auto digit = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const bool escape =
        field[i] == '\\' && i + 3 < field.size() && digit(field[i + 1]) && digit(field[i + 2]) && digit(field[i + 3]);
    if (!escape) {
      out += field[i];
      continue;
    }
    out += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0'));
    i += 3;
  }
  return out;
}

std::optional<std::uint64_t> parsed_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// After optional fields there are "-", the type, the source and the options of the file system.
void add_file_system(MountEntry& mount, std::span<const std::string_view> fields) {
  static constexpr std::string_view kUser = "user_id=";
  const auto dash = std::ranges::find(fields, "-");
  if (fields.end() - dash < 4) return;
  mount.type = unescape(dash[1]);
  for (const std::string_view option : split(dash[3], ',')) {
    if (mount.type.starts_with("fuse") && option.starts_with(kUser))
      mount.user = decimal_of(option.substr(kUser.size()));
  }
}

// What lies at `path` on the mount `below`, the last one on top; `below` itself where nothing does.
std::uint64_t top_at(const std::vector<MountEntry>& table, std::uint64_t below, std::string_view path) {
  for (std::size_t i = 0; i <= table.size(); ++i) {
    const auto lies = [&](const MountEntry& one) {
      return one.parent == below && one.id != below && one.point == path;
    };
    const auto found = std::ranges::find_if(table, lies);
    if (found == table.end()) break;
    below = found->id;
  }
  return below;
}

}  // namespace

std::vector<MountEntry> parse_mount_table(std::string_view text) {
  std::vector<MountEntry> table;
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 6) continue;
    const auto id = parsed_number(fields[0]);
    const auto parent = parsed_number(fields[1]);
    if (!id || !parent) continue;
    table.push_back({.id = *id,
                     .parent = *parent,
                     .device = std::string(fields[2]),
                     .root = unescape(fields[3]),
                     .point = unescape(fields[4]),
                     .type = {},
                     .user = {}});
    add_file_system(table.back(), std::span(fields).subspan(5));
  }
  return table;
}

Result<std::vector<MountEntry>> mount_table(int mountinfo) {
  static constexpr std::size_t kBytesMax = 4 << 20;
  const std::string text = TRY(read_at(mountinfo, 0, kBytesMax + 1));
  if (text.size() > kBytesMax) return fail(Error::invalid("mountinfo: more than 4 MiB of mounts"));
  return parse_mount_table(text);
}

bool is_reachable(const std::vector<MountEntry>& table, const MountEntry& mount) {
  const auto is_root = [&](const MountEntry& one) {
    const auto above = [&](const MountEntry& other) { return other.id == one.parent && other.id != one.id; };
    return one.point == "/" && std::ranges::none_of(table, above);
  };
  const auto root = std::ranges::find_if(table, is_root);
  if (root == table.end()) return false;
  std::uint64_t at = top_at(table, root->id, "/");
  for (std::size_t end = mount.point.find('/', 1); mount.point != "/"; end = mount.point.find('/', end + 1)) {
    at = top_at(table, at, std::string_view(mount.point).substr(0, end));
    if (end == std::string::npos) break;
  }
  return at == mount.id;
}

}  // namespace hutch::sys
