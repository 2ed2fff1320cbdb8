// The names of the host's hosts(5) file, read again when it has changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "egress/loop.h"
#include "plan/name_files.h"
#include "policy/network_rules.h"

namespace hutch::egress {

class HostNames {
 public:
  explicit HostNames(std::string path = "/etc/hosts") : path_(std::move(path)) {}

  // The addresses that the file gives to a canonical name, valid until the next call; null where it has none. A file
  // that cannot be read, or is larger than plan::kHostsBytesMax, has no names.
  const std::vector<IpAddress>* find(std::string_view name);

  // Whose word the addresses of the last call are. A file that others than root may write is anybody's, as a DNS is.
  policy::AddressSource source() const { return source_; }

  // The same of a name that has addresses of the loopback alone; null for every other name.
  const std::vector<IpAddress>* find_local(std::string_view name);

 private:
  void refresh();

  // Which file was read, and as of when.
  struct Version {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;  // of the owner and the mode as well
    bool operator==(const Version&) const = default;
  };

  std::string path_;
  plan::HostTable table_;
  policy::AddressSource source_ = policy::AddressSource::kDns;
  Version version_;
  Moment next_look_{};
};

}  // namespace hutch::egress
