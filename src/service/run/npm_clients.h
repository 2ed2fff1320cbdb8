// The packages for npm that come with this installation, and putting them in place without a registry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"

namespace hutch::service {

struct NpmClient {
  std::string_view name;     // as it is typed
  std::string_view package;  // as npm has it
  std::string_view about;
};
std::span<const NpmClient> npm_clients();

struct NpmClientRow {
  NpmClient client;
  std::string file;  // the packed package, of this version
};
// An error, which says how they come there, where one of them is not.
Result<std::vector<NpmClientRow>> packed_npm_clients();

struct NpmInstallation {
  NpmClient client;
  std::string place;  // the directory that has it now
};
// `directory` as typed. pi: that of pi's extensions, in which the package becomes a directory, in place of an earlier
// one; empty: the person's own. The others: a project's, in which npm installs it; empty: the working directory.
Result<NpmInstallation> install_npm_client(const std::string& name, const std::string& directory,
                                           const plan::HostFacts& facts, const std::vector<std::string>& environment);

}  // namespace hutch::service
