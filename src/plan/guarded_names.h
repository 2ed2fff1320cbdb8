// Files that a sandbox may not write, or whose change hutch reports, by name: data that the supervisor gets with the
// plan.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace hutch::plan {

// A pattern of absolute paths (policy/glob.h): the sandbox may not write a match, or anything below it.
struct NameRule {
  std::string pattern;
  std::string rule;  // as a person reads it
  std::string except;  // a pattern of allowed paths; empty: none
  std::vector<std::string> lifted;  // absolute paths that, with everything below them, are excepted as well
  enum class Asking { kNever, kMayBe } asking = Asking::kNever;  // kMayBe: an answer opens a path of it
  bool operator==(const NameRule&) const = default;
};

// A file that has a protected name, and another one besides (link(2)).
struct LinkedFile {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string path;  // the protected one
  bool operator==(const LinkedFile&) const = default;
};

// Places where the names that programs obey have another meaning.
struct ObeyedPlaces {
  std::vector<std::string> told{};  // absolute paths that links of told names lead to
  std::string home{};  // the user's, where the sandbox may write it: hutch asks about names directly in it; else empty
  std::vector<LinkedFile> linked{};  // the sandbox may not write them by any name
  bool operator==(const ObeyedPlaces&) const = default;
};

// The directory of a repository of git: inode numbers are used again, with another time of birth (statx(2), stx_btime).
struct RepositoryIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;
  auto operator<=>(const RepositoryIdentity&) const = default;
};

// The files that the supervisor refuses by name, and those that it reports.
struct GuardedNames {
  std::vector<NameRule> rules;
  // Whether the list of files that programs obey counts (policy/obeyed/obeyed.h), besides the rules.
  enum class List { kNone, kObeyed } list = List::kNone;
  std::vector<std::string> lifted{};  // absolute paths that, with everything below them, are excepted from the list
  // Absolute paths of directories that are the sandbox's own: there the list does not count, and git's names do.
  std::vector<std::string> own{};
  std::vector<std::string> allowed{};  // names of the list that the policy lifts
  ObeyedPlaces places{};
  // Configurations of repositories that are not the sandbox's, sorted: the supervisor judges a change by its content.
  std::vector<std::string> configs{};
  // Repositories that a sandbox has made earlier, and nobody has configured since: they count as this sandbox's.
  std::vector<RepositoryIdentity> made{};
  // Directories of repositories that sandboxes have made, or have worked in where no search finds them: hutch knows
  // what is the user's there, and has to be told where they move.
  std::vector<std::string> worked{};
  // Files of the list that existed at the start, sorted: no directory above one moves.
  std::vector<std::string> kept{};
  std::vector<std::string> granted{};  // absolute paths that an answer has opened, where the rule permits answers
  bool operator==(const GuardedNames&) const = default;
};

}  // namespace hutch::plan
