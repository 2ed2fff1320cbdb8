// The names of the host's hosts(5) file, which is read again after a change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.h"
#include "egress/loop.h"
#include "plan/paths/name_files.h"
#include "policy/network/rules.h"

namespace hutch::egress {

class HostNames {
 public:
  explicit HostNames(std::string path = "/etc/hosts") : path_(std::move(path)) {}

  // The addresses that the file gives to a canonical name, valid until the next call; null if it gives none. A file
  // that cannot be read, or is larger than plan::kHostsBytesMax, has no names.
  const std::vector<IpAddress>* find(std::string_view name);

  // The source of the addresses of the last call. A file that anybody but root may write counts like a DNS.
  policy::AddressSource source() const { return source_; }

  // Likewise, for a name that has only loopback addresses; null for every other name.
  const std::vector<IpAddress>* find_local(std::string_view name);

 private:
  void refresh();

  // Identifies the file and its state when it was read.
  struct Version {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;  // changes of the owner and the mode count too
    bool operator==(const Version&) const = default;
  };

  std::string path_;
  plan::HostTable table_;
  policy::AddressSource source_ = policy::AddressSource::kDns;
  Version version_;
  Moment next_look_{};
};

}  // namespace hutch::egress
