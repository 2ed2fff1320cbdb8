// What a model is told of its sandbox: from the policy, and from what the backend promises.
#include "api/instructions.h"

#include <string_view>

#include "backend/backend.h"
#include "backend/bwrap/bwrap_backend.h"
#include "backend/namespace/namespace_backend.h"
#include "backend/none/none_backend.h"
#include "base/text.h"

namespace hutch::api {

namespace {

constexpr std::size_t kNamedMax = 12;  // of a list; a model's context is dear

backend::Guarantees guarantees_of(policy::BackendKind backend) {
  if (backend == policy::BackendKind::kNone) return backend::NoneBackend().guarantees();
  if (backend == policy::BackendKind::kBwrap) return backend::BwrapBackend("").guarantees();
  return backend::NamespaceBackend().guarantees();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < kNamedMax; ++i) {
    text += cat({i == 0 ? "" : ", ", printable(words[i], 4096)});
  }
  if (words.size() > kNamedMax) text += cat({" and ", std::to_string(words.size() - kNamedMax), " more"});
  return text;
}

std::vector<std::string> texts(const std::vector<policy::PathEntry>& entries) {
  std::vector<std::string> found;
  for (const policy::PathEntry& entry : entries) {
    if (entry.text != ".") found.push_back(entry.text);
  }
  return found;
}

bool has_here(const std::vector<policy::PathEntry>& entries) { return texts(entries).size() != entries.size(); }

std::string files_text(const policy::Filesystem& files) {
  std::string text = has_here(files.allow_write) ? "The working directory is readable and writable.\n" : "";
  if (const auto more = texts(files.allow_write); !more.empty()) text += cat({"Writable: ", joined(more), ".\n"});
  text += "/tmp is private, writable, and empty at the start. Nothing else can be written.\n";
  if (const auto denied = texts(files.deny_write); !denied.empty()) {
    text += cat({"Never writable: ", joined(denied), ".\n"});
  }
  if (const auto hidden = texts(files.deny_read); !hidden.empty()) {
    text += cat({"Hidden: ", joined(hidden), ".\n"});
    if (const auto shown = texts(files.allow_read); !shown.empty()) {
      text += cat({"Readable all the same: ", joined(shown), ".\n"});
    }
  }
  return text;
}

std::string network_text(const policy::Network& network) {
  if (network.mode == policy::NetworkMode::kOutbound) {
    return "Network: everything but this machine and private addresses.\n";
  }
  const bool none = network.mode == policy::NetworkMode::kNone ||
                    (network.allowed_domains.empty() && network.rules.empty() && network.allowed_udp.empty());
  if (none) return "Network: none.\n";
  std::vector<std::string> hosts = network.allowed_domains;
  for (const policy::HttpRule& rule : network.rules) hosts.push_back(rule.host);
  hosts.insert(hosts.end(), network.allowed_udp.begin(), network.allowed_udp.end());
  return cat({"Network: ", joined(hosts), " alone.\n"});
}

std::string list_text(std::string_view title, const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : cat({title, "\n"});
  for (const std::string& line : lines) text += cat({"- ", line, "\n"});
  return text;
}

}  // namespace

std::string instructions_of(const Settled& settled, std::optional<std::chrono::milliseconds> timeout) {
  std::string text = cat({"Commands run in a sandbox of hutch (backend ", policy::name_of(settled.backend), ").\n",
                          "Working directory: ", printable(settled.working_directory, 4096), "\n"});
  if (settled.backend != policy::BackendKind::kNone)
    text += files_text(settled.policy.filesystem) + network_text(settled.policy.network);
  if (timeout) text += cat({"A command ends after ", std::to_string(timeout->count()), " ms.\n"});
  const backend::Guarantees guarantees = guarantees_of(settled.backend);
  text += list_text("Held:", guarantees.holds);
  text += list_text("Not held:", guarantees.open);
  return text;
}

}  // namespace hutch::api
