// Reads commits, trees and tags of a git repository.
#include "plan/git/objects.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/sha1.h"
#include "base/sha256.h"
#include "base/text.h"

namespace hutch::plan {

namespace {

std::string_view kind_word(GitObjectKind kind) {
  switch (kind) {
    case GitObjectKind::kCommit: return "commit";
    case GitObjectKind::kTree: return "tree";
    case GitObjectKind::kBlob: return "blob";
    case GitObjectKind::kTag: return "tag";
  }
  return {};
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

// Takes "KEY HEX\n" from the front.
std::optional<std::string> take_named(std::string_view& bytes, std::string_view key, GitHash hash) {
  if (!bytes.starts_with(key)) return std::nullopt;
  const std::size_t end = bytes.find('\n');
  if (end == bytes.npos) return std::nullopt;
  auto name = git_name_of_hex(bytes.substr(key.size(), end - key.size()), hash);
  if (name) bytes.remove_prefix(end + 1);
  return name;
}

// "committer NAME <EMAIL> SECONDS ZONE"; a commit without it is one of 1970.
std::int64_t committed_at(std::string_view bytes) {
  static constexpr std::string_view kKey = "\ncommitter ";
  const std::size_t at = bytes.find(kKey);
  if (at == bytes.npos) return 0;
  std::string_view line = bytes.substr(at + kKey.size());
  line = line.substr(0, line.find('\n'));
  const std::size_t bracket = line.rfind("> ");
  if (bracket == line.npos) return 0;
  line.remove_prefix(bracket + 2);
  std::int64_t seconds = 0;
  std::from_chars(line.data(), line.data() + line.size(), seconds);
  return seconds;
}

}  // namespace

std::string git_object_name(const GitObject& object, GitHash hash) {
  const std::string header =
      cat({kind_word(object.kind), " ", std::to_string(object.bytes.size()), std::string_view("\0", 1)});
  if (hash == GitHash::kSha1) return sha1(cat({header, object.bytes}));
  Sha256 sum;
  sum.add(header);
  sum.add(object.bytes);
  return git_name_of_hex(sum.finish(), hash).value_or("");
}

std::optional<std::string> git_name_of_hex(std::string_view hex, GitHash hash) {
  const auto size = static_cast<std::size_t>(hash);
  if (hex.size() != 2 * size) return std::nullopt;
  std::string name;
  name.reserve(size);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]);
    const int low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    name.push_back(static_cast<char>(high * 16 + low));
  }
  return name;
}

std::optional<GitCommit> read_git_commit(std::string_view bytes, GitHash hash) {
  GitCommit commit;
  commit.committed = committed_at(bytes.substr(0, bytes.find("\n\n")));
  auto tree = take_named(bytes, "tree ", hash);
  if (!tree) return std::nullopt;
  commit.tree = std::move(*tree);
  while (auto parent = take_named(bytes, "parent ", hash)) commit.parents.push_back(std::move(*parent));
  return commit;
}

std::optional<std::string> read_git_tag(std::string_view bytes, GitHash hash) {
  return take_named(bytes, "object ", hash);
}

namespace {

// Takes an entry from the front. Nothing: git could read it in another way.
std::optional<GitTreeFile> take_tree_file(std::string_view& bytes, GitHash hash) {
  const auto size = static_cast<std::size_t>(hash);
  const std::size_t space = bytes.find(' ');
  const std::size_t zero = bytes.find('\0');
  const bool whole = space != bytes.npos && zero != bytes.npos && space < zero && bytes.size() - zero - 1 >= size;
  if (!whole) return std::nullopt;
  GitTreeFile file;
  const std::string_view digits = bytes.substr(0, space);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), file.mode, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  file.name = bytes.substr(space + 1, zero - space - 1);
  file.object = bytes.substr(zero + 1, size);
  bytes.remove_prefix(zero + 1 + size);
  return file;
}

}  // namespace

GitTreeLookup find_in_git_tree(std::string_view bytes, std::string_view name, GitHash hash) {
  using enum GitTreeLookup::Found;
  GitTreeLookup lookup;
  while (!bytes.empty()) {
    auto file = take_tree_file(bytes, hash);
    // git takes the first or the last of two names, depending on the command.
    if (!file || (file->name == name && lookup.found == kYes)) return {kBroken, {}};
    if (file->name == name) lookup = {kYes, {file->mode, std::move(file->object)}};
  }
  return lookup;
}

std::optional<std::vector<GitTreeFile>> git_tree_files(std::string_view bytes, GitHash hash) {
  std::vector<GitTreeFile> files;
  while (!bytes.empty()) {
    auto file = take_tree_file(bytes, hash);
    if (!file || file->name.empty() || file->name.contains('/')) return std::nullopt;
    files.push_back(std::move(*file));
  }
  return files;
}

std::uint32_t git_plain_mode(std::uint32_t mode) {
  const bool is_file = (mode & 0170000) == 0100000;
  return !is_file ? mode : (mode & 0100) != 0 ? kGitProgramMode : kGitPlainMode;
}

}  // namespace hutch::plan
