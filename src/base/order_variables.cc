// The one table of them.
#include "base/order_variables.h"

#include <algorithm>
#include <array>
#include <string>

namespace hutch {

namespace {

constexpr std::array<std::string_view, 104> kNames = {
    // Shells, their options, and where they and all else find programs.
    "BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "FPATH", "GLOBIGNORE", "HISTFILE", "HOME", "IFS", "INPUTRC", "LOGNAME",
    "MAIL", "MAILPATH", "OLDPWD", "OPTIND", "PATH", "PATHEXT", "PROMPT", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3",
    "PS4", "PWD", "SHELL", "SHELLOPTS", "SHLVL", "TERM", "TERMCAP", "TERMINFO", "TERMINFO_DIRS", "TZ", "TZDIR", "USER",
    "BUNDLE_GEMFILE", "BUNDLE_PATH", "ZDOTDIR",
    // What other programs are started by.
    "BROWSER", "EDITOR", "LESS", "LESSCLOSE", "LESSOPEN", "MANPAGER", "PAGER", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE",
    "SUDO_ASKPASS", "SUDO_EDITOR", "SYSTEMD_PAGER", "VISUAL",
    // Libraries.
    "GCONV_PATH", "GETCONF_DIR", "HOSTALIASES", "LANG", "LANGUAGE", "LOCALDOMAIN", "LOCPATH", "NLSPATH", "OPENSSL_CONF",
    "OPENSSL_ENGINES", "OPENSSL_MODULES", "RESOLV_HOST_CONF", "RES_OPTIONS", "TEMP", "TMP", "TMPDIR",
    // Whom to trust, and by whom to go.
    "ALL_PROXY", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "CURL_HOME", "NODE_EXTRA_CA_CERTS", "NO_PROXY",
    "REQUESTS_CA_BUNDLE", "SSLKEYLOGFILE",
    // Languages.
    "CLASSPATH", "DOTNET_STARTUP_HOOKS", "ERL_FLAGS", "GEM_HOME", "GEM_PATH", "GOFLAGS", "GOPATH", "GOPROXY", "GOROOT",
    "JAVA_HOME", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LUA_CPATH", "LUA_INIT", "LUA_PATH",
    "NODE_OPTIONS", "NODE_PATH", "NODE_TLS_REJECT_UNAUTHORIZED", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE",
    "RUSTC_WRAPPER", "VIRTUAL_ENV", "_JAVA_OPTIONS", "MAKEFLAGS", "CC", "CXX", "DISPLAY"};

constexpr std::array<std::string_view, 16> kBeginnings = {
    "BASH_FUNC_", "DBUS_",  "DYLD_", "GLIBC_", "HUTCH_",  "LC_",     "LD_",       "MALLOC_",
    "OSAURUS_",   "PARAM_", "PERL5", "PYTHON", "RUBYLIB", "RUBYOPT", "SSL_CERT_", "XDG_"};
// Of these what ends so is what people keep as secrets.
constexpr std::array<std::string_view, 6> kPrograms = {"CARGO_", "GIT_", "NPM_CONFIG_", "PIP_", "UV_", "YARN_"};
constexpr std::array<std::string_view, 2> kSecrets = {"_TOKEN", "_PASSWORD"};
constexpr std::string_view kProxy = "_PROXY";

std::string upper(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return made;
}

}  // namespace

bool takes_orders(std::string_view name) {
  const std::string folded = upper(name);
  const auto begins = [&](std::string_view beginning) { return folded.starts_with(beginning); };
  const auto ends = [&](std::string_view end) { return folded.ends_with(end); };
  if (std::ranges::find(kNames, folded) != kNames.end() || ends(kProxy)) return true;
  if (std::ranges::any_of(kBeginnings, begins)) return true;
  return std::ranges::any_of(kPrograms, begins) && std::ranges::none_of(kSecrets, ends);
}

}  // namespace hutch
