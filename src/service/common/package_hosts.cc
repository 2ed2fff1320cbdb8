// Reads the configuration of package managers for the hosts in it.
#include "service/common/package_hosts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "base/text.h"
#include "policy/network/domains.h"
#include "policy/network/hosts.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"

namespace hutch::service {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;
constexpr std::size_t kFilesMax = 64;
constexpr std::size_t kHostsMax = 64;

struct Directory {
  std::string_view path;
  std::array<std::string_view, 2> endings;
};
constexpr std::array<std::string_view, 2> kFiles = {"etc/apt/sources.list", "etc/apk/repositories"};
constexpr std::array<Directory, 3> kDirectories = {{{"etc/apt/sources.list.d", {".list", ".sources"}},
                                                    {"etc/apk/repositories.d", {".list", ".list"}},
                                                    {"etc/yum.repos.d", {".repo", ".repo"}}}};

struct Scheme {
  std::string_view begin;
  std::string_view port;
};
constexpr std::array<Scheme, 2> kWebSchemes = {{{"http://", "80"}, {"https://", "443"}}};

constexpr std::array<std::string_view, 2> kPipFiles = {"etc/pip.conf", "etc/xdg/pip/pip.conf"};
constexpr std::array<std::string_view, 3> kNpmFiles = {"etc/npmrc", "usr/etc/npmrc", "usr/local/etc/npmrc"};
constexpr std::array<std::string_view, 2> kLibraries = {"usr/lib", "usr/local/lib"};
constexpr std::array<std::string_view, 2> kPythonPackages = {"dist-packages", "site-packages"};
constexpr std::string_view kPipDefaults = "pip/_internal/models/index.py";
// Of a distribution, and of npm by itself.
constexpr std::array<std::string_view, 3> kNpmDefaults = {
    "usr/share/nodejs/@npmcli/config/lib/definitions/definitions.js",
    "usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js",
    "usr/local/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js"};

enum class Defaults { kHold, kReplaced };
ImageFiles files_below(int directory);
Defaults add_configured(const ImageFiles& image, std::span<const std::string_view> files, std::string_view key,
                        std::vector<std::string>& hosts);
void add_new(std::vector<std::string> more, std::vector<std::string>& hosts);
std::vector<std::string> files_of(const ImageFiles& image);
void add_hosts(std::string_view line, std::vector<std::string>& hosts);
std::string host_entry(std::string_view place, const Scheme& scheme);

}  // namespace

Result<std::vector<std::string>> package_hosts(const std::string& root) {
  const UniqueFd directory = TRY(sys::open_exact(root));
  return package_hosts(files_below(directory.get()));
}

Result<std::vector<std::string>> language_hosts(const std::string& root) {
  const UniqueFd directory = TRY(sys::open_exact(root));
  return language_hosts(files_below(directory.get()));
}

std::vector<std::string> language_hosts(const ImageFiles& image) {
  std::vector<std::string> hosts;
  if (add_configured(image, kPipFiles, "index-url", hosts) == Defaults::kHold) {
    for (const std::string_view library : kLibraries) {
      for (const std::string& name : image.names(std::string(library))) {
        if (!name.starts_with("python")) continue;
        for (const std::string_view packages : kPythonPackages) {
          const auto text = image.text(cat({library, "/", name, "/", packages, "/", kPipDefaults}), kFileBytesMax);
          if (text) add_new(hosts_of_pip(*text), hosts);
        }
      }
    }
  }
  if (add_configured(image, kNpmFiles, "registry", hosts) == Defaults::kHold) {
    for (const std::string_view file : kNpmDefaults) {
      const auto text = image.text(std::string(file), kFileBytesMax);
      if (text) add_new(hosts_of_npm(*text), hosts);
    }
  }
  return hosts;
}

// PyPI = PackageIndex("https://...", file_storage_domain="..."): the index, and where its files are.
std::vector<std::string> hosts_of_pip(std::string_view text) {
  static constexpr std::string_view kBegin = "\nPyPI = PackageIndex(";
  static constexpr std::string_view kFileDomain = "file_storage_domain=\"";
  std::vector<std::string> hosts;
  const std::size_t at = text.find(kBegin);
  if (at == std::string_view::npos) return hosts;
  const std::string_view call = text.substr(at, text.find(')', at) - at);
  add_hosts(call, hosts);
  const std::size_t files = call.find(kFileDomain);
  if (files == std::string_view::npos) return hosts;
  const std::string_view name = call.substr(files + kFileDomain.size());
  add_hosts(cat({"https://", name.substr(0, name.find('"'))}), hosts);
  return hosts;
}

