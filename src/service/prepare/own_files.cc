// Files of the sandbox's own over the host's.
#include "service/prepare/own_files.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "host/paths/checked_files.h"
#include "host/paths/name_files.h"
#include "host/paths/paths.h"
#include "plan/paths/checked_files.h"
#include "sys/files/tree.h"

namespace hutch::service {

namespace {

Result<std::optional<plan::CoveredFile>> account_of(const Residence* residence, std::uint32_t uid);

}  // namespace

Result<OwnFiles> own_files(SystemFiles system, plan::NetworkKind network, const Residence* residence,
                           const plan::HostFacts& facts) {
  OwnFiles own;
  if (auto account = TRY(account_of(residence, facts.uid))) own.covered.push_back(std::move(*account));
  host::NameFiles names = host::look_at_name_files();
  own.search = names.search;
  if (system == SystemFiles::kOther) return own;
  own.notes = std::move(names.notes);
  if (!names.hosts.empty()) {
    own.covered.push_back({std::move(names.hosts), "hosts", plan::hosts_file(plan::SandboxPlan().hostname)});
  }
  if (!names.resolver.empty()) {
    own.covered.push_back({std::move(names.resolver), "resolv.conf", plan::resolver_file(names.search, network)});
  }
  host::CheckedFiles checked = host::look_at_checked_files(facts.uid);
  std::ranges::move(checked.notes, std::back_inserter(own.notes));
  for (host::CheckedFile& file : checked.files) {
    std::string name = cat({plan::kCopyPrefix, std::to_string(own.covered.size())});
    own.covered.push_back({std::move(file.path), std::move(name), std::move(file.text)});
  }
  return own;
}

namespace {

// The line of the user's own account becomes the agent's.
Result<std::optional<plan::CoveredFile>> account_of(const Residence* residence, std::uint32_t uid) {
  static constexpr std::string_view kUsers = "/etc/passwd";
  const auto canonical = host::canonical_path(kUsers);
  if (residence == nullptr || !canonical || canonical->type != plan::FileType::kFile) return std::nullopt;
  const std::string users = TRY(sys::regular_file_text(canonical->path, limits::kJsonBytesMax / 2));
  const std::string number = std::to_string(uid);
  // This line comes first: if several names have one number, the first counts (getpwuid(3)).
  std::string text = cat({residence->user, ":x:", number, ":", number, "::", residence->home, ":/bin/sh\n"});
  for (const std::string_view line : split(users, '\n')) {
    const std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() < 7) continue;
    if (fields[2] == number) {
      text.replace(0, text.find('\n'),
                   cat({residence->user, ":x:", number, ":", fields[3], "::", residence->home, ":", fields[6]}));
    } else {
      text += cat({line, "\n"});
    }
  }
  return plan::CoveredFile{canonical->path, "passwd", std::move(text)};
}

}  // namespace

}  // namespace hutch::service
