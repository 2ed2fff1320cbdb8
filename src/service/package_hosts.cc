// Reads the configuration of package managers for the hosts in it.
#include "service/package_hosts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "policy/domains.h"
#include "policy/hosts.h"
#include "sys/beneath.h"
#include "sys/files.h"
#include "sys/io.h"
#include "sys/tree.h"

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
constexpr std::array<Scheme, 2> kSchemes = {{{"http://", "80"}, {"https://", "443"}}};

std::vector<std::string> files_of(const ImageFiles& image);
void add_hosts(std::string_view line, std::vector<std::string>& hosts);
std::string entry_of(std::string_view place, const Scheme& scheme);

}  // namespace

Result<std::vector<std::string>> package_hosts(const std::string& root) {
  const UniqueFd directory = TRY(sys::open_exact(root));
  ImageFiles files;
  files.names = [&](const std::string& path) {
    const auto opened = sys::open_beneath(directory.get(), path, sys::Beneath::kListing);
    const auto entries = opened ? sys::names_in(opened->get(), path) : fail(opened.error());
    std::vector<std::string> names;
    if (entries) std::ranges::transform(*entries, std::back_inserter(names), &sys::TreeEntry::name);
    return names;
  };
  files.text = [&](const std::string& file, std::size_t bytes_max) -> std::optional<std::string> {
    const auto opened = sys::open_beneath(directory.get(), file, sys::Beneath::kRead);
    auto text = opened ? sys::read_to_end(opened->get(), bytes_max) : fail(opened.error());
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  return package_hosts(files);
}

std::vector<std::string> package_hosts(const ImageFiles& image) {
  std::vector<std::string> hosts;
  for (const std::string& file : files_of(image)) {
    const auto text = image.text(file, kFileBytesMax);
    if (!text) continue;  // this image has it not, or as something that cannot be read
    for (std::string& host : package_hosts_in(*text)) {
      if (hosts.size() < kHostsMax && std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(std::move(host));
    }
  }
  return hosts;
}

std::vector<std::string> package_hosts_in(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with('#')) add_hosts(line, hosts);
  }
  return hosts;
}

namespace {

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
  for (const Scheme& scheme : kSchemes) {
    for (std::size_t at = line.find(scheme.begin); at != std::string_view::npos; at = line.find(scheme.begin, at + 1)) {
      std::string entry = entry_of(line.substr(at + scheme.begin.size()), scheme);
      if (hosts.size() >= kHostsMax) return;
      if (!entry.empty() && std::ranges::find(hosts, entry) == hosts.end()) hosts.push_back(std::move(entry));
    }
  }
}

// Empty: it names no host that anybody could mean from here. A user and a password are no part of the name.
std::string entry_of(std::string_view place, const Scheme& scheme) {
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
