// Objects of a git repository (gitformat-pack(5), git-mktree(1)), which git finds by the sum of their content: what a
// commit, a tree and a tag name.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/git/index.h"

namespace hutch::plan {

enum class GitObjectKind { kCommit = 1, kTree = 2, kBlob = 3, kTag = 4 };

struct GitObject {
  GitObjectKind kind = GitObjectKind::kBlob;
  std::string bytes;
};

// What a store says of an object: any bytes. kUnreadable: it has something that git might read, and this store cannot.
struct GitObjectAnswer {
  enum class Found { kNo, kYes, kUnreadable } found = Found::kNo;
  GitObject object{};
};
using LookUpGitObject = std::function<GitObjectAnswer(std::string_view name)>;

// The name of an object, in bytes.
std::string git_object_name(const GitObject& object, GitHash hash);

// Names from hexadecimal digits; nothing if they are not exactly those of `hash`.
std::optional<std::string> git_name_of_hex(std::string_view hex, GitHash hash);

struct GitCommit {
  std::string tree;  // names in bytes
  std::vector<std::string> parents;
  std::int64_t committed = 0;  // seconds since the epoch, as the commit says
};
std::optional<GitCommit> read_git_commit(std::string_view bytes, GitHash hash);

// The object that an annotated tag names.
std::optional<std::string> read_git_tag(std::string_view bytes, GitHash hash);

struct GitTreeEntry {
  std::uint32_t mode = 0;
  std::string object;  // its name in bytes
  bool operator==(const GitTreeEntry&) const = default;
};
// kBroken: git could read the tree in another way than this reader.
struct GitTreeLookup {
  enum class Found { kNo, kYes, kBroken } found = Found::kNo;
  GitTreeEntry entry{};
};
GitTreeLookup find_in_git_tree(std::string_view bytes, std::string_view name, GitHash hash);

// All of it; nothing for a tree that is broken as above.
struct GitTreeFile {
  std::string name;
  std::uint32_t mode = 0;
  std::string object;
  auto operator<=>(const GitTreeFile&) const = default;
};
std::optional<std::vector<GitTreeFile>> git_tree_files(std::string_view bytes, GitHash hash);

// A file's mode in a tree, without what git does not keep of it.
inline constexpr std::uint32_t kGitPlainMode = 0100644;
inline constexpr std::uint32_t kGitProgramMode = 0100755;
inline constexpr std::uint32_t kGitLinkMode = 0120000;

// git writes a file with 0644 or 0755 (canon_mode()).
std::uint32_t git_plain_mode(std::uint32_t mode);

}  // namespace hutch::plan
