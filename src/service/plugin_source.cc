// Reads recipes: files by itself, all else by the programs that people have for it.
#include "service/plugin_source.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"
#include "plugin/recipe.h"
#include "service/told_program.h"
#include "sys/beneath.h"
#include "sys/files.h"
#include "sys/host_info.h"
#include "sys/io.h"
#include "sys/journal.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

constexpr std::string_view kCurl = "/usr/bin/curl";
constexpr std::string_view kGit = "/usr/bin/git";
constexpr std::string_view kGitMark = "git+";
constexpr std::string_view kHub = "https://github.com/";

bool is_address(std::string_view word) { return word.starts_with("https://") || word.starts_with("http://"); }

bool is_repository(std::string_view word) {
  if (word.starts_with(kGitMark) || (is_address(word) && word.ends_with(".git"))) return true;
  if (!word.starts_with(kHub)) return false;
  std::string_view rest = word.substr(kHub.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  return std::ranges::count(rest, '/') == 1;
}

// Proxies and authorities of whoever types, and nothing else of theirs.
std::vector<std::string> environment() {
  std::vector<std::string> variables = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "GIT_TERMINAL_PROMPT=0",
                                        "GIT_ALLOW_PROTOCOL=https:http:ssh:git:file", "GIT_CONFIG_NOSYSTEM=1"};
  for (const char* name : {"HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "http_proxy", "https_proxy",
                           "no_proxy", "HTTPS_PROXY", "NO_PROXY"}) {
    if (const auto value = sys::environment_variable(name)) variables.push_back(cat({name, "=", *value}));
  }
  return variables;
}

Status run(std::string_view program, std::vector<std::string> arguments) {
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

Result<std::string> by_curl(const std::string& address, const std::string& scratch) {
  const std::string file = scratch + "/recipe";
  TRY(run(kCurl, {"curl", "--fail", "--silent", "--show-error", "--location", "--proto", "=http,https", "--max-redirs",
                  "5", "--max-time", "60", "--max-filesize", std::to_string(plugin::kRecipeBytesMax), "--output", file,
                  "--", address}));
  return sys::regular_file_text(file, plugin::kRecipeBytesMax);
}

// Nothing of the repository is run, and no link in it is followed.
Result<std::string> by_git(std::string address, const std::string& scratch) {
  if (address.starts_with(kGitMark)) address.erase(0, kGitMark.size());
  const std::string tree = scratch + "/tree";
  TRY(run(kGit, {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false",
                 "clone", "--quiet", "--depth", "1", "--no-tags", "--", address, tree}));
  const UniqueFd opened = TRY(sys::open(tree, sys::Open::kReadDirectory));
  for (const char* name : {"plugin.json", "osaurus.json"}) {
    const auto file = sys::open_beneath(opened.get(), name, sys::Beneath::kReadExact);
    if (file) return sys::read_to_end(file->get(), plugin::kRecipeBytesMax);
  }
  return fail(Error::not_found(cat({address, " has neither plugin.json nor osaurus.json"})));
}

}  // namespace

bool is_plugin_source(std::string_view word) {
  return word == "-" || is_address(word) || is_repository(word) || word.contains('/') || word.ends_with(".json");
}

Result<FetchedRecipe> fetch_recipe(const std::string& source, const host::StateDirs& dirs) {
  FetchedRecipe fetched{.json = {}, .from = source};
  if (source == "-") {
    fetched.json = TRY_CTX(sys::read_to_end(0, plugin::kRecipeBytesMax), "read the recipe from standard input");
  } else if (is_repository(source)) {
    fetched.json = TRY(in_scratch(dirs, [&](const std::string& scratch) { return by_git(source, scratch); }));
  } else if (is_address(source)) {
    fetched.json = TRY(in_scratch(dirs, [&](const std::string& scratch) { return by_curl(source, scratch); }));
  } else {
    fetched.json = TRY(sys::regular_file_text(source, plugin::kRecipeBytesMax));
  }
  return fetched;
}

}  // namespace hutch::service
