// The files by which a sandbox trusts the authority that opens its TLS.
#include "service/trust.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "plan/trust.h"
#include "sys/files.h"
#include "sys/tree.h"

namespace hutch::service {

namespace {

bool is_file(const plan::MountStep& step, std::string_view path) {
  return step.kind == plan::MountKind::kFile && step.target == path;
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

Status fill_trust(plan::SandboxPlan& plan, const std::string& authority) {
  std::string bundle = TRY(host_bundle());
  if (!bundle.empty() && !bundle.ends_with('\n')) bundle += '\n';
  bundle += authority;
  for (plan::MountStep& step : plan.mounts) {
    if (is_file(step, plan::kAuthorityFile)) step.source = authority;
    if (is_file(step, plan::kBundleFile)) step.source = bundle;
  }
  return {};
}

}  // namespace hutch::service
