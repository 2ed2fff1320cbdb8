// Fuzzes the policy reader, and what is made of a policy without looking at the host: rules, patterns, decisions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/limits.h"
#include "policy/decide.h"
#include "policy/document/reader.h"
#include "policy/glob.h"
#include "policy/network/rules.h"
#include "policy/rules.h"

namespace {

using namespace hutch;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_rules(const policy::Policy& policy) {
  const policy::Bases bases{.home = "/home/u", .project = "/home/u/p", .cwd = "/"};
  const auto rules = policy::rules_of(policy, bases);
  if (!rules) {
    require(!rules.error().message.empty());
    return;
  }
  for (const policy::Rule& rule : *rules) {
    require(rule.path.starts_with('/'));
    require(rule.path == "/" || !rule.path.ends_with('/'));
    require(rule.path.find('\0') == std::string::npos);
    require(rule.match == policy::Match::kGlob || policy::describe(rule).starts_with("filesystem."));
    (void)policy::matches_path(rule.path, "/home/u/p/a/b/c.pem");
  }
  for (const char* path : {"/", "/home/u/p/a", "/etc/passwd", "/dev/null", "/proc/self/mem"}) {
    const bool readable = policy::decide(*rules, policy::Access::kRead, path).allowed;
    const bool writable = policy::decide(*rules, policy::Access::kWrite, path).allowed;
    require(readable || !writable);
  }
}

void check_network(const policy::Network& network) {
  for (const char* name : {"example.com", "a.b.example.com", "localhost", "10.1.2.3", "::1", "169.254.169.254"}) {
    const policy::Host host = *policy::canonical_host(name);
    const policy::HostDecision decision = policy::decide_host(network, host, 443);
    require(!decision.rule.empty() && !decision.why.empty());
    // What a port may reach, its name may be asked for.
    const bool allowed = decision.verdict == policy::HostVerdict::kAllow;
    require(!allowed || policy::decide_name(network, host).verdict == policy::HostVerdict::kAllow);
    if (host.address) require(!policy::decide_address(network, host, *host.address, 443, {}).why.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = policy::read_policy(text, "fuzz");
  if (policy) {
    require(policy->mandatory_search_depth >= 1 && policy->mandatory_search_depth <= 10);
    for (const std::string& domain : policy->network.allowed_domains) require(domain != "*");
    check_network(policy->network);
    check_rules(*policy);
  } else {
    require(policy.error().message.starts_with("fuzz: "));
    require(policy.error().message.find('\n') == std::string::npos);
  }
  (void)policy::read_project(text, "fuzz", "/home/u/p");
  return 0;
}
