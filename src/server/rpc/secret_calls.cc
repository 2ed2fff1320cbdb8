// Calls about secrets. A value comes in, and none ever goes out.
#include <array>

#include "base/text.h"
#include "server/rpc/session.h"
#include "service/agent/secrets.h"

namespace hutch::server {

namespace {

// The agent that is named, else that of the directory. `make`: where there is none.
enum class Absent { kMake, kRefuse };
Result<std::string> secret_agent(Session& session, const CallReader& call, Absent absent) {
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

// What is said of how it is given, and to whom, holds; of what is not said the old one's.
Status keep(service::AgentService& agents, const std::string& agent, const CallReader& call) {
  const std::string name = TRY(call.text("name"));
  std::string value = TRY(call.bytes("value"));
  const std::string via = TRY(call.optional_text("via"));
  std::vector<std::string> hosts = TRY(call.texts("hosts"));
  if (via.empty() && hosts.empty()) return service::set_secret_value(agents, agent, name, std::move(value));
  secret::Secret secret;
  secret.name = name;
  secret.hosts = std::move(hosts);
  secret.value = std::move(value);
  secret.giving = secret.hosts.empty() ? secret::Giving::kBridge : secret::Giving::kPlaceholder;
  if (!via.empty()) secret.giving = TRY_CTX(secret::parse_giving(via), "--via");
  if (agent == service::kOwnSecrets && secret.giving != secret::Giving::kBridge) {
    return fail(Error::invalid("what is for hutch itself is given to no sandbox: leave --via and --host out"));
  }
  if (secret.giving == secret::Giving::kPlaceholder && secret.hosts.empty()) {
    const auto before = TRY(agents.secrets().find(agent, name));
    if (before) secret.hosts = before->hosts;
  }
  return service::set_secret(agents, agent, std::move(secret));
}

Result<Value> store_secret(Session& session, const CallReader& call) {
  service::AgentService& agents = session.shared().agents;
  const std::string asked = TRY(call.optional_text("via"));
  if (!asked.empty()) TRY_CTX(secret::parse_giving(asked), "--via");
  const std::string agent = TRY(secret_agent(session, call, Absent::kMake));
  const std::string name = TRY(call.text("name"));
  TRY(keep(agents, agent, call));
  const auto kept = TRY(agents.secrets().find(agent, name));
  const std::string_view via = kept ? secret::name_of(kept->giving) : std::string_view();
  const bool waits = kept && kept->giving == secret::Giving::kPlaceholder && service::placeholders_wait(agents, agent);
  return Value(Value::Object{{"agent", agent}, {"name", name}, {"via", via}, {"at_next_start", waits}});
}

Result<Value> check_secret(Session& session, const CallReader& call) {
  const std::string agent = TRY(secret_agent(session, call, Absent::kRefuse));
  const std::string name = TRY(call.text("name"));
  const bool exists = TRY(session.shared().agents.secrets().find(agent, name)).has_value();
  return Value(Value::Object{{"agent", agent}, {"name", name}, {"exists", exists}});
}

Result<Value> list_secrets(Session& session, const CallReader& call) {
  const std::string agent = TRY(call.optional_text("agent"));
  return Value(TRY(service::secret_list(session.shared().agents, agent)));
}

Result<Value> remove_secret(Session& session, const CallReader& call) {
  const std::string agent = TRY(secret_agent(session, call, Absent::kRefuse));
  const std::string name = TRY(call.text("name"));
  const bool removed = TRY(session.shared().agents.secrets().remove(agent, name));
  return Value(Value::Object{{"agent", agent}, {"name", name}, {"removed", removed}});
}

// Where the key of all of them is; with a place it is there from then on.
Result<Value> key(Session& session, const CallReader& call) {
  const std::string place = TRY(call.optional_text("place"));
  secret::Secrets& secrets = session.shared().agents.secrets();
  if (!place.empty()) {
    const secret::KeyPlace wanted = TRY(secret::parse_key_place(place));
    TRY(secrets.keep_key_in(wanted));
  }
  return Value(Value::Object{{"key", secret::name_of(TRY(secrets.key_place()))}});
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
Result<Value> attend_prompts(Session& session, const CallReader&) {
  const auto attendant = TRY(session.shared().agents.secret_prompts().attend());
  // From here on no agent that asks is told that nobody is there.
  TRY(session.tell(Value(Value::Object{{"kind", "attending"}})));
  for (;;) {
    while (const auto event = attendant->take()) TRY(session.tell(prompt_value(*event)));
    if (attendant->overflowed()) return fail(Error::invalid("the client does not keep up"));
    const Session::Heard heard = TRY(session.hear(attendant->fd(), std::nullopt));
    if (heard.gone) return Value(Value::Object{});
  }
}

Result<Value> answer_prompt(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  std::string value = TRY(call.bytes("value"));
  TRY(service::answer_secret(session.shared().agents, id, std::move(value)));
  return Value(Value::Object{});
}

// Again is fine: the first end of a prompt holds.
Result<Value> decline(Session& session, const CallReader& call) {
  session.shared().agents.secret_prompts().cancel(TRY(call.text("id")));
  return Value(Value::Object{});
}

constexpr std::array kSecretVerbs = {Verb{"secret.set", store_secret},      Verb{"secret.check", check_secret},
                                     Verb{"secret.list", list_secrets},     Verb{"secret.remove", remove_secret},
                                     Verb{"secret.attend", attend_prompts}, Verb{"secret.answer", answer_prompt},
                                     Verb{"secret.decline", decline},       Verb{"secret.key", key}};

}  // namespace

std::span<const Verb> secret_verbs() { return kSecretVerbs; }

}  // namespace hutch::server
