// Reads recipes: files by itself, all else by the programs that people have for it.
#include "service/plugins/source.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "base/text.h"
#include "plan/plan.h"
#include "plugin/recipe.h"
#include "policy/network/hosts.h"
#include "service/common/programs.h"
#include "service/common/told_program.h"
#include "service/pool/sandbox_pool.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

constexpr std::string_view kGit = "/usr/bin/git";
constexpr std::string_view kGitMark = "git+";
constexpr std::string_view kHub = "https://github.com/";
constexpr std::chrono::seconds kFetchTimeout{120};
constexpr std::chrono::seconds kFetchEndWait{10};
constexpr std::size_t kSaidBytesMax = 400;

bool is_address(std::string_view word) { return word.starts_with("https://") || word.starts_with("http://"); }

bool is_repository(std::string_view word) {
  if (word.starts_with(kGitMark) || (is_address(word) && word.ends_with(".git"))) return true;
  if (!word.starts_with(kHub)) return false;
  std::string_view rest = word.substr(kHub.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  return std::ranges::count(rest, '/') == 1;
}

// What git reaches by a key, or not at all: by whoever types, with what is theirs.
bool is_local_git(std::string_view word) {
  if (word.starts_with(kGitMark)) word.remove_prefix(kGitMark.size());
  return !is_address(word);
}

// Of authorities of whoever types, and nothing else of theirs; their proxies are the gateway's to go by. It is asked as
// a proxy: an address of this machine that was typed means the sandbox's own without that.
std::map<std::string, std::string> environment_inside() {
  const std::string proxy = cat({"http://127.0.0.1:", std::to_string(plan::kProxyPort)});
  std::map<std::string, std::string> variables = {{"http_proxy", proxy},
                                                  {"https_proxy", proxy},
                                                  {"no_proxy", ""},
                                                  {"NO_PROXY", ""},
                                                  {"LC_ALL", "C.UTF-8"},
                                                  {"GIT_TERMINAL_PROMPT", "0"},
                                                  {"GIT_ALLOW_PROTOCOL", "https:http"},
                                                  {"GIT_CONFIG_NOSYSTEM", "1"}};
  for (const char* name : {"SSL_CERT_FILE", "SSL_CERT_DIR"}) {
    if (const auto value = sys::environment_variable(name)) variables.emplace(name, *value);
  }
  return variables;
}

// "example.com:443" of an address.
Result<std::string> host_of(std::string_view address) {
  const bool is_tls = address.starts_with("https://");
  std::string_view authority = address.substr(is_tls ? 8 : 7);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (authority.contains('@')) return fail(Error::invalid(cat({printable(address), ": an address with a user in it"})));
  const auto parsed = policy::parse_host_port(authority);
  if (!parsed) return fail(Error::invalid(cat({printable(address), ": ", parsed.error().message})));
  const int port = parsed->port ? *parsed->port : is_tls ? 443 : 80;
  std::string name = parsed->host.name;
  if (parsed->host.address && name.contains(':') && !name.starts_with('[')) name = cat({"[", name, "]"});
  return cat({name, ":", std::to_string(port)});
}

// A sandbox of its own for one fetch: no file of anybody's is in it, and that host alone is reached, by the gateway.
class Fetcher {
 public:
  static Result<Fetcher> start(const std::string& address, const host::StateDirs& dirs) {
    const std::string host = TRY(host_of(address));
    sandbox::PoolSpec spec;
    spec.trust = sandbox::Trust::kTrusted;
    spec.hosts = {host};
    spec.environment = environment_inside();
    std::string guest = TRY(guest_program());
    const PoolHost place{.dirs = dirs, .guest_program = std::move(guest), .tell = [](const std::string&) {}};
    auto sandbox = TRY(start_pooled(spec, place));
    return Fetcher(std::move(sandbox), host);
  }

  Result<std::string> run(std::vector<std::string> arguments, std::chrono::seconds timeout = kFetchTimeout) {
    sandbox::ProcessRequest request;
    const std::string program = arguments.front();
    request.arguments = std::move(arguments);
    request.timeout = timeout;
    const auto process = TRY(sandbox_->spawn(std::move(request), sandbox::Input::kNone));
    const auto end = process->wait(sandbox::Process::Clock::now() + timeout + kFetchEndWait);
    const std::string said = printable(process->captured(sandbox::OutputStream::kError).head(), kSaidBytesMax);
    if (end && end->exit_code == 0) return process->captured(sandbox::OutputStream::kOutput).head();
    if (end && end->exit_code == 127) {
      return fail(Error::unsupported(cat({program, " is missing, which fetches plugins: install it, or name a file"})));
    }
    return fail({Code::kSystem, 0,
                 cat({"it is fetched in a sandbox that reaches ", host_,
                      " alone, and not: ", said.empty() ? std::string("it took too long") : said})});
  }

  // A file of the sandbox's own, in pieces of what is kept of an output.
  Result<std::string> file(const std::string& path) {
    std::string text;
    for (;;) {
      const std::string from = std::to_string(text.size() + 1);
      const std::string piece =
          TRY(run({"/bin/sh", "-c", "tail -c +\"$1\" \"$2\" | head -c 524288", "sh", from, path}));
      if (piece.empty()) return text;
      text += piece;
      if (text.size() > plugin::kRecipeBytesMax) return fail(Error::invalid("the recipe is too large"));
    }
  }

 private:
  Fetcher(std::unique_ptr<sandbox::PooledSandbox> sandbox, std::string host)
      : sandbox_(std::move(sandbox)), host_(std::move(host)) {}

  std::unique_ptr<sandbox::PooledSandbox> sandbox_;
  std::string host_;
};

// Proxies and authorities of whoever types, and nothing else of theirs.
std::vector<std::string> environment() {
  std::vector<std::string> variables = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "GIT_TERMINAL_PROMPT=0",
                                        "GIT_ALLOW_PROTOCOL=ssh:file", "GIT_CONFIG_NOSYSTEM=1"};
  for (const char* name : {"HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "http_proxy", "https_proxy",
                           "no_proxy", "HTTPS_PROXY", "NO_PROXY"}) {
    if (const auto value = sys::environment_variable(name)) variables.push_back(cat({name, "=", *value}));
  }
  return variables;
}

