// Questions of agents' sandboxes as clients are shown them.
#pragma once

#include "base/result.h"
#include "service/agent/agents.h"
#include "service/questions/question_board.h"
#include "tool/value.h"

namespace hutch::server {

// Without what the agent keeps secret: it chooses hosts, paths and what its programs are called.
service::BoardEvent scrubbed_question(service::AgentService& agents, const service::BoardEvent& event);

// Scrubbed. {"type": "question", "id", "agent", "kind", "host", "port", "pid", "exe", "chain", "rule", "choices",
// "left_ms"}, or
// {"type": "answered", "id", "agent", "choice", "by"}.
tool::Value event_value(service::AgentService& agents, const service::BoardEvent& event);
// The same with the names that HTTP has for things: leftMs.
tool::Value http_event_value(service::AgentService& agents, const service::BoardEvent& event);

// Of an answer.
Result<int> minutes_of(std::int64_t number);

}  // namespace hutch::server
