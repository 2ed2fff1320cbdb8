// Reads where this process is among the cgroups and picks a place for those of sandboxes.
#include "host/machine/cgroups.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/process/host_info.h"

namespace hutch::host {

namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::array kWanted = {kMemory, kPids, kCpu};
constexpr std::size_t kProcCgroupBytesMax = 4 << 20;

std::vector<std::string_view> lines_of(std::string_view text);
Names names_of(std::string_view text, char separator);
std::string unescape(std::string_view field);
std::optional<std::string> directory_of(const CgroupMount& mount, std::string_view path);
std::vector<std::string> ancestors(const std::string& directory, const std::string& top);
std::optional<CgroupPlace> choose_v2(const CgroupMount& mount, const std::string& own, const CgroupLook& look);
CgroupPlace choose_v1(const std::vector<CgroupMembership>& memberships, const std::vector<CgroupMount>& mounts,
                      const CgroupLook& look);
std::optional<CgroupPlace> choose_scope(const CgroupSources& sources, const CgroupMount& mount, const CgroupLook& look);
std::string none_note(const CgroupSources& sources, const std::vector<CgroupMount>& mounts);
std::string list_of(const std::map<std::string, std::string>& directories);
CgroupDirectory look_at(const std::string& path);

}  // namespace

std::vector<CgroupMembership> parse_memberships(std::string_view text) {
  std::vector<CgroupMembership> memberships;
  for (const std::string_view line : lines_of(text)) {
    // "4:memory:/path": a path may hold colons.
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos || !line.substr(second + 1).starts_with('/')) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    memberships.push_back({
        .controllers = names_of(controllers, ','),
        .is_v2 = line.substr(0, first) == "0" && controllers.empty(),
        .path = std::string(line.substr(second + 1)),
    });
  }
  return memberships;
}

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : lines_of(mountinfo)) {
    // proc_pid_mountinfo(5): id parent major:minor root point options [optional...] - type source super-options
    const auto separator = line.find(" - cgroup");
    if (separator == line.npos) continue;
    const auto before = split(line.substr(0, separator), ' ');
    const auto after = split(line.substr(separator + 3), ' ');
    if (before.size() < 6 || after.size() < 3) continue;
    const bool is_v2 = after[0] == "cgroup2";
    if (!is_v2 && after[0] != "cgroup") continue;
    mounts.push_back({
        .root = unescape(before[3]),
        .point = unescape(before[4]),
        .is_v2 = is_v2,
        .controllers = is_v2 ? Names{} : names_of(after[2], ','),
    });
  }
  return mounts;
}

CgroupPlace choose_cgroup_place(const CgroupSources& sources, const CgroupLook& look) {
  const std::vector<CgroupMembership> memberships = parse_memberships(sources.memberships);
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(sources.mountinfo);
  const auto unified = std::ranges::find_if(mounts, &CgroupMount::is_v2);
  const auto own = std::ranges::find_if(memberships, &CgroupMembership::is_v2);
  if (unified != mounts.end() && own != memberships.end()) {
    if (std::optional<CgroupPlace> place = choose_v2(*unified, own->path, look)) return std::move(*place);
  }
  CgroupPlace place = choose_v1(memberships, mounts, look);
  if (place.kind != plan::CgroupKind::kNone) return place;
  if (unified != mounts.end()) {
    if (std::optional<CgroupPlace> scope = choose_scope(sources, *unified, look)) return std::move(*scope);
  }
  place.note = none_note(sources, mounts);
  return place;
}

CgroupPlace find_cgroup_place(std::uint32_t uid) {
  const auto text = [](const char* path) { return sys::read_file(path, kProcCgroupBytesMax).value_or(std::string()); };
  const std::string runtime =
      sys::environment_variable("XDG_RUNTIME_DIR").value_or(cat({"/run/user/", std::to_string(uid)}));
  const CgroupSources sources = {
      .uid = uid,
      .memberships = text("/proc/self/cgroup"),
      .mountinfo = text("/proc/self/mountinfo"),
      .user_manager = uid != 0 && sys::exists(runtime + "/bus") && sys::exists(runtime + "/systemd/private"),
  };
  return choose_cgroup_place(sources, look_at);
}

