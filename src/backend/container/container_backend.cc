// Backend `container`.
#include "backend/container/container_backend.h"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>

#include "backend/container/create_body.h"
#include "backend/guest_process.h"
#include "base/text.h"
#include "host/paths/paths.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"
#include "sys/process/rlimits.h"

namespace hutch::backend::container {

namespace {

constexpr const char* kStream = "stream";
constexpr const char* kHeld = "held";
constexpr const char* kHidden = "hidden";
constexpr const char* kPlaceVolume = "place";
constexpr std::string_view kFreshPrefix = "new-";

constexpr std::uint64_t kProcessesMax = 32'768;

constexpr std::chrono::milliseconds kGuestWait{60'000};
constexpr std::chrono::milliseconds kGuestSlice{200};

Error explain_creation(Error error, const plan::SandboxPlan& plan) {
  const std::string& image = plan.mounts.front().source;
  const bool of_disk = error.message.contains("storage-opt") || error.message.contains("quota");
  if (plan.limits.disk_bytes != 0 && of_disk) {
    return Error::unsupported(
        cat({"limits.disk: the engine's storage cannot hold it; leave it out, or have the "
             "engine's data on xfs mounted with pquota, btrfs or zfs: ",
             error.message}));
  }
  if (error.code != Code::kNotFound) return error;
  return Error::not_found(cat({"the engine has no image ", image,
                               "; have it pull or load it, or name another: --image, or "
                               "hutch agent set NAME image=IMAGE"}));
}

// "new-PID-NAME" of a process that is gone.
bool is_left_fresh(std::string_view name) {
  if (!name.starts_with(kFreshPrefix)) return false;
  name.remove_prefix(kFreshPrefix.size());
  pid_t pid = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
  return read.ec == std::errc() && pid > 0 && sys::is_over(pid);
}

// Its stream is the first process's alone as yet: while that is open, the number is no other process's by now.
Status check_open(int stream) {
  pollfd hangup{stream, 0, 0};
  TRY(sys::poll({&hangup, 1}, std::chrono::milliseconds(0)));
  if (hangup.revents == 0) return {};
  return fail({Code::kSystem, 0, "the container ended while it started"});
}

// An engine wants its sources without links.
Result<CreateSettings> create_settings(const Container& container, const std::string& guest_program,
                                       const std::string& owner) {
  CreateSettings settings{.engine = container.engine().version().name, .owner = owner};
  settings.engine_socket = TRY(host::canonical_path(container.engine().socket())).path;
  settings.guest_program = TRY(host::canonical_path(guest_program)).path;
  settings.place = TRY(host::canonical_path(container.place())).path;
  settings.hidden_file = TRY(host::canonical_path(container.hidden_file())).path;
  const sys::HardLimits limits = TRY(sys::hard_limits());
  settings.open_files = limits.open_files;
  // podman's service has lowered its own to the kernel's default highest number of a process.
  settings.processes = std::min<std::uint64_t>(limits.processes.value_or(kProcessesMax), kProcessesMax);
  return settings;
}

// Images whose accounts are files. An id is that of what is in it.
class SoundImages {
 public:
  bool has(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    return ids_.contains(id);
  }
  void add(const std::string& id) {
    static constexpr std::size_t kMax = 1024;
    const std::scoped_lock lock(mutex_);
    if (ids_.size() >= kMax) ids_.clear();
    ids_.insert(id);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> ids_;
};

// The engine opens these two when it starts a container. At a pipe it waits, until somebody writes there, for good: and
// then it starts none for anybody, or answers nobody.
Status check_accounts(const Engine& engine, const std::string& container) {
  static SoundImages sound;
  static constexpr int kLinksMax = 8;
  const std::string image = TRY(engine.state(container)).image;
  if (!image.empty() && sound.has(image)) return {};
  for (const std::string name : {"/etc/passwd", "/etc/group"}) {
    std::string path = name;
    auto found = TRY(engine.look(container, path));
    for (int links = 0; found && found->kind == PathInside::Kind::kLink; ++links) {
      if (links == kLinksMax || found->leads_to.empty()) break;
      path = found->leads_to;
      found = TRY(engine.look(container, path));
      // Where it leads nowhere it may lead elsewhere for the engine.
      if (!found) found.emplace();
    }
    if (!found || found->kind == PathInside::Kind::kFile || found->kind == PathInside::Kind::kDirectory) continue;
    return fail(Error::invalid(cat({"the image's ", name, " is no file, and the engine would wait for what is in it; ",
                                    "use another image, or hutch agent reset NAME, which drops what was installed"})));
  }
  if (!image.empty()) sound.add(image);
  return {};
}

}  // namespace

Result<Container> Container::prepare(Engine engine, const std::string& directory) {
  const std::string name = cat({kNamePrefix, TRY(sys::random_hex(kNameDigits / 2))});
  const std::string own = cat({directory, "/", name});
  const std::string fresh = cat({directory, "/", kFreshPrefix, std::to_string(sys::own_pid()), "-", name});
  TRY(sys::make_private_directories(fresh));
  // Held before it has the name by which others look for what nobody holds.
  UniqueFd held = TRY(sys::hold_file(cat({fresh, "/", kHeld})));
  TRY(sys::rename_at(sys::kCwd, fresh, sys::kCwd, own, sys::Replacing::kRefused));
  // From here on everything goes with it.
  Container made(std::move(engine), own, name);
  made.held_ = std::move(held);
  TRY(sys::make_file(sys::kCwd, made.hidden_file(), 0));
  TRY(sys::make_directory(sys::kCwd, made.place_, 0711));
  const UniqueFd place = TRY(sys::open_exact(made.place_));
  made.listener_ = TRY(sys::listen_beneath(place.get(), kStream));
  return made;
}

Container::Container(Engine engine, std::string directory, std::string name)
    : engine_(std::move(engine)),
      directory_(std::move(directory)),
      name_(std::move(name)),
      place_(cat({directory_, "/", kPlaceVolume})) {}

Container::~Container() { (void)remove(); }

std::string Container::hidden_file() const { return cat({directory_, "/", kHidden}); }

Result<UniqueFd> Container::accept(const ContainerState& state) {
  const auto until = std::chrono::steady_clock::now() + kGuestWait;
  while (std::chrono::steady_clock::now() < until) {
    auto connection = TRY(sys::accept_local(listener_.get(), kGuestSlice));
    if (!connection) {
      const auto now = engine_.state(name_);
      if (now && now->is_running) continue;
      return fail({Code::kSystem, 0, "the container ended at once: hutch-guest does not run in it"});
    }
    // Whoever else finds the name is no guest.
    if (static_cast<std::uint32_t>(connection->peer.pid) != state.pid) continue;
    const UniqueFd place = TRY(sys::open_exact(place_));
    sys::forget_beneath(place.get(), kStream);
    listener_.reset();
    return std::move(connection->socket);
  }
  return fail({Code::kTimeout, 0, "hutch-guest does not come up in the container"});
}

Status Container::remove() {
  if (name_.empty()) return {};
  TRY_CTX(engine_.remove(name_), cat({"remove container ", name_}));
  name_.clear();
  return sys::remove_tree(directory_);
}

Guarantees ContainerBackend::guarantees() const {
  return {.holds =
              {"a root file system of its own, of the image; of the host only what a rule names",
               "the engine's own namespaces, masks of /proc and filter of system calls, and within them the plan's "
               "filter and Landlock; no capability; no new privileges",
               "no network but its own loopback and what the gateway lets through; the machine's own where config.json "
               "says so for trusted sandboxes of the pool",
               "limits of memory, processors and processes by the engine's cgroup",
               "the end of the container ends everything in it"},
          .open = {"the kernel itself is shared: a hole in a permitted system call is a way out",
                   "there is no user namespace, unless the engine makes one: commands of root's hutch are uid 0 of the "
                   "machine, without a capability",
                   "rules by name hold for what exists at the start; nobody is asked about files",
                   "whoever may use the engine's socket is root of the machine"}};
}

Result<Instance> ContainerBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  Engine engine = TRY(Engine::find(settings_.environment));
  if (plan.limits.disk_bytes != 0) {
    const EngineInfo info = TRY(engine.info());
    TRY(check_disk_limit(info));
  }
  (void)remove_stale(settings_);
  Container prepared = TRY(Container::prepare(std::move(engine), settings_.directory));
  const auto container = std::make_shared<Container>(std::move(prepared));
  const CreateSettings own = TRY(create_settings(*container, options.guest_program, settings_.owner));
  const std::string body = TRY(create_body(plan, own));
  const auto created = container->engine().create(container->name(), body);
  if (!created) return fail(explain_creation(created.error(), plan));
  TRY(check_accounts(container->engine(), container->name()));
  TRY(container->engine().start(container->name()));
  const ContainerState state = TRY(container->engine().state(container->name()));
  UniqueFd stream = TRY(container->accept(state));
  wire::Connection guest(std::move(stream));
  auto pidfd = TRY(sys::pidfd_of(static_cast<pid_t>(state.pid)));
  TRY(check_open(guest.fd()));
  TRY(send_start(guest, wire::Isolation::kContainer, plan, options));
  Instance instance{std::move(guest), sys::ChildProcess(static_cast<pid_t>(state.pid), std::move(pidfd))};
  instance.ending = Instance::Ending::kByKeeper;
  instance.remove = [container] { return container->remove(); };
  // The engine has put it there before it is run.
  instance.limit_events = [files = host::event_files_of(state.pid)] { return host::read_events(files); };
  instance.keep_root = [engine = container->engine(), name = container->name()](const KeptRoot& kept) {
    return engine.commit(name, kept.image, kept.labels);
  };
  return instance;
}

Result<std::size_t> remove_stale(const ContainerBackend::Settings& settings) {
  const auto root = sys::open(settings.directory, sys::Open::kReadDirectory);
  if (!root) return 0;
  const auto place_of = [&](const std::string& name) { return cat({settings.directory, "/", name}); };
  std::vector<std::string> left;
  for (const sys::TreeEntry& entry : TRY(sys::names_in(root->get(), "."))) {
    const std::string own = place_of(entry.name);
    if (is_left_fresh(entry.name)) TRY(sys::remove_tree(own));
    if (entry.name.starts_with(kNamePrefix) && !sys::is_held(cat({own, "/", kHeld}))) left.push_back(entry.name);
  }
  const Engine engine = TRY(Engine::find(settings.environment));
  // One that the engine had not made yet when its directory was found and removed: it was asked to by whoever was
  // killed then. A directory is there before the engine is asked, and goes after the container.
  for (std::string& name : TRY(engine.names_of(kOwnerLabel, settings.owner))) {
    if (!sys::exists(place_of(name))) left.push_back(std::move(name));
  }
  // One that the engine cannot remove keeps none of the others.
  Status removed;
  for (const std::string& name : left) {
    Status gone = engine.remove(name);
    if (gone) gone = sys::remove_tree(place_of(name));
    if (!gone && removed) removed = fail(std::move(gone).error().with_context(cat({"remove container ", name})));
  }
  if (!removed) return fail(std::move(removed).error());
  return left.size();
}

}  // namespace hutch::backend::container
