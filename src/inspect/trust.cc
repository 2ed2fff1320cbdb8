// The authorities that vouch for upstream servers.
#include "inspect/trust.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/text.h"
#include "inspect/authority.h"
#include "inspect/limits.h"
#include "inspect/openssl_error.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::inspect {

namespace {

// Debian and Alpine, Fedora, openSUSE, OpenBSD and others.
constexpr const char* kBundles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
                                    "/etc/ssl/cert.pem"};

// The certificates in it, in DER.
Result<std::vector<std::string>> add_file(X509_STORE* store, const std::string& path) {
  const std::string text = TRY(sys::regular_file_text(path, limits::kTrustBytesMax));
  BIO* const in = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  if (in == nullptr) return fail(openssl_error("BIO_new_mem_buf"));
  std::vector<std::string> added;
  for (;;) {
    const Certificate certificate(PEM_read_bio_X509_AUX(in, nullptr, nullptr, nullptr));
    if (!certificate) break;
    if (X509_STORE_add_cert(store, certificate.get()) == 1) added.push_back(to_der(certificate.get()));
  }
  BIO_free(in);
  ERR_clear_error();
  return added;
}

}  // namespace

void StoreDeleter::operator()(x509_store_st* store) const { X509_STORE_free(store); }

Result<Trust> load_trust(const std::vector<std::string>& extra_paths) {
  Trust trust{TrustStore(X509_STORE_new()), {}};
  X509_STORE* const store = trust.store.get();
  if (store == nullptr) return fail(openssl_error("X509_STORE_new"));
  if (const std::optional<std::string> named = sys::environment_variable("SSL_CERT_FILE"); named && !named->empty()) {
    trust.of_machine = TRY_CTX(add_file(store, *named), "SSL_CERT_FILE");
  } else {
    for (const char* bundle : kBundles) {
      if (!sys::exists(bundle)) continue;
      trust.of_machine = TRY_CTX(add_file(store, bundle), "the authorities of this machine");
      break;
    }
  }
  for (const std::string& path : extra_paths) {
    const auto added = TRY_CTX(add_file(store, path), "extraCaCertPaths");
    if (added.empty()) return fail(Error::invalid(cat({"extraCaCertPaths: ", path, ": holds no certificate"})));
  }
  return trust;
}

}  // namespace hutch::inspect
