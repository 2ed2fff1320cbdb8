// The format, the order and the mask of access control lists.
#include "plan/setup/acl.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace hutch::plan {

namespace {

constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kEntryBytes = 8;
constexpr std::uint32_t kNoId = 0xffffffff;  // ACL_UNDEFINED_ID
constexpr unsigned kAllRights = kAclRead | kAclWrite | kAclExecute;

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

void append_little_endian(std::string& text, std::uint32_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xffU);
}

bool is_named(const AclEntry& entry) { return entry.tag == AclTag::kUser || entry.tag == AclTag::kGroup; }

// Those that the mask limits.
bool is_masked(const AclEntry& entry) { return is_named(entry) || entry.tag == AclTag::kOwningGroup; }

bool is_known(AclTag tag) {
  switch (tag) {
    case AclTag::kOwner:
    case AclTag::kUser:
    case AclTag::kOwningGroup:
    case AclTag::kGroup:
    case AclTag::kMask:
    case AclTag::kOther: return true;
  }
  return false;
}

const AclEntry* find(const Acl& acl, AclTag tag) {
  const auto found = std::ranges::find(acl, tag, &AclEntry::tag);
  return found == acl.end() ? nullptr : &*found;
}

auto place_of(const AclEntry& entry) { return std::tuple(entry.tag, entry.id); }

// What each entry lets do, in each entry itself; no mask.
void apply_mask(Acl& acl) {
  const AclEntry* mask = find(acl, AclTag::kMask);
  if (mask == nullptr) return;
  const unsigned most = mask->rights;
  for (AclEntry& entry : acl) {
    if (is_masked(entry)) entry.rights &= most;
  }
  std::erase_if(acl, [](const AclEntry& entry) { return entry.tag == AclTag::kMask; });
}

// The least mask that holds no entry back. Only a list with a named entry has to have one.
void add_mask(Acl& acl) {
  if (std::ranges::none_of(acl, is_named)) return;
  AclEntry mask{AclTag::kMask, 0, 0};
  for (const AclEntry& entry : acl) {
    if (is_masked(entry)) mask.rights |= entry.rights;
  }
  acl.push_back(mask);
  std::ranges::sort(acl, {}, place_of);
}

bool is_one_of(const AclEntry& entry, std::span<const std::uint32_t> uids) {
  return entry.tag == AclTag::kUser && std::ranges::find(uids, entry.id) != uids.end();
}

const AclEntry* entry_of(const Acl& acl, std::uint32_t uid) {
  const auto found = std::ranges::find_if(acl, [&](const AclEntry& entry) { return is_one_of(entry, {&uid, 1}); });
  return found == acl.end() ? nullptr : &*found;
}

Status check(const Acl& acl) {
  static constexpr auto kWrong = "an access control list that is none";
  for (const AclTag tag : {AclTag::kOwner, AclTag::kOwningGroup, AclTag::kOther}) {
    if (std::ranges::count(acl, tag, &AclEntry::tag) != 1) return fail(Error::invalid(kWrong));
  }
  const auto masks = std::ranges::count(acl, AclTag::kMask, &AclEntry::tag);
  if (masks > 1 || (masks == 0 && std::ranges::any_of(acl, is_named))) return fail(Error::invalid(kWrong));
  const auto not_after = [](const AclEntry& a, const AclEntry& b) { return place_of(a) >= place_of(b); };
  if (std::ranges::adjacent_find(acl, not_after) != acl.end()) return fail(Error::invalid(kWrong));
  return {};
}

}  // namespace

Result<Acl> parse_acl(std::string_view attribute) {
  const bool is_whole = attribute.size() >= kHeaderBytes && (attribute.size() - kHeaderBytes) % kEntryBytes == 0;
  if (!is_whole || little_endian(attribute.substr(0, kHeaderBytes)) != kVersion) {
    return fail(Error::invalid("an access control list of an unknown form"));
  }
  attribute.remove_prefix(kHeaderBytes);
  if (attribute.size() / kEntryBytes > kAclEntriesMax) return fail(Error::invalid("an access control list too long"));
  Acl acl;
  for (; !attribute.empty(); attribute.remove_prefix(kEntryBytes)) {
    AclEntry entry{.tag = static_cast<AclTag>(little_endian(attribute.substr(0, 2))),
                   .rights = little_endian(attribute.substr(2, 2)),
                   .id = little_endian(attribute.substr(4, 4))};
    if (!is_known(entry.tag) || entry.rights > kAllRights) {
      return fail(Error::invalid("an access control list with an unknown entry"));
    }
    if (!is_named(entry)) entry.id = 0;
    acl.push_back(entry);
  }
  TRY(check(acl));
  return acl;
}

