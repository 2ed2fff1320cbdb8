// Finds names of the list in paths by the first component of each name, so that no call searches the whole list.
#include <algorithm>
#include <cstddef>

#include "policy/obeyed/obeyed.h"

namespace hutch::policy {

namespace {

constexpr std::string_view kPackages = "node_modules";

std::string_view first_component(std::string_view name) { return name.substr(0, name.find('/')); }

const ObeyedFile& file_at(std::uint16_t at) { return obeyed_files()[at]; }

std::span<const std::uint16_t> beginning_with(std::string_view component) {
  if (!may_begin_obeyed(component)) return {};
  const auto found = std::ranges::equal_range(obeyed_order(), component, {},
                                              [](std::uint16_t at) { return first_component(file_at(at).name); });
  return {found.begin(), found.end()};
}

// Calls `visit` with the start of each component except for the root.
template <class Visit>
void each_component(std::string_view path, Visit visit) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (slash + 1 < path.size()) visit(slash + 1);
  }
}

bool is_out_of_scope(const ObeyedFile& file, std::string_view above) {
  return file.scope == ObeyedScope::kOutsidePackages && is_in_packages(above);
}

}  // namespace

const ObeyedFile* find_obeyed(std::string_view name) {
  const auto found = std::ranges::find(obeyed_files(), name, &ObeyedFile::name);
  return found == obeyed_files().end() ? nullptr : &*found;
}

std::vector<const ObeyedFile*> obeyed_from(std::string_view component) {
  std::vector<const ObeyedFile*> found;
  for (const std::uint16_t at : beginning_with(component)) found.push_back(&file_at(at));
  for (const std::uint16_t at : obeyed_order()) {
    const ObeyedFile& file = file_at(at);
    if (!file.name.starts_with('*')) break;
    if (component.ends_with(file.name.substr(1))) found.push_back(&file);
  }
  return found;
}

std::vector<ObeyedAt> obeyed_at(std::string_view path) {
  std::vector<ObeyedAt> found;
  each_component(path, [&](std::size_t start) {
    const std::string_view rest = path.substr(start);
    const std::string_view component = first_component(rest);
    for (const std::uint16_t at : beginning_with(component)) {
      const ObeyedFile& file = file_at(at);
      const bool has_it =
          rest.starts_with(file.name) && (rest.size() == file.name.size() || rest[file.name.size()] == '/');
      if (!has_it || is_out_of_scope(file, path.substr(0, start))) continue;
      found.push_back({&file, path.substr(0, start + file.name.size())});
    }
    for (const std::uint16_t at : obeyed_order()) {
      const ObeyedFile& file = file_at(at);
      if (!file.name.starts_with('*')) break;
      if (!component.ends_with(file.name.substr(1)) || is_out_of_scope(file, path.substr(0, start))) continue;
      found.push_back({&file, path.substr(0, start + component.size())});
    }
  });
  return found;
}

std::vector<ObeyedBelow> obeyed_below(std::string_view path) {
  std::vector<ObeyedBelow> found;
  each_component(path, [&](std::size_t start) {
    const std::string_view rest = path.substr(start);
    for (const std::uint16_t at : beginning_with(first_component(rest))) {
      const ObeyedFile& file = file_at(at);
      const bool leads = file.name.size() > rest.size() && file.name.starts_with(rest) && file.name[rest.size()] == '/';
      if (leads && !is_out_of_scope(file, path.substr(0, start))) found.push_back({&file, rest});
    }
  });
  return found;
}

bool is_in_packages(std::string_view path) {
  for (std::size_t at = path.find(kPackages); at != std::string_view::npos; at = path.find(kPackages, at + 1)) {
    const std::size_t end = at + kPackages.size();
    if (at > 0 && path[at - 1] == '/' && (end == path.size() || path[end] == '/')) return true;
  }
  return false;
}

}  // namespace hutch::policy
