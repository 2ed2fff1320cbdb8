// The cgroup of one sandbox.
#include "host/machine/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "sys/files/files.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::host {

namespace {

constexpr std::string_view kPrefix = "hutch-run-";
constexpr std::string_view kUserPrefix = "hutch-user-";
constexpr int kAttemptsMax = 100;
constexpr std::uint64_t kCpuPeriodMicros = 100'000;
constexpr std::size_t kCgroupFileBytesMax = 65536;
constexpr const char* kBusctl = "/usr/bin/busctl";
// hutch's own processes in there: the guest twice while it starts, bubblewrap, and the leader of a terminal's session.
constexpr std::uint64_t kOwnProcesses = 4;
constexpr int kRemoveMomentsMax = 5000;
// Of one that a hutch which was killed has left: what stays in it does so for long, and a later start tries again.
constexpr int kRemoveStaleMomentsMax = 20;

struct Setting {
  std::string file;
  std::string value;
  bool may_be_absent = false;
};

std::vector<Setting> memory_settings(plan::CgroupKind kind, std::uint64_t bytes);
std::vector<Setting> settings_of(plan::CgroupKind kind, std::string_view controller,
                                 const plan::ResourceLimits& limits);
Status apply_settings(const std::string& directory, const std::vector<Setting>& settings);
std::vector<std::string_view> controllers_wanted(const plan::ResourceLimits& limits);
void remove_stale(const std::string& parent);
void remove_cgroup(const std::string& directory, int moments_max);
Status start_scope(const std::string& unit, const plan::ResourceLimits& limits, pid_t process);
std::string new_name();
std::optional<std::uint64_t> number(const std::string& path);
std::size_t cgroups_in(const std::string& directory);

}  // namespace

void remove_stale_cgroups(const CgroupPlace& place) {
  for (const auto& [controller, directory] : place.directories) remove_stale(directory);
}

bool wants_cgroup(const plan::ResourceLimits& limits) { return !controllers_wanted(limits).empty(); }

Result<Cgroup> Cgroup::make(const CgroupPlace& place, const plan::ResourceLimits& limits) {
  Cgroup cgroup(place.kind, limits);
  cgroup.name_ = new_name();
  if (place.kind != plan::CgroupKind::kSystemdScope) TRY(cgroup.make_directories(place, Directories::kNew));
  return cgroup;
}

// The one above goes with whoever is the last in it, between any two steps of another.
Result<Cgroup> Cgroup::make_for_user(const CgroupPlace& place, const plan::ResourceLimits& limits, std::uint32_t user) {
  if (place.kind == plan::CgroupKind::kSystemdScope) return make(place, limits);
  for (int attempt = 1;; ++attempt) {
    auto above = std::make_shared<Cgroup>(Cgroup(place.kind, limits));
    above->is_of_user_ = true;
    above->name_ = fmt::format("{}{}-{}-{}-{}", kUserPrefix, user, limits.memory_bytes, limits.pids, limits.cpu_millis);
    auto made = [&]() -> Result<Cgroup> {
      TRY(above->make_directories(place, Directories::kMayBeThere));
      TRY(above->count_those_below());
      Cgroup cgroup = TRY(make(above->below(), limits));
      if (!above->pids_.empty()) TRY(above->allow_processes_of(cgroups_in(above->pids_)));
      cgroup.above_ = above;
      return cgroup;
    }();
    if (made || made.error().sys_errno != ENOENT || attempt == kAttemptsMax) return made;
  }
}

Status Cgroup::make_directories(const CgroupPlace& place, Directories directories) {
  for (const std::string_view controller : controllers_wanted(limits_)) {
    const auto found = place.directories.find(std::string(controller));
    if (found == place.directories.end()) {
      return fail(Error::unsupported(cat({"no cgroup controller ", controller, " here: ", place.note})));
    }
    const std::string directory = cat({found->second, "/", name_});
    if (std::ranges::find(directories_, directory) == directories_.end()) {
      remove_stale(found->second);
      for (const std::string& enable : place.enable) {
        TRY(sys::write_file(found->second + "/cgroup.subtree_control", "+" + enable));
      }
      const Status made = sys::make_directory(sys::kCwd, directory, 0755);
      const bool is_there = !made && made.error().sys_errno == EEXIST && directories == Directories::kMayBeThere;
      if (!made && !is_there) return made;
      directories_.push_back(directory);
    }
    if (controller == kMemory) memory_ = directory;
    if (controller == kPids) pids_ = directory;
    if (controller == kCpu) cpu_ = directory;
    TRY(apply_settings(directory, settings_of(kind_, controller, limits_)));
  }
  return {};
}

// One of a user's stays as long as somebody is in it.
Cgroup::~Cgroup() {
  for (const std::string& directory : directories_) {
    if (is_of_user_) {
      (void)sys::remove_directory(directory);
    } else {
      remove_cgroup(directory, kRemoveMomentsMax);
    }
  }
}

