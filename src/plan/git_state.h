// What git keeps of an operation that is to go on: commands in there run when the user says "--continue".
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace hutch::plan {

struct GitStateFile {
  std::string_view directory;  // below the repository's; it is the whole operation
  std::string_view name;       // in it
  enum class Holds { kTodo, kStrategy, kOptions, kApplyOptions } holds;
};
std::span<const GitStateFile> git_state_files();

inline constexpr std::size_t kGitStateBytesMax = 1 << 20;

// Whether git, going on with it, would run nothing that the file names, and write no file that it names.
bool is_harmless_git_state(const GitStateFile& file, std::string_view text);

// The files that MERGE_RR names, whose conflicts git-rerere(1) has seen (read_rr() of git's rerere.c). An empty name
// stands for an entry that git does not write so: it could read another name there.
std::vector<std::string_view> resolved_names(std::string_view text);

}  // namespace hutch::plan
