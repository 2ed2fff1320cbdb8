// Checks, once a command has ended, what it has left in repositories of git that would make the user's git run a
// program, or write or read a file elsewhere: operations to continue, indexes, symbolic links.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/paths/listings.h"
#include "service/common/sandbox_repositories.h"
#include "service/git/commits.h"
#include "service/git/indexes.h"
#include "service/git/links.h"
#include "service/git/module_trees.h"
#include "service/git/run_mark.h"
#include "service/git/state_text.h"
#include "wire/access.h"

namespace hutch::service {

struct Prepared;

// Whether the operation may stay as it is. The argument describes it in whole lines. Null if nobody is there.
using KeepGitState = std::function<bool(const std::string& what)>;

class GitBefore {
 public:
  // Remembers the state before the command starts. That state is the user's, unless another run that still continues
  // may have made it. `data` is hutch's own directory, where each run has a mark. `prepared` must outlive this object.
  struct Known {
    // Known directories: repositories are searched again, because the search for `prepared` was earlier.
    host::Listings* seen = nullptr;
    std::vector<std::string> more{};  // paths as for widen()
    std::unique_ptr<RunMark> mark{};  // of an earlier one
    std::vector<wire::Repository> worked_in{};  // as for works_in()
  };
  GitBefore(const Prepared& prepared, const std::string& data, Known known);

  // For a run that was cut off, from its mark. `nothing` replaces the run's policy, which is no longer known.
  GitBefore(const Prepared& nothing, const std::string& data, const OtherRun& cut_off);

  // Whether the sandbox's supervisor sees each change that look() could find: then it is soon enough to make one of
  // these before the first change.
  static bool is_announced(const Prepared& prepared);

  // Call this before `root`, a directory or a file, becomes writable too. Its state is the user's, as above.
  void widen(const std::string& root);

  // Call this before the sandbox's first change in a repository that no search has to have found, and after one has
  // moved. What is there before the first change is the user's, as above.
  void works_in(const wire::Repository& repository);

  // For the next one of this run. Only the end may follow.
  std::unique_ptr<RunMark> take_mark() { return std::move(mark_); }

  struct After {
    std::vector<std::string> told;  // one line for each finding: what it was, and where it is now
    bool is_complete = true;  // false: some repositories were not checked
    bool others_moved = false;  // another run has moved directories during the look: look_at_cut_off() looks again
    std::string not_searched{};  // where the first of them may be; empty: unknown
    std::string incomplete_line() const;
  };
  // Moves each finding below `quarantine`, or, on another file system, within the repository.
  // kYes: the sandbox has ended, so that nothing will change any more.
  using Ends = GitCommits::Ends;
  After look(const std::string& quarantine, const KeepGitState& keep, host::Listings& seen, Ends ends = Ends::kNo);

