// The sandbox's authority and what it certifies.
#include "inspect/authority.h"

#include <gtest/gtest.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace hutch::inspect {
namespace {

class AuthorityTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Authority::make();
    ASSERT_TRUE(made);
    authority_ = std::move(*made);
  }
  std::unique_ptr<Authority> authority_;
};

TEST_F(AuthorityTest, CertifiesOneHost) {
  const auto leaf = authority_->certificate_for("www.example.com");
  ASSERT_TRUE(leaf);
  EXPECT_EQ(X509_check_host(leaf->get(), "www.example.com", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(leaf->get(), "example.com", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_host(leaf->get(), "a.www.example.com", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_ca(leaf->get()), 0);
  EXPECT_EQ(X509_check_private_key(leaf->get(), authority_->leaf_key()), 1);
}

TEST_F(AuthorityTest, CertifiesAnAddress) {
  for (const char* address : {"192.0.2.1", "2001:db8::1"}) {
    const auto leaf = authority_->certificate_for(address);
    ASSERT_TRUE(leaf);
    EXPECT_EQ(X509_check_ip_asc(leaf->get(), address, 0), 1);
    EXPECT_EQ(X509_check_ip_asc(leaf->get(), "192.0.2.2", 0), 0);
  }
}

TEST_F(AuthorityTest, KeepsWhatItHasMade) {
  const auto first = authority_->certificate_for("example.com");
  const auto second = authority_->certificate_for("example.com");
  const auto other = authority_->certificate_for("example.org");
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_NE(X509_cmp(first->get(), other->get()), 0);
}

// X.520 allows 64 bytes of a common name, the names of hosts are longer.
TEST_F(AuthorityTest, CertifiesALongName) {
  const std::string host = std::string(63, 'a') + "." + std::string(63, 'b') + ".example.com";
  const auto leaf = authority_->certificate_for(host);
  ASSERT_TRUE(leaf);
  EXPECT_EQ(X509_check_host(leaf->get(), host.c_str(), 0, 0, nullptr), 1);
}

TEST_F(AuthorityTest, DoesNotReadAHostAsAList) {
  EXPECT_FALSE(authority_->certificate_for("a.example,DNS:b.example"));
  EXPECT_FALSE(authority_->certificate_for("a.example;b"));
}

TEST_F(AuthorityTest, HasAKeyOfItsOwn) {
  const auto other = Authority::make();
  ASSERT_TRUE(other);
  EXPECT_NE((*other)->pem(), authority_->pem());
  EXPECT_EQ(authority_->pem().find("PRIVATE"), std::string::npos);
}

TEST_F(AuthorityTest, GoesOnInASuccessor) {
  const auto text = authority_->with_key();
  ASSERT_TRUE(text);
  const auto successor = Authority::read(*text);
  ASSERT_TRUE(successor) << successor.error().message;
  EXPECT_EQ((*successor)->pem(), authority_->pem());
  EXPECT_EQ(*(*successor)->with_key(), *text);
  const auto leaf = (*successor)->certificate_for("www.example.com");
  ASSERT_TRUE(leaf);
  const std::string der = authority_->der();
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  const Certificate issuer(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
  ASSERT_TRUE(issuer);
  EXPECT_EQ(X509_verify(leaf->get(), X509_get0_pubkey(issuer.get())), 1);
}

TEST_F(AuthorityTest, ReadsNothingElse) {
  const std::string text = *authority_->with_key();
  const std::string other = *(*Authority::make())->with_key();
  EXPECT_FALSE(Authority::read(""));
  EXPECT_FALSE(Authority::read(authority_->pem()));
  EXPECT_FALSE(Authority::read(text.substr(authority_->pem().size())));
  EXPECT_FALSE(Authority::read(authority_->pem() + other.substr(other.find("-----END CERTIFICATE-----") + 26)));
}

}  // namespace
}  // namespace hutch::inspect
