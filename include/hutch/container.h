// hutch for those who come from containers: a pool that gives out clean sandboxes. See docs/cpp-api.md.
#pragma once

#include <hutch/types.h>

#include <memory>
#include <stop_token>

namespace hutch {

// kSandboxed has no network. kTrusted has what the user's policy and settings let through, by the gateway. A container
// of one is never given out as the other.
enum class ContainerTrust { kSandboxed, kTrusted };

enum class ContainerStatus { kIdle, kBusy, kStopped };  // kBusy: a command runs in it

struct VolumeMount {
  std::string host{};  // a directory
  std::string container{};
  bool readonly = false;
};

// What is empty or absent is as the user's config.json has it, else: 300 s, 512m, 1.0, 512 processes.
struct ContainerOpts {
  ContainerTrust trust = ContainerTrust::kSandboxed;
  std::optional<std::chrono::milliseconds> timeout{};  // of a command that names none
  std::string memory{};                                // "512m", "1.5G"
  std::string cpu{};                                   // "1.0", "0.5"
  std::map<std::string, std::string> env{};
  std::vector<VolumeMount> mounts{};
  std::optional<std::string> image{};  // "": none, the host's own programs
  std::string backend{};               // "namespace", "bwrap"
  std::stop_token abort{};  // a request ends the wait for one; what the pool has begun to make goes on
};

struct ExecOpts {
  std::optional<std::chrono::milliseconds> timeout{};
  std::string cwd{};  // relative to /workspace
  std::map<std::string, std::string> env{};
};

struct ExecResult {
  int exit_code = 0;  // as a shell shows it; 124: its time was over, and all that it started has ended
  std::string stdout_text;  // beyond 2 MiB the first and the last 1 MiB, with a line that says what is missing between
  std::string stderr_text;
  std::uint64_t stdout_omitted_bytes = 0;
  std::uint64_t stderr_omitted_bytes = 0;
  bool timed_out = false;  // what was written until then is here
};

// A sandbox that somebody holds. A copy is the same one; with the last copy it is given back. Any thread may use it.
class HUTCH_API Container {
 public:
  const std::string& id() const;
  ContainerStatus status() const;
  // By /bin/sh -c. Several at once are fine. Once it is stopped, or given back, an error.
  Expected<ExecResult> exec(const std::string& command, const ExecOpts& opts = {});
  // As ContainerPool::destroy. Stopped already is fine.
  Expected<void> stop();

  struct HUTCH_LOCAL Impl;
  explicit Container(std::shared_ptr<Impl> impl);

 private:
  friend class ContainerPool;
  std::shared_ptr<Impl> impl_;
};

struct PoolOptions {
  std::optional<std::size_t> max{};  // containers at once; absent: security.maxConcurrentSandboxes, else 3
  std::size_t warm = 1;  // idle ones of each kind that was asked for lately
  std::size_t queue = 64;  // who may wait; one more is refused: "Pool limit reached"
  std::chrono::milliseconds patience{30'000};  // of who waits
  std::chrono::milliseconds idle{600'000};  // then those that nobody asks for go
  std::string guest_program{};  // the path of hutch-guest; empty: where it is installed
  std::function<void(std::string_view line)> on_note{};  // any thread
};

struct PoolStats {
  std::size_t idle = 0;
  std::size_t busy = 0;
  std::size_t starting = 0;
  std::size_t ending = 0;
  std::size_t total = 0;  // never more than max
  std::size_t max = 0;
  std::uint64_t hits = 0;  // who got an idle one at once
  std::uint64_t waits = 0;  // who found no room
};

// Any thread may use it. A container serves one holder: what is given back ends, and a new one takes its place, so
// that no file, process, variable or mount of the last holder is there. Its end is that of all its containers.
class HUTCH_API ContainerPool {
 public:
  static Expected<ContainerPool> create(PoolOptions options = {});
  ContainerPool(ContainerPool&& other) noexcept;
  ContainerPool& operator=(ContainerPool&& other) noexcept;
  ~ContainerPool();

  Expected<Container> acquire(const ContainerOpts& opts = {});
  // Gives it back; it ends in the background. An error that changes nothing where it was given back before, was
  // destroyed, or is another pool's.
  Expected<void> release(const Container& container);
  // The same, and waits until it is gone.
  Expected<void> destroy(const Container& container);
  // All of them, idle and busy, and builds of images for those that start: whoever waits for such a one has an error.
  // One that cannot be ended keeps none of the others, and is the error.
  Expected<void> destroy_all();
  // So many idle ones of that kind; waits for them.
  Expected<void> fill(const ContainerOpts& opts, std::size_t count);
  PoolStats stats() const;

 private:
  struct HUTCH_LOCAL Impl;
  friend struct Container::Impl;
  explicit ContainerPool(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// Builds hutch's own image where that is named and missing. Another that is missing is an error: it is never made of
// anything else. A request of `abort` ends the build, or the wait for one; nothing is left of it.
HUTCH_API Expected<void> ensure_image(const std::string& name,
                                      const std::function<void(std::string_view line)>& on_note = {},
                                      const std::stop_token& abort = {});

}  // namespace hutch
