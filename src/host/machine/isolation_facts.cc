// The probes behind IsolationFacts: sysctls, /proc/self/status, and really starting the programs.
#include "host/machine/isolation_facts.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "base/text.h"
#include "host/machine/account.h"
#include "host/machine/facts.h"
#include "host/machine/people.h"
#include "host/state_dirs.h"
#include "plan/setup/os_user.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::host {

namespace {

constexpr std::size_t kProcBytesMax = 1 << 20;
constexpr std::size_t kOutputBytesMax = 1 << 16;
constexpr std::chrono::seconds kTrialTimeMax{20};
constexpr std::uint64_t kCapSysAdmin = 1ULL << 21;  // linux/capability.h

// The end of a program and the first line that it wrote.
struct Answer {
  bool succeeded = false;
  std::string line;
  bool lacks_descriptors = false;  // it was not even started
};

std::optional<std::int64_t> sysctl(const char* path);
bool has_os_user(std::uint32_t uid, const std::string& person);
bool has_machine_files();
void add_process_status(IsolationFacts& facts);
std::string container_kind();
std::string install_command();
Answer ask(const std::string& program, std::vector<std::string> arguments);
Answer try_bubblewrap(const std::string& program);
std::string last_word(std::string_view line);

}  // namespace

IsolationFacts probe_isolation(Effort effort, std::optional<policy::BackendKind> backend,
                               const std::string& guest_program) {
  IsolationFacts facts;
  facts.uid = sys::user_id();
  add_process_status(facts);
  facts.is_in_sandbox = sys::environment_variable("HUTCH") && sys::environment_variable("HUTCH_BACKEND") != "none";
  facts.max_user_namespaces = sysctl("/proc/sys/user/max_user_namespaces");
  facts.unprivileged_namespaces = sysctl("/proc/sys/kernel/unprivileged_userns_clone");
  facts.apparmor_restriction = sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  facts.has_apparmor_profile = sys::exists("/etc/apparmor.d/hutch");
  facts.container = container_kind();
  facts.install_command = install_command();
  facts.guest_program = guest_program.empty() ? find_guest_program() : guest_program;
  facts.user = person_name(facts.uid).value_or(std::to_string(facts.uid));
  facts.has_os_user = has_os_user(facts.uid, facts.user);
  facts.has_qemu = !find_system_program("qemu-system-x86_64").empty();
  facts.has_machine_files = has_machine_files();
  facts.bubblewrap = find_system_program("bwrap");
  if (!facts.bubblewrap.empty()) {
    facts.bubblewrap_version = last_word(ask(facts.bubblewrap, {"--version"}).line);
  }
  if (effort == Effort::kLook) return facts;

  const auto trial = [](const Answer& answer) { return answer.succeeded ? Trial::kWorks : Trial::kFails; };
  if (!facts.guest_program.empty() && backend != policy::BackendKind::kBwrap && backend != policy::BackendKind::kUser) {
    Answer answer = ask(facts.guest_program, {"--probe"});
    facts.namespaces = trial(answer);
    facts.lacks_descriptors = answer.lacks_descriptors;
    (answer.succeeded ? facts.no_capture : facts.namespaces_failure) = std::move(answer.line);
  }
  if (!facts.bubblewrap.empty() && (!backend || backend == policy::BackendKind::kBwrap)) {
    Answer answer = try_bubblewrap(facts.bubblewrap);
    facts.bubblewrap_trial = trial(answer);
    facts.lacks_descriptors = facts.lacks_descriptors || answer.lacks_descriptors;
    facts.bubblewrap_failure = std::move(answer.line);
  }
  return facts;
}

std::string find_guest_program() {
  const Result<std::string> own = sys::own_program();
  if (!own) return {};
  const std::string directory = own->substr(0, own->rfind('/'));
  for (const std::string& candidate : {directory + "/hutch-guest", directory + "/../lib/hutch/hutch-guest"}) {
    if (!sys::is_executable_file(candidate)) continue;
    if (Result<std::string> canonical = sys::canonical_path(candidate)) return std::move(*canonical);
  }
  return {};
}

std::string find_system_program(std::string_view program) {
  for (const char* directory : {"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/", "/usr/local/sbin/",
                                "/run/current-system/sw/bin/"}) {
    std::string candidate = cat({directory, program});
    if (sys::is_executable_file(candidate)) return candidate;
  }
  return {};
}

