// Processes.
#include "sys/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/check.h"
#include "sys/call.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "sys/process/host_info.h"

namespace hutch::sys {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// posix_spawn(3) answers an errno value and sets nothing.
Status check_spawn(int answer, std::initializer_list<std::string_view> what) {
  if (answer == 0) return {};
  return fail(Error::from_errno(cat(what), answer));
}

struct SpawnActions {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
  SpawnActions() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
};

Status default_signals(SpawnActions& actions) {
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  TRY(check_spawn(posix_spawnattr_setsigdefault(&actions.attributes, &all), {"posix_spawnattr_setsigdefault()"}));
  TRY(check_spawn(posix_spawnattr_setsigmask(&actions.attributes, &none), {"posix_spawnattr_setsigmask()"}));
  const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  return check_spawn(posix_spawnattr_setflags(&actions.attributes, flags), {"posix_spawnattr_setflags()"});
}

// By the process's main thread's list (proc_pid_task_children(5)); all that is asked about here has one thread.
std::string children_path(pid_t pid, std::string_view task) {
  return cat({"/proc/", std::to_string(pid), "/task/", task, "/children"});
}

constexpr std::size_t kChildrenBytesMax = 16 << 20;
constexpr std::size_t kPageBytes = 4096;

std::vector<pid_t> numbers_in(std::string_view text) {
  std::vector<pid_t> numbers;
  for (const std::string_view word : split(text, ' ')) {
    pid_t number = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    if (parsed.ec == std::errc() && number > 0) numbers.push_back(number);
  }
  return numbers;
}

// The list is made anew for each reader that begins at its start.
Result<std::vector<pid_t>> read_children(int list) {
  TRY(check(::lseek(list, 0, SEEK_SET), {"lseek(children)"}));
  return numbers_in(TRY_CTX(read_to_end(list, kChildrenBytesMax), "list the children of this process"));
}

}  // namespace

bool WaitStatus::exited() const { return WIFEXITED(raw); }
int WaitStatus::exit_code() const { return WEXITSTATUS(raw); }
int WaitStatus::signal() const { return WIFSIGNALED(raw) ? WTERMSIG(raw) : 0; }
bool WaitStatus::stopped() const { return WIFSTOPPED(raw); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  if (!signal(SIGKILL)) return;
  (void)wait();
}

Status ChildProcess::signal(int number) const {
  CHECK(pid_ > 0);
  return send_signal_by(pidfd_.get(), number);
}

Result<WaitStatus> ChildProcess::wait() {
  CHECK(pid_ > 0);
  WaitStatus status;
  const pid_t answer = retry([&] { return ::waitpid(pid_, &status.raw, 0); });
  TRY(check(answer, {"waitpid(", std::to_string(pid_), ")"}));
  pid_ = -1;
  return status;
}

Result<ChildProcess> spawn(const std::string& program, const SpawnOptions& options) {
  SpawnActions actions;
  TRY(default_signals(actions));
  // First out of the way of every target number, so that no installation overwrites a source.
  int number_min = 3;
  for (const auto& [from, to] : options.install) number_min = std::max({number_min, to + 1});
  std::vector<UniqueFd> copies;
  for (const auto& [from, to] : options.install) {
    copies.push_back(TRY(check_fd(::fcntl(from, F_DUPFD_CLOEXEC, number_min), {"fcntl(F_DUPFD_CLOEXEC)"})));
    TRY(check_spawn(posix_spawn_file_actions_adddup2(&actions.files, copies.back().get(), to),
                    {"posix_spawn_file_actions_adddup2()"}));
  }
  TRY(check_spawn(posix_spawn_file_actions_addclosefrom_np(&actions.files, number_min),
                  {"posix_spawn_file_actions_addclosefrom_np()"}));
  const std::vector<char*> argv = pointers(options.arguments);
  const std::vector<char*> envp = pointers(options.environment);
  pid_t pid = -1;
  TRY(check_spawn(posix_spawn(&pid, program.c_str(), &actions.files, &actions.attributes, argv.data(), envp.data()),
                  {"posix_spawn(", program, ")"}));
  return adopt_child(pid);
}

