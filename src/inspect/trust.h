// The authorities that vouch for upstream servers: the host's own, and those that the policy adds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

struct x509_store_st;

namespace hutch::inspect {

struct StoreDeleter {
  void operator()(x509_store_st* store) const;
};
using TrustStore = std::unique_ptr<x509_store_st, StoreDeleter>;

struct Trust {
  TrustStore store;
  std::vector<std::string> of_machine;  // without the extra ones: each certificate in DER
};

// Reads the bundle that SSL_CERT_FILE names, else the first of the usual ones that is there, and every extra file. All
// is read now: later this process can open no file.
Result<Trust> load_trust(const std::vector<std::string>& extra_paths);

}  // namespace hutch::inspect
