// Fuzzes what is read of an image's configuration of package managers: every entry is one that a policy may have, names
// no address, and there are not too many.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/network/domains.h"
#include "service/common/package_hosts.h"

namespace {

using namespace hutch;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto hosts = service::package_hosts_in({reinterpret_cast<const char*>(data), size});
  require(hosts.size() <= 64);
  for (const std::string& entry : hosts) {
    const auto pattern = policy::parse_domain(entry, policy::DomainList::kAllowed);
    require(pattern && pattern->kind == policy::HostPattern::Kind::kName && pattern->port);
    require(pattern->name != "localhost" && pattern->name.contains('.'));
  }
  return 0;
}