Status Cgroup::admit(pid_t process) {
  if (kind_ == plan::CgroupKind::kSystemdScope) return start_scope(name_, limits_, process);
  for (const std::string& directory : directories_) {
    TRY(sys::write_file(directory + "/cgroup.procs", std::to_string(process)));
  }
  return {};
}

Result<Cgroup> SharedCgroup::make(const CgroupPlace& place, const plan::ResourceLimits& limits) {
  if (place.kind == plan::CgroupKind::kSystemdScope) return Cgroup::make(place, limits);
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<Cgroup> above = above_.lock();
  if (!above || above->limits_ != limits) {
    above = std::make_shared<Cgroup>(TRY(Cgroup::make(place, limits)));
    TRY(above->count_those_below());
    above_ = above;
  }
  Cgroup cgroup = TRY(Cgroup::make(above->below(), limits));
  cgroup.above_ = above;
  // The others, this one, and the name of it here.
  TRY(above->allow_processes_of(static_cast<std::size_t>(above.use_count()) - 1));
  return cgroup;
}

CgroupPlace Cgroup::below() const {
  CgroupPlace place;
  place.kind = kind_;
  const auto add = [&](std::string_view controller, const std::string& directory) {
    if (directory.empty()) return;
    place.directories.emplace(controller, directory);
    if (kind_ == plan::CgroupKind::kV2) place.enable.emplace_back(controller);
  };
  add(kMemory, memory_);
  add(kPids, pids_);
  add(kCpu, cpu_);
  return place;
}

// Before Linux 5.11 memory of a child is its parent's as well only where this was said while it had none.
Status Cgroup::count_those_below() const {
  if (memory_.empty()) return {};
  return apply_settings(memory_, {{"memory.use_hierarchy", "1", true}});
}

// Each has processes of hutch's own.
Status Cgroup::allow_processes_of(std::size_t cgroups) const {
  if (pids_.empty()) return {};
  return sys::write_file(pids_ + "/pids.max", std::to_string(limits_.pids + cgroups * kOwnProcesses));
}

CgroupEvents Cgroup::events() const {
  const bool v1 = kind_ == plan::CgroupKind::kV1;
  CgroupEventFiles files;
  if (!memory_.empty()) files.memory = memory_ + (v1 ? "/memory.oom_control" : "/memory.events");
  if (!pids_.empty()) files.pids = pids_ + "/pids.events";
  return read_events(files);
}

// Version 2 counts processor time in every cgroup; version 1 where the hierarchy has cpuacct too.
Cgroup::Use Cgroup::use() const {
  if (above_) return above_->use();
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  Use use;
  const bool v1 = kind_ == plan::CgroupKind::kV1;
  if (!memory_.empty()) use.memory_bytes = number(memory_ + (v1 ? "/memory.usage_in_bytes" : "/memory.current"));
  if (v1) {
    const auto nanoseconds = cpu_.empty() ? std::nullopt : number(cpu_ + "/cpuacct.usage");
    if (nanoseconds) use.cpu = duration_cast<microseconds>(std::chrono::nanoseconds(*nanoseconds));
  } else if (!directories_.empty()) {
    use.cpu = microseconds(cgroup_counter(directories_.front() + "/cpu.stat", "usage_usec"));
  }
  return use;
}

std::string_view Cgroup::kind_name() const {
  switch (kind_) {
    case plan::CgroupKind::kV1: return "cgroup v1";
    case plan::CgroupKind::kV2: return "cgroup v2";
    case plan::CgroupKind::kSystemdScope: return "systemd scope";
    case plan::CgroupKind::kNone: return "";
  }
  return "";
}

namespace {

std::vector<std::string_view> controllers_wanted(const plan::ResourceLimits& limits) {
  std::vector<std::string_view> wanted;
  if (limits.memory_bytes != 0) wanted.push_back(kMemory);
  if (limits.pids != 0) wanted.push_back(kPids);
  if (limits.cpu_millis != 0) wanted.push_back(kCpu);
  return wanted;
}

std::vector<Setting> memory_settings(plan::CgroupKind kind, std::uint64_t bytes) {
  const std::string value = std::to_string(bytes);
  // Swap would let the command go on far beyond its memory; the files are there only where the kernel accounts swap.
  if (kind == plan::CgroupKind::kV1) {
    return {{"memory.limit_in_bytes", value, false}, {"memory.memsw.limit_in_bytes", value, true}};
  }
  return {{"memory.max", value, false}, {"memory.swap.max", "0", true}};
}

std::vector<Setting> settings_of(plan::CgroupKind kind, std::string_view controller,
                                 const plan::ResourceLimits& limits) {
  if (controller == kMemory) return memory_settings(kind, limits.memory_bytes);
  if (controller == kPids) return {{"pids.max", std::to_string(limits.pids + kOwnProcesses), false}};
  const std::uint64_t quota = std::max<std::uint64_t>(limits.cpu_millis * kCpuPeriodMicros / 1000, 1000);
  if (kind == plan::CgroupKind::kV1) {
    return {{"cpu.cfs_period_us", std::to_string(kCpuPeriodMicros), false},
            {"cpu.cfs_quota_us", std::to_string(quota), false}};
  }
  return {{"cpu.max", fmt::format("{} {}", quota, kCpuPeriodMicros), false}};
}

Status apply_settings(const std::string& directory, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    const std::string path = cat({directory, "/", setting.file});
    if (setting.may_be_absent && !sys::exists(path)) continue;
    TRY(sys::write_file(path, setting.value));
  }
  return {};
}

