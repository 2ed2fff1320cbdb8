// The questions of agents' sandboxes, and the programs that answer them: clients of the daemon, callers of the library.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/io/inbox.h"
#include "sandbox/questions/audience.h"

namespace hutch::service {

struct BoardEvent {
  enum class Kind { kAsked, kAnswered };
  Kind kind = Kind::kAsked;
  std::string agent;
  std::string id;  // "AGENT.NUMBER"
  wire::ControlQuestion question{};  // of kAsked
  std::string choice{};  // of kAnswered
  std::string by{};  // likewise
};

// Any thread may use it. Nobody who listens is waited for: one who does not keep up hears no more.
class QuestionBoard {
 public:
  // As long as it is held, its holder counts as somebody who answers the questions of that agent, of all agents where
  // none is named, and hears of them.
  using Attendant = sandbox::Inbox<BoardEvent>;
  Result<std::shared_ptr<Attendant>> attend(std::string agent);
  // The same for one agent, and nobody else counts or hears of its questions from then on, also once its holder has
  // gone, until release().
  Result<std::shared_ptr<Attendant>> attend_alone(const std::string& agent);
  void release(const std::string& agent);
  bool is_reserved(const std::string& agent) const;

  // To listen to an agent's sandbox, for as long as the board lives.
  std::unique_ptr<sandbox::Audience> audience(std::string agent);

 private:
  class Ear;
  struct Listed {
    std::string agent;
    std::weak_ptr<Attendant> attendant;
    bool alone = false;
  };
  Result<std::shared_ptr<Attendant>> list(Listed listed);
  bool concerns(const Listed& one, const std::string& agent) const;  // with the lock held
  bool is_attended(const std::string& agent) const;
  void tell(const BoardEvent& event);

  mutable std::mutex mutex_;
  std::vector<Listed> listed_;
  std::set<std::string> reserved_;
};

}  // namespace hutch::service
