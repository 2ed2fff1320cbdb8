// The files in which git keeps an operation for later: git obeys them when the user says "--continue", or "reset".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

struct GitStateFile {
  std::string_view directory;  // below the repository's directory; it holds the whole operation. Empty: the file is one
  std::string_view name;  // in `directory`
  enum class Holds {
    kTodo,
    kStrategy,
    kStrategyOptions,
    kSigningOption,
    kOptions,
    kApplyOptions,
    kPathsOfBisect,
    kStartOfBisect,
    kReferences,
    kRewritten,
  } holds;
  // What git does by a harmful one, as the end of a sentence that begins with the file.
  std::string_view harm;

  // Below the repository's directory.
  std::string path() const;
  std::string operation() const;
};
std::span<const GitStateFile> git_state_files();

inline constexpr std::size_t kGitStateBytesMax = 1 << 20;

// Whether git, when it continues the operation, would neither run nor write anything that the file names.
bool is_harmless_git_state(const GitStateFile& file, std::string_view text);

// Returns NAME if the text is that of a symbolic reference ("ref: NAME"), and nothing for any other text.
std::optional<std::string_view> symbolic_target(std::string_view text);

// Whether it is a reference's full name, below "refs" (git-check-ref-format(1)), or that of a pseudo reference, of
// capitals, or empty. git does not ask for it where a symbolic reference leads on, and would write another file. A
// message of git's is no reference: it may begin with "ref:".
bool is_reference_name(std::string_view name);

// Whether a file of a repository's own directory holds a person's text, which may begin as it likes.
bool is_message_of_git(std::string_view name);

// Whether a list of steps has git write another file than a reference.
bool todo_writes_another_file(std::string_view text);

// The lines of a list of steps by which git runs something, in their order.
std::vector<std::string> commands_of_todo(std::string_view text);

// The files that MERGE_RR names: git-rerere(1) has seen their conflicts (read_rr() of git's rerere.c). An empty name
// represents an entry in another form than git's, from which git could read another name.
std::vector<std::string_view> resolved_names(std::string_view text);

}  // namespace hutch::plan
