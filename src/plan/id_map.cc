// Maps of ids, and the file that says who may use which.
#include "plan/id_map.h"

#include "base/decimal.h"
#include "base/text.h"

namespace hutch::plan {

namespace {

std::vector<IdExtent> extents_of(std::uint32_t kept, std::uint32_t outside, const IdRange& range);
bool overlaps(const IdRange& range, std::uint32_t id);

}  // namespace

IdMap make_id_map(std::uint32_t user, std::uint32_t group, std::optional<IdRange> users,
                  std::optional<IdRange> groups) {
  IdMap map;
  map.user = user == 0 ? kRootInside : user;
  map.group = group == 0 ? kRootInside : group;
  const bool enough = users && groups && users->count >= kImageIds && groups->count >= kImageIds;
  if (!enough || overlaps(*users, user) || overlaps(*groups, group)) {
    map.kind = IdMap::Kind::kOne;
    map.users = {{map.user, user, 1}};
    map.groups = {{map.group, group, 1}};
    return map;
  }
  map.kind = IdMap::Kind::kMany;
  map.users = extents_of(map.user, user, *users);
  map.groups = extents_of(map.group, group, *groups);
  return map;
}

IdMap map_for_files(const IdMap& map) {
  IdMap files = map;
  files.user = 0;
  files.group = 0;
  if (map.kind != IdMap::Kind::kOne) return files;
  for (IdExtent& extent : files.users) extent.inside = 0;
  for (IdExtent& extent : files.groups) extent.inside = 0;
  return files;
}

std::string map_text(const std::vector<IdExtent>& extents) {
  std::string text;
  for (const IdExtent& extent : extents) {
    text += cat(
        {std::to_string(extent.inside), " ", std::to_string(extent.outside), " ", std::to_string(extent.count), "\n"});
  }
  return text;
}

std::optional<IdRange> find_id_range(std::string_view text, std::string_view name, std::uint32_t id) {
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> fields = split(line, ':');
    if (fields.size() != 3 || (fields[0] != name && fields[0] != std::to_string(id))) continue;
    const auto first = decimal_of(fields[1]);
    const auto count = decimal_of(fields[2]);
    if (!first || !count || *first == 0 || *count < kImageIds || *first > UINT32_MAX - *count) continue;
    return IdRange{*first, *count};
  }
  return std::nullopt;
}

namespace {

// Without holes: what is before the kept id, the kept id, what is behind it.
std::vector<IdExtent> extents_of(std::uint32_t kept, std::uint32_t outside, const IdRange& range) {
  if (kept >= kImageIds) return {{0, range.first, kImageIds}, {kept, outside, 1}};
  std::vector<IdExtent> extents;
  if (kept > 0) extents.push_back({0, range.first, kept});
  extents.push_back({kept, outside, 1});
  if (kept + 1 < kImageIds) extents.push_back({kept + 1, range.first + kept + 1, kImageIds - kept - 1});
  return extents;
}

bool overlaps(const IdRange& range, std::uint32_t id) { return id >= range.first && id - range.first < kImageIds; }

}  // namespace

}  // namespace hutch::plan