Status run_fetcher(std::string_view program, std::vector<std::string> arguments) {
  if (!sys::exists(std::string(program))) {
    return fail(Error::unsupported(cat({program, " is missing, which fetches plugins: install it, or name a file"})));
  }
  return run_told(std::string(program), std::move(arguments), environment(), [](const std::string&) {});
}

// In a directory that goes afterwards.
Result<std::string> in_scratch(const host::StateDirs& dirs,
                               const std::function<Result<std::string>(const std::string&)>& read) {
  const std::string scratch = cat({dirs.runtime, "/fetch-", TRY(sys::random_hex(8))});
  TRY(sys::make_private_directories(scratch));
  auto text = read(scratch);
  TRY(sys::remove_tree(scratch));
  return text;
}

Result<std::string> by_curl(const std::string& address, const host::StateDirs& dirs) {
  static constexpr const char* kFile = "/workspace/recipe";
  Fetcher fetcher = TRY(Fetcher::start(address, dirs));
  TRY(fetcher.run({"curl", "--fail", "--silent", "--show-error", "--location", "--proto", "=http,https", "--max-redirs",
                   "5", "--max-time", "60", "--max-filesize", std::to_string(plugin::kRecipeBytesMax), "--output",
                   kFile, "--", address}));
  return fetcher.file(kFile);
}

