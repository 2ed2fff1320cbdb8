// The turns that the access supervisors of one user take at the names that git knows.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"

namespace hutch::guest {

// What makes a directory a repository may come from two sandboxes, which have a supervisor each. A supervisor looks a
// name up, judges it, makes it and judges it again in one turn, and no other supervisor does so meanwhile. Only
// supervisors have the file; the death of one gives its turn back.
class Turns {
 public:
  // Without a file nobody takes turns.
  explicit Turns(UniqueFd file) : file_(std::move(file)) {}

  // Whether nobody else can be in a turn: this process is, or there are none.
  bool is_mine() const { return holds_ || !file_; }
  bool holds() const { return holds_; }
  // Waits; EBUSY where the turn does not come.
  Status take();
  // Answers leave, and `keep` closes, only afterwards.
  void give_back();
  // The last descriptor of a removed file frees its blocks, which takes long for a large one.
  void keep(UniqueFd file) { kept_.push_back(std::move(file)); }

 private:
  UniqueFd file_;
  std::vector<UniqueFd> kept_;
  bool holds_ = false;
  bool is_late_ = false;
};

// The rule that hutch reports where a turn did not come.
const plan::NameRule& turn_rule();

// Gives the turn back at its end, if there is one.
class TurnScope {
 public:
  explicit TurnScope(Turns& turns) : turns_(turns) {}
  ~TurnScope() { turns_.give_back(); }
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;

 private:
  Turns& turns_;
};

}  // namespace hutch::guest