 private:
  std::vector<std::string> directories(const std::vector<std::string>& repositories) const;
  void note_closed(const std::vector<std::string>& repositories);
  After look_once(const std::string& quarantine, const KeepGitState& keep, host::Listings& seen, Ends ends);
  std::map<std::string, std::int64_t> ways_to(const std::vector<std::string>& directories) const;
  struct Repositories {
    std::vector<std::string> directories;
    bool are_all = true;
    std::string not_searched{};
  };
  Repositories repositories_now(host::Listings& seen) const;
  Repositories repositories_below(const std::vector<std::string>& roots, host::Listings& seen) const;
  Repositories repositories_at(const std::vector<std::string>& directories, host::Listings& seen) const;
  void search(const std::string& root, int depth, host::Listings& seen, Repositories& found) const;
  std::vector<std::string> add_worked_in(const std::string& directory, host::Listings& seen);
  void add_deep(host::Listings& seen);
  void note_deep(Repositories& now) const;
  void find_moved();
  void moves(const std::string& from, const std::string& to);
  void moved(const std::string& from, const std::string& to);
  void forget(const std::string& directory);
  void add_to_mark(const std::vector<std::string>& repositories);
  bool note_touched(const wire::Repository& operation);
  void touch(const std::string& path);
  void mark_touched(const std::string& path);
  void no_longer_knows_touched();
  void note_commands(const std::string& operation);
  void find_lost(Repositories& now) const;
  void note_place(const std::string& directory);
  void follow(const std::vector<std::string>& directories);
  bool is_at_its_place(const std::string& directory) const;
  void touch_what_is_there(const std::string& directory);
  void look_at_references(const std::vector<std::string>& directories, const std::string& quarantine,
                          After& after) const;
  bool came_along(const std::string& directory) const;
  void keep_made() const;
  void look_at_operations(const std::vector<std::string>& directories, const std::string& quarantine,
                          const KeepGitState& keep, After& after) const;
  struct LinksNow {
    std::vector<std::string> paths;  // links that the run made, or moved there
    bool are_all = true;
  };
  LinksNow links_now(const std::vector<std::string>& repositories) const;
  bool is_users(const std::string& path, const GitStateText& text) const;
  bool may_be_its(const std::string& path, const GitStateText& text) const;
  bool has_touched(const std::string& path) const;
  bool is_of_known(const std::string& path) const;
  bool is_made_outside(const std::string& path) const;
  bool goes_on_with_users(const std::string& path, std::string_view todo) const;
  void mark_link_of(const std::string& gitdir, const GitStateText& text) const;
  bool leads_elsewhere(const std::string& gitdir, const GitStateText& text, std::string& closed) const;
  void remember(const std::vector<std::string>& repositories, const std::vector<std::string>& before);
  void remember_links(const std::vector<std::string>& repositories, const std::vector<std::string>& before,
                      const std::vector<OtherRun>& others, FoundStates& found);
  void remember_texts(const std::vector<std::string>& repositories, const std::vector<std::string>& before,
                      const std::vector<OtherRun>& others, FoundStates& found);
  void remember_ways_out(const std::string& resolutions, const std::string& directory,
                         const std::vector<OtherRun>& others, FoundStates& found);
  void remember_way(const std::string& link, const std::vector<OtherRun>& others, FoundStates& found);
  bool may_write(const std::string& path) const;
  void forget_of(const std::vector<OtherRun>& others, FoundStates& found);
  bool is_of_other(const std::vector<OtherRun>& others, const std::string& path, const std::string& state) const;

  const Prepared& prepared_;
  std::vector<std::string> written_;  // the paths that the run may write
  std::unique_ptr<RunMark> mark_;
  GitCommits commits_;
  std::vector<std::string> repositories_;
  std::set<std::string> worked_in_;  // directories, as the host has them
  std::set<std::string> told_;  // of them: the supervisor tells where these move
  std::map<std::string, std::optional<plan::RepositoryIdentity>> watched_;  // the other ones of earlier sandboxes
  std::set<std::string> gone_;  // of these, at the start
  bool knows_all_worked_in_ = true;
  bool is_cut_off_ = false;
  bool is_late_ = false;  // what it is told of now has happened before it was made
  bool tells_each_made_ = false;  // each repository that the sandbox makes is announced; no file server makes one
  std::string becoming_{};  // the directory that is being made a repository
  std::size_t marked_ = 0;  // bytes of them in the mark
  std::string data_;
  std::set<plan::RepositoryIdentity> made_;  // by this sandbox, or an earlier one
  std::set<std::string> touched_;  // operations that the sandbox has changed, as plan::checked_git_operation() has them
  bool knows_all_touched_ = true;
  std::map<std::string, plan::RepositoryIdentity> places_;  // repositories, by where they were last
  std::size_t lost_ = 0;  // of those that are where hutch does not know
  std::int64_t since_ns_ = 0;  // since the epoch: nothing that the run makes is older
  std::map<std::string, std::vector<std::string>> commands_;  // in lists of steps that are the user's
  std::vector<std::string> of_start_;  // repositories that the sandbox found
  GitIndexes indexes_;
  FoundStates links_;  // the user's
  bool links_are_all_ = true;
  GitModuleTrees module_trees_;
  FoundStates states_;  // for the user's texts
  FoundStates found_;  // all that the mark says
};

// Checks what killed runs left, and reports each finding.
void look_at_cut_off(const std::string& data, const std::function<void(const std::string& line)>& tell);

}  // namespace hutch::service
