// Reads /etc/subuid and /etc/subgid.
#include "host/machine/subordinate_ids.h"

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "sys/files/files.h"

namespace hutch::host {

namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

// Above all that useradd(8), LDAP and systemd's containers give out, below what signed programs take for negative.
constexpr plan::IdRange kRangeOfRoot{0x7000'0000, plan::kImageIds};

Result<std::optional<plan::IdRange>> range_in(const std::string& path, const std::string& user, std::uint32_t id);

}  // namespace

Result<IdFacts> probe_ids(std::uint32_t uid, std::uint32_t gid, const std::string& user) {
  // Both files name the user (subgid(5)).
  auto users = TRY(range_in("/etc/subuid", user, uid));
  auto groups = TRY(range_in("/etc/subgid", user, uid));
  if (uid == 0) {
    return IdFacts{plan::make_id_map(uid, gid, users.value_or(kRangeOfRoot), groups.value_or(kRangeOfRoot)), {}, {}};
  }
  const bool programs = !find_system_program("newuidmap").empty() && !find_system_program("newgidmap").empty();
  IdFacts facts;
  if (!users || !groups) {
    facts.lack =
        cat({"no ", std::to_string(plan::kImageIds), " ids for ", user, " in ", users ? "/etc/subgid" : "/etc/subuid"});
    facts.remedy = cat({"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 ", user, ", as root"});
  } else if (!programs) {
    facts.lack = "newuidmap is not installed";
    facts.remedy = "apt-get install uidmap";
  }
  if (!facts.lack.empty()) users.reset();
  facts.map = plan::make_id_map(uid, gid, users, groups);
  return facts;
}

namespace {

Result<std::optional<plan::IdRange>> range_in(const std::string& path, const std::string& user, std::uint32_t id) {
  const auto text = sys::read_file(path, kFileBytesMax);
  if (text) return plan::find_id_range(*text, user, id);
  if (text.error().code == Code::kNotFound) return std::optional<plan::IdRange>();
  return fail(text.error());
}

}  // namespace

}  // namespace hutch::host
