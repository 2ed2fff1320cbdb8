// The questions of agents' sandboxes, and who answers them.
#include "service/questions/question_board.h"

#include <algorithm>

#include "base/text.h"

namespace hutch::service {

namespace {

constexpr std::size_t kWaitingMax = 1024;

std::string id_of(const std::string& agent, std::string_view number) { return cat({agent, ".", number}); }

}  // namespace

class QuestionBoard::Ear : public sandbox::Audience {
 public:
  Ear(QuestionBoard& board, std::string agent) : board_(board), agent_(std::move(agent)) {}

  bool is_attached() const override { return board_.is_attended(agent_); }
  void asked(const wire::ControlQuestion& question) override {
    board_.tell(
        {.kind = BoardEvent::Kind::kAsked, .agent = agent_, .id = id_of(agent_, question.id), .question = question});
  }
  void answered(const approval::Desk::Closed& closed) override {
    board_.tell({.kind = BoardEvent::Kind::kAnswered,
                 .agent = agent_,
                 .id = id_of(agent_, std::to_string(closed.id)),
                 .choice = std::string(approval::name_of(closed.answer)),
                 .by = closed.by});
  }

 private:
  QuestionBoard& board_;
  const std::string agent_;
};

Result<std::shared_ptr<QuestionBoard::Attendant>> QuestionBoard::attend(std::string agent) {
  return list({.agent = std::move(agent), .attendant = {}});
}

Result<std::shared_ptr<QuestionBoard::Attendant>> QuestionBoard::attend_alone(const std::string& agent) {
  {
    const std::scoped_lock lock(mutex_);
    reserved_.insert(agent);
  }
  return list({.agent = agent, .attendant = {}, .alone = true});
}

void QuestionBoard::release(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  reserved_.erase(agent);
}

bool QuestionBoard::is_reserved(const std::string& agent) const {
  const std::scoped_lock lock(mutex_);
  return reserved_.contains(agent);
}

Result<std::shared_ptr<QuestionBoard::Attendant>> QuestionBoard::list(Listed listed) {
  auto attendant = TRY(Attendant::make(kWaitingMax));
  const std::scoped_lock lock(mutex_);
  std::erase_if(listed_, [](const Listed& one) { return one.attendant.expired(); });
  listed.attendant = attendant;
  listed_.push_back(std::move(listed));
  return attendant;
}

bool QuestionBoard::concerns(const Listed& one, const std::string& agent) const {
  if (reserved_.contains(agent)) return one.alone && one.agent == agent;
  return one.agent.empty() || one.agent == agent;
}

std::unique_ptr<sandbox::Audience> QuestionBoard::audience(std::string agent) {
  return std::make_unique<Ear>(*this, std::move(agent));
}

bool QuestionBoard::is_attended(const std::string& agent) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(listed_, [&](const Listed& one) {
    const auto attendant = one.attendant.lock();
    return attendant && !attendant->overflowed() && concerns(one, agent);
  });
}

void QuestionBoard::tell(const BoardEvent& event) {
  const std::scoped_lock lock(mutex_);
  for (const Listed& one : listed_) {
    if (!concerns(one, event.agent)) continue;
    if (const auto attendant = one.attendant.lock()) attendant->add(event);
  }
}

}  // namespace hutch::service
