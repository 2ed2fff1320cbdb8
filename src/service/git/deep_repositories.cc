// The repositories of git that no search finds, and in which sandboxes have made changes.
#include "service/git/deep_repositories.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/create.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"

namespace hutch::service {

namespace {

constexpr std::size_t kDeepMax = 4096;
constexpr std::size_t kRootsMax = 1024;
constexpr std::size_t kOverfullMax = 256;
constexpr std::size_t kListBytesMax = std::size_t{32} << 20;

// One line for each: a directory, "+" and a root of a run, or "*" and a root below which there are more of them. No
// path has a zero byte.
constexpr std::string_view kRoot = "+";
constexpr std::string_view kMore = "*";
constexpr std::string_view kAnyRoot = "/";

struct Text {
  std::set<std::string> directories;
  std::set<std::string> roots;
  std::set<std::string> overfull;
};

std::string list_line(std::string path) {
  std::ranges::replace(path, '\n', '\0');
  path += '\n';
  return path;
}

Text parsed(std::string_view text) {
  Text found;
  text = text.substr(0, text.rfind('\n') + 1);
  for (const std::string_view line : split(text, '\n')) {
    std::string path(line);
    std::ranges::replace(path, '\0', '\n');
    if (path.starts_with('/')) {
      found.directories.insert(std::move(path));
    } else if (path.starts_with(cat({kRoot, kAnyRoot}))) {
      found.roots.insert(path.substr(1));
    } else if (path.starts_with(cat({kMore, kAnyRoot}))) {
      found.overfull.insert(path.substr(1));
    }
  }
  return found;
}

std::string text_of(const Text& all) {
  std::string text;
  for (const std::string& directory : all.directories) text += list_line(directory);
  for (const std::string& root : all.roots) text += cat({kRoot, list_line(root)});
  for (const std::string& root : all.overfull) text += cat({kMore, list_line(root)});
  return text;
}

// What cannot be read has more than is known.
Text read_all(int file) {
  auto text = sys::read_at(file, 0, kListBytesMax + 1);
  if (text && text->size() <= kListBytesMax) return parsed(*text);
  return {.directories = {}, .roots = {}, .overfull = {std::string(kAnyRoot)}};
}

// One that is closed by now is not gone.
bool is_gone(const std::string& path) {
  const auto status = sys::status_of(path);
  return status && !*status;
}

void note_more(Text& all, const std::vector<std::string>& roots) {
  all.overfull.insert(roots.begin(), roots.end());
  if (all.overfull.size() > kOverfullMax) all.overfull = {std::string(kAnyRoot)};
}

}  // namespace

DeepRepositories::DeepRepositories(const std::string& data) : file_(cat({data, "/git-worked"})) {
  const auto file = sys::open_journal_to_read(file_);
  if (!file) return;
  (void)sys::lock_journal(file->get());
  Text all = read_all(file->get());
  directories_ = std::move(all.directories);
  roots_ = std::move(all.roots);
  overfull_ = std::move(all.overfull);
}

std::vector<std::string> DeepRepositories::below(const std::vector<std::string>& roots, Which which) const {
  std::vector<std::string> found;
  std::ranges::copy_if(directories_, std::back_inserter(found), [&](const std::string& one) {
    const bool is_below = std::ranges::any_of(roots, [&](const std::string& root) { return is_within(one, root); });
    return is_below && (which == Which::kAll || !is_gone(one));
  });
  return found;
}

bool DeepRepositories::are_all_below(const std::vector<std::string>& roots) const {
  return std::ranges::none_of(overfull_, [&](const std::string& full) {
    return std::ranges::any_of(roots,
                               [&](const std::string& root) { return is_within(root, full) || is_within(full, root); });
  });
}

std::vector<std::string> DeepRepositories::roots_below(const std::vector<std::string>& roots) const {
  std::vector<std::string> found;
  std::ranges::copy_if(roots_, std::back_inserter(found), [&](const std::string& one) {
    const bool is_below = std::ranges::any_of(roots, [&](const std::string& root) { return is_within(one, root); });
    return is_below && std::ranges::find(roots, one) == roots.end();
  });
  return found;
}

void DeepRepositories::keep(const std::vector<std::string>& directories, const std::vector<std::string>& roots) {
  const auto is_known = [&](const std::string& one) { return directories_.contains(one); };
  const auto is_known_root = [&](const std::string& one) { return roots_.contains(one); };
  if (std::ranges::all_of(directories, is_known) && std::ranges::all_of(roots, is_known_root)) return;
  const auto file = sys::open_journal(file_);
  if (!file || !sys::lock_journal(file->get())) return;
  Text all = read_all(file->get());
  std::set<std::string> added;
  std::string more;
  for (const std::string& one : directories) {
    if (all.directories.insert(one).second && added.insert(one).second) more += list_line(one);
  }
  for (const std::string& one : roots) {
    if (all.roots.insert(one).second) more += cat({kRoot, list_line(one)});
  }
  if (all.directories.size() > kDeepMax || all.roots.size() > kRootsMax) {
    std::erase_if(all.directories, [&](const std::string& one) { return added.contains(one) || is_gone(one); });
    std::erase_if(all.roots, is_gone);
    if (all.roots.size() > kRootsMax) note_more(all, {all.roots.begin(), all.roots.end()});
    if (all.roots.size() > kRootsMax) all.roots = {roots.begin(), roots.end()};
    for (const std::string& one : added) {
      if (all.directories.size() < kDeepMax)
        all.directories.insert(one);
      else
        note_more(all, roots);
    }
    if (sys::set_size(file->get(), 0)) (void)sys::append(file->get(), text_of(all));
  } else {
    (void)sys::append(file->get(), more);
  }
  directories_ = std::move(all.directories);
  roots_ = std::move(all.roots);
  overfull_ = std::move(all.overfull);
}

}  // namespace hutch::service
