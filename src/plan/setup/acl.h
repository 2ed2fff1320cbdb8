// POSIX access control lists as data: what sharing with a user adds to one, and what is left when it is taken back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::plan {

// The numbers are the kernel's (include/uapi/linux/posix_acl.h).
enum class AclTag : std::uint16_t {
  kOwner = 0x01,
  kUser = 0x02,  // a named user
  kOwningGroup = 0x04,
  kGroup = 0x08,  // a named group
  kMask = 0x10,   // the most that named users, the owning group and named groups may
  kOther = 0x20,
};

inline constexpr unsigned kAclRead = 4;
inline constexpr unsigned kAclWrite = 2;
inline constexpr unsigned kAclExecute = 1;

struct AclEntry {
  AclTag tag = AclTag::kOther;
  unsigned rights = 0;
  std::uint32_t id = 0;  // of a named user or group; 0 for the others
  bool operator==(const AclEntry&) const = default;
};

// In the kernel's order: by tag, then by id. Empty: there is none.
using Acl = std::vector<AclEntry>;

// More entries than any file system of Linux keeps in one attribute.
inline constexpr std::size_t kAclEntriesMax = 8192;

// What the attributes system.posix_acl_access and system.posix_acl_default hold (posix_acl_xattr.h, version 2): little
// endian. Code::kInvalidArgument for what is no valid list (acl(5), "VALID ACLs").
Result<Acl> parse_acl(std::string_view attribute);
std::string encode_acl(const Acl& acl);

// The three entries that a file's mode says (acl(5)).
Acl acl_of_mode(unsigned mode);
// Whether it says no more than a mode can: three entries.
bool is_minimal(const Acl& acl);

// What `uid` may do with the file by its list: the first entry that is about it decides (acl(5), "ACCESS CHECK
// ALGORITHM"). `acl` is not empty.
struct AclFile {
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
};
unsigned rights_of(const Acl& acl, const AclFile& file, std::uint32_t uid, std::span<const std::uint32_t> groups);

// The list with an entry that lets `uid` do exactly that. Nobody else may do more than before: where the mask has to be
// raised, what it had held back is taken out of the other entries.
Acl with_user(Acl acl, std::uint32_t uid, unsigned rights);
// The list without entries of these users; without a mask where no named entry is left. As it is where it has none of
// them.
Acl without_users(Acl acl, std::span<const std::uint32_t> uids);

// The same of the entry of one group.
Acl without_group(Acl acl, std::uint32_t gid);

// What a directory gives to what is made in it, where it has no default list of its own: as its own mode.
Acl default_of(const Acl& access);

// A list that was `before` when a share began and is `now`: what it becomes when the entries of `uids` go. Exactly
// `before` where nobody else has changed it meanwhile, but for the entries of `others`, which sharing made too and
// which stay as they are now.
Acl restored(const Acl& now, const Acl& before, std::span<const std::uint32_t> uids,
             std::span<const std::uint32_t> others = {});

}  // namespace hutch::plan
