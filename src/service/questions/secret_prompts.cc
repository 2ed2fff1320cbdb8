// Secrets that agents have asked their person for.
#include "service/questions/secret_prompts.h"

#include <algorithm>

namespace hutch::service {

namespace {

constexpr std::size_t kPromptsMax = 256;

}  // namespace

Result<SecretPrompts::Answer> SecretPrompts::ask(SecretPrompt prompt, std::chrono::milliseconds wait,
                                                 const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::erase_if(attendants_, [](const Attending& one) { return one.attendant.expired(); });
  const auto is_for_it = [&](const Attending& one) { return one.is_for(prompt.agent); };
  if (std::ranges::none_of(attendants_, is_for_it)) return Answer::kNobody;
  const auto of_agent =
      std::ranges::count_if(open_, [&](const auto& one) { return one->prompt.agent == prompt.agent; });
  if (open_.size() >= kOpenMax || static_cast<std::size_t>(of_agent) >= kOpenOfAgentMax)
    return fail(Error{.code = Code::kConflict, .message = "too many secrets are asked for"});
  prompt.id = std::to_string(++count_);
  const auto own = std::make_shared<Open>(Open{.prompt = std::move(prompt)});
  open_.push_back(own);
  tell({PromptEvent::Kind::kAsked, own->prompt});
  changed_.wait_for(lock, stop, wait, [&] { return own->answer.has_value(); });
  // Whoever is storing the value was first.
  changed_.wait(lock, [&] { return own->answer.has_value() || !own->answering; });
  if (!own->answer) close(*own, stop.stop_requested() ? Answer::kCancelled : Answer::kTimeout);
  std::erase(open_, own);
  return *own->answer;
}

Result<std::shared_ptr<SecretPrompts::Attendant>> SecretPrompts::attend(const std::string& agent) {
  auto attendant = TRY(Attendant::make(kPromptsMax));
  const std::scoped_lock lock(mutex_);
  attendants_.push_back({attendant, agent});
  for (const auto& one : open_) {
    if (!one->answer && attendants_.back().is_for(one->prompt.agent))
      attendant->add({PromptEvent::Kind::kAsked, one->prompt});
  }
  return attendant;
}

void SecretPrompts::stored(const std::string& agent, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  for (const auto& one : open_) {
    if (one->prompt.agent == agent && one->prompt.key == key) close(*one, Answer::kStored);
  }
}

std::optional<SecretPrompt> SecretPrompts::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(open_, [&](const auto& one) { return one->prompt.id == id && !one->answer; });
  return found == open_.end() ? std::nullopt : std::optional((*found)->prompt);
}

// Storing it takes the locks of others, and tells of it by stored().
Status SecretPrompts::answer(const std::string& id, const std::function<Status(const SecretPrompt& prompt)>& store) {
  std::shared_ptr<Open> own;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(open_, [&](const auto& one) { return one->prompt.id == id; });
    if (found == open_.end() || (*found)->answer || (*found)->answering) {
      return fail({Code::kConflict, 0, "whoever asked for it does so no longer: nothing was kept"});
    }
    own = *found;
    own->answering = true;
  }
  const Status stored = store(own->prompt);
  const std::scoped_lock lock(mutex_);
  own->answering = false;
  if (stored) close(*own, Answer::kStored);
  changed_.notify_all();
  return stored;
}

void SecretPrompts::cancel(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  for (const auto& one : open_) {
    if (one->prompt.id == id && !one->answering) close(*one, Answer::kCancelled);
  }
}

void SecretPrompts::cancel_of(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  for (const auto& one : open_) {
    if (one->prompt.agent == agent && !one->answering) close(*one, Answer::kCancelled);
  }
}

// The first end holds.
void SecretPrompts::close(Open& open, Answer answer) {
  if (open.answer) return;
  open.answer = answer;
  tell({PromptEvent::Kind::kClosed, open.prompt});
  changed_.notify_all();
}

void SecretPrompts::tell(const PromptEvent& event) {
  for (const Attending& one : attendants_) {
    if (!one.is_for(event.prompt.agent)) continue;
    if (const auto attendant = one.attendant.lock()) attendant->add(event);
  }
}

}  // namespace hutch::service
