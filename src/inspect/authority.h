// The certificate authority of one sandbox: its key certifies what the sandbox connects to, and is known to this
// process and to the gateway, which gives it to a successor.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

struct evp_pkey_st;
struct x509_st;

namespace hutch::inspect {

struct KeyDeleter {
  void operator()(evp_pkey_st* key) const;
};
struct CertificateDeleter {
  void operator()(x509_st* certificate) const;
};
using Key = std::unique_ptr<evp_pkey_st, KeyDeleter>;
using Certificate = std::unique_ptr<x509_st, CertificateDeleter>;

// In DER.
std::string to_der(x509_st* certificate);

class Authority {
 public:
  static Result<std::unique_ptr<Authority>> make();

  // As with_key() gives it.
  static Result<std::unique_ptr<Authority>> read(const std::string& text);

  // The certificate and the key, in PEM.
  Result<std::string> with_key() const;
  const std::string& pem() const { return pem_; }
  std::string der() const { return to_der(certificate_.get()); }

  // A certificate for a host name or an address, whose key is `leaf_key`. Those made are kept for some hours.
  Result<Certificate> certificate_for(const std::string& host);
  evp_pkey_st* leaf_key() const { return leaf_key_.get(); }

 private:
  struct Leaf {
    Certificate certificate;
    std::chrono::steady_clock::time_point made;
  };

  Authority() = default;
  Result<Certificate> sign(const std::string& host) const;

  Key key_;
  Key leaf_key_;
  Certificate certificate_;
  std::string pem_;
  std::mutex mutex_;
  std::map<std::string, Leaf> leaves_;
};

}  // namespace hutch::inspect
