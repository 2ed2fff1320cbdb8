// The secrets of all agents of one user. Any thread may use it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "secret/secret.h"
#include "secret/vault.h"

namespace hutch::secret {

class Secrets {
 public:
  explicit Secrets(std::unique_ptr<Vault> vault) : vault_(std::move(vault)) {}
  ~Secrets();
  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;

  // By name, with their values.
  Result<std::vector<Secret>> of(const std::string& agent);
  Result<std::optional<Secret>> find(const std::string& agent, const std::string& name);

  // Replaces one of that name.
  Status set(const std::string& agent, Secret secret);
  // A value alone. How one of that name is given, and for which hosts, stays as it is; how a new one is, says Giving's
  // first.
  Status set_value(const std::string& agent, const std::string& name, std::string value, std::int64_t set_at);
  // Whether it was there.
  Result<bool> remove(const std::string& agent, const std::string& name);
  // The agent is removed.
  Status forget(const std::string& agent);

  // Of the key that opens all of them.
  Result<KeyPlace> key_place();
  Status keep_key_in(KeyPlace place);

  // Another number whenever something was set or removed.
  std::uint64_t changes() const;

 private:
  Status put(const std::string& agent, Secret secret);  // with the lock held
  Result<std::vector<Secret>*> loaded(const std::string& agent);
  Status save(const std::string& agent, const std::vector<Secret>& secrets);

  mutable std::mutex mutex_;
  std::unique_ptr<Vault> vault_;
  std::map<std::string, std::vector<Secret>> known_;
  std::uint64_t changes_ = 1;
};

}  // namespace hutch::secret
