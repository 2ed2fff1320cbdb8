// Secrets that are asked for by way of an MCP client.
#include "server/mcp_api/secret_inquirer.h"

#include "base/text.h"
#include "service/agent/secrets.h"

namespace hutch::server {

namespace {

constexpr std::string_view kKeyStart = "secret-";

}  // namespace

SecretInquirer::SecretInquirer(Shared& shared, std::string agent, const mcp::CallOptions& options)
    : shared_(shared), agent_(std::move(agent)), options_(options) {
  attending_.emplace(shared_.agents.secret_prompts().attend(agent_),
                     [this](const service::PromptEvent& event) { take(event); });
}

// The call may end by the very answer of which the thread has not heard yet.
SecretInquirer::~SecretInquirer() {
  attending_.reset();
  for (const auto& [id, page] : pages_) tell_end(id);
}

void SecretInquirer::take(const service::PromptEvent& event) {
  if (event.kind == service::PromptEvent::Kind::kAsked) return ask(event.prompt);
  if (pages_.erase(event.prompt.id) != 0) tell_end(event.prompt.id);
}

void SecretInquirer::tell_end(const std::string& id) const {
  const std::string key = cat({kKeyStart, id});
  options_.withdraw(key);
  if (options_.shown) options_.shown(key);
}

// Without a page the prompt waits for somebody at a terminal, or its time.
void SecretInquirer::ask(const service::SecretPrompt& prompt) {
  const auto store = [this, id = prompt.id](std::string value) {
    return service::answer_secret(shared_.agents, id, std::move(value));
  };
  const auto cancel = [this, id = prompt.id] { shared_.agents.secret_prompts().cancel(id); };
  auto page = SecretPage::open(prompt, store, cancel);
  if (!page) {
    shared_.tell(cat({"a page for a secret: ", page.error().message}));
    return;
  }
  options_.show({.key = cat({kKeyStart, prompt.id}),
                 .message = cat({"Agent ", agent_, " asks for the secret ", printable(prompt.key, 128),
                                 ". Its value is typed on a page of this machine, and no model is shown it."}),
                 .choices = {},
                 .on_answer =
                     [&agents = shared_.agents, id = prompt.id](const std::string& choice) {
                       if (choice == mcp::kDeclined) agents.secret_prompts().cancel(id);
                     },
                 .url = (*page)->url()});
  pages_.emplace(prompt.id, std::move(*page));
}

}  // namespace hutch::server
