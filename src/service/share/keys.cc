// Private keys, by how their files begin.
#include "service/share/keys.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <string_view>

#include "base/text.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr std::size_t kLookedAtMax = 1000;
constexpr std::string_view kKeyBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "PRIVATE KEY-----";

// The agent may put a pipe or a link in its place at any moment.
bool is_private_key(const std::string& path) {
  const auto file = sys::open_at(sys::kCwd, path, O_RDONLY | O_NONBLOCK, 0);
  const auto what = file ? sys::look_at(file->get()) : fail(file.error());
  if (!what || !S_ISREG(what->mode)) return false;
  std::array<char, 64> head{};
  const auto size = sys::read_some(file->get(), head);
  if (!size) return false;
  const std::string_view text(head.data(), *size);
  return text.starts_with(kKeyBegin) && text.substr(0, text.find('\n')).contains(kEnd);
}

}  // namespace

std::vector<std::string> private_keys_at(const std::string& path) {
  std::vector<std::string> keys;
  if (is_private_key(path)) keys.push_back(path);
  const auto status = sys::status_of(path);
  if (!status || !*status || (*status)->kind != sys::EntryKind::kDirectory) return keys;
  const auto entries = sys::list_directory(path, sys::Listing::kAll);
  if (!entries) return keys;
  std::size_t looked_at = 0;
  for (const sys::DirectoryEntry& entry : *entries) {
    const std::string file = cat({path, "/", entry.name});
    if (is_private_key(file)) keys.push_back(file);
    if (++looked_at == kLookedAtMax) break;
  }
  return keys;
}

}  // namespace hutch::service
