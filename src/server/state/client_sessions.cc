// Sessions of the daemon's clients.
#include "server/state/client_sessions.h"

#include "base/text.h"
#include "service/agent/checks.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::server {

namespace {

constexpr std::size_t kClientSessionIdBytes = 16;
constexpr std::size_t kNameBytes = 8;

}  // namespace

Result<std::unique_ptr<ClientSessions>> ClientSessions::open(service::AgentService& agents, Tell tell) {
  auto sessions = std::make_unique<ClientSessions>(agents, std::move(tell));
  TRY(sys::make_private_directories(sessions->marks()));
  for (const auto& left : TRY(sys::list_directory(sessions->marks(), sys::Listing::kAll))) {
    const Status removed = sessions->remove(left.name);
    if (!removed) sessions->tell_(cat({"session ", printable(left.name, 64), ": ", removed.error().message}));
  }
  return sessions;
}

// What is about to be there is written down first: after a kill -9 the next daemon knows which agents are nobody's.
std::string ClientSessions::marks() const { return agents_.dirs().data + "/sessions"; }

Status ClientSessions::remove(const std::string& agent) {
  TRY(agents_.remove(agent));
  agents_.board().release(agent);
  return sys::remove_tree(cat({marks(), "/", agent}));
}

Result<ClientSessions::Opened> ClientSessions::begin(Wish wish, const std::stop_token& gone) {
  const std::string id = TRY(sys::random_hex(kClientSessionIdBytes));
  const std::string agent = cat({"session-", TRY(sys::random_hex(kNameBytes))});
  const auto over = std::make_shared<sys::Event>(TRY(sys::Event::make()));
  {
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kAtOnce) {
      return fail({Code::kConflict, 0, cat({std::to_string(kAtOnce), " sessions are open already"})});
    }
    known_.emplace(id, Known{agent, over});
    if (wish.policy.whole || wish.policy.first) with_own_policy_.insert(agent);
  }
  auto questions = make(agent, std::move(wish), gone);
  if (questions) return Opened{.id = id, .agent = agent, .questions = std::move(*questions), .over = over};
  end(id);
  return fail(std::move(questions).error());
}

Result<std::shared_ptr<ClientSessions::Questions>> ClientSessions::make(const std::string& agent, Wish wish,
                                                                        const std::stop_token& gone) {
  TRY(sys::make_private_directories(cat({marks(), "/", agent})));
  store::AgentRecord record = TRY(agents_.draft(agent));
  for (const std::string& setting : wish.settings) record = TRY(store::with_setting(record, setting));
  TRY(service::check_passing_agent(record));
  agents_.give_policy(agent, std::move(wish.policy));
  auto questions = TRY(agents_.board().attend_alone(agent));
  TRY(agents_.create(std::move(record)));
  const auto sandbox = TRY(agents_.sandbox(agent));
  TRY_CTX(sandbox->resident(gone), "start the sandbox");
  return questions;
}

Result<std::string> ClientSessions::agent_of(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(id);
  if (found == known_.end()) return fail(Error::not_found("there is no such session"));
  return found->second.agent;
}

bool ClientSessions::has_own_policy(const std::string& agent) const {
  const std::scoped_lock lock(mutex_);
  return with_own_policy_.contains(agent);
}

// Found by nobody from here on. What cannot be removed is tried again by the next daemon: its mark stays.
void ClientSessions::end(const std::string& id) {
  std::string agent;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(id);
    if (found == known_.end()) return;
    agent = found->second.agent;
    found->second.over->signal();
    known_.erase(found);
  }
  const Status removed = remove(agent);
  if (!removed) return tell_(cat({"session ", agent, ": ", removed.error().message}));
  const std::scoped_lock lock(mutex_);
  with_own_policy_.erase(agent);
}

void ClientSessions::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, known] : known_) {
    if (known.agent == agent) known.over->signal();
  }
}

}  // namespace hutch::server