// registry: new Definition('registry', { default: 'https://...',
std::vector<std::string> hosts_of_npm(std::string_view text) {
  std::vector<std::string> hosts;
  const std::size_t at = text.find("('registry', {");
  const std::size_t value = at == std::string_view::npos ? at : text.find("default:", at);
  if (value != std::string_view::npos) add_hosts(text.substr(value, text.find('\n', value) - value), hosts);
  return hosts;
}

std::vector<std::string> package_hosts(const ImageFiles& image) {
  std::vector<std::string> hosts;
  for (const std::string& file : files_of(image)) {
    const auto text = image.text(file, kFileBytesMax);
    if (!text) continue;  // this image has it not, or as something that cannot be read
    add_new(package_hosts_in(*text), hosts);
  }
  return hosts;
}

std::vector<std::string> package_hosts_in(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with('#') && !line.starts_with(';')) add_hosts(line, hosts);
  }
  return hosts;
}

namespace {

ImageFiles files_below(int directory) {
  ImageFiles files;
  files.names = [directory](const std::string& path) {
    const auto opened = sys::open_beneath(directory, path, sys::Beneath::kListing);
    const auto entries = opened ? sys::names_in(opened->get(), path) : fail(opened.error());
    std::vector<std::string> names;
    if (entries) std::ranges::transform(*entries, std::back_inserter(names), &sys::TreeEntry::name);
    return names;
  };
  files.text = [directory](const std::string& file, std::size_t bytes_max) -> std::optional<std::string> {
    const auto opened = sys::open_beneath(directory, file, sys::Beneath::kRead);
    auto text = opened ? sys::read_to_end(opened->get(), bytes_max) : fail(opened.error());
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  return files;
}

// Whether it says another one than the default.
Defaults add_configured(const ImageFiles& image, std::span<const std::string_view> files, std::string_view key,
                        std::vector<std::string>& hosts) {
  Defaults defaults = Defaults::kHold;
  for (const std::string_view file : files) {
    const auto text = image.text(std::string(file), kFileBytesMax);
    if (!text) continue;
    add_new(package_hosts_in(*text), hosts);
    for (std::string_view line : split(*text, '\n')) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (!line.starts_with(key)) continue;
      line.remove_prefix(key.size());
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.starts_with('=') || line.starts_with(':')) defaults = Defaults::kReplaced;
    }
  }
  return defaults;
}

void add_new(std::vector<std::string> more, std::vector<std::string>& hosts) {
  for (std::string& host : more) {
    if (hosts.size() < kHostsMax && std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(std::move(host));
  }
}

std::vector<std::string> files_of(const ImageFiles& image) {
  std::vector<std::string> files(kFiles.begin(), kFiles.end());
  for (const Directory& directory : kDirectories) {
    const std::string path(directory.path);
    for (const std::string& name : image.names(path)) {
      const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
      if (std::ranges::any_of(directory.endings, ends)) files.push_back(cat({path, "/", name}));
    }
  }
  if (files.size() > kFilesMax) files.resize(kFilesMax);
  return files;
}

// All formats have addresses of files in them, and nothing else that looks like one.
void add_hosts(std::string_view line, std::vector<std::string>& hosts) {
  for (const Scheme& scheme : kWebSchemes) {
    for (std::size_t at = line.find(scheme.begin); at != std::string_view::npos; at = line.find(scheme.begin, at + 1)) {
      std::string entry = host_entry(line.substr(at + scheme.begin.size()), scheme);
      if (hosts.size() >= kHostsMax) return;
      if (!entry.empty() && std::ranges::find(hosts, entry) == hosts.end()) hosts.push_back(std::move(entry));
    }
  }
}

// Empty: it names no host that anybody could mean from here. A user and a password are no part of the name.
std::string host_entry(std::string_view place, const Scheme& scheme) {
  std::string_view authority = place.substr(0, place.find_first_of("/ \t\r\"',]"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  const auto parsed = policy::parse_host_port(authority);
  if (!parsed || parsed->host.address || !parsed->host.name.contains('.')) return {};
  if (parsed->host.name.find_first_of("$*") != std::string::npos || parsed->host.name.ends_with(".localhost"))
    return {};
  std::string entry =
      cat({parsed->host.name, ":", parsed->port ? std::to_string(*parsed->port) : std::string(scheme.port)});
  // What a policy cannot name would be an error of the start.
  return policy::check_domain(entry, policy::DomainList::kAllowed) ? entry : std::string();
}

}  // namespace

}  // namespace hutch::service
