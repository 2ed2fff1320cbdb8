// The key of what somebody wants of a pool.
#include "sandbox/pool/spec.h"

#include "base/text.h"

namespace hutch::sandbox {

namespace {

// With its length before it no text runs into the next one.
void add(std::string& key, std::string_view text) { key += cat({std::to_string(text.size()), ":", text}); }
void add(std::string& key, std::uint64_t number) { key += cat({std::to_string(number), ";"}); }

}  // namespace

std::string_view name_of(Trust trust) { return trust == Trust::kTrusted ? "trusted" : "sandboxed"; }

Result<Trust> trust_named(std::string_view name) {
  for (const Trust trust : {Trust::kSandboxed, Trust::kTrusted}) {
    if (name == name_of(trust)) return trust;
  }
  return fail(Error::invalid(cat({"trust: \"", printable(name, 64), "\" is not sandboxed or trusted"})));
}

std::string key_of(const PoolSpec& spec) {
  std::string key;
  for (const std::string_view text : {policy::name_of(spec.backend), name_of(spec.trust), std::string_view(spec.image),
                                      std::string_view(spec.policy)}) {
    add(key, text);
  }
  for (const std::uint64_t number : {spec.memory_bytes, spec.cpu_millis, spec.pids, spec.disk_bytes}) add(key, number);
  add(key, spec.mounts.size());
  for (const PoolMount& mount : spec.mounts) {
    add(key, mount.host);
    add(key, mount.sandbox);
    add(key, mount.use == MountUse::kReadOnly ? "r" : "w");
  }
  add(key, spec.environment.size());
  for (const auto& [name, value] : spec.environment) {
    add(key, name);
    add(key, value);
  }
  add(key, spec.hosts.size());
  for (const std::string& host : spec.hosts) add(key, host);
  add(key, spec.network == PoolNetwork::kHost ? "host" : "gateway");
  return key;
}

}  // namespace hutch::sandbox
