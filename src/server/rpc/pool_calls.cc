// Calls about the daemon's pool.
#include <array>

#include "server/rpc/session.h"

namespace hutch::server {

namespace {

Result<Value> pool_stats(Session& session, const CallReader&) { return session.shared().pool.stats(); }

Result<Value> fill_pool(Session& session, const CallReader& call) {
  Value::Object wish;
  for (const char* key : {"backend", "trust", "image", "memory", "cpu"}) {
    const std::string text = TRY(call.optional_text(key));
    if (!text.empty()) wish.emplace(key, text);
  }
  const std::int64_t count = TRY(call.number("count", 1));
  TRY(session.shared().pool.fill(wish, count, {}));
  return session.shared().pool.stats();
}

// What there is then: those that end are among it.
Result<Value> drain_pool(Session& session, const CallReader&) {
  (void)session.shared().pool.drain();
  return session.shared().pool.stats();
}

constexpr std::array kPoolVerbs = {Verb{"pool.stats", pool_stats}, Verb{"pool.fill", fill_pool},
                                   Verb{"pool.drain", drain_pool}};

}  // namespace

std::span<const Verb> pool_verbs() { return kPoolVerbs; }

}  // namespace hutch::server
