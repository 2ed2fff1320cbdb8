// The hosts that an image's own package managers fetch from.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::service {

// Entries of allowedDomains, "host:port": those that the configuration of apt, apk and dnf names below `root`, an
// image's files as they were imported. What an agent has changed since says nothing. Never an address, nor a name of
// this machine: whoever made an image has no say about what is reached here.
Result<std::vector<std::string>> package_hosts(const std::string& root);

// An image's files where an engine has them, by paths below its root.
struct ImageFiles {
  std::function<std::vector<std::string>(const std::string& directory)> names;
  std::function<std::optional<std::string>(const std::string& file, std::size_t bytes_max)> text;
};
std::vector<std::string> package_hosts(const ImageFiles& files);

// Likewise those of pip and npm: what their configuration names, else the defaults that the programs which are there
// have in their own files. Nothing where neither is there.
Result<std::vector<std::string>> language_hosts(const std::string& root);
std::vector<std::string> language_hosts(const ImageFiles& files);

// The default of pip's models/index.py and of npm's definitions.js.
std::vector<std::string> hosts_of_pip(std::string_view text);
std::vector<std::string> hosts_of_npm(std::string_view text);

// Those of one file of such configuration.
std::vector<std::string> package_hosts_in(std::string_view text);

}  // namespace hutch::service
