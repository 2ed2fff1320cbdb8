// Which commits of a repository hutch has found at its references, and whose they are: a file of hutch's own for each
// repository, which runs add to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

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
  std::size_t open = 0;              // runs that have not ended, or were killed
  bool is_broken = false;            // hutch knows nothing: too many references, or another text
};

KnownCommits read_known_commits(std::string_view text);

// The lines to add when a run starts, and while it goes on; `found` are the names at the references, in hexadecimal. At
// the start new ones are a sandbox's if another run may write the repository (`others`), or has not ended.
enum class OtherRuns { kNone, kSome };
enum class References { kAll, kTooMany };
std::string lines_at_start(const KnownCommits& known, const std::set<std::string>& found, OtherRuns others);
std::string lines_of_run(const KnownCommits& known, const std::set<std::string>& found, References references);

inline constexpr std::string_view kEndOfRun = "e\n";

// The name of the file of a repository, whose directory has these numbers. The path is no part of it: a repository that
// moves keeps its file.
std::string known_commits_file(std::uint64_t device, std::uint64_t inode, std::int64_t birth_ns);

}  // namespace hutch::plan