std::string encode_acl(const Acl& acl) {
  std::string attribute;
  attribute.reserve(kHeaderBytes + acl.size() * kEntryBytes);
  append_little_endian(attribute, kVersion, kHeaderBytes);
  for (const AclEntry& entry : acl) {
    append_little_endian(attribute, static_cast<std::uint16_t>(entry.tag), 2);
    append_little_endian(attribute, entry.rights, 2);
    append_little_endian(attribute, is_named(entry) ? entry.id : kNoId, 4);
  }
  return attribute;
}

Acl acl_of_mode(unsigned mode) {
  return {{AclTag::kOwner, mode >> 6U & kAllRights, 0},
          {AclTag::kOwningGroup, mode >> 3U & kAllRights, 0},
          {AclTag::kOther, mode & kAllRights, 0}};
}

bool is_minimal(const Acl& acl) { return acl.size() == 3; }

unsigned rights_of(const Acl& acl, const AclFile& file, std::uint32_t uid, std::span<const std::uint32_t> groups) {
  if (uid == file.owner) return find(acl, AclTag::kOwner)->rights;
  const AclEntry* mask = find(acl, AclTag::kMask);
  const unsigned most = mask == nullptr ? kAllRights : mask->rights;
  unsigned of_groups = 0;
  bool in_a_group = false;
  for (const AclEntry& entry : acl) {
    if (entry.tag == AclTag::kUser && entry.id == uid) return entry.rights & most;
    const bool about_group = entry.tag == AclTag::kGroup || entry.tag == AclTag::kOwningGroup;
    const std::uint32_t group = entry.tag == AclTag::kGroup ? entry.id : file.group;
    if (!about_group || std::ranges::find(groups, group) == groups.end()) continue;
    in_a_group = true;
    of_groups |= entry.rights & most;
  }
  return in_a_group ? of_groups : find(acl, AclTag::kOther)->rights;
}

Acl with_user(Acl acl, std::uint32_t uid, unsigned rights) {
  apply_mask(acl);
  std::erase_if(acl, [uid](const AclEntry& entry) { return entry.tag == AclTag::kUser && entry.id == uid; });
  acl.push_back({AclTag::kUser, rights, uid});
  add_mask(acl);
  return acl;
}

Acl without_users(Acl acl, std::span<const std::uint32_t> uids) {
  if (std::ranges::none_of(acl, [&](const AclEntry& entry) { return is_one_of(entry, uids); })) return acl;
  apply_mask(acl);
  std::erase_if(acl, [&](const AclEntry& entry) { return is_one_of(entry, uids); });
  add_mask(acl);
  return acl;
}

Acl without_group(Acl acl, std::uint32_t gid) {
  const auto is_its = [gid](const AclEntry& entry) { return entry.tag == AclTag::kGroup && entry.id == gid; };
  if (std::ranges::none_of(acl, is_its)) return acl;
  apply_mask(acl);
  std::erase_if(acl, is_its);
  add_mask(acl);
  return acl;
}

Acl default_of(const Acl& access) {
  Acl acl = access;
  apply_mask(acl);
  std::erase_if(acl, is_named);
  return acl;
}

Acl restored(const Acl& now, const Acl& before, std::span<const std::uint32_t> uids,
             std::span<const std::uint32_t> others) {
  // Lists that differ in nothing but those users and what their coming did to the mask are the same after this.
  const auto rest = [&](Acl acl) {
    apply_mask(acl);
    std::erase_if(acl, [&](const AclEntry& entry) { return is_one_of(entry, uids) || is_one_of(entry, others); });
    return acl;
  };
  if (now == before) return before;
  if (rest(now) != rest(before)) return without_users(now, uids);
  Acl masked = now;
  apply_mask(masked);
  // Whose entry somebody else has taken away meanwhile does not get it back.
  std::vector<std::uint32_t> gone;
  for (const auto& users : {uids, others}) {
    for (const std::uint32_t uid : users) {
      if (entry_of(masked, uid) == nullptr) gone.push_back(uid);
    }
  }
  Acl acl = without_users(before, gone);
  for (const std::uint32_t uid : others) {
    const AclEntry* entry = entry_of(masked, uid);
    const AclEntry* had = entry_of(acl, uid);
    const bool stays = entry != nullptr && (had == nullptr || *had != *entry);
    if (stays) acl = with_user(std::move(acl), uid, entry->rights);
  }
  return acl;
}

}  // namespace hutch::plan
