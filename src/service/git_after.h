// Looks, once a command has ended, for what it has left in repositories of git that would make the user's git run
// something, or write or read a file elsewhere: operations that wait to go on, indexes, symbolic links.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/listings.h"
#include "service/git_indexes.h"
#include "service/git_links.h"
#include "service/run_mark.h"

namespace hutch::service {

struct Prepared;

// Whether the operation may stay as it is; called with what is to be decided, as whole lines. Null where nobody is
// there.
using KeepGitState = std::function<bool(const std::string& what)>;

// Absent: nobody knows what it says.
using GitStateText = std::optional<std::string>;

class GitBefore {
 public:
  // What is there before the command starts. It is the user's, unless another run that goes on may have made it since.
  // `data`: hutch's own directory, where each run has a mark. `prepared` has to outlive it.
  // `seen`: repositories are looked for again, because those in `prepared` were found earlier.
  // `more`: as widen() has them.
  GitBefore(const Prepared& prepared, const std::string& data, host::Listings* seen = nullptr,
            const std::vector<std::string>& more = {});

  // Of a run that was cut off, by what its mark says. `nothing` stands for its policy, which nobody knows any more.
  GitBefore(const Prepared& nothing, const std::string& data, const OtherRun& cut_off);

  // Before `root`, a directory or a file, may be written as well. What is there is the user's, as above.
  void widen(const std::string& root);

  struct After {
    std::vector<std::string> told;  // what was found, and where it is now: a line each
    bool is_complete = true;  // false: some repositories were not looked at
    std::string not_searched{};  // where the first of them may be; empty: that is not known
    std::string incomplete_line() const;
  };
  // Moves what it finds below `quarantine`, or, on another file system, within the repository.
  After look(const std::string& quarantine, const KeepGitState& keep, host::Listings& seen) const;

 private:
  std::vector<std::string> directories(const std::vector<std::string>& repositories) const;
  struct Repositories {
    std::vector<std::string> directories;
    bool are_all = true;
    std::string not_searched{};
  };
  Repositories repositories_now(host::Listings& seen) const;
  Repositories repositories_below(const std::vector<std::string>& roots, host::Listings& seen) const;
  void look_at_operations(const std::vector<std::string>& directories, const std::string& quarantine,
                          const KeepGitState& keep, std::vector<std::string>& told) const;
  struct LinksNow {
    std::vector<std::string> paths;  // of those that were made, or moved there
    bool are_all = true;
  };
  LinksNow links_now(const std::vector<std::string>& repositories) const;
  bool is_users(const std::string& path, const GitStateText& text) const;
  bool leads_elsewhere(const std::string& gitdir, const GitStateText& text) const;
  void remember(const std::vector<std::string>& repositories);
  void remember_links(const std::vector<std::string>& repositories, const std::vector<OtherRun>& others,
                      FoundStates& found);
  void remember_texts(const std::vector<std::string>& repositories, const std::vector<OtherRun>& others,
                      FoundStates& found);
  bool is_of_other(const std::vector<OtherRun>& others, const std::string& path, const std::string& state) const;

  const Prepared& prepared_;
  std::vector<std::string> written_;  // what the run may write
  RunMark mark_;
  std::vector<std::string> repositories_;
  GitIndexes indexes_;
  FoundStates links_;  // the user's
  bool links_are_all_ = true;
  FoundStates states_;  // of the user's texts
};

// Looks at what runs left whose process was killed, and tells what it found.
void look_at_cut_off(const std::string& data, const std::function<void(const std::string& line)>& tell);

}  // namespace hutch::service
