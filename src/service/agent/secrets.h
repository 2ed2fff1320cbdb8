// The secrets of agents as their person sees them: everything but the values.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "secret/secret.h"
#include "service/agent/agents.h"
#include "tool/registry.h"
#include "tool/value.h"

namespace hutch::service {

// Whose secrets the user's own are, for hutch itself: no agent's name, so that none has them.
inline constexpr std::string_view kOwnSecrets = "_own";

// The agent has to be there. Whoever waits for that secret is told.
Status set_secret(AgentService& agents, const std::string& agent, secret::Secret secret);

// For a tool: stores the value, or has the agent's person asked for one, and waits for that.
Result<tool::SecretAnswer> wish_secret(AgentService& agents, const std::string& agent, const tool::SecretWish& wish,
                                       const std::stop_token& stop);

// A value alone, in the place of the one that there may be: how it is given, and to which hosts, stays as its person
// said.
Status set_secret_value(AgentService& agents, const std::string& agent, const std::string& key, std::string value);

// Whether what stands for values is put in from the next start of its sandbox on: it runs, and its programs do not
// trust the authority by which hutch opens TLS.
bool placeholders_wait(AgentService& agents, const std::string& agent);

// For a model: how a command of the agent's uses that secret, a sentence without the value; absent: there is none.
Result<std::optional<std::string>> use_of_secret(AgentService& agents, const std::string& agent,
                                                 const std::string& key);
// Likewise of all that the agent has, a line for each; a number stands for those beyond a few dozen. Empty: none.
std::string uses_of_secrets(AgentService& agents, const std::string& agent);

// What its person was asked for by that prompt. An error where it has ended, and then nothing is kept.
Status answer_secret(AgentService& agents, const std::string& id, std::string value);

// Of one agent, of all where none is named: {agent, name, via, hosts, set} each.
Result<tool::Value::List> secret_list(AgentService& agents, const std::string& agent);

}  // namespace hutch::service
