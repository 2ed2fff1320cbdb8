// Judges the operations of git that a command has left.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "host/paths/paths.h"
#include "plan/git/files.h"
#include "plan/git/state.h"
#include "service/common/prepared.h"
#include "service/common/sandbox_repositories.h"
#include "service/git/after.h"
#include "service/git/aside.h"
#include "service/git/link_mark.h"
#include "service/git/state_text.h"
#include "service/git/symbolic_references.h"
#include "service/git/worked.h"
#include "service/git/worktree_link.h"
#include "sys/files/files.h"

namespace hutch::service {

namespace {

// Before the path of a repository in whose place another one lies.
constexpr std::string_view kLost = "//lost";

}  // namespace

// Whether it is about an operation.
bool GitBefore::note_touched(const wire::Repository& operation) {
  using enum wire::Repository::Event;
  if (operation.event != kWrites && operation.event != kEnds) return false;
  if (operation.path.empty()) {
    no_longer_knows_touched();
    return true;
  }
  const std::string path = host_path(prepared_.plan, operation.path);
  const std::string directory(plan::checked_git_directory(path));
  follow({directory});
  if (operation.event == kWrites) {
    // The directory itself is about to be made or moved. Of what comes along with it the supervisor tells the names.
    if (path == directory) {
      touch_what_is_there(directory);
    } else {
      note_commands(path);
      touch(path);
    }
    note_place(directory);
  } else if (is_at_its_place(directory) && touched_.erase(path) != 0) {
    commands_.erase(cat({path, "/git-rebase-todo"}));
    commands_.erase(cat({path, "/todo"}));
    if (marked_ <= kMarkedBytesMax) mark_->ended(path);
  }
  return true;
}

void GitBefore::touch(const std::string& path) {
  if (touched_.insert(path).second) mark_touched(path);
}

void GitBefore::mark_touched(const std::string& path) {
  if (marked_ > kMarkedBytesMax) return;
  marked_ += path.size();
  marked_ > kMarkedBytesMax ? mark_->tells_touched(RunMark::Tells::kSome) : mark_->touches(path);
}

void GitBefore::no_longer_knows_touched() {
  if (std::exchange(knows_all_touched_, false)) mark_->tells_touched(RunMark::Tells::kSome);
}

// What somebody outside has begun meanwhile, the sandbox may continue: its own change, which it is about to make, is
// not there yet.
void GitBefore::note_commands(const std::string& operation) {
  if (is_cut_off_ || is_late_ || has_touched(operation)) return;
  const std::vector<OtherRun> others = mark_->others();
  std::size_t left = kAllBytesMax;
  for (const std::string_view name : {"/git-rebase-todo", "/todo"}) {
    const std::string path = cat({operation, name});
    if (commands_.contains(path) || has_other_names(path)) continue;
    const auto text = state_text(path, left);
    if (!text || !*text || is_of_other(others, path, found_state(*text))) continue;
    commands_[path] = plan::commands_of_todo(**text);
  }
}

// What lies in a directory that becomes a repository is an operation by what the sandbox does. Each later change of one
// the supervisor tells.
void GitBefore::touch_what_is_there(const std::string& directory) {
  if (is_closed_inside(directory)) return touch(directory);
  for (const plan::GitStateFile& file : plan::git_state_files()) {
    std::string operation = cat({directory, "/", file.operation()});
    if (sys::status_of(operation).value_or(std::nullopt)) touch(operation);
  }
  for (const std::string_view name : {kResolutions, std::string_view("/gitdir"), std::string_view("/worktrees")}) {
    std::string path = cat({directory, name});
    if (sys::status_of(path).value_or(std::nullopt)) touch(path);
  }
}

void GitBefore::note_place(const std::string& directory) {
  const auto identity = repository_identity(directory);
  if (!identity) return;
  places_.insert_or_assign(directory, *identity);
  const bool has_touched =
      std::ranges::any_of(touched_, [&](const std::string& one) { return is_within(one, directory); });
  if (has_touched && marked_ <= kMarkedBytesMax) mark_->lies_at(directory, *identity);
}

// Another repository may lie there by now, which somebody else has moved there.
bool GitBefore::is_at_its_place(const std::string& directory) const {
  const auto place = places_.find(directory);
  return place == places_.end() || repository_identity(directory) == place->second;
}

// The repositories with operations of this sandbox's that are no longer where they were.
void GitBefore::find_lost(Repositories& now) const {
  std::map<plan::RepositoryIdentity, std::string> lost;
  for (const auto& [directory, identity] : places_) {
    const auto is_in_it = [&](const std::string& one) { return one != directory && is_within(one, directory); };
    if (std::ranges::any_of(touched_, is_in_it) && !is_at_its_place(directory)) lost.emplace(identity, directory);
  }
  if (lost.empty()) return;
  for (const MadeRepository& found : find_directories(lost, written_)) {
    if (std::ranges::find(now.directories, found.directory) == now.directories.end()) {
      now.directories.push_back(found.directory);
    }
    lost.erase(found.identity);
  }
  std::ranges::sort(now.directories);
  if (lost.empty()) return;
  if (!is_cut_off_) mark_->outlive();
  now.are_all = false;
  const std::string& where = lost.begin()->second;
  const std::size_t begin = where.starts_with(kLost) ? where.find('/', kLost.size()) : 0;
  if (now.not_searched.empty()) now.not_searched = where.substr(begin);
}

// Somebody else can have moved a repository, or exchanged it for another one. What hutch remembers of it follows, by
// way of names that nothing has.
void GitBefore::follow(const std::vector<std::string>& directories) {
  std::map<plan::RepositoryIdentity, std::string> known;
  std::vector<std::pair<std::string, std::string>> moves;
  for (const std::string& directory : directories) {
    const auto identity = repository_identity(directory);
    const auto place = places_.find(directory);
    if (!identity || (place != places_.end() && place->second == *identity)) continue;
    if (known.empty()) {
      for (const auto& [path, one] : places_) known.emplace(one, path);
    }
    const auto was = known.find(*identity);
    if (was != known.end() && was->second != directory) moves.emplace_back(was->second, directory);
  }
  const auto between = [](std::size_t number) { return cat({"//", std::to_string(number)}); };
  for (std::size_t i = 0; i < moves.size(); ++i) moved(moves[i].first, between(i));
  for (const auto& [from, to] : moves) {
    // That one may lie elsewhere by now.
    if (places_.contains(to)) moved(to, cat({kLost, std::to_string(++lost_), to}));
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const std::string& to = moves[i].second;
    moved(between(i), to);
    for (const std::string& one : touched_) {
      if (is_within(one, to)) mark_touched(one);
    }
    note_place(to);
  }
}

void GitBefore::look_at_references(const std::vector<std::string>& directories, const std::string& quarantine,
                                   After& after) const {
  std::set<std::string> all(directories.begin(), directories.end());
  std::set<std::string> of_start(of_start_.begin(), of_start_.end());
  for (const std::string& one : directories) {
    // A linked worktree's references are there.
    std::string common = git_common_directory(one);
    if (of_start.contains(one)) of_start.insert(common);
    all.insert(std::move(common));
  }
  // Elsewhere no file is older than the sandbox's work there: it made the repository, or moved a worktree's directory.
  const ReferencesElsewhere elsewhere =
      references_elsewhere({all.begin(), all.end()},
                           [&](const std::string& directory) { return of_start.contains(directory) ? since_ns_ : 0; });
  for (const ReferencesElsewhere::Found& found : elsewhere.found) {
    if (!sys::exists(found.path)) continue;
    const std::string remedy =
        found.path.ends_with("/HEAD")
            ? cat({"; `echo ref: refs/heads/BRANCH > ", shell_word(found.path), "` makes a new one"})
            : std::string();
    after.told.push_back(cat({printable(found.path), ", which the command wrote, has git write ", printable(found.name),
                              " as if it were a reference; ", taken_away(found.path, quarantine), remedy}));
  }
  if (!elsewhere.is_complete && after.not_searched.empty()) after.not_searched = elsewhere.not_searched;
  after.is_complete = after.is_complete && elsewhere.is_complete;
}

void GitBefore::look_at_operations(const std::vector<std::string>& directories, const std::string& quarantine,
                                   const KeepGitState& keep, After& after) const {
  std::vector<std::string>& told = after.told;
  std::size_t left = kAllBytesMax;
  // No number of a command's files may keep the user's from being known.
  std::size_t left_of_user = kAllBytesMax;
  const auto budget_of = [&](const std::string& path) -> std::size_t& {
    return states_.contains(path) || !has_touched(path) ? left_of_user : left;
  };
  for (const std::string& directory : directories) {
    for (const plan::GitStateFile& file : plan::git_state_files()) {
      const std::string operation = cat({directory, "/", file.operation()});
      const std::string path = cat({directory, "/", file.path()});
      const auto text = state_text(path, budget_of(path), &after.not_searched);
      if (!text || !may_be_its(path, *text)) continue;
      const bool is_of_steps = *text && file.holds == plan::GitStateFile::Holds::kTodo;
      if (*text && plan::is_harmless_git_state(file, **text)) continue;
      if (is_of_steps && goes_on_with_users(path, **text)) continue;
      const std::string what = cat({printable(path), ", which the command wrote, ", file.harm});
      const bool stays = keep && keep(cat({printable(path), " says what git does when you continue"}));
      told.push_back(stays ? cat({what, " when you continue"}) : cat({what, "; ", taken_away(operation, quarantine)}));
    }
    const std::string gitdir = cat({directory, "/gitdir"});
    const auto named = state_text(gitdir, budget_of(gitdir));
    if (named) mark_link_of(gitdir, *named);
    if (named && leads_elsewhere(gitdir, *named, after.not_searched)) {
      told.push_back(cat({printable(gitdir), ", which the command wrote, has `git worktree` write elsewhere; ",
                          taken_away(gitdir, quarantine), "; `git worktree repair PATH` makes a new one"}));
    }
    const std::string resolutions = cat({directory, kResolutions});
    const bool is_same =
        !may_be_its(resolutions, state_text(resolutions, budget_of(resolutions)).value_or(GitStateText()));
    // A file that it names can have become a link.
    for (const std::string& name : resolutions_elsewhere(directory)) {
      if (is_same && has_state(states_, cat({resolutions, "/", name}), kWayOut)) continue;
      told.push_back(cat({printable(resolutions), " has `git commit` copy ", printable(name), " into the repository; ",
                          taken_away(resolutions, quarantine)}));
      break;
    }
  }
}

// Whether the text is unchanged since the run started.
bool GitBefore::is_users(const std::string& path, const GitStateText& text) const {
  return has_state(states_, path, found_state(text));
}

// A supervisor says what the sandbox has changed. Anything else somebody outside has.
bool GitBefore::may_be_its(const std::string& path, const GitStateText& text) const {
  return has_touched(path) && !is_users(path, text);
}

bool GitBefore::has_touched(const std::string& path) const {
  if (!knows_all_touched_ || has_other_names(path) || is_within_any(path, touched_)) return true;
  // A mark that says what the run has touched was made after a look at each repository.
  return !is_cut_off_ && !is_of_known(path) && !is_made_outside(path);
}

// A repository that a command makes meanwhile, its supervisor tells; one that it moves here is older. What an agent's
// tools write, no supervisor sees.
bool GitBefore::is_made_outside(const std::string& path) const {
  if (!tells_each_made_) return false;
  const std::string directory(plan::checked_git_directory(path));
  const auto identity = repository_identity(directory);
  const bool is_new = identity && identity->born_ns >= since_ns_ && !made_.contains(*identity);
  return is_new && !mark_->is_beside_another(written_);
}

// Whether hutch had looked at the repository, or was told of it, before the sandbox could change anything there.
bool GitBefore::is_of_known(const std::string& path) const {
  const std::string directory = directory_of(path);
  const std::string above = directory_of(directory);
  const auto knows = [&](const std::string& one) { return std::ranges::binary_search(repositories_, one); };
  if (knows(directory) || knows(above)) return true;
  static constexpr std::string_view kOfWorktrees = "/worktrees";
  const auto of_worktree = [&](const std::string& place) {
    const std::string worktrees = directory_of(place);
    return worktrees.ends_with(kOfWorktrees) && knows(directory_of(worktrees));
  };
  return of_worktree(directory) || of_worktree(above);
}

// Whether git runs nothing by the steps but what the user's own had last: some of these are done.
bool GitBefore::goes_on_with_users(const std::string& path, std::string_view todo) const {
  const auto users = commands_.find(path);
  if (users == commands_.end() || plan::todo_writes_another_file(todo)) return false;
  const std::vector<std::string> left = plan::commands_of_todo(todo);
  return left.size() <= users->second.size() && std::equal(left.rbegin(), left.rend(), users->second.rbegin());
}

// "git worktree repair" writes the ".git" that this file names. The command may write below its own directories anyway.
bool GitBefore::leads_elsewhere(const std::string& gitdir, const GitStateText& text, std::string& closed) const {
  const std::string path = text ? worktree_link(gitdir, *text) : std::string();
  const bool is_its = may_be_its(gitdir, text);
  if (is_its) {
    const auto is_plain = [](std::string_view part) { return part != ".." && part != "."; };
    const bool is_exact =
        text && text->starts_with('/') && std::ranges::all_of(split(text_of_link(*text), '/'), is_plain);
    if (!is_exact) return true;
    // In the sandbox git writes the path that the sandbox has; outside it leads nowhere.
    const auto holds = [&](const std::string& root) { return is_within(path, root); };
    if (std::ranges::any_of(agents_own_places(prepared_), holds, &plan::MountStep::target)) return false;
  }
  if (!may_write(path)) return is_its;
  const std::string directory = directory_of(path);
  const std::string where = where_git_writes(path);
  const bool was_so = !is_its && has_state(states_, directory, found_state(GitStateText(where)));
  if (was_so || may_write(where)) return false;
  if (where.empty() && closed.empty()) closed = directory;
  return !where.empty();
}

// The next run must not take a link that this one made for the user's: the link says which repository comes along. A
// supervisor marks each link that it makes, so that another one is the user's if it is as new as what names it.
void GitBefore::mark_link_of(const std::string& gitdir, const GitStateText& text) const {
  if (!text || !may_be_its(gitdir, text)) return;
  const std::string_view link = text_of_link(*text);
  const std::string directory = directory_of(gitdir);
  const auto found = host::canonical_path(link.starts_with('/') ? std::string(link) : cat({directory, "/", link}));
  const auto holds = [&](const std::string& root) { return is_within(found->path, root); };
  if (!found || std::ranges::none_of(written_, holds)) return;
  const bool is_seen = prepared_.plan.supervisor != plan::Supervisor::kNone && !states_.contains(gitdir);
  if (is_seen && last_change(found->path) >= indexes_.start_ns()) return;
  // One that leads elsewhere is another repository's, and can be the user's.
  const auto says = sys::regular_file_text(found->path, plan::kGitStateBytesMax);
  if (!says || !says->starts_with("gitdir: ")) return;
  const std::string_view target = text_of_link(std::string_view(*says).substr(std::string_view("gitdir: ").size()));
  const std::string place = directory_of(found->path);
  const auto back = host::canonical_path(target.starts_with('/') ? std::string(target) : cat({place, "/", target}));
  if (back && back->path == directory) mark_git_link(found->path);
}

}  // namespace hutch::service
