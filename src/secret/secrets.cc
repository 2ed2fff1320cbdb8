// The secrets of all agents: what was read once is remembered, what is changed is written first.
#include "secret/secrets.h"

#include <algorithm>

#include "base/text.h"
#include "secret/sealed_file.h"

namespace hutch::secret {

Secrets::~Secrets() {
  for (auto& [agent, secrets] : known_) {
    for (Secret& secret : secrets) wipe(secret.value);
  }
}

Result<std::vector<Secret>> Secrets::of(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  return *TRY(loaded(agent));
}

Result<std::optional<Secret>> Secrets::find(const std::string& agent, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const std::vector<Secret>& secrets = *TRY(loaded(agent));
  const auto found = std::ranges::find(secrets, name, &Secret::name);
  if (found == secrets.end()) return std::optional<Secret>();
  return std::optional(*found);
}

Status Secrets::set(const std::string& agent, Secret secret) {
  const std::scoped_lock lock(mutex_);
  return put(agent, std::move(secret));
}

// With the lock from the look at the old one on: what its person says of it meanwhile would be lost.
Status Secrets::set_value(const std::string& agent, const std::string& name, std::string value, std::int64_t set_at) {
  const std::scoped_lock lock(mutex_);
  const std::vector<Secret>& secrets = *TRY(loaded(agent));
  const auto found = std::ranges::find(secrets, name, &Secret::name);
  Secret secret = found != secrets.end() ? *found : Secret();
  secret.name = name;
  secret.value = std::move(value);
  secret.set_at = set_at;
  return put(agent, std::move(secret));
}

Status Secrets::put(const std::string& agent, Secret secret) {
  secret = TRY(settled(std::move(secret)));
  std::vector<Secret> changed = *TRY(loaded(agent));
  const auto found = std::ranges::find(changed, secret.name, &Secret::name);
  if (found != changed.end()) {
    *found = std::move(secret);
  } else if (changed.size() >= kSecretsMax) {
    return fail(Error{.code = Code::kConflict,
                      .message = cat({"the agent has ", std::to_string(kSecretsMax), " secrets; remove one"})});
  } else {
    changed.push_back(std::move(secret));
    std::ranges::sort(changed, {}, &Secret::name);
  }
  return save(agent, changed);
}

Result<bool> Secrets::remove(const std::string& agent, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  std::vector<Secret> changed = *TRY(loaded(agent));
  if (std::erase_if(changed, [&](const Secret& secret) { return secret.name == name; }) == 0) return false;
  TRY(save(agent, changed));
  return true;
}

Status Secrets::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  known_.erase(agent);
  ++changes_;
  return vault_->remove(agent);
}

Result<KeyPlace> Secrets::key_place() {
  const std::scoped_lock lock(mutex_);
  return vault_->key_place();
}

Status Secrets::keep_key_in(KeyPlace place) {
  const std::scoped_lock lock(mutex_);
  return vault_->keep_key_in(place);
}

std::uint64_t Secrets::changes() const {
  const std::scoped_lock lock(mutex_);
  return changes_;
}

Result<std::vector<Secret>*> Secrets::loaded(const std::string& agent) {
  const auto known = known_.find(agent);
  if (known != known_.end()) return &known->second;
  std::optional<std::string> text = TRY_CTX(vault_->read(agent), "read the secrets");
  std::vector<Secret> secrets;
  if (text) {
    auto parsed = parse_secrets(*text);
    wipe(*text);
    secrets = TRY_CTX(std::move(parsed), cat({"read the secrets of ", agent}));
  }
  return &known_.emplace(agent, std::move(secrets)).first->second;
}

Status Secrets::save(const std::string& agent, const std::vector<Secret>& secrets) {
  std::string text = format_secrets(secrets);
  const Status written = secrets.empty() ? vault_->remove(agent) : vault_->write(agent, text);
  wipe(text);
  TRY_CTX(written, "keep the secrets");
  known_[agent] = secrets;
  ++changes_;
  return {};
}

}  // namespace hutch::secret
