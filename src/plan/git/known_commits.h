// Which commits of a repository hutch has found at its references, and whose they are: a file of hutch's own for each
// repository, which runs add to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

struct GitAuthored;

inline constexpr std::size_t kKnownCommitsBytesMax = 8 << 20;

// kUsers: a reference named it when a run started, and no run could have made it. kSandboxes: it was new when a run
// ended.
struct KnownCommit {
  enum class Whose { kUsers, kSandboxes } whose = Whose::kUsers;
  std::string name;  // in hexadecimal
  bool operator==(const KnownCommit&) const = default;
};

struct KnownCommits {
  std::vector<KnownCommit> commits;  // the oldest first
  // What a run left at protected names, by its key, and how many commits were known by then: a later commit of the
  // user's is no evidence for it.
  std::map<std::string, std::size_t, std::less<>> authored{};
  std::set<std::string> listed{};  // commits of sandboxes, everything of which is in `authored`
  std::size_t open = 0;            // runs that have not ended, or were killed
  bool is_in_doubt = false;        // a run left something that hutch could not list: what is new may be a sandbox's
  bool is_broken = false;          // hutch knows nothing: another text
};

KnownCommits read_known_commits(std::string_view text);

// As in KnownCommits::authored.
std::string authored_key(std::string_view path, std::uint32_t mode, std::string_view object);

// Whose the names that a run finds at its start are, if they are new: a sandbox's if another run may write the
// repository, or has not ended, or has left what could not be listed.
enum class OtherRuns { kNone, kSome };
KnownCommit::Whose whose_at_start(const KnownCommits& known, OtherRuns others);

// Adds those of `found`, in hexadecimal, that are not known, and returns their lines.
std::string add_names(KnownCommits& known, const std::set<std::string>& found, KnownCommit::Whose whose);

// Further lines. What is known already adds nothing.
std::string lines_of_authored(const KnownCommits& known, const std::set<GitAuthored>& authored);
std::string lines_of_listed(const KnownCommits& known, const std::set<std::string>& names);
// Of runs that were killed, if no other one goes on.
std::string lines_of_begin(const KnownCommits& known, OtherRuns others);

inline constexpr std::string_view kEndOfRun = "e\n";
inline constexpr std::string_view kInDoubt = "?\n";
inline constexpr std::string_view kNoDoubt = "!\n";

// Names in bytes of the commits that lead no further for a search of what a run left, and of those that are still to be
// listed.
std::vector<std::string> known_ends(const KnownCommits& known);
std::vector<std::string> not_listed(const KnownCommits& known);

// The name of the file of a repository, whose directory has these numbers. The path is no part of it: a repository that
// moves keeps its file.
std::string known_commits_file(std::uint64_t device, std::uint64_t inode, std::int64_t birth_ns);

}  // namespace hutch::plan
