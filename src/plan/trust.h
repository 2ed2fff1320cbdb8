// What makes the programs of a sandbox trust the authority that opens its TLS: files of the sandbox's own, the system's
// stores covered by them, and variables for programs that bring a store of their own.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

inline constexpr std::string_view kTrustDirectory = "/.hutch";
inline constexpr std::string_view kAuthorityFile = "/.hutch/ca.pem";  // that authority alone
inline constexpr std::string_view kBundleFile = "/.hutch/ca-bundle.pem";  // and all that the host trusts

inline constexpr std::string_view kJavaFile = "/.hutch/cacerts";  // the same, as Java keeps it

// Where systems keep their bundle: Debian and Alpine, Fedora, openSUSE, BSD and others. Most have one of them, and
// links that lead to it.
inline constexpr std::array<std::string_view, 5> kTrustStores = {
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

// Where they keep what Java trusts; each Java has one besides, or a link to one of these.
inline constexpr std::array<std::string_view, 4> kJavaStores = {
    "/etc/ssl/certs/java/cacerts", "/etc/pki/ca-trust/extracted/java/cacerts", "/etc/pki/java/cacerts",
    "/var/lib/ca-certificates/java-cacerts"};

// Of a sandbox that is an OS user the root directory is the machine's: there these lie below a /tmp of its own, where
// they are root's.
inline constexpr std::string_view kTrustOfOsUser = "/tmp";

enum class TlsOpening { kNone, kSome };

struct TrustInput {
  TlsOpening opening = TlsOpening::kNone;
  std::vector<std::string> stores;  // those of kTrustStores that are there: canonical paths, each once
  std::vector<std::string> java_stores;  // the same of Java
};

struct TrustVariable {
  std::string_view name;
  std::string_view file;
};

// OpenSSL, curl, requests, Node.js, git, pip, cargo, the AWS programs, Deno, Nix, gRPC.
inline constexpr std::array<TrustVariable, 11> kTrustVariables = {{
    {"SSL_CERT_FILE", kBundleFile},
    {"CURL_CA_BUNDLE", kBundleFile},
    {"REQUESTS_CA_BUNDLE", kBundleFile},
    {"NODE_EXTRA_CA_CERTS", kAuthorityFile},
    {"GIT_SSL_CAINFO", kBundleFile},
    {"PIP_CERT", kBundleFile},
    {"CARGO_HTTP_CAINFO", kBundleFile},
    {"AWS_CA_BUNDLE", kBundleFile},
    {"DENO_CERT", kAuthorityFile},
    {"NIX_SSL_CERT_FILE", kBundleFile},
    {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", kBundleFile},
}};

}  // namespace hutch::plan
