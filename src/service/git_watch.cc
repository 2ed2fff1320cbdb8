// Checks repositories of git before and after changes in a persistent sandbox.
#include "service/git_watch.h"

#include "base/text.h"

namespace hutch::service {

void GitWatch::begins(sandbox::Others others) {
  const std::scoped_lock lock(mutex_);
  if (over_) return;
  // A process from an earlier command may have changed something until now.
  if (before_ && is_idle(others)) {
    look();
    before_.reset();
  }
  if (!before_) before_ = std::make_unique<GitBefore>(prepared_, data_, &seen_, more_);
  ++running_;
}

void GitWatch::ended(sandbox::Others others) {
  const std::scoped_lock lock(mutex_);
  if (over_ || running_ == 0) return;
  look();
  --running_;
  if (is_idle(others)) before_.reset();
}

void GitWatch::widen(const std::string& root) {
  const std::scoped_lock lock(mutex_);
  more_.push_back(root);
  if (before_) before_->widen(root);
}

void GitWatch::quiet() {
  const std::scoped_lock lock(mutex_);
  if (!is_idle(sandbox::Others::kNone)) return;
  look();
  before_.reset();
}

void GitWatch::over() {
  const std::scoped_lock lock(mutex_);
  if (!over_) look();
  over_ = true;
  before_.reset();
}

void GitWatch::look() {
  if (!before_) return;
  const GitBefore::After after = before_->look(cat({data_, "/quarantine"}), {}, seen_);
  for (const std::string& line : after.told) tell_(line);
  if (!after.is_complete) tell_(after.incomplete_line());
}

}  // namespace hutch::service
