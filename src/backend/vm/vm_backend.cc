// Backend `vm`.
#include "backend/vm/vm_backend.h"

#include <sys/stat.h>

#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include "backend/guest_process.h"
#include "backend/vm/initramfs.h"
#include "base/text.h"
#include "sys/channel.h"
#include "sys/disk.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/io.h"
#include "sys/journal.h"
#include "sys/process.h"
#include "sys/tree.h"
#include "sys/whole_file.h"

namespace hutch::backend::vm {

namespace {

constexpr const char* kMakeFileSystem = "/usr/sbin/mke2fs";
constexpr std::uint64_t kChangesBytes = 8ULL << 30;
constexpr std::size_t kBootFileMax = 64 << 20;
constexpr std::size_t kConsoleMax = 64 << 10;
constexpr std::uint32_t kQemuCommand = 1;
constexpr std::string_view kGuestSays = "hutch-guest: ";

// What a machine writes, in a directory "PID-RANDOM" of its own; it goes with this.
class RunFiles {
 public:
  static Result<RunFiles> make(const std::string& directory);
  RunFiles(RunFiles&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  RunFiles& operator=(RunFiles&&) = delete;
  ~RunFiles() {
    if (!path_.empty()) (void)sys::remove_tree(path_);
  }
  std::string file(std::string_view name) const { return cat({path_, "/", name}); }

 private:
  explicit RunFiles(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Those of a hutch that was killed.
void remove_left(const std::string& directory) {
  const auto listing = sys::open_listing(directory);
  if (!listing) return;
  const auto names = sys::names_in(listing->get(), directory);
  for (const sys::TreeEntry& entry : names.value_or(std::vector<sys::TreeEntry>())) {
    pid_t pid = 0;
    const auto read = std::from_chars(entry.name.data(), entry.name.data() + entry.name.size(), pid);
    const bool ours = read.ec == std::errc() && pid > 0 && *read.ptr == '-';
    if (ours && sys::is_over(pid)) (void)sys::remove_tree(cat({directory, "/", entry.name}));
  }
}

Result<RunFiles> RunFiles::make(const std::string& directory) {
  TRY(sys::make_private_directories(directory));
  remove_left(directory);
  std::string path = cat({directory, "/", std::to_string(sys::own_pid()), "-", TRY(sys::random_hex(8))});
  TRY(sys::make_directory(sys::kCwd, path, 0700));
  return RunFiles(std::move(path));
}

Status make_changes(const std::string& path) {
  TRY(sys::make_sparse_file(path, kChangesBytes));
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kWrite));
  auto made =
      TRY(sys::spawn(kMakeFileSystem, {.arguments = {"mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-E",
                                                     "lazy_itable_init=1,lazy_journal_init=1", path},
                                       .environment = {"PATH=/usr/sbin:/usr/bin"},
                                       .install = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}}}));
  const sys::WaitStatus ended = TRY(made.wait());
  if (ended.exited() && ended.exit_code() == 0) return {};
  return fail({Code::kSystem, 0, cat({kMakeFileSystem, ": could not make a file system in ", path})});
}

Status write_initramfs(const std::string& path, const std::string& guest_program,
                       const std::vector<std::string>& modules) {
  std::vector<BootFile> files = {{"dev", S_IFDIR | 0755, ""},
                                 {"proc", S_IFDIR | 0755, ""},
                                 {"sys", S_IFDIR | 0755, ""},
                                 {"modules", S_IFDIR | 0755, ""}};
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::string number = std::to_string(100 + i);
    files.push_back({cat({"modules/", number}), S_IFREG | 0644, TRY(sys::regular_file_text(modules[i], kBootFileMax))});
  }
  files.push_back({"init", S_IFREG | 0755, TRY(sys::regular_file_text(guest_program, kBootFileMax))});
  return sys::replace_file(path, initramfs(files));
}

Result<std::vector<SystemName>> system_names() {
  std::vector<SystemName> names;
  for (const char* path : {"/bin", "/lib", "/lib32", "/lib64", "/sbin"}) {
    const auto status = TRY(sys::status_of(path));
    if (!status) continue;
    const bool link = status->kind == sys::EntryKind::kSymlink;
    names.push_back({path, link ? TRY(sys::read_link(path)) : std::string()});
  }
  return names;
}

// What has to live as long as the machine does.
struct Machine {
  RunFiles files;
  Instance jail;
  sys::ChildProcess relay{};
};

