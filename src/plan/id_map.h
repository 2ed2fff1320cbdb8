// Which ids of the host a sandbox with an image has, and by which numbers it knows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::plan {

// `count` ids from `inside` on are the host's from `outside` on (user_namespaces(7), uid_map).
struct IdExtent {
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
  std::uint32_t count = 0;
  bool operator==(const IdExtent&) const = default;
};

// Ids that somebody may use besides their own (subuid(5)).
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct IdMap {
  enum class Kind {
    kOwn,   // there is no map: the caller's id alone, by its own number
    kOne,   // likewise, for an image; whoever owns a file of the image, it is the caller's
    kMany,  // 0 to 65535 of subordinate ids, but for the caller's own
  };
  Kind kind = Kind::kOwn;
  std::vector<IdExtent> users;
  std::vector<IdExtent> groups;
  std::uint32_t user = 0;  // what the caller is inside
  std::uint32_t group = 0;
  bool operator==(const IdMap&) const = default;
};

// How many ids an image's files may belong to.
inline constexpr std::uint32_t kImageIds = 65'536;

// The host's root is nobody special inside: root of the sandbox has a subordinate id.
inline constexpr std::uint32_t kRootInside = 1000;

// kMany where both ranges are there and large enough, else kOne; root of the host has to have both.
IdMap make_id_map(std::uint32_t user, std::uint32_t group, std::optional<IdRange> users, std::optional<IdRange> groups);

// The same ids with root of the sandbox as the caller: what unpacks and removes files.
IdMap map_for_files(const IdMap& map);

// As the kernel takes it: a line for each extent.
std::string map_text(const std::vector<IdExtent>& extents);

// The first range of `name`, or of the number `id`, that holds kImageIds, in text of subuid(5).
std::optional<IdRange> find_id_range(std::string_view text, std::string_view name, std::uint32_t id);

}  // namespace hutch::plan
