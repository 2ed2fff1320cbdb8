// Processes: start, wait, signal, execute. posix_spawn(3), clone(2), pidfd_open(2), waitid(2), execve(2), prlimit(2).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// How a process ended, as waitpid(2) reports it, or that it was stopped.
struct WaitStatus {
  int raw = 0;
  bool exited() const;
  int exit_code() const;
  int signal() const;  // of a process that was killed by one
  bool stopped() const;
};

// A child and its pidfd. A child that is still there when its owner goes is killed and reaped.
class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  explicit operator bool() const { return pid_ > 0; }

  Status signal(int number) const;
  // Waits until it has ended, and reaps it.
  Result<WaitStatus> wait();
  // It goes on without this owner.
  void leave() { pid_ = -1; }

 private:
  pid_t pid_ = -1;
  UniqueFd pidfd_;
};

// Starts `program` (a path, or a descriptor's /proc name) with just the descriptors of `install`: each pair is the
// borrowed descriptor and the number it gets. All signals at their defaults, none blocked.
struct SpawnOptions {
  std::vector<std::string> arguments;    // argv, the program's own name first
  std::vector<std::string> environment;  // all of it
  std::vector<std::pair<int, int>> install;
};
Result<ChildProcess> spawn(const std::string& program, const SpawnOptions& options);

// A descriptor for a child that somebody else started with this process as its parent (CLONE_PARENT).
Result<ChildProcess> adopt_child(pid_t pid);

enum class Parentage { kOwn, kSibling };

// fork(2), or with kSibling clone(2) with CLONE_PARENT: the child's parent is this process's own. 0 in the child.
Result<pid_t> fork_process(Parentage parentage);

// A process that runs `child`, which has to execute a program or end: until then it shares this process's memory, which
// stands still, and no page is copied for it (vfork(2)). Descriptors, signals and limits are its own.
Result<pid_t> fork_for_program(const std::function<void()>& child);

// A child of this process that ended or stopped, absent when there is none now.
struct Ended {
  pid_t pid = 0;
  WaitStatus status;
};
enum class Wait { kNow, kBlock };
Result<std::optional<Ended>> wait_any(Wait wait);
// Whether there is one that wait_any() would wait for. It takes no descriptor.
Result<bool> has_children();

// The children of a process, those of all its threads; a process that is gone has none.
std::vector<pid_t> children_of(pid_t pid);

// The children that a process had when this was made. It stays about that process: a later one of its number is
// another.
class ChildrenThen {
 public:
  // Absent for a process of several threads, each of which has a list.
  static std::optional<ChildrenThen> of(pid_t pid);
  // False once the process has ended: its number, which its parent's list shows, may be another's by then.
  bool are_the_same() const;

 private:
  ChildrenThen(UniqueFd process, UniqueFd list, std::vector<pid_t> children)
      : process_(std::move(process)), list_(std::move(list)), children_(std::move(children)) {}
  UniqueFd process_;
  UniqueFd list_;
  std::vector<pid_t> children_;
};

// Whether it has ended and waits for its parent to hear so, or is gone.
bool is_over(pid_t pid);

// When it started, in ticks since the machine did: tells a process from a later one of the same number
// (proc_pid_stat(5)). Absent where there is none.
std::optional<std::uint64_t> start_of(pid_t pid);

// Tells the children that this process has now from those that come later: what a program that failed leaves to its
// subreaper, and what will not end by itself. Whatever ending them takes is open from the start, so that nothing stays
// behind where no file can be opened any more.
class ChildrenMark {
 public:
  static Result<ChildrenMark> set();
  // Kills and reaps the later ones.
  Status end_later() const;

 private:
  ChildrenMark(UniqueFd list, std::vector<pid_t> earlier) : list_(std::move(list)), earlier_(std::move(earlier)) {}
  UniqueFd list_;
  std::vector<pid_t> earlier_;
};

// Waits for every descendant that was left to this process as their subreaper; at most a few seconds.
Status reap_orphans();
// Waits for one of them; one that is none of this process's children by now is no error.
Status reap(pid_t child);

// To one process, to a process group (negative), or to all that this process may signal (-1). Nobody there is success.
Status send_signal(pid_t target, int number);
// The same by its pidfd.
Status send_signal_by(int pidfd, int number);

// Of the main thread of a process; EINVAL for another thread (pidfd_open(2)).
Result<UniqueFd> pidfd_of(pid_t pid);

// -1 where there is no such process (getpgid(2)).
pid_t process_group_of(pid_t process);

// This process dies when its parent does (prctl(2), PR_SET_PDEATHSIG).
Status die_with_parent();

// Orphaned descendants become this process's children (prctl(2), PR_SET_CHILD_SUBREAPER).
Status become_subreaper();

// Replaces this program; the answer is the errno value of execve(2), which only returns to fail.
int execute(const std::string& path, const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment);

[[noreturn]] void exit_now(int code);

// Waits for the job `pid`, writing one byte to `stops` each time it is stopped, and ends as it does: with its exit
// code, or by the signal that ended it.
[[noreturn]] void become_job_waiter(pid_t pid, int stops);

// Gives others a moment to run: 1 ms.
Status pause_briefly();

// The file-creation mask is a process's own.
void set_umask(unsigned mask);

// The path of the program that runs, and this process's number.
Result<std::string> own_program();
pid_t own_pid();

}  // namespace hutch::sys
