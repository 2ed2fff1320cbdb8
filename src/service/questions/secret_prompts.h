// Secrets that agents have asked their person for: a call of a tool waits here for the value, and never sees it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/io/inbox.h"

namespace hutch::service {

struct SecretPrompt {
  std::string id;
  std::string agent;
  std::string key;
  std::string description;
  std::string instructions;
  std::string agent_id{};  // of its record: a later one of its name is another
};

struct PromptEvent {
  enum class Kind { kAsked, kClosed } kind = Kind::kAsked;
  SecretPrompt prompt;
};

// Any thread may use it. Each prompt has one end, whoever comes first: a value, a no, the time, the caller's end.
class SecretPrompts {
 public:
  static constexpr std::size_t kOpenMax = 64;
  static constexpr std::size_t kOpenOfAgentMax = 8;  // so that no agent keeps another from asking
  using Attendant = sandbox::Inbox<PromptEvent>;
  enum class Answer { kStored, kCancelled, kNobody, kTimeout };

  // Waits. kNobody where nobody attends.
  Result<Answer> ask(SecretPrompt prompt, std::chrono::milliseconds wait, const std::stop_token& stop);

  // Hears of every prompt, or of those of one agent, first of those that are open; whoever holds it is somebody who
  // answers.
  Result<std::shared_ptr<Attendant>> attend(const std::string& agent = {});

  // The agent has that secret now: whoever waits for it does so no longer.
  void stored(const std::string& agent, const std::string& key);
  std::optional<SecretPrompt> find(const std::string& id) const;  // where it is open
  // Keeps the value that was typed for it, by `store`, without whose success it stays open: meanwhile it has no other
  // end. An error where it has ended, or is being answered: then nothing is stored.
  Status answer(const std::string& id, const std::function<Status(const SecretPrompt& prompt)>& store);
  // Again, or too late, changes nothing.
  void cancel(const std::string& id);
  // The agent is removed: whatever it asked for ends, and what is being stored for it is not stored for another.
  void cancel_of(const std::string& agent);

 private:
  struct Open {
    SecretPrompt prompt;
    std::optional<Answer> answer{};
    bool answering = false;  // its value is being stored
  };
  void close(Open& open, Answer answer);  // with the lock held
  void tell(const PromptEvent& event);  // likewise

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t count_ = 0;
  std::vector<std::shared_ptr<Open>> open_;
  struct Attending {
    std::weak_ptr<Attendant> attendant;
    std::string agent;  // empty: of all
    bool is_for(const std::string& whose) const { return agent.empty() || agent == whose; }
  };
  std::vector<Attending> attendants_;
};

}  // namespace hutch::service