// A daemon has many sandboxes.
std::string new_name() {
  static std::atomic<std::uint64_t> last{0};
  return fmt::format("{}{}-{}", kPrefix, sys::own_pid(), ++last);
}

// Of a hutch that was killed: its number is in the name, and no such process is there now.
void remove_stale(const std::string& parent) {
  const auto entries = sys::list_directory(parent, sys::Listing::kAll);
  if (!entries) return;
  for (const sys::DirectoryEntry& entry : *entries) {
    if (entry.name.starts_with(kUserPrefix)) {
      const std::string of_user = cat({parent, "/", entry.name});
      remove_stale(of_user);
      (void)sys::remove_directory(of_user);  // not while somebody is in it
    }
    if (!entry.name.starts_with(kPrefix)) continue;
    const std::string_view rest = std::string_view(entry.name).substr(kPrefix.size());
    const std::string_view number = rest.substr(0, rest.find('-'));
    pid_t pid = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), pid);
    const bool is_number = read.ec == std::errc() && read.ptr == number.data() + number.size() && pid > 0;
    if (!is_number || !sys::is_over(pid)) continue;
    remove_cgroup(cat({parent, "/", entry.name}), kRemoveStaleMomentsMax);
  }
}

std::size_t cgroups_in(const std::string& directory) {
  const auto entries = sys::list_directory(directory, sys::Listing::kAll);
  if (!entries) return 1;
  const auto count = std::ranges::count_if(*entries, [](const auto& entry) { return entry.name.starts_with(kPrefix); });
  return std::max<std::size_t>(static_cast<std::size_t>(count), 1);
}

// A process that has ended leaves its cgroup a moment later than its parent hears of it. Those below it go first: a
// hutch that was killed left them.
void remove_cgroup(const std::string& directory, int moments_max) {
  if (sys::exists(directory + "/cgroup.kill")) (void)sys::write_file(directory + "/cgroup.kill", "1");
  if (const auto entries = sys::list_directory(directory, sys::Listing::kAll)) {
    for (const sys::DirectoryEntry& entry : *entries) {
      if (entry.name.starts_with(kPrefix)) remove_cgroup(cat({directory, "/", entry.name}), moments_max);
    }
  }
  for (int i = 0; i < moments_max; ++i) {
    const auto removed = sys::remove_directory(directory);
    if (removed || removed.error().sys_errno != EBUSY) return;
    (void)sys::pause_briefly();
  }
}

// systemd makes the cgroup when asked for a scope, and removes it with its last process
// (org.freedesktop.systemd1(5), StartTransientUnit).
Status start_scope(const std::string& unit, const plan::ResourceLimits& limits, pid_t process) {
  std::vector<std::string> properties = {"PIDs", "au", "1", std::to_string(process)};
  std::size_t count = 1;
  const auto add = [&](const std::string& name, std::uint64_t value) {
    properties.insert(properties.end(), {name, "t", std::to_string(value)});
    ++count;
  };
  if (limits.memory_bytes != 0) add("MemoryMax", limits.memory_bytes);
  if (limits.memory_bytes != 0) add("MemorySwapMax", 0);
  if (limits.pids != 0) add("TasksMax", limits.pids + kOwnProcesses);
  if (limits.cpu_millis != 0) add("CPUQuotaPerSecUSec", limits.cpu_millis * 1000);
  std::vector<std::string> arguments = {"busctl",
                                        "--user",
                                        "--quiet",
                                        "call",
                                        "org.freedesktop.systemd1",
                                        "/org/freedesktop/systemd1",
                                        "org.freedesktop.systemd1.Manager",
                                        "StartTransientUnit",
                                        "ssa(sv)a(sa(sv))",
                                        unit + ".scope",
                                        "fail",
                                        std::to_string(count)};
  arguments.insert(arguments.end(), properties.begin(), properties.end());
  arguments.emplace_back("0");
  std::vector<std::string> environment;
  for (const char* name : {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}) {
    if (const auto value = sys::environment_variable(name)) environment.push_back(cat({name, "=", *value}));
  }
  auto busctl = TRY(sys::spawn(kBusctl, {.arguments = arguments, .environment = environment, .install = {{2, 2}}}));
  const sys::WaitStatus status = TRY(busctl.wait());
  if (status.exited() && status.exit_code() == 0) return {};
  return fail(Error{Code::kSystem, 0, "systemd did not make a scope for the limits: see `systemctl --user status`"});
}

// The number that is all of a control file.
std::optional<std::uint64_t> number(const std::string& path) {
  const auto text = sys::read_file(path, kCgroupFileBytesMax);
  std::uint64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

}  // namespace hutch::host
