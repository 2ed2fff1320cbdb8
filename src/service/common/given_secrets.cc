// What one agent's sandbox has of its secrets.
#include "service/common/given_secrets.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "sys/files/journal.h"

namespace hutch::service {

using secret::Giving;
using secret::Secret;

GivenSecrets::GivenSecrets(secret::Secrets* secrets, std::string agent)
    : secrets_(secrets), agent_(std::move(agent)), salt_(sys::random_hex(16).value_or("")) {}

std::vector<Secret> GivenSecrets::all() const {
  if (secrets_ == nullptr) return {};
  auto secrets = secrets_->of(agent_);
  return secrets ? std::move(*secrets) : std::vector<Secret>();
}

Status GivenSecrets::add_variables(std::vector<std::string>& environment) const {
  if (secrets_ == nullptr) return {};
  for (const Secret& secret : TRY(secrets_->of(agent_))) {
    if (secret.giving == Giving::kBridge || !secret::check_name(secret.name)) continue;
    const std::string& shown = secret.giving == Giving::kPlaceholder ? placeholder_of(secret) : secret.value;
    environment.push_back(cat({secret.name, "=", shown}));
  }
  return {};
}

Status GivenSecrets::add_variables_named(const std::vector<std::string>& names,
                                         std::vector<std::string>& environment) const {
  if (secrets_ == nullptr || names.empty()) return {};
  for (const Secret& secret : TRY(secrets_->of(agent_))) {
    if (std::ranges::find(names, secret.name) == names.end() || !secret::check_name(secret.name)) continue;
    const std::string& shown = secret.giving == Giving::kPlaceholder ? placeholder_of(secret) : secret.value;
    environment.push_back(cat({secret.name, "=", shown}));
  }
  return {};
}

GivenSecrets::Placeholders GivenSecrets::placeholders_for(const policy::Host& host,
                                                          const std::vector<std::string>* names) const {
  Placeholders placeholders;
  for (const Secret& secret : all()) {
    if (names != nullptr && std::ranges::find(*names, secret.name) == names->end()) continue;
    const bool bound = std::ranges::find(secret.hosts, host.name) != secret.hosts.end();
    if (secret.giving == Giving::kPlaceholder && bound) placeholders.emplace_back(placeholder_of(secret), secret.value);
  }
  return placeholders;
}

bool GivenSecrets::has_placeholders() const {
  return std::ranges::any_of(all(), [](const Secret& secret) { return secret.giving == Giving::kPlaceholder; });
}

// As long as the value, so that a body that it is put into keeps its length; of another value another one.
std::string GivenSecrets::placeholder_of(const Secret& secret) const {
  std::string made = "hutch-";
  for (int block = 0; made.size() < secret.value.size(); ++block) {
    Sha256 hash;
    hash.add(cat({salt_, std::to_string(block), secret.name, "=", secret.value}));
    made += hash.finish();
  }
  made.resize(secret.value.size());
  return made;
}

// Made anew once a secret was set or removed. Where they cannot be read nothing is shown of what may hold them, until
// they can.
std::shared_ptr<const secret::Scrubber> GivenSecrets::scrubber() {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t now = secrets_ != nullptr ? secrets_->changes() : 1;
  if (scrubber_ && scrubber_of_ == now) return scrubber_;
  const auto known = secrets_ != nullptr ? secrets_->of(agent_) : Result<std::vector<Secret>>(std::vector<Secret>());
  if (!known) return std::make_shared<const secret::Scrubber>(secret::Scrubber::withholding(known.error().message));
  scrubber_ = std::make_shared<const secret::Scrubber>(*known);
  scrubber_of_ = now;
  return scrubber_;
}

}  // namespace hutch::service
