// Looks into the table of backends.
#include "policy/backend_kind.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace hutch::policy {

namespace {

// The table is in the order of the enumerators, so that a kind is its own index.
consteval bool is_in_order() {
  for (std::size_t i = 0; i < kBackends.size(); ++i) {
    if (static_cast<std::size_t>(kBackends[i].kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

const BackendTraits& traits_of(BackendKind kind) { return kBackends[static_cast<std::size_t>(kind)]; }

std::optional<BackendKind> backend_named(std::string_view name) {
  const auto found = std::ranges::find(kBackends, name, &BackendTraits::name);
  return found == kBackends.end() ? std::nullopt : std::optional(found->kind);
}

std::vector<std::string_view> backend_names(bool BackendTraits::* trait, std::span<const BackendTraits> table) {
  std::vector<std::string_view> names;
  for (const BackendTraits& one : table) {
    if (trait == nullptr || one.*trait) names.push_back(one.name);
  }
  return names;
}

std::string backend_list(std::string_view conjunction, bool BackendTraits::* trait,
                         std::span<const BackendTraits> table) {
  std::string list;
  const std::vector<std::string_view> names = backend_names(trait, table);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? cat({" ", conjunction, " "}) : std::string(", ");
    list += names[i];
  }
  return list;
}

}  // namespace hutch::policy
