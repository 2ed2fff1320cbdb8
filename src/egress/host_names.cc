// The names of the host's hosts(5) file.
#include "egress/host_names.h"

#include <algorithm>

#include "base/text.h"
#include "plan/paths/checked_files.h"
#include "policy/network/address_kinds.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"

namespace hutch::egress {

namespace {

constexpr std::chrono::seconds kHostsLookPause{1};

}  // namespace

const std::vector<IpAddress>* HostNames::find(std::string_view name) {
  refresh();
  const auto found = table_.find(std::string(name));
  return found == table_.end() ? nullptr : &found->second;
}

const std::vector<IpAddress>* HostNames::find_local(std::string_view name) {
  const std::vector<IpAddress>* found = find(name);
  return found != nullptr && std::ranges::all_of(*found, policy::is_loopback) ? found : nullptr;
}

void HostNames::refresh() {
  if (SteadyClock::now() < next_look_) return;
  next_look_ = SteadyClock::now() + kHostsLookPause;
  const auto file = sys::open(path_, sys::Open::kPath);
  const auto status = file ? sys::file_status(file->get(), "") : Result<sys::FileStatus>(fail(file.error()));
  Version version;
  if (status) version = {status->device, status->inode, status->size, status->changed_ns};
  if (version == version_) return;
  version_ = version;
  table_.clear();
  source_ = policy::AddressSource::kDns;
  // The kind is checked first, because opening a device may have an effect.
  if (!status || status->kind != sys::EntryKind::kFile) return;
  const auto text = sys::regular_file_text(cat({"/proc/self/fd/", std::to_string(file->get())}), plan::kHostsBytesMax);
  if (!text) return;
  table_ = plan::read_hosts(*text);
  if (plan::is_roots_alone(status->owner, status->mode)) source_ = policy::AddressSource::kHostsFile;
}

}  // namespace hutch::egress