Result<wire::ToHost> expect(wire::Connection& guest, std::string_view what) {
  wire::ToHost message = TRY_CTX(receive_message(guest), what);
  if (auto* failed = std::get_if<wire::Failed>(&message)) return fail(std::move(failed->error).with_context(what));
  return message;
}

// What the guest said on the machine's console, else the last line there, which may be QEMU's.
std::string last_words(const UniqueFd& console) {
  std::string bytes(kConsoleMax, '\0');
  (void)sys::set_nonblocking(console.get());
  const auto size = sys::read_some(console.get(), bytes);
  bytes.resize(size.value_or(0));
  std::string said;
  for (const std::string_view line : split(bytes, '\n')) {
    if (line.empty() || line == "\r") continue;
    said = printable(line.substr(0, line.find('\r')));
    if (line.starts_with(kGuestSays)) break;
  }
  return said.empty() ? said : cat({"; its last words: ", said});
}

}  // namespace

Guarantees VmBackend::guarantees() const {
  return {.holds = {"another kernel: a hole in a system call ends in the machine, not on this one",
                    "nothing of this machine's files is there, but the system it was provisioned with, read-only",
                    "no network at all: the machine has no card",
                    "QEMU has no network, no home and no capability either, behind its own filter of system calls and "
                    "hutch's",
                    "in the machine the command is an ordinary user, in namespaces of its own"},
          .open = {"emulation of devices by QEMU is what is attacked first; a fault there meets QEMU's jail",
                   "timing, load and memory pressure of the machine can be felt",
                   "no files of this machine's are shared with it, and nobody is asked about anything"}};
}

Result<Instance> VmBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  const MachineSize size = TRY(machine_size(plan.limits));
  RunFiles files = TRY_CTX(RunFiles::make(settings_.directory), "make room for the machine");
  const MachineFiles of_machine{settings_.kernel, files.file("initramfs"), settings_.system, files.file("changes")};
  TRY(make_changes(of_machine.changes));
  TRY(write_initramfs(of_machine.initramfs, options.guest_program, settings_.modules));
  plan::SandboxPlan jail = jail_plan(of_machine, TRY(system_names()), sys::user_id(), sys::group_id());
  jail.seccomp = settings_.filter;
  auto [machine_end, qemu_end] = TRY(sys::socket_pair());
  sys::Pipe console = TRY(sys::pipe());
  auto machine =
      std::make_shared<Machine>(std::move(files), TRY_CTX(jails_->start(jail, {.guest_program = options.guest_program,
                                                                               .landlock_abi = options.landlock_abi,
                                                                               .admit = options.admit}),
                                                          "QEMU's jail"));
  wire::Connection& warden = machine->jail.guest;
  if (!std::holds_alternative<wire::Ready>(TRY(expect(warden, "QEMU's jail")))) {
    return fail(Error::invalid("QEMU's jail: unexpected message"));
  }
  wire::Exec qemu;
  qemu.command = kQemuCommand;
  qemu.arguments = qemu_arguments(size);
  qemu.environment = jail.environment;
  qemu.cwd = jail.cwd;
  const std::array streams = {qemu_end.get(), console.write.get(), console.write.get()};
  TRY(warden.send(wire::ToGuest(std::move(qemu)), streams));
  qemu_end.reset();
  console.write.reset();
  if (!std::holds_alternative<wire::Started>(TRY(expect(warden, "start QEMU")))) {
    return fail(Error::unsupported(cat({kQemu, " does not start; apt-get install qemu-system-x86"})));
  }
  auto [host_end, relay_end] = TRY(sys::socket_pair());
  machine->relay = TRY(sys::spawn(options.guest_program, {.arguments = {"hutch-guest", "--relay"},
                                                          .environment = {},
                                                          .install = {{relay_end.get(), 0}, {machine_end.get(), 3}}}));
  relay_end.reset();
  machine_end.reset();
  wire::Connection guest(std::move(host_end));
  StartOptions in_machine = options;
  in_machine.landlock_abi = 0;
  const Status sent = send_start(guest, wire::Isolation::kOsUser, plan, in_machine);
  auto spawned = sent ? expect(guest, "the machine") : Result<wire::ToHost>(fail(sent.error()));
  if (!spawned) {
    Error error = std::move(spawned).error();
    error.message += last_words(console.read);
    return fail(std::move(error));
  }
  Instance instance{.guest = std::move(guest), .process = std::move(machine->jail.process)};
  instance.remove = [machine]() -> Status { return {}; };
  return instance;
}

}  // namespace hutch::backend::vm
