// What one agent's sandbox has of its secrets: variables, what stands for values, and what takes values out of texts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/network/hosts.h"
#include "secret/scrubber.h"
#include "secret/secrets.h"

namespace hutch::service {

// Any thread may use it.
class GivenSecrets {
 public:
  // `secrets` is null where there are none.
  GivenSecrets(secret::Secrets* secrets, std::string agent);

  // Those that are given as variables, as they are now.
  Status add_variables(std::vector<std::string>& environment) const;

  // Of those that are named each as a variable, whatever else is said of it; what stands for its value where that is
  // never given.
  Status add_variables_named(const std::vector<std::string>& names, std::vector<std::string>& environment) const;

  // What stands in the sandbox, and the value, of those that are bound to the host; of `names` alone where it is not
  // null.
  using Placeholders = std::vector<std::pair<std::string, std::string>>;
  Placeholders placeholders_for(const policy::Host& host, const std::vector<std::string>* names = nullptr) const;
  bool has_placeholders() const;

  std::shared_ptr<const secret::Scrubber> scrubber();

 private:
  std::vector<secret::Secret> all() const;  // none where they cannot be read
  std::string placeholder_of(const secret::Secret& secret) const;

  secret::Secrets* const secrets_;
  const std::string agent_;
  const std::string salt_;  // of what stands for values
  std::mutex mutex_;
  std::shared_ptr<const secret::Scrubber> scrubber_;
  std::uint64_t scrubber_of_ = 0;  // the state of the secrets that it was made of
};

}  // namespace hutch::service