// One that cannot be held is ended: nobody else would wait for it.
Result<ChildProcess> adopt_child(pid_t pid) {
  auto pidfd = pidfd_of(pid);
  if (pidfd) return ChildProcess(pid, std::move(*pidfd));
  (void)send_signal(pid, SIGKILL);
  (void)reap(pid);
  return fail(std::move(pidfd).error());
}

Result<pid_t> fork_process(Parentage parentage) {
  if (parentage == Parentage::kOwn) {
    const pid_t pid = ::fork();
    TRY(check(pid, {"fork()"}));
    return pid;
  }
  const auto pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  TRY(check(pid, {"clone(CLONE_PARENT)"}));
  return static_cast<pid_t>(pid);
}

Result<pid_t> fork_for_program(const std::function<void()>& child) {
  // The stack grows down; what the child leaves on it is of no use to anybody once it has its own memory.
  static constexpr std::size_t kStackBytes = 256 << 10;
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return fail(Error::from_errno("mmap(stack)"));
  const auto enter = [](void* function) {
    (*static_cast<const std::function<void()>*>(function))();
    return 125;
  };
  const pid_t pid = ::clone(enter, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD,
                            const_cast<std::function<void()>*>(&child));
  const Status cloned = check(pid, {"clone(CLONE_VFORK)"});
  ::munmap(stack, kStackBytes);
  TRY(cloned);
  return pid;
}

Result<std::optional<Ended>> wait_any(Wait wait) {
  Ended ended;
  const int flags = wait == Wait::kNow ? WNOHANG : 0;
  ended.pid = retry([&] { return ::waitpid(-1, &ended.status.raw, flags); });
  if (ended.pid == 0 || (ended.pid < 0 && errno == ECHILD)) return std::optional<Ended>();
  TRY(check(ended.pid, {"waitpid(-1)"}));
  return std::optional<Ended>(ended);
}

Result<bool> has_children() {
  siginfo_t unused{};
  const int answer = retry([&] { return ::waitid(P_ALL, 0, &unused, WEXITED | WNOHANG | WNOWAIT); });
  if (answer < 0 && errno == ECHILD) return false;
  TRY(check(answer, {"waitid(P_ALL)"}));
  return true;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const auto tasks = list_directory(cat({"/proc/", std::to_string(pid), "/task"}), Listing::kAll);
  if (!tasks) return children;
  for (const DirectoryEntry& task : *tasks) {
    const auto text = read_file(children_path(pid, task.name), kChildrenBytesMax);
    if (!text) continue;
    const std::vector<pid_t> of_task = numbers_in(*text);
    children.insert(children.end(), of_task.begin(), of_task.end());
  }
  return children;
}

std::optional<ChildrenThen> ChildrenThen::of(pid_t pid) {
  const auto tasks = list_directory(cat({"/proc/", std::to_string(pid), "/task"}), Listing::kAll);
  if (!tasks || tasks->size() != 1) return std::nullopt;
  auto process = pidfd_of(pid);
  auto list = open(children_path(pid, std::to_string(pid)), Open::kRead);
  auto children = list ? read_children(list->get()) : Result<std::vector<pid_t>>(std::vector<pid_t>());
  if (!process || !list || !children) return std::nullopt;
  return ChildrenThen(std::move(*process), std::move(*list), std::move(*children));
}

