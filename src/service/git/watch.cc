// Checks repositories of git before and after changes in a persistent sandbox.
#include "service/git/watch.h"

#include <algorithm>

#include "base/text.h"
#include "service/git/work_tree.h"

namespace hutch::service {

void GitWatch::begins(sandbox::Changes changes, const sandbox::Surroundings& now) {
  const std::scoped_lock lock(mutex_);
  if (over_) return;
  // A process from an earlier command may have changed something until now.
  if (before_ && is_idle(now)) {
    look();
    forget();
  }
  const bool comes = changes == sandbox::Changes::kSurely;
  if (comes || !is_announced_ || !now.announces_change()) remember();
  ++running_;
}

void GitWatch::changes() {
  const std::scoped_lock lock(mutex_);
  if (!over_) remember();
}

sandbox::Others GitWatch::ended(const sandbox::Surroundings& now) {
  const std::scoped_lock lock(mutex_);
  if (over_ || running_ == 0) return sandbox::Others::kNone;
  --running_;
  if (!before_) return sandbox::Others::kNone;
  // First: what goes on may make its change after the look.
  const bool idle = is_idle(now);
  look();
  if (idle) forget();
  return idle ? sandbox::Others::kNone : sandbox::Others::kRun;
}

void GitWatch::widen(const std::string& root) {
  const std::scoped_lock lock(mutex_);
  more_.push_back(root);
  if (before_) before_->widen(root);
}

void GitWatch::works_in(const wire::Repository& repository) {
  const std::scoped_lock lock(mutex_);
  using enum wire::Repository::Event;
  // What a later one remembers is where it is by then.
  if (repository.event == kMoved) {
    for (wire::Repository& one : worked_in_) one.path = path_after_move(one.path, repository.from, repository.path);
  } else if (repository.event == kEnds) {
    std::erase_if(worked_in_, [&](const auto& one) { return one.event == kWrites && one.path == repository.path; });
  } else if (repository.event != kMoves) {
    note(repository);
  }
  if (before_) before_->works_in(repository);
}

// A supervisor names a limited number; an agent can have many, one after another.
void GitWatch::note(const wire::Repository& repository) {
  static constexpr std::size_t kWorkedInMax = 2048;
  const auto is_it = [&](const wire::Repository& one) {
    return one.event == repository.event && one.path == repository.path && one.identity == repository.identity;
  };
  if (std::ranges::any_of(worked_in_, is_it)) return;
  if (worked_in_.size() < kWorkedInMax)
    worked_in_.push_back(repository);
  else if (!worked_in_.back().path.empty())
    worked_in_.push_back({});
}

void GitWatch::quiet() {
  const std::scoped_lock lock(mutex_);
  if (running_ > 0 || processes_ != Processes::kSeen) return;
  look();
  forget();
}

void GitWatch::over() {
  const std::scoped_lock lock(mutex_);
  if (!over_) look();
  if (!over_) look_at_cut_off(data_, tell_);
  over_ = true;
  forget();
  mark_.reset();
}

void GitWatch::remember() {
  if (before_) return;
  before_ = std::make_unique<GitBefore>(
      prepared_, data_,
      GitBefore::Known{.seen = &seen_, .more = more_, .mark = std::move(mark_), .worked_in = worked_in_});
}

void GitWatch::forget() {
  if (before_) mark_ = before_->take_mark();
  before_.reset();
  // Afterwards: until then it says whose the commits are.
  if (mark_) mark_->rest();
}

void GitWatch::look() {
  if (!before_) return;
  const GitBefore::After after = before_->look(cat({data_, "/quarantine"}), {}, seen_);
  for (const std::string& line : after.told) tell_(line);
  if (!after.is_complete) tell_(after.incomplete_line());
}

}  // namespace hutch::service