namespace {

std::optional<std::int64_t> sysctl(const char* path) {
  const Result<std::string> text = sys::read_file(path, kProcBytesMax);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool has_os_user(std::uint32_t uid, const std::string& person) {
  const std::string name = uid == 0 ? std::string(plan::kCommonUser) : plan::os_user_name_of(person, "");
  const auto found = find_os_user(name);
  if (!found || !found->has_value() || !check_is_no_person(**found)) return false;
  return uid == 0 || may_become(uid, name).value_or(false);
}

// Where hutch vm provision puts them (service/vm/files.cc).
bool has_machine_files() {
  const auto home = home_directory();
  const auto dirs = home ? own_state_dirs(sys::user_id(), *home) : Result<StateDirs>(fail(home.error()));
  return dirs && sys::exists(cat({dirs->data, "/vm/files/manifest.json"}));
}

// proc_pid_status(5).
void add_process_status(IsolationFacts& facts) {
  const std::string status = sys::read_file("/proc/self/status", kProcBytesMax).value_or(std::string());
  for (const std::string_view line : split(status, '\n')) {
    const auto colon = line.find(":\t");
    if (colon == line.npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 2);
    if (name == "CapEff") {
      std::uint64_t capabilities = 0;
      std::from_chars(value.data(), value.data() + value.size(), capabilities, 16);
      facts.may_administer = (capabilities & kCapSysAdmin) != 0;
    } else if (name == "Seccomp_filters") {
      facts.has_seccomp = true;
    } else if (name == "Seccomp") {
      facts.has_seccomp = true;
      facts.is_filtered = value == "2";
    }
  }
}

// systemd's and the engines' own marks (systemd-detect-virt(1) reads the same).
std::string container_kind() {
  if (const Result<std::string> kind = sys::read_file("/run/systemd/container", kProcBytesMax);
      kind && !kind->empty()) {
    return std::string(split(*kind, '\n').front());
  }
  if (sys::exists("/run/.containerenv")) return "podman";
  if (sys::exists("/.dockerenv")) return "docker";
  return sys::environment_variable("container").value_or(std::string());
}

std::string install_command() {
  static constexpr std::pair<std::string_view, std::string_view> kManagers[] = {
      {"apt-get", "sudo apt-get install"}, {"dnf", "sudo dnf install"}, {"pacman", "sudo pacman -S"},
      {"zypper", "sudo zypper install"},   {"apk", "sudo apk add"},
  };
  for (const auto& [program, command] : kManagers) {
    if (!find_system_program(program).empty()) return std::string(command);
  }
  return "install";
}

Answer failed(const Error& error) {
  const bool lacks = error.sys_errno == EMFILE || error.sys_errno == ENFILE;
  return {.succeeded = false, .line = error.message, .lacks_descriptors = lacks};
}

// Both of the program's streams arrive here; a program that does not end in time is killed by its owner's end.
Answer ask(const std::string& program, std::vector<std::string> arguments) {
  Result<sys::Pipe> pipe = sys::pipe();
  if (!pipe) return failed(pipe.error());
  Result<UniqueFd> null = sys::open("/dev/null", sys::Open::kRead);
  if (!null) return failed(null.error());
  arguments.insert(arguments.begin(), program);
  Result<sys::ChildProcess> child =
      sys::spawn(program, {.arguments = std::move(arguments),
                           .environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"},
                           .install = {{null->get(), 0}, {pipe->write.get(), 1}, {pipe->write.get(), 2}}});
  if (!child) return failed(child.error());
  pipe->write.reset();

  std::string output;
  const auto deadline = std::chrono::steady_clock::now() + kTrialTimeMax;
  for (std::array<char, 4096> buffer; output.size() < kOutputBytesMax;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> ready = {{{pipe->read.get(), POLLIN, 0}, {child->pidfd(), POLLIN, 0}}};
    const Result<int> count = sys::poll(ready, std::max(left, std::chrono::milliseconds(0)));
    if (!count) return failed(count.error());
    if (*count == 0 && left.count() <= 0) return {.succeeded = false, .line = program + " did not answer"};
    // What it left behind may hold the stream open: half of a bubblewrap that fails waits for the other half for ever.
    if (ready[0].revents == 0 && ready[1].revents != 0) break;
    if (ready[0].revents == 0) continue;
    const Result<std::size_t> size = sys::read_some(pipe->read.get(), buffer);
    if (!size) return failed(size.error());
    if (*size == 0) break;
    output.append(buffer.data(), *size);
  }
  const Result<sys::WaitStatus> status = child->wait();
  if (!status) return failed(status.error());
  return {.succeeded = status->exited() && status->exit_code() == 0, .line = output.substr(0, output.find('\n'))};
}

// Inside, bubblewrap's own --version: a program that is there in any case and needs nothing.
Answer try_bubblewrap(const std::string& program) {
  // For what a bubblewrap that fails may leave behind.
  if (const Status adopts = sys::become_subreaper(); !adopts) return failed(adopts.error());
  const Result<sys::ChildrenMark> mark = sys::ChildrenMark::set();
  if (!mark) return failed(mark.error());
  Answer answer = ask(program, {"--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--proc", "/proc", "--dev",
                                "/dev", "--", program, "--version"});
  if (const Status ended = mark->end_later(); !ended) return failed(ended.error());
  return answer;
}

std::string last_word(std::string_view line) { return std::string(line.substr(line.rfind(' ') + 1)); }

}  // namespace

}  // namespace hutch::host
