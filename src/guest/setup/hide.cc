// Hiding what a sandbox that runs has seen, and showing it again.
#include "guest/setup/hide.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "guest/setup/tree.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mounts.h"
#include "sys/io.h"
#include "sys/process/process.h"

namespace hutch::guest {

namespace {

// A sandbox can rename directories of its own, for ever, that a mount lies in.
constexpr int kRoundsMax = 500;
constexpr std::chrono::milliseconds kBetweenRounds{1};

Result<std::vector<sys::MountEntry>> mounts_seen(int proc) {
  const std::string list = cat({std::to_string(sys::own_pid()), "/mountinfo"});
  const UniqueFd mountinfo = TRY(sys::open_at(proc, list, O_RDONLY, 0));
  return sys::mount_table(mountinfo.get());
}

std::string path_below(const std::string& directory, const std::string& rest) {
  if (rest.empty()) return directory;
  return directory == "/" ? cat({"/", rest}) : cat({directory, "/", rest});
}

// Of a path within `directory`, without it; empty where it is that.
std::string rest_of(const std::string& path, const std::string& directory) {
  if (path == directory) return {};
  return path.substr(directory == "/" ? 1 : directory.size() + 1);
}

bool is_same(const sys::Resolved& what, const plan::Identity& identity) {
  return what.device == identity.device && what.inode == identity.inode;
}

Error replaced(const std::string& path) {
  return {Code::kConflict, 0, cat({printable(path), " was replaced while it was looked for"})};
}

struct Step {
  UniqueFd place;
  sys::Resolved what;
};
enum class WalkEnd { kFound, kLeaves, kMissing };

// Down from the root of a mount, for as long as it is that mount. What no program of this user may search leads none of
// them anywhere.
Result<std::pair<WalkEnd, Step>> walk(UniqueFd from, const std::string& inner, std::uint64_t mount) {
  Step at{std::move(from), {}};
  at.what = TRY(sys::look_at(at.place.get()));
  for (const std::string_view name : split(inner, '/')) {
    auto next = sys::open_beneath(at.place.get(), name);
    if (!next && next.error().sys_errno == EACCES) return std::pair(WalkEnd::kLeaves, Step{});
    if (!next &&
        (next.error().sys_errno == ENOENT || next.error().sys_errno == ELOOP || next.error().sys_errno == ENOTDIR)) {
      return std::pair(WalkEnd::kMissing, Step{});
    }
    if (!next) return fail(std::move(next).error());
    at.place = std::move(*next);
    at.what = TRY(sys::look_at(at.place.get()));
    if (at.what.mount != mount) return std::pair(WalkEnd::kLeaves, Step{});
  }
  return std::pair(WalkEnd::kFound, std::move(at));
}

// In the place's own path as the sandbox sees it.
std::vector<plan::MountStep> at_place(const std::vector<plan::MountStep>& steps, const std::string& at) {
  const std::string& planned = steps.front().target;
  std::vector<plan::MountStep> moved = steps;
  for (plan::MountStep& step : moved) {
    step.target = path_below(at, rest_of(step.target, planned));
    if (step.kind == plan::MountKind::kBind) step.source = path_below(at, rest_of(step.source, planned));
  }
  return moved;
}

// A directory with nothing left in it needs no more than the mount itself.
bool is_plain(const std::vector<plan::MountStep>& steps) {
  const auto adds_nothing = [&](const plan::MountStep& step) {
    return step.kind == plan::MountKind::kSeal || &step == &steps.front();
  };
  return std::ranges::all_of(steps, adds_nothing);
}

}  // namespace

Result<Hider> Hider::look(const wire::Cover& task, int mounts) {
  Hider hider(mounts, TRY(sys::open("/proc", sys::Open::kPath)));
  for (const auto& steps : task.places) {
    const bool is_cover = !steps.empty() && (steps.front().kind == plan::MountKind::kHideFile ||
                                             steps.front().kind == plan::MountKind::kTmpfs);
    const auto within = [&](const plan::MountStep& step) { return is_within(step.target, steps.front().target); };
    if (!is_cover || !std::ranges::all_of(steps, within)) return fail(Error::invalid("a place without its cover"));
    Place place{steps, {}, {}, {}};
    Status found = hider.find(place);
    if (!found) place.error = std::move(found).error().message;
    hider.places_.push_back(std::move(place));
  }
  return hider;
}

Status Hider::find(Place& place) const {
  const plan::MountStep& cover = place.steps.front();
  const UniqueFd there = TRY(sys::open_exact(cover.target));
  const sys::Resolved what = TRY(sys::look_at(there.get()));
  if (!is_same(what, cover.identity)) return fail(replaced(cover.target));
  for (const sys::MountEntry& mount : TRY(mounts_seen(proc_.get()))) {
    if (mount.id != what.mount || !is_within(cover.target, mount.point)) continue;
    place.device = mount.device;
    place.path = path_below(mount.root, rest_of(cover.target, mount.point));
    return {};
  }
  return fail(replaced(cover.target));
}

wire::Covered Hider::cover() const {
  wire::Covered covered;
  Table table;
  for (const Place& place : places_) {
    wire::Covered::Place& said = covered.places.emplace_back();
    said.error = place.error;
    if (!said.error.empty()) continue;
    Status done = cover(place, table, said.mounts);
    if (!done) said.error = std::move(done).error().message;
  }
  return covered;
}

// The list of mounts is as it was a moment ago: what is not where it says is looked for again. New ones are hutch's
// own.
Status Hider::cover(const Place& place, Table& table, std::vector<std::uint64_t>& made) const {
  for (int round = 0; round < kRoundsMax; ++round) {
    if (round > 0 || table.empty()) table = TRY(mounts_seen(proc_.get()));
    bool all = true;
    for (const sys::MountEntry& mount : table) {
      if (mount.device != place.device || !is_within(place.path, mount.root)) continue;
      if (!sys::is_reachable(table, mount)) continue;
      const Seen seen = TRY(cover_in(mount, rest_of(place.path, mount.root), place, made));
      all = all && seen != Seen::kMoved;
    }
    if (all) return {};
    TRY(sys::poll({}, kBetweenRounds));
  }
  return fail({Code::kConflict, 0,
               cat({printable(place.steps.front().target), " is moved about all the time, or was replaced"})});
}

Result<Hider::Seen> Hider::cover_in(const sys::MountEntry& mount, const std::string& inner, const Place& place,
                                    std::vector<std::uint64_t>& made) const {
  const UniqueFd root = TRY(sys::open_exact("/"));
  auto at = sys::open_beneath(root.get(), mount.point);
  if (!at && at.error().sys_errno == EACCES) return Seen::kElsewhere;
  if (!at) return Seen::kMoved;
  if (TRY(sys::look_at(at->get())).mount != mount.id) return Seen::kMoved;
  auto [way, step] = TRY(walk(std::move(*at), inner, mount.id));
  if (way == WalkEnd::kLeaves) return Seen::kElsewhere;
  if (way == WalkEnd::kMissing || !is_same(step.what, place.steps.front().identity)) return Seen::kMoved;
  auto tree = tree_for(place, path_below(mount.point, inner));
  if (!tree && tree.error().code != Code::kSystem) return Seen::kMoved;
  if (!tree) return fail(std::move(tree).error());
  TRY(sys::attach(tree->get(), step.place.get(), place.steps.front().target));
  made.push_back(TRY(sys::look_at(tree->get())).mount);
  return Seen::kCovered;
}

// One with something in it is put together in a copy of the sandbox's mounts, which nobody else sees, so that what
// stays visible is never gone.
Result<UniqueFd> Hider::tree_for(const Place& place, const std::string& at) const {
  const std::vector<plan::MountStep> steps = at_place(place.steps, at);
  if (is_plain(steps)) return make_cover(steps.front());
  const auto make = [&]() -> Result<UniqueFd> {
    TRY(sys::enter_new_namespaces(sys::NamespaceSet::kMounts));
    TRY(sys::make_all_private());
    const UniqueFd root = TRY(sys::open_exact("/"));
    sys::set_umask(0);
    TRY(add_cover(root.get(), steps));
    const UniqueFd made = TRY(sys::open_beneath(root.get(), at));
    return sys::clone_tree(made.get(), at);
  };
  auto made = make();
  TRY(sys::enter_namespace(sys::NamespaceKind::kMounts, mounts_));
  return made;
}

// By a name in a directory that is held: umount(2) follows the links of a path, and who has the directories above may
// put one there.
Status uncover(int proc, const wire::Uncover& task) {
  for (const std::uint64_t id : task.mounts) {
    const auto table = TRY(mounts_seen(proc));
    const auto mount = std::ranges::find(table, id, &sys::MountEntry::id);
    // It went with the place that it lay on.
    if (mount == table.end()) continue;
    const UniqueFd root = TRY(sys::open_exact("/"));
    const std::size_t slash = mount->point.rfind('/');
    const std::string name = mount->point.substr(slash + 1);
    const UniqueFd above = TRY(sys::open_beneath(root.get(), mount->point.substr(0, slash + 1)));
    const UniqueFd found = TRY(sys::open_beneath(above.get(), name));
    if (TRY(sys::look_at(found.get())).mount != id) return fail(replaced(mount->point));
    TRY(sys::change_directory(above.get()));
    TRY(sys::detach_in_cwd(name));
    if (!task.own.empty()) TRY(remove_mount_point(root.get(), mount->point, task.own));
  }
  return {};
}

}  // namespace hutch::guest
