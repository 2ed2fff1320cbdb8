// The files by which a sandbox trusts the authority that opens its TLS.
#include "service/prepare/trust.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "host/paths/paths.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

bool is_file(const plan::MountStep& step, std::string_view path) {
  return step.kind == plan::MountKind::kFile &&
         (step.target == path || step.target == cat({plan::kTrustOfOsUser, path}));
}

void add_store(std::vector<std::string>& stores, std::string_view path) {
  const auto store = host::canonical_path(path);
  if (!store || store->type != plan::FileType::kFile) return;
  if (std::ranges::find(stores, store->path) == stores.end()) stores.push_back(store->path);
}

// Those of the system, that which JAVA_HOME names, and that of the `java` in each directory of PATH.
std::vector<std::string> java_homes(const std::vector<std::string>& environment) {
  static constexpr std::string_view kSystem = "/usr/lib/jvm";
  std::vector<std::string> homes;
  if (const auto entries = sys::list_directory(std::string(kSystem), sys::Listing::kAll)) {
    for (const sys::DirectoryEntry& entry : *entries) homes.push_back(cat({kSystem, "/", entry.name}));
  }
  for (const std::string_view entry : environment) {
    if (entry.starts_with("JAVA_HOME=/")) homes.emplace_back(entry.substr(entry.find('/')));
    if (!entry.starts_with("PATH=")) continue;
    for (const std::string_view directory : split(entry.substr(entry.find('=') + 1), ':')) {
      const auto java = host::canonical_path(cat({directory, "/java"}));
      static constexpr std::string_view kProgram = "/bin/java";
      if (!directory.starts_with('/') || !java || !java->path.ends_with(kProgram)) continue;
      homes.push_back(java->path.substr(0, java->path.size() - kProgram.size()));
    }
  }
  return homes;
}

// Empty where this machine has none.
Result<std::string> host_bundle() {
  for (const std::string_view store : plan::kTrustStores) {
    const std::string path(store);
    if (!sys::exists(path)) continue;
    return TRY_CTX(sys::regular_file_text(path, limits::kTrustBytesMax), "the authorities of this machine");
  }
  return std::string();
}

}  // namespace

bool wants_trust(const plan::SandboxPlan& plan) {
  return std::ranges::any_of(plan.mounts, [](const auto& step) { return is_file(step, plan::kBundleFile); });
}

bool wants_java_store(const plan::SandboxPlan& plan) {
  return std::ranges::any_of(plan.mounts, [](const auto& step) { return is_file(step, plan::kJavaFile); });
}

Status fill_trust(plan::SandboxPlan& plan, const wire::InspectReady& trust) {
  std::string bundle = TRY(host_bundle());
  if (!bundle.empty() && !bundle.ends_with('\n')) bundle += '\n';
  bundle += trust.ca_certificate;
  for (plan::MountStep& step : plan.mounts) {
    if (is_file(step, plan::kAuthorityFile)) step.source = trust.ca_certificate;
    if (is_file(step, plan::kBundleFile)) step.source = bundle;
    if (is_file(step, plan::kJavaFile)) step.source = trust.java_store;
  }
  return {};
}

plan::TrustInput find_trust_stores(const std::vector<std::string>& environment) {
  plan::TrustInput trust{.opening = plan::TlsOpening::kSome, .stores = {}, .java_stores = {}};
  for (const std::string_view path : plan::kTrustStores) add_store(trust.stores, path);
  for (const std::string_view path : plan::kJavaStores) add_store(trust.java_stores, path);
  for (const std::string& home : java_homes(environment)) {
    // Until version 8 a JDK had a JRE within.
    for (const std::string_view below : {"/lib/security/cacerts", "/jre/lib/security/cacerts"}) {
      add_store(trust.java_stores, cat({home, below}));
    }
  }
  return trust;
}

}  // namespace hutch::service
