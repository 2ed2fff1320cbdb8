// Calls about secrets. A value comes in, and none ever goes out.
#include <array>

#include "base/text.h"
#include "server/session.h"
#include "service/agent_secrets.h"

namespace hutch::server {

namespace {

// The agent that is named, else that of the directory. `make`: where there is none.
enum class Absent { kMake, kRefuse };
Result<std::string> agent_of(Session& session, const CallReader& call, Absent absent) {
  std::string name = TRY(call.optional_text("agent"));
  service::AgentService& agents = session.shared().agents;
  if (name.empty()) {
    const std::string directory = TRY(call.text("directory"));
    return absent == Absent::kMake ? TRY(agents.of_directory(directory)).name
                                   : TRY(agents.agent_of_directory(directory));
  }
  if (name != service::kOwnSecrets) TRY(agents.show(name));
  return name;
}

Result<Value> set(Session& session, const CallReader& call) {
  secret::Secret secret;
  secret.name = TRY(call.text("name"));
  secret.hosts = TRY(call.texts("hosts"));
  const std::string via = TRY(call.optional_text("via"));
  secret.giving = secret.hosts.empty() ? secret::Giving::kBridge : secret::Giving::kPlaceholder;
  if (!via.empty()) secret.giving = TRY_CTX(secret::parse_giving(via), "--via");
  secret.value = TRY(call.bytes("value"));
  const std::string agent = TRY(agent_of(session, call, Absent::kMake));
  if (agent == service::kOwnSecrets && secret.giving != secret::Giving::kBridge) {
    return fail(Error::invalid("what is for hutch itself is given to no sandbox: leave --via and --host out"));
  }
  const std::string name = secret.name;
  const std::string given(secret::name_of(secret.giving));
  TRY(service::set_secret(session.shared().agents, agent, std::move(secret)));
  return Value(Value::Object{{"agent", agent}, {"name", name}, {"via", given}});
}

Result<Value> check(Session& session, const CallReader& call) {
  const std::string agent = TRY(agent_of(session, call, Absent::kRefuse));
  const std::string name = TRY(call.text("name"));
  const bool exists = TRY(session.shared().agents.secrets().find(agent, name)).has_value();
  return Value(Value::Object{{"agent", agent}, {"name", name}, {"exists", exists}});
}

Result<Value> list(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.optional_text("agent"));
  return Value(TRY(service::secret_list(session.shared().agents, agent)));
}

Result<Value> remove(Session& session, const CallReader& call) {
  const std::string agent = TRY(agent_of(session, call, Absent::kRefuse));
  const std::string name = TRY(call.text("name"));
  const bool removed = TRY(session.shared().agents.secrets().remove(agent, name));
  return Value(Value::Object{{"agent", agent}, {"name", name}, {"removed", removed}});
}

Value prompt_value(const service::PromptEvent& event) {
  const service::SecretPrompt& prompt = event.prompt;
  return Value(Value::Object{{"kind", event.kind == service::PromptEvent::Kind::kAsked ? "asked" : "closed"},
                             {"id", prompt.id},
                             {"agent", prompt.agent},
                             {"name", prompt.key},
                             {"description", prompt.description},
                             {"instructions", prompt.instructions}});
}

// Until the client goes: what is asked for, and what is not any more.
Result<Value> attend(Session& session, const CallReader&) {
  const auto attendant = TRY(session.shared().agents.secret_prompts().attend());
  for (;;) {
    while (const auto event = attendant->take()) TRY(session.tell(prompt_value(*event)));
    if (attendant->overflowed()) return fail(Error::invalid("the client does not keep up"));
    const Session::Heard heard = TRY(session.hear(attendant->fd(), std::nullopt));
    if (heard.gone) return Value(Value::Object{});
  }
}

// Again is fine: the first end of a prompt holds.
Result<Value> decline(Session& session, const CallReader& call) {
  session.shared().agents.secret_prompts().cancel(TRY(call.text("id")));
  return Value(Value::Object{});
}

constexpr std::array kVerbs = {Verb{"secret.set", set},       Verb{"secret.check", check},
                               Verb{"secret.list", list},     Verb{"secret.remove", remove},
                               Verb{"secret.attend", attend}, Verb{"secret.decline", decline}};

}  // namespace

std::span<const Verb> secret_verbs() { return kVerbs; }

}  // namespace hutch::server
