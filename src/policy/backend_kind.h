// The backends: which there are, and what tells one from another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::policy {

enum class BackendKind : std::uint8_t { kNamespace, kBwrap, kUser, kContainer, kVm, kNone };

// Help, completion, docs, doctor, both JSON schemas and E2B's templates list what this table lists. Code that cannot be
// said by a trait switches over the kind, so that the compiler names each place that a new backend has to fill.
struct BackendTraits {
  BackendKind kind;
  std::string_view name;
  std::string_view summary;  // for doctor, behind "available"
  bool isolates;  // false: the command may do all that its caller may
  bool guest_mounts;  // hutch-guest mounts the host's files, so it supervises names and has a user namespace
  bool file_rules;  // rules about files hold, by mounts or by what exists at the start
  bool host_paths;  // an agent's directories have the paths that they have on the host
  bool own_kernel;  // the command runs on another kernel than the host's
  bool bridge_port;  // the host's bridge is a port of the gateway; else a socket among the files
  bool holds_disk;  // limits.disk holds
  bool pooled;  // hutch pool has sandboxes of it
  bool e2b_template;  // Sandbox.create(name) takes it
};

inline constexpr std::array kBackends = {
    BackendTraits{.kind = BackendKind::kNamespace,
                  .name = "namespace",
                  .summary = " (the default)",
                  .isolates = true,
                  .guest_mounts = true,
                  .file_rules = true,
                  .host_paths = false,
                  .own_kernel = false,
                  .bridge_port = false,
                  .holds_disk = false,
                  .pooled = true,
                  .e2b_template = true},
    BackendTraits{.kind = BackendKind::kBwrap,
                  .name = "bwrap",
                  .summary = "",
                  .isolates = true,
                  .guest_mounts = true,
                  .file_rules = true,
                  .host_paths = false,
                  .own_kernel = false,
                  .bridge_port = false,
                  .holds_disk = false,
                  .pooled = true,
                  .e2b_template = true},
    BackendTraits{.kind = BackendKind::kUser,
                  .name = "user",
                  .summary = "",
                  .isolates = true,
                  .guest_mounts = false,
                  .file_rules = false,
                  .host_paths = true,
                  .own_kernel = false,
                  .bridge_port = true,
                  .holds_disk = false,
                  .pooled = false,
                  .e2b_template = false},
    BackendTraits{.kind = BackendKind::kContainer,
                  .name = "container",
                  .summary = "",
                  .isolates = true,
                  .guest_mounts = false,
                  .file_rules = true,
                  .host_paths = false,
                  .own_kernel = false,
                  .bridge_port = true,
                  .holds_disk = true,
                  .pooled = true,
                  .e2b_template = true},
    BackendTraits{.kind = BackendKind::kVm,
                  .name = "vm",
                  .summary = "",
                  .isolates = true,
                  .guest_mounts = false,
                  .file_rules = false,
                  .host_paths = false,
                  .own_kernel = true,
                  .bridge_port = true,
                  .holds_disk = false,
                  .pooled = false,
                  .e2b_template = true},
    BackendTraits{.kind = BackendKind::kNone,
                  .name = "none",
                  .summary = "; it isolates nothing",
                  .isolates = false,
                  .guest_mounts = false,
                  .file_rules = false,
                  .host_paths = true,
                  .own_kernel = false,
                  .bridge_port = false,
                  .holds_disk = false,
                  .pooled = false,
                  .e2b_template = false},
};

inline constexpr BackendKind kBackendDefault = BackendKind::kNamespace;

inline constexpr auto kBackendNames = [] {
  std::array<std::string_view, kBackends.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kBackends[i].name;
  return names;
}();

const BackendTraits& traits_of(BackendKind kind);
inline std::string_view name_of(BackendKind kind) { return traits_of(kind).name; }

// nullopt: no backend has that name. Names are exact: "Namespace" is none.
std::optional<BackendKind> backend_named(std::string_view name);

// In the table's order: the backends that have the trait.
std::vector<std::string_view> backend_names(bool BackendTraits::* trait,
                                            std::span<const BackendTraits> table = kBackends);
// "namespace, bwrap or none"; without a trait all backends.
std::string backend_list(std::string_view conjunction, bool BackendTraits::* trait = nullptr,
                         std::span<const BackendTraits> table = kBackends);

}  // namespace hutch::policy