bool ChildrenThen::are_the_same() const {
  const auto now = read_children(list_.get());
  if (!now || *now != children_) return false;
  // Afterwards: a child that ends while the list is read takes a later one's place in it (proc_pid_task_children(5)).
  pollfd ended{process_.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

bool is_over(pid_t pid) {
  const auto stat = read_file(cat({"/proc/", std::to_string(pid), "/stat"}), kPageBytes);
  if (!stat) return true;
  // The state follows the name, which may hold any character (proc_pid_stat(5)).
  const std::size_t name_end = stat->rfind(')');
  return name_end == std::string::npos || stat->substr(name_end).starts_with(") Z");
}

std::optional<std::uint64_t> start_of(pid_t pid) {
  constexpr int kStartAfterName = 20;  // the 22nd field, and the name is the second
  const auto stat = read_file(cat({"/proc/", std::to_string(pid), "/stat"}), kPageBytes);
  if (!stat) return std::nullopt;
  std::size_t at = stat->rfind(')');
  for (int field = 0; field < kStartAfterName && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t start = 0;
  const auto [end, error] = std::from_chars(stat->data() + at + 1, stat->data() + stat->size(), start);
  return error == std::errc() ? std::optional(start) : std::nullopt;
}

Result<ChildrenMark> ChildrenMark::set() {
  UniqueFd list = TRY(open(children_path(::getpid(), std::to_string(::getpid())), Open::kRead));
  std::vector<pid_t> earlier = TRY(read_children(list.get()));
  return ChildrenMark(std::move(list), std::move(earlier));
}

Status ChildrenMark::end_later() const {
  for (;;) {
    std::vector<pid_t> later = TRY(read_children(list_.get()));
    std::erase_if(later, [&](pid_t child) { return std::ranges::find(earlier_, child) != earlier_.end(); });
    if (later.empty()) return {};
    // Those of a killed one fall to this process in turn.
    for (const pid_t child : later) {
      TRY(send_signal(child, SIGKILL));
      TRY(check(retry([&] { return ::waitpid(child, nullptr, 0); }), {"waitpid(", std::to_string(child), ")"}));
    }
  }
}

Status reap_orphans() {
  // A child that was this process's own before it became hutch is never waited for: hence the end.
  static constexpr int kMomentsMax = 5000;
  for (int i = 0; i < kMomentsMax; ++i) {
    int raw = 0;
    const pid_t ended = ::waitpid(-1, &raw, WNOHANG);
    if (ended < 0) return {};
    if (ended == 0) TRY(pause_briefly());
  }
  return {};
}

Status reap(pid_t child) {
  const pid_t answer = retry([&] { return ::waitpid(child, nullptr, 0); });
  if (answer < 0 && errno == ECHILD) return {};
  return check(answer, {"waitpid(", std::to_string(child), ")"});
}

Status send_signal(pid_t target, int number) {
  const int answer = ::kill(target, number);
  if (answer < 0 && errno == ESRCH) return {};
  return check(answer, {"kill(", std::to_string(target), ", ", std::to_string(number), ")"});
}

Status send_signal_by(int pidfd, int number) {
  const auto answer = ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
  if (answer < 0 && errno == ESRCH) return {};
  return check(answer, {"pidfd_send_signal(", std::to_string(number), ")"});
}

Result<UniqueFd> pidfd_of(pid_t pid) {
  return check_fd(::syscall(SYS_pidfd_open, pid, 0), {"pidfd_open(", std::to_string(pid), ")"});
}

pid_t process_group_of(pid_t process) { return ::getpgid(process); }

Status die_with_parent() { return check(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), {"prctl(PR_SET_PDEATHSIG)"}); }

Status become_subreaper() {
  return check(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), {"prctl(PR_SET_CHILD_SUBREAPER)"});
}

int execute(const std::string& path, const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment) {
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  ::execve(path.c_str(), argv.data(), envp.data());
  return errno;
}

void exit_now(int code) { ::_exit(code); }

void become_job_waiter(pid_t pid, int stops) {
  // Nothing but the job and the pipe is this process's business any more; the terminal in particular would otherwise
  // stay open after the job closed it.
  (void)::dup2(stops, 0);
  (void)::syscall(SYS_close_range, 1, ~0U, 0);
  WaitStatus status;
  for (;;) {
    const pid_t ended = retry([&] { return ::waitpid(pid, &status.raw, WUNTRACED); });
    if (ended < 0) ::_exit(125);
    if (!status.stopped()) break;
    (void)retry([] { return ::write(0, "s", 1); });
  }
  if (status.exited()) ::_exit(status.exit_code());
  // A core of this process would say nothing about the job.
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)::signal(status.signal(), SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)::raise(status.signal());
  ::_exit(128 + status.signal());
}

Status pause_briefly() {
  const timespec moment{0, 1'000'000};
  return check(retry([&] { return ::nanosleep(&moment, nullptr); }), {"nanosleep()"});
}

void set_umask(unsigned mask) { ::umask(mask); }

Result<std::string> own_program() { return read_link("/proc/self/exe"); }

pid_t own_pid() { return ::getpid(); }

}  // namespace hutch::sys