CgroupEventFiles event_files(std::string_view memberships, std::string_view mountinfo) {
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(mountinfo);
  const std::vector<CgroupMembership> members = parse_memberships(memberships);
  const auto file = [&](std::string_view controller, std::string_view v1, std::string_view v2) -> std::string {
    const auto own = std::ranges::find_if(members, [&](const auto& m) { return m.controllers.contains(controller); });
    const auto member = own != members.end() ? own : std::ranges::find_if(members, &CgroupMembership::is_v2);
    if (member == members.end()) return {};
    const auto shows = [&](const CgroupMount& mount) {
      return mount.is_v2 == member->is_v2 && (mount.is_v2 || mount.controllers.contains(controller));
    };
    const auto mount = std::ranges::find_if(mounts, shows);
    const auto directory = mount == mounts.end() ? std::nullopt : directory_of(*mount, member->path);
    return directory ? cat({*directory, "/", member->is_v2 ? v2 : v1}) : std::string();
  };
  return {file(kMemory, "memory.oom_control", "memory.events"), file(kPids, "pids.events", "pids.events")};
}

CgroupEventFiles event_files_of(std::uint32_t process) {
  const auto memberships = sys::read_file(cat({"/proc/", std::to_string(process), "/cgroup"}), kProcCgroupBytesMax);
  const auto mountinfo = sys::read_file("/proc/self/mountinfo", kProcCgroupBytesMax);
  return memberships && mountinfo ? event_files(*memberships, *mountinfo) : CgroupEventFiles();
}

// "oom_kill" counts those that were killed, in both versions; of version 1 since Linux 4.13.
CgroupEvents read_events(const CgroupEventFiles& files) {
  CgroupEvents events;
  if (!files.memory.empty()) events.killed_for_memory = cgroup_counter(files.memory, "oom_kill");
  if (!files.pids.empty()) events.pids_refused = cgroup_counter(files.pids, "max");
  return events;
}

std::uint64_t cgroup_counter(const std::string& path, std::string_view name) {
  const auto text = sys::read_file(path, kProcCgroupBytesMax);
  if (!text) return 0;
  for (const std::string_view line : lines_of(*text)) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
    std::uint64_t value = 0;
    const std::string_view number = line.substr(name.size() + 1);
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value;
  }
  return 0;
}

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  std::erase(lines, std::string_view());
  return lines;
}

Names names_of(std::string_view text, char separator) {
  Names names;
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view name : split(text, separator)) {
    if (!name.empty()) names.insert(std::string(name));
  }
  return names;
}

// Blanks, tabs, newlines and backslashes are \ooo there (proc_pid_mountinfo(5)).
std::string unescape(std::string_view field) {
  const auto digit = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  while (!field.empty()) {
    const bool escape = field.size() >= 4 && field[0] == '\\' && digit(field[1]) && digit(field[2]) && digit(field[3]);
    if (escape) {
      out += static_cast<char>((field[1] - '0') * 64 + (field[2] - '0') * 8 + (field[3] - '0'));
    } else {
      out += field.front();
    }
    field.remove_prefix(escape ? 4 : 1);
  }
  return out;
}

