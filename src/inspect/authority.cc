// The certificate authority of one sandbox.
#include "inspect/authority.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

#include "base/ip_address.h"
#include "base/text.h"
#include "inspect/limits.h"
#include "inspect/openssl_error.h"

namespace hutch::inspect {

namespace {

constexpr std::size_t kCommonNameBytesMax = 64;  // X.520's upper bound

struct Names {
  std::string common_name;
  X509* issuer = nullptr;  // null: itself
  std::chrono::seconds life;
};

Result<Key> make_key();
Result<Certificate> begin_certificate(EVP_PKEY* key, const Names& names);
Status set_serial(X509* certificate);
Status add_extension(X509* certificate, X509* issuer, int nid, const std::string& value);
Result<std::string> to_pem(X509* certificate);
std::string text_in(BIO* memory);

}  // namespace

void KeyDeleter::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }
void CertificateDeleter::operator()(x509_st* certificate) const { X509_free(certificate); }

std::string to_der(x509_st* certificate) {
  unsigned char* data = nullptr;
  const int size = i2d_X509(certificate, &data);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  OPENSSL_free(data);
  return der;
}

Result<std::unique_ptr<Authority>> Authority::make() {
  std::unique_ptr<Authority> made(new Authority);
  made->key_ = TRY(make_key());
  made->leaf_key_ = TRY(make_key());
  const Names names{"hutch sandbox authority", nullptr, limits::kAuthorityLife};
  made->certificate_ = TRY(begin_certificate(made->key_.get(), names));
  X509* const certificate = made->certificate_.get();
  TRY(add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  TRY(add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign"));
  TRY(add_extension(certificate, certificate, NID_subject_key_identifier, "hash"));
  if (X509_sign(certificate, made->key_.get(), EVP_sha256()) == 0) return fail(openssl_error("X509_sign"));
  made->pem_ = TRY(to_pem(certificate));
  return made;
}

Result<std::unique_ptr<Authority>> Authority::read(const std::string& text) {
  std::unique_ptr<Authority> made(new Authority);
  BIO* const in = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  if (in == nullptr) return fail(openssl_error("BIO_new_mem_buf"));
  static char no_password[] = "";
  made->certificate_.reset(PEM_read_bio_X509(in, nullptr, nullptr, no_password));
  made->key_.reset(PEM_read_bio_PrivateKey(in, nullptr, nullptr, no_password));
  BIO_free(in);
  const bool whole =
      made->certificate_ && made->key_ && X509_check_private_key(made->certificate_.get(), made->key_.get()) == 1;
  if (!whole) return fail(openssl_error("read the authority"));
  made->leaf_key_ = TRY(make_key());
  made->pem_ = TRY(to_pem(made->certificate_.get()));
  return made;
}

Result<std::string> Authority::with_key() const {
  BIO* const out = BIO_new(BIO_s_secmem());
  if (out == nullptr || PEM_write_bio_PrivateKey(out, key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    BIO_free(out);
    return fail(openssl_error("PEM_write_bio_PrivateKey"));
  }
  return cat({pem_, text_in(out)});
}

Result<Certificate> Authority::certificate_for(const std::string& host) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  auto found = leaves_.find(host);
  if (found == leaves_.end() || now - found->second.made > limits::kLeafRenewal) {
    if (leaves_.size() >= limits::kLeavesMax) leaves_.clear();
    found = leaves_.insert_or_assign(host, Leaf{TRY(sign(host)), now}).first;
  }
  X509* const certificate = found->second.certificate.get();
  if (X509_up_ref(certificate) != 1) return fail(openssl_error("X509_up_ref"));
  return Certificate(certificate);
}

Result<Certificate> Authority::sign(const std::string& host) const {
  const std::optional<IpAddress> address = parse_ip(host);
  const std::string name = host.size() <= kCommonNameBytesMax ? host : "hutch";
  Certificate made = TRY(begin_certificate(leaf_key_.get(), {name, certificate_.get(), limits::kLeafLife}));
  X509* const leaf = made.get();
  X509* const issuer = certificate_.get();
  TRY(add_extension(leaf, issuer, NID_basic_constraints, "critical,CA:FALSE"));
  TRY(add_extension(leaf, issuer, NID_key_usage, "critical,digitalSignature"));
  TRY(add_extension(leaf, issuer, NID_ext_key_usage, "serverAuth"));
  TRY(add_extension(leaf, issuer, NID_subject_key_identifier, "hash"));
  TRY(add_extension(leaf, issuer, NID_authority_key_identifier, "keyid"));
  // The value is read as a list of options: a comma in it would add names.
  if (host.find_first_of(", ;\\\"") != std::string::npos) return fail(Error::invalid("not a host name"));
  TRY(add_extension(leaf, issuer, NID_subject_alt_name, cat({address ? "IP:" : "DNS:", host})));
  if (X509_sign(leaf, key_.get(), EVP_sha256()) == 0) return fail(openssl_error("X509_sign"));
  return made;
}

namespace {

Result<Key> make_key() {
  Key key(EVP_EC_gen("P-256"));
  if (!key) return fail(openssl_error("EVP_EC_gen"));
  return key;
}

Result<Certificate> begin_certificate(EVP_PKEY* key, const Names& names) {
  Certificate made(X509_new());
  if (!made || X509_set_version(made.get(), X509_VERSION_3) != 1) return fail(openssl_error("X509_new"));
  TRY(set_serial(made.get()));
  const auto* common_name = reinterpret_cast<const unsigned char*>(names.common_name.data());
  X509_NAME* const subject = X509_get_subject_name(made.get());
  const int size = static_cast<int>(names.common_name.size());
  if (X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, common_name, size, -1, 0) != 1) {
    return fail(openssl_error("X509_NAME_add_entry_by_txt"));
  }
  X509* const issuer = names.issuer == nullptr ? made.get() : names.issuer;
  const auto before = std::chrono::duration_cast<std::chrono::seconds>(limits::kCertificateBackdate);
  const bool dated = X509_set_issuer_name(made.get(), X509_get_subject_name(issuer)) == 1 &&
                     X509_gmtime_adj(X509_getm_notBefore(made.get()), -before.count()) != nullptr &&
                     X509_gmtime_adj(X509_getm_notAfter(made.get()), names.life.count()) != nullptr &&
                     X509_set_pubkey(made.get(), key) == 1;
  if (!dated) return fail(openssl_error("X509_set"));
  return made;
}

Status set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return fail(openssl_error("RAND_bytes"));
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, and of full length
  BIGNUM* const number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  const bool set = number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  if (!set) return fail(openssl_error("BN_to_ASN1_INTEGER"));
  return {};
}

Status add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return fail(openssl_error("X509V3_EXT_conf_nid"));
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  if (!added) return fail(openssl_error("X509_add_ext"));
  return {};
}

Result<std::string> to_pem(X509* certificate) {
  BIO* const out = BIO_new(BIO_s_mem());
  if (out == nullptr || PEM_write_bio_X509(out, certificate) != 1) {
    BIO_free(out);
    return fail(openssl_error("PEM_write_bio_X509"));
  }
  return text_in(out);
}

// Frees it.
std::string text_in(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return text;
}

}  // namespace

}  // namespace hutch::inspect
