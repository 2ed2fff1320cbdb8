// Packed packages are in share/hutch/clients of an installation, and in build/clients of the sources.
#include "service/run/npm_clients.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/text.h"
#include "base/unique_fd.h"
#include "host/machine/isolation_facts.h"
#include "host/paths/paths.h"
#include "policy/rules.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::service {

namespace {

constexpr std::array kNpmClients = {
    NpmClient{"pi", "hutch-pi", "pi's tools in a sandbox"},
    NpmClient{"mastra", "hutch-mastra", "a sandbox for Mastra's workspaces"},
    NpmClient{"augure", "hutch-augure", "Augure's containers and their pool"},
    NpmClient{"sdk", "hutch-sdk", "a typed client of the HTTP API"},
};

Result<std::string> packed_directory();
Result<std::string> put_pi_package(const std::string& file, const std::string& extensions);
Status put_in_place(const std::string& making, const std::string& target);
Result<std::string> pi_extensions(const plan::HostFacts& facts, const std::vector<std::string>& environment);
Status install_by_npm(const std::string& file, const std::string& directory,
                      const std::vector<std::string>& environment);
Result<std::string> directory_meant(const std::string& typed, const plan::HostFacts& facts);
std::vector<std::string> search_outside(const std::string& directory, std::string_view path);
Status run_tool(const std::string& program, std::vector<std::string> arguments,
                const std::vector<std::string>& environment, const std::string& remedy);
bool is_for_npm(const std::string& entry);
std::string variable_for_npm(const std::vector<std::string>& environment, std::string_view name);

}  // namespace

std::span<const NpmClient> npm_clients() { return kNpmClients; }

Result<std::vector<NpmClientRow>> packed_npm_clients() {
  const std::string directory = TRY(packed_directory());
  std::vector<NpmClientRow> rows;
  for (const NpmClient& client : kNpmClients) {
    std::string file = cat({directory, "/", client.package, "-", HUTCH_VERSION, ".tgz"});
    if (!sys::exists(file)) {
      return fail(Error::not_found(
          cat({"the package ", client.package, " of ", HUTCH_VERSION, " is not there, as ", printable(file),
               ": install the Debian package hutch anew; from the sources, ./dev clients "
               "makes it"})));
    }
    rows.push_back({client, std::move(file)});
  }
  return rows;
}

Result<NpmInstallation> install_npm_client(const std::string& name, const std::string& directory,
                                           const plan::HostFacts& facts, const std::vector<std::string>& environment) {
  const std::vector<NpmClientRow> rows = TRY(packed_npm_clients());
  const auto row = std::ranges::find(rows, name, [](const NpmClientRow& one) { return one.client.name; });
  if (row == rows.end()) return fail(Error::not_found(cat({"no package for \"", printable(name, 64), "\""})));
  const bool is_of_pi = row->client.name == "pi";
  std::string place = is_of_pi && directory.empty() ? TRY(pi_extensions(facts, environment))
                                                    : TRY(directory_meant(directory.empty() ? "." : directory, facts));
  if (is_of_pi) return NpmInstallation{row->client, TRY(put_pi_package(row->file, place))};
  TRY(install_by_npm(row->file, place, environment));
  return NpmInstallation{row->client, cat({place, "/node_modules/", row->client.package})};
}