// Where the cgroup `path` is seen through a mount; none where the mount shows another part of the tree, as in a
// container whose cgroup namespace is the host's.
std::optional<std::string> directory_of(const CgroupMount& mount, std::string_view path) {
  if (path.starts_with("/..") || !is_within(path, mount.root)) return std::nullopt;
  const std::string_view below = mount.root == "/" ? path : path.substr(mount.root.size());
  std::string directory = cat({mount.point, below});
  if (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return directory;
}

// `directory` and what is above it, up to `top`.
std::vector<std::string> ancestors(const std::string& directory, const std::string& top) {
  std::vector<std::string> found;
  for (std::string at = directory; is_within(at, top); at.resize(at.rfind('/'))) {
    found.push_back(at);
    if (at == top || at.rfind('/') == 0) break;
  }
  return found;
}

// A controller works in a child of D when it is in D's subtree_control; it can be put there only while D has no
// process of its own (cgroups(7), "no internal processes"). So the place is the nearest cgroup above this process that
// lets us make children with the controllers, the one with more of them first.
std::optional<CgroupPlace> choose_v2(const CgroupMount& mount, const std::string& own, const CgroupLook& look) {
  const std::optional<std::string> start = directory_of(mount, own);
  if (!start) return std::nullopt;
  CgroupPlace best;
  for (const std::string& directory : ancestors(*start, mount.point)) {
    const CgroupDirectory found = look(directory);
    if (!found.writable) continue;
    CgroupPlace place = {.kind = plan::CgroupKind::kV2, .directories = {}, .enable = {}, .note = {}};
    for (const std::string_view name : kWanted) {
      const bool enabled = found.enabled.contains(name);
      if (!enabled && (found.occupied || !found.available.contains(name))) continue;
      place.directories.emplace(name, directory);
      if (!enabled) place.enable.emplace_back(name);
    }
    if (place.directories.size() > best.directories.size()) best = std::move(place);
  }
  if (best.directories.empty()) return std::nullopt;
  best.note =
      cat({"limits are held by cgroup v2 (", list_of(best.directories), ") below ", best.directories.begin()->second});
  return best;
}

CgroupPlace choose_v1(const std::vector<CgroupMembership>& memberships, const std::vector<CgroupMount>& mounts,
                      const CgroupLook& look) {
  CgroupPlace place;
  for (const std::string_view name : kWanted) {
    const auto member = std::ranges::find_if(memberships, [&](const auto& m) { return m.controllers.contains(name); });
    const auto mount =
        std::ranges::find_if(mounts, [&](const CgroupMount& m) { return !m.is_v2 && m.controllers.contains(name); });
    if (member == memberships.end() || mount == mounts.end()) continue;
    const std::optional<std::string> directory = directory_of(*mount, member->path);
    if (directory && look(*directory).writable) place.directories.emplace(name, *directory);
  }
  if (place.directories.empty()) return place;
  place.kind = plan::CgroupKind::kV1;
  place.note = cat({"limits are held by cgroup v1 (", list_of(place.directories), ")"});
  return place;
}

std::optional<CgroupPlace> choose_scope(const CgroupSources& sources, const CgroupMount& mount,
                                        const CgroupLook& look) {
  if (!sources.user_manager) return std::nullopt;
  const std::string uid = std::to_string(sources.uid);
  const std::optional<std::string> manager =
      directory_of(mount, cat({"/user.slice/user-", uid, ".slice/user@", uid, ".service"}));
  if (!manager) return std::nullopt;
  const CgroupDirectory found = look(*manager);
  CgroupPlace place = {.kind = plan::CgroupKind::kSystemdScope, .directories = {}, .enable = {}, .note = {}};
  for (const std::string_view name : kWanted) {
    if (found.available.contains(name)) place.directories.emplace(name, *manager);
  }
  if (place.directories.empty()) return std::nullopt;
  place.note = cat({"limits are held by a scope of the systemd user manager (", list_of(place.directories), ")"});
  return place;
}

std::string none_note(const CgroupSources& sources, const std::vector<CgroupMount>& mounts) {
  static constexpr std::string_view kFallback = "limits are held by rlimits, memory per process: ";
  if (mounts.empty()) return cat({kFallback, "no cgroup file system is mounted"});
  const bool has_v2 = std::ranges::any_of(mounts, &CgroupMount::is_v2);
  const bool has_v1 = std::ranges::any_of(mounts, [](const CgroupMount& m) { return !m.is_v2; });
  if (sources.uid == 0) return cat({kFallback, "the cgroup file system cannot be written here, as in most containers"});
  if (has_v2 && !has_v1) {
    return cat({kFallback, "no cgroup is delegated to uid ", std::to_string(sources.uid),
                "; log in through systemd, or start hutch by `systemd-run --user --scope -p Delegate=yes`"});
  }
  return cat({kFallback, "cgroup v1 can be used by root alone"});
}

std::string list_of(const std::map<std::string, std::string>& directories) {
  std::vector<std::string> names;
  for (const auto& [name, directory] : directories) names.push_back(name);
  return join(names, ", ");
}

// The reads in this order because most end early: a hybrid's v2 tree has none of the controllers, a slice of systemd
// has them enabled, and listing processes is the dearest.
CgroupDirectory look_at(const std::string& path) {
  const auto names = [&](const char* file) {
    return names_of(sys::read_file(path + file, kProcCgroupBytesMax).value_or(std::string()), ' ');
  };
  const auto wanted_in = [](const Names& found) {
    return std::ranges::count_if(kWanted, [&](std::string_view name) { return found.contains(name); });
  };
  CgroupDirectory found;
  found.writable = sys::may_write(path + "/cgroup.procs") && sys::may_write(path);
  found.available = names("/cgroup.controllers");
  if (!found.writable || wanted_in(found.available) == 0) return found;
  found.enabled = names("/cgroup.subtree_control");
  if (wanted_in(found.enabled) == wanted_in(found.available)) return found;
  // The root of the whole tree may have processes and children with controllers; it alone has no cgroup.events. What
  // cannot be read counts as occupied: then nothing is enabled there.
  const bool is_root = !sys::exists(path + "/cgroup.events");
  const bool has_processes = !sys::read_file(path + "/cgroup.procs", kProcCgroupBytesMax).value_or("?").empty();
  found.occupied = (has_processes && !is_root) || !sys::may_write(path + "/cgroup.subtree_control");
  return found;
}

}  // namespace

}  // namespace hutch::host
