// The table of the kernel's counts, and the shares of them.
#include "plan/quotas.h"

#include <algorithm>
#include <array>

namespace hutch::plan {

namespace {

using enum QuotaHold;

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// No known program needs more; the rest is left for others.
constexpr std::uint64_t kOpenFilesMost = 65536;

constexpr std::array kQuotas = {
    // The kernel counts these by uid, inside and outside of a user namespace together, and compares the count with the
    // sender's RLIMIT_NOFILE (net/core/scm.c). Because the limit in here is lower, it never refuses senders outside,
    // which have the host's.
    Quota{"descriptors in flight", kRlimit, kOpenFilesResource, 2, 256, kOpenFilesMost,
          "all above a half of the hard limit; hutch raises its own to the hard limit"},
    Quota{"pending signals, POSIX timers", kRlimit, 11, 4, 64, kNoLimit, "three quarters"},
    Quota{"bytes of POSIX message queues", kRlimit, 12, 2, 4096, kNoLimit, "a half"},
    Quota{"locked memory", kRlimit, 8, 2, 65536, kNoLimit, "a half"},
    Quota{"real-time priority", kRlimit, 14, 0, 0, 0, "all: a real-time thread would keep others off a CPU"},
    Quota{"nice", kRlimit, 13, 0, 0, 0, "all"},
    Quota{"max_inotify_instances", kUserCount, -1, 4, 8, kNoLimit, "three quarters"},
    Quota{"max_inotify_watches", kUserCount, -1, 2, 1024, kNoLimit, "a half"},
    Quota{"max_fanotify_groups", kUserCount, -1, 4, 8, kNoLimit, "three quarters"},
    Quota{"max_fanotify_marks", kUserCount, -1, 2, 1024, kNoLimit, "a half"},
    Quota{"processes", kNamespace, -1, 0, 0, 0, "a half of RLIMIT_NPROC"},
    Quota{"namespaces", kNamespace, -1, 0, 0, 0, "all: inside, max_user_namespaces is 0, and others take one"},
    Quota{"pseudoterminals", kMount, -1, 0, 0, kTerminalsMax, "those of kernel.pty.max above 128"},
    Quota{"memory of tmpfs", kMount, -1, 2, 0, kNoLimit, "a half of the machine's memory"},
    Quota{"asynchronous I/O requests", kFilter, -1, 0, 0, 0, "all of fs.aio-max-nr"},
    Quota{"leases of files", kFilter, -1, 0, 0, 0, "all: a lease would hold the person's own open(2)"},
    Quota{"keys", kFilter, -1, 0, 0, 0, "all"},
    Quota{"performance events, BPF, io_uring", kFilter, -1, 0, 0, 0, "all"},
    Quota{"System V IPC", kNamespace, -1, 0, 0, 0, "all"},
    Quota{"ports, connections tracked, neighbours", kNamespace, -1, 0, 0, 0, "all but what the gateway relays"},
    Quota{"connections by the gateway", kAccounting, -1, 0, 0, 0, "three quarters of the daemon's descriptors"},
    Quota{"memory of socket buffers, page tables, dentries, memfd", kCgroup, -1, 0, 0, 0, "what --memory leaves"},
    Quota{"epoll watches", kCgroup, -1, 0, 0, 0, "what --memory leaves of fs.epoll.max_user_watches"},
    Quota{"open files of the machine", kCgroup, -1, 0, 0, 0, "what --memory and --pids leave of fs.file-max"},
    Quota{"pages of pipes", kNothing, -1, 0, 0, 0, "pipes of 8 KiB, which are slower"},
    Quota{"locks of files", kNothing, -1, 0, 0, 0, "a lock on a file that both can open holds the other"},
    Quota{"disk", kNothing, -1, 0, 0, 0, "what the file system has"},
};

}  // namespace

std::span<const Quota> quotas() { return kQuotas; }

std::optional<std::uint64_t> share_of(const Quota& quota, std::uint64_t host_limit) {
  if (quota.share == 0) return quota.most;
  // RLIM_INFINITY: the kernel checks no limit.
  if (host_limit == kNoLimit && quota.most == kNoLimit) return std::nullopt;
  const std::uint64_t part = std::min(host_limit / quota.share, quota.most);
  return std::min(std::max(part, quota.least), host_limit);
}

std::vector<ProcessLimit> process_limits(const HostFacts& facts) {
  std::vector<ProcessLimit> limits;
  for (const Quota& quota : kQuotas) {
    const auto host = std::ranges::find(facts.process_limits, quota.resource, &ProcessLimit::resource);
    if (quota.hold != kRlimit || host == facts.process_limits.end()) continue;
    if (const auto share = share_of(quota, host->hard)) {
      limits.push_back({quota.resource, std::min(host->soft, *share), *share});
    }
  }
  return limits;
}

std::vector<ProcessLimit> usual_process_limits(const HostFacts& facts) {
  const auto host = std::ranges::find(facts.process_limits, kOpenFilesResource, &ProcessLimit::resource);
  return host != facts.process_limits.end() ? std::vector{*host} : std::vector<ProcessLimit>();
}

std::vector<UserCount> user_counts(const HostFacts& facts) {
  std::vector<UserCount> counts;
  for (const Quota& quota : kQuotas) {
    const auto host = std::ranges::find(facts.user_counts, quota.name, &UserCount::name);
    if (quota.hold != kUserCount || host == facts.user_counts.end()) continue;
    if (const auto share = share_of(quota, host->most)) counts.push_back({host->name, *share});
  }
  return counts;
}

std::uint64_t tmpfs_bytes_max(const HostFacts& facts, const ResourceLimits& limits) {
  if (limits.memory_bytes != 0) return limits.memory_bytes;
  return limits.tmp_bytes != 0 ? 0 : facts.memory_bytes / 2;
}

void bound_tmpfs(std::vector<MountStep>& steps, std::span<const std::size_t> small,
                 std::span<const std::size_t> spacious, std::uint64_t bytes) {
  static constexpr std::uint64_t kSmallShare = 8;
  if (bytes == 0) return;
  std::uint64_t left = bytes;
  for (const std::size_t step : small) {
    std::uint64_t& size = steps[step].size_bytes;
    size = std::min(size, bytes / kSmallShare);
    left -= size;
  }
  std::vector<MountStep*> shared;
  for (const std::size_t step : spacious) shared.push_back(&steps[step]);
  share_tmpfs_bytes(shared, left);
}

void share_tmpfs_bytes(std::span<MountStep* const> spacious, std::uint64_t bytes) {
  static constexpr std::uint64_t kPage = 4096;
  if (spacious.empty() || bytes == 0) return;
  static constexpr std::array<std::string_view, 3> kMain = {"/", "/tmp", "/dev/shm"};
  const auto is_main = [](const MountStep* step) { return std::ranges::find(kMain, step->target) != kMain.end(); };
  const auto main_count = static_cast<std::uint64_t>(std::ranges::count_if(spacious, is_main));
  const std::uint64_t others = spacious.size() - main_count;
  // All others together get as much as each main tmpfs.
  const std::uint64_t main_bytes = others == 0 ? bytes : bytes / (main_count + 1) * main_count;
  for (MountStep* step : spacious) {
    const std::uint64_t part = is_main(step) ? main_bytes / main_count : (bytes - main_bytes) / others;
    const std::uint64_t pages = std::max<std::uint64_t>(part / kPage, 1);
    step->size_bytes = step->size_bytes == 0 ? pages * kPage : std::min(step->size_bytes, pages * kPage);
  }
}

}  // namespace hutch::plan