// As the repository has it: nothing of that is run, and no link in it followed.
Result<std::string> by_git_inside(std::string address, const host::StateDirs& dirs) {
  static constexpr const char* kTree = "/workspace/tree";
  if (address.starts_with(kGitMark)) address.erase(0, kGitMark.size());
  Fetcher fetcher = TRY(Fetcher::start(address, dirs));
  TRY(fetcher.run({"git", "-c", "core.hooksPath=/dev/null", "clone", "--quiet", "--bare", "--depth", "1", "--no-tags",
                   "--", address, kTree}));
  for (const char* name : {"plugin.json", "osaurus.json"}) {
    const std::string file = cat({"/workspace/", name});
    const auto shown =
        fetcher.run({"/bin/sh", "-c", "git -C \"$1\" show \"HEAD:$2\" > \"$3\"", "sh", kTree, name, file});
    if (shown) return fetcher.file(file);
  }
  return fail(Error::not_found(cat({address, " has neither plugin.json nor osaurus.json"})));
}

// Nothing of the repository is run, and no link in it is followed.
Result<std::string> by_git(std::string address, const std::string& scratch) {
  if (address.starts_with(kGitMark)) address.erase(0, kGitMark.size());
  TRY(check_git_address(address));
  const std::string tree = scratch + "/tree";
  TRY(run_fetcher(kGit,
                  {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false",
                   "clone", "--quiet", "--depth", "1", "--no-tags", "--", address, tree}));
  const UniqueFd opened = TRY(sys::open(tree, sys::Open::kReadDirectory));
  for (const char* name : {"plugin.json", "osaurus.json"}) {
    const auto file = sys::open_beneath(opened.get(), name, sys::Beneath::kReadExact);
    if (file) return sys::read_to_end(file->get(), plugin::kRecipeBytesMax);
  }
  return fail(Error::not_found(cat({address, " has neither plugin.json nor osaurus.json"})));
}

}  // namespace

Status check_git_address(std::string_view address) {
  const auto refuse = [&](std::string_view why) {
    return fail(Error::invalid(cat({printable(address, 200), ": ", why, ": https, ssh and files are fetched by git"})));
  };
  if (address.empty() || address.starts_with('-')) return refuse("is no address of a repository");
  const std::size_t scheme = address.find("://");
  const std::size_t helper = address.find("::");
  const std::size_t slash = address.find('/');
  if (helper != std::string_view::npos && helper < slash) return refuse("names a program as its transport");
  if (scheme != std::string_view::npos && scheme < slash) {
    static constexpr std::array<std::string_view, 4> kSchemes = {"https", "http", "ssh", "file"};
    if (std::ranges::find(kSchemes, address.substr(0, scheme)) == kSchemes.end()) return refuse("is of another kind");
    // git refuses it too: a host that ssh would read as an option.
    const std::string_view rest = address.substr(scheme + 3);
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (host.substr(host.rfind('@') == host.npos ? 0 : host.rfind('@') + 1).starts_with('-')) {
      return refuse("has no name of a host");
    }
    return {};
  }
  // "host:path", which ssh reads.
  const std::size_t colon = address.find(':');
  if (colon == std::string_view::npos || colon > slash) return {};
  const std::string_view host = address.substr(0, colon);
  const std::size_t at = host.rfind('@');
  if (host.substr(at == host.npos ? 0 : at + 1).starts_with('-')) return refuse("has no name of a host");
  return {};
}

bool is_plugin_source(std::string_view word) {
  return word == "-" || is_address(word) || is_repository(word) || word.contains('/') || word.ends_with(".json");
}

Result<FetchedRecipe> fetch_recipe(const std::string& source, const host::StateDirs& dirs) {
  FetchedRecipe fetched{.json = {}, .from = source};
  if (source == "-") {
    fetched.json = TRY_CTX(sys::read_to_end(0, plugin::kRecipeBytesMax), "read the recipe from standard input");
  } else if (is_repository(source) && is_local_git(source)) {
    fetched.json = TRY(in_scratch(dirs, [&](const std::string& scratch) { return by_git(source, scratch); }));
  } else if (is_repository(source)) {
    fetched.json = TRY(by_git_inside(source, dirs));
  } else if (is_address(source)) {
    fetched.json = TRY(by_curl(source, dirs));
  } else {
    fetched.json = TRY(sys::regular_file_text(source, plugin::kRecipeBytesMax));
  }
  return fetched;
}

}  // namespace hutch::service
