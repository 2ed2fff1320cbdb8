// The policy behind NativeSandbox.
#include "api/native_policy.h"

#include <array>
#include <string_view>

#include "base/text.h"

namespace hutch::api {

namespace {

// In a home directory: keys, tokens, wallets, and what people type.
constexpr std::array<std::string_view, 46> kCredentials = {
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".boto",
    ".s3cfg",
    ".oci",
    ".config/doctl",
    ".config/rclone",
    ".kube",
    ".docker",
    ".config/containers/auth.json",
    ".config/helm",
    ".vault-token",
    ".terraform.d",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".pgpass",
    ".my.cnf",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".thunderbird",
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".bash_history",
    ".zsh_history",
    ".python_history",
};

// Of the system: readable for root alone, who may be the caller.
constexpr std::array<std::string_view, 5> kSystemCredentials = {
    "/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/etc/krb5.keytab", "/etc/ssh/ssh_host_*_key",
};

constexpr std::array<std::string_view, 10> kSystemBinaries = {
    "/bin",       "/sbin",        "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
    "/usr/games", "/usr/libexec", "/opt",     "/snap",
};

Result<policy::PathEntry> entry(const std::string& path, const std::string& cwd) {
  if (path.empty()) return fail(Error::invalid("native_sandbox: an empty path"));
  const bool own_base = path.starts_with('/') || path == "~" || path.starts_with("~/");
  return policy::PathEntry{own_base ? path : cat({cwd, "/", path}), policy::EntryForm::kLiteral};
}

}  // namespace

Result<policy::Policy> native_policy(const NativeSandbox& native, std::uint32_t uid, const std::string& cwd) {
  policy::Policy policy;
  policy.source = "native_sandbox";
  policy::Filesystem& files = policy.filesystem;
  for (const std::string_view name : kCredentials) {
    files.deny_read.push_back({cat({"~/", name})});
    if (uid == 0) files.deny_read.push_back({cat({"/home/*/", name})});
  }
  for (const std::string_view path : kSystemCredentials) files.deny_read.push_back({std::string(path)});
  if (!native.allow_system_binaries) {
    for (const std::string_view path : kSystemBinaries) files.deny_read.push_back({std::string(path)});
  }
  files.allow_read.push_back({"."});
  files.allow_write.push_back({"."});
  for (const std::string& path : native.read_only_paths) files.allow_read.push_back(TRY(entry(path, cwd)));
  for (const std::string& path : native.read_write_paths) {
    files.allow_read.push_back(TRY(entry(path, cwd)));
    files.allow_write.push_back(files.allow_read.back());
  }
  policy.network.mode = native.allow_network ? policy::NetworkMode::kOutbound : policy::NetworkMode::kNone;
  return policy;
}

}  // namespace hutch::api