namespace {

// Nothing else beside the program is looked at: others may be able to write there.
Result<std::string> packed_directory() {
  const std::string program = TRY(sys::own_program());
  const std::string bin = program.substr(0, program.rfind('/'));
  const std::string prefix = bin.substr(0, bin.rfind('/'));
  const std::string above = prefix.substr(0, prefix.rfind('/'));
  if (above.ends_with("/build")) return cat({above, "/clients"});
  return cat({prefix, "/share/hutch/clients"});
}

Result<std::string> pi_extensions(const plan::HostFacts& facts, const std::vector<std::string>& environment) {
  const std::string own = variable_for_npm(environment, "PI_CODING_AGENT_DIR");
  if (own.empty()) return cat({facts.home, "/.pi/agent/extensions"});
  return cat({TRY_CTX(policy::absolute_path(own, facts.home, facts.cwd), "PI_CODING_AGENT_DIR"), "/extensions"});
}

Result<std::string> directory_meant(const std::string& typed, const plan::HostFacts& facts) {
  std::string path = TRY(policy::absolute_path(typed, facts.home, facts.cwd));
  const auto resolved = TRY(host::canonical_path(path));
  if (resolved.type == plan::FileType::kDirectory) return resolved.path;
  return fail(Error::not_found(cat({printable(path), " is no directory; make it first"})));
}

// Whole or not at all, and never absent: a pi that starts meanwhile would run without a sandbox. It passes over a
// directory in which there is no package, such as the one in which this is made.
Result<std::string> put_pi_package(const std::string& file, const std::string& extensions) {
  const std::string tar = host::find_system_program("tar");
  if (tar.empty()) return fail(Error::unsupported("tar is not installed; apt-get install tar"));
  TRY(sys::make_private_directories(extensions));
  const std::string making = cat({extensions, "/.hutch-", TRY(sys::random_hex(4))});
  const std::string made = cat({making, "/made"});
  const std::string target = cat({extensions, "/hutch-pi"});
  TRY(sys::make_private_directories(made));
  const auto put = [&]() -> Status {
    // It starts gzip by its name, and takes options from variables.
    TRY(run_tool(tar, {"tar", "-xzf", file, "--strip-components=1", "--no-same-owner", "-C", made},
                 {"PATH=/usr/bin:/bin", "LC_ALL=C"}, ""));
    return put_in_place(making, target);
  };
  const Status done = put();
  if (!done && sys::exists(cat({making, "/before"}))) {
    return fail(Error{done.error().code, done.error().sys_errno,
                      cat({done.error().message, "; what was there is ", printable(cat({making, "/before"})),
                           ": move it back to ", printable(target)})});
  }
  TRY(sys::remove_tree(making));
  TRY(done);
  return target;
}

// `making` has what is made; what was at `target` is in it afterwards.
Status put_in_place(const std::string& making, const std::string& target) {
  const std::string made = cat({making, "/made"});
  const std::string before = cat({making, "/before"});
  if (!TRY(sys::status_of(target))) return sys::rename_file(made, target);
  const UniqueFd directory = TRY(sys::open_listing(making));
  const Status exchanged = sys::rename_at(directory.get(), "made", directory.get(), target, sys::Replacing::kExchanged);
  // Not every file system can.
  if (exchanged || exchanged.error().sys_errno != EINVAL) return exchanged;
  TRY(sys::rename_file(target, before));
  const Status moved = sys::rename_file(made, target);
  if (!moved) TRY(sys::rename_file(before, target));
  return moved;
}

// By npm's own rules for what the project has besides, whose scripts are not run. The registry is asked for nothing
// that is there already. The project's .npmrc may be a sandbox's: it names the program for git, and may send any
// variable that npm has to a registry.
Status install_by_npm(const std::string& file, const std::string& directory,
                      const std::vector<std::string>& environment) {
  const std::vector<std::string> search = search_outside(directory, variable_for_npm(environment, "PATH"));
  const auto npm =
      std::ranges::find_if(search, [](const std::string& one) { return sys::is_executable_file(cat({one, "/npm"})); });
  if (npm == search.end()) {
    return fail(Error::unsupported(cat({"there is no npm in PATH outside of ", printable(directory),
                                        "; apt-get install npm, or by hand: npm install ", printable(file)})));
  }
  // Corepack's npm would fetch the one that the project names.
  std::vector<std::string> own = {cat({"PATH=", join(search, ":")}), "COREPACK_ENABLE_PROJECT_SPEC=0"};
  std::ranges::copy_if(environment, std::back_inserter(own), is_for_npm);
  return run_tool(
      cat({*npm, "/npm"}),
      {"npm", "install", "--prefix", directory, "--ignore-scripts", "--git=/bin/false", "--allow-git=none",
       "--logs-max=0", "--no-audit", "--no-fund", "--prefer-offline", file},
      own,
      cat({"; packages by git are not fetched, and of your variables npm has none but npm_config_* and those "
           "of proxies: if that is it, and you trust what is in ",
           printable(directory), ", by hand: npm install ", printable(file)}));
}

bool is_for_npm(const std::string& entry) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "HOME",       "USER",        "LANG",       "TMPDIR",      "NODE_EXTRA_CA_CERTS",
      "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy",
      "all_proxy",  "NO_PROXY",    "ALL_PROXY",  "PROXY"};
  const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with("LC_") ||
         name.starts_with("npm_config_") || name.starts_with("NPM_CONFIG_");
}

// What lies in the project, or where npm puts programs of packages, may be a sandbox's. Within / is everything, and
// that is no project.
std::vector<std::string> search_outside(const std::string& directory, std::string_view path) {
  std::vector<std::string> kept;
  for (const std::string_view one : split(path, ':')) {
    if (!one.starts_with('/')) continue;
    const auto real = host::canonical_path(std::string(one));
    const bool is_of_project = real && directory != "/" && is_within(real->path, directory);
    if (!real || is_of_project || real->path.ends_with("/node_modules/.bin")) continue;
    kept.push_back(real->path);
  }
  return kept;
}

Status run_tool(const std::string& program, std::vector<std::string> arguments,
                const std::vector<std::string>& environment, const std::string& remedy) {
  const std::string words = join(arguments, " ");
  // Its output is no answer of hutch's.
  sys::ChildProcess child = TRY(sys::spawn(
      program, {.arguments = std::move(arguments), .environment = environment, .install = {{0, 0}, {2, 1}, {2, 2}}}));
  const sys::WaitStatus ended = TRY(child.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail({Code::kSystem, 0, cat({printable(words, 300), " did not succeed; what it said is above", remedy})});
}

std::string variable_for_npm(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

}  // namespace hutch::service
