// The secrets of agents as their person sees them.
#include "service/agent/secrets.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "store/record.h"

namespace hutch::service {

namespace {

using std::chrono::seconds;
using std::chrono::system_clock;
using tool::Value;

std::string time_text(std::int64_t since_1970) {
  return store::format_time(store::Time(std::chrono::milliseconds(seconds(since_1970))));
}

std::int64_t now() { return std::chrono::duration_cast<seconds>(system_clock::now().time_since_epoch()).count(); }

std::string use_text(AgentService& agents, const std::string& agent, const secret::Secret& secret) {
  const std::string& name = secret.name;
  switch (secret.giving) {
    case secret::Giving::kBridge:
      return cat({"`hutch-host secrets get ", name, "` prints the value: use `$(hutch-host secrets get ", name,
                  ")` in a command. No variable holds it."});
    case secret::Giving::kEnvironment:
      return cat({"The variable ", name, " holds the value in each command that starts from now on."});
    case secret::Giving::kPlaceholder: break;
  }
  return cat({"The variable ", name, " holds a placeholder. Send it as the value in HTTPS requests to ",
              join(secret.hosts, ", "), ", where hutch puts in the value; other hosts get the placeholder.",
              placeholders_wait(agents, agent) ? " This begins with the next start of the sandbox." : ""});
}

}  // namespace

Status set_secret(AgentService& agents, const std::string& agent, secret::Secret secret) {
  if (agent != kOwnSecrets) TRY(agents.show(agent));
  secret.set_at = now();
  const std::string name = secret.name;
  TRY(agents.secrets().set(agent, std::move(secret)));
  agents.secret_prompts().stored(agent, name);
  return {};
}

Result<tool::SecretAnswer> wish_secret(AgentService& agents, const std::string& agent, const tool::SecretWish& wish,
                                       const std::stop_token& stop) {
  static constexpr std::chrono::minutes kWait{5};
  TRY(secret::check_name(wish.key));
  if (!wish.value.empty()) {
    TRY(set_secret_value(agents, agent, wish.key, wish.value));
    return tool::SecretAnswer::kStored;
  }
  SecretPrompt prompt{
      .id = {}, .agent = agent, .key = wish.key, .description = wish.description, .instructions = wish.instructions};
  prompt.agent_id = TRY(agents.show(agent)).record.id;
  const auto answer = TRY(agents.secret_prompts().ask(std::move(prompt), kWait, stop));
  switch (answer) {
    case SecretPrompts::Answer::kStored: return tool::SecretAnswer::kStored;
    case SecretPrompts::Answer::kCancelled: return tool::SecretAnswer::kCancelled;
    case SecretPrompts::Answer::kTimeout: return tool::SecretAnswer::kTimeout;
    case SecretPrompts::Answer::kNobody: break;
  }
  return tool::SecretAnswer::kNobody;
}

Status set_secret_value(AgentService& agents, const std::string& agent, const std::string& key, std::string value) {
  TRY(secret::check_name(key));
  if (agent != kOwnSecrets) TRY(agents.show(agent));
  TRY(agents.secrets().set_value(agent, key, std::move(value), now()));
  agents.secret_prompts().stored(agent, key);
  return {};
}

bool placeholders_wait(AgentService& agents, const std::string& agent) {
  if (agent == kOwnSecrets) return false;
  const auto sandbox = agents.sandbox(agent);
  if (!sandbox || (*sandbox)->status().backend == name_of(BackendKind::kNone)) return false;  // it has no gateway
  // Also one that starts: it may have asked for its secrets already.
  if ((*sandbox)->status().state == LifeState::kStarting) return true;
  return (*sandbox)->running() != nullptr && !(*sandbox)->terms().opens_tls;
}

Result<std::optional<std::string>> use_of_secret(AgentService& agents, const std::string& agent,
                                                 const std::string& key) {
  const auto secret = TRY(agents.secrets().find(agent, key));
  return secret ? std::optional(use_text(agents, agent, *secret)) : std::nullopt;
}

std::string uses_of_secrets(AgentService& agents, const std::string& agent) {
  static constexpr std::size_t kTold = 32;
  const auto secrets = agents.secrets().of(agent);
  std::string text;
  if (!secrets) return text;
  for (std::size_t i = 0; i < std::min(secrets->size(), kTold); ++i) {
    const secret::Secret& secret = (*secrets)[i];
    text += cat({"- ", printable(secret.name, 128), ": ", use_text(agents, agent, secret), "\n"});
  }
  if (secrets->size() > kTold) {
    text += cat({"- ", std::to_string(secrets->size() - kTold), " more: `sandbox_secret_check` tells of each\n"});
  }
  return text;
}

Status answer_secret(AgentService& agents, const std::string& id, std::string value) {
  return agents.secret_prompts().answer(id, [&](const SecretPrompt& prompt) -> Status {
    const auto now_of_that_name = agents.show(prompt.agent);
    if (!now_of_that_name || now_of_that_name->record.id != prompt.agent_id) {
      return fail({Code::kConflict, 0, "the agent that asked for it is gone: nothing was kept"});
    }
    return set_secret_value(agents, prompt.agent, prompt.key, std::move(value));
  });
}

Result<Value::List> secret_list(AgentService& agents, const std::string& agent) {
  std::vector<std::string> names;
  if (agent.empty() || agent == kOwnSecrets) names.emplace_back(kOwnSecrets);
  if (!agent.empty() && agent != kOwnSecrets) names.push_back(TRY(agents.show(agent)).record.name);
  if (agent.empty()) {
    for (const auto& shown : TRY(agents.list())) names.push_back(shown.record.name);
  }
  Value::List list;
  for (const std::string& name : names) {
    for (const secret::Secret& secret : TRY(agents.secrets().of(name))) {
      list.emplace_back(Value::Object{{"agent", name},
                                      {"name", secret.name},
                                      {"via", secret::name_of(secret.giving)},
                                      {"hosts", Value::List(secret.hosts.begin(), secret.hosts.end())},
                                      {"set", time_text(secret.set_at)}});
    }
  }
  return list;
}

}  // namespace hutch::service
