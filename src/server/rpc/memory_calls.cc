// Calls about what agents remember.
#include <array>
#include <chrono>

#include "base/text.h"
#include "secret/scrubber.h"
#include "server/rpc/session.h"
#include "store/spool.h"

namespace hutch::server {

namespace {

// Its programs may have stored what only they may read.
Value memory_value(const secret::Scrubber& scrubber, const store::Memory& memory) {
  return Value(Value::Object{{"id", memory.id},
                             {"content", scrubber.scrub(memory.content)},
                             {"salience", memory.salience},
                             {"created", store::format_time(store::Time(std::chrono::milliseconds(memory.created)))},
                             {"source", memory.source}});
}

std::int64_t memory_time() { return store::now().time_since_epoch().count(); }

Result<std::shared_ptr<const secret::Scrubber>> scrubber_of(Session& session, const std::string& agent) {
  return TRY(session.shared().agents.sandbox(agent))->secrets().scrubber();
}

// The agent has to be there.
Result<std::string> memory_agent(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.text("agent"));
  return TRY(session.shared().agents.show(agent)).record.name;
}

// Without words the newest.
Result<Value> query(Session& session, const CallReader& call) {
  const std::string agent = TRY(memory_agent(session, call));
  const std::string words = TRY(call.optional_text("query"));
  Value::List list;
  const auto scrubber = TRY(scrubber_of(session, agent));
  store::Memories& memories = session.shared().agents.memories();
  for (const auto& memory : TRY(memories.find(agent, words, store::kMemoriesFoundMax, memory_time()))) {
    list.push_back(memory_value(*scrubber, memory));
  }
  return Value(std::move(list));
}

Result<Value> add(Session& session, const CallReader& call) {
  const std::string agent = TRY(memory_agent(session, call));
  store::Memory memory{.content = TRY(call.text("content")), .created = memory_time(), .source = "user"};
  memory.id = TRY(session.shared().agents.memories().add(agent, memory));
  const auto scrubber = TRY(scrubber_of(session, agent));
  return memory_value(*scrubber, memory);
}

Result<Value> remove_memory(Session& session, const CallReader& call) {
  const std::string agent = TRY(memory_agent(session, call));
  const std::int64_t id = TRY(call.number("id", 0));
  const bool removed = TRY(session.shared().agents.memories().remove(agent, id));
  return Value(Value::Object{{"agent", agent}, {"removed", removed}});
}

constexpr std::array kMemoryVerbs = {Verb{"memory.query", query}, Verb{"memory.add", add},
                                     Verb{"memory.remove", remove_memory}};

}  // namespace

std::span<const Verb> memory_verbs() { return kMemoryVerbs; }

}  // namespace hutch::server
