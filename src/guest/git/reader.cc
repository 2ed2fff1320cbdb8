// The process that reads objects of git, and what it is asked.
#include "guest/git/reader.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "guest/git/store.h"
#include "sys/channel.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/lockdown.h"
#include "sys/process/process.h"
#include "sys/process/rlimits.h"

namespace hutch::guest {

namespace {

#if defined(__x86_64__)
constexpr unsigned kReaderArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kReaderArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this architecture are not known here"
#endif

constexpr std::uint64_t kReaderMemoryMax = 512ULL << 20;
// A sanitizer maps terabytes.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kReaderMayLimit = false;
#else
constexpr bool kReaderMayLimit = true;
#endif
#else
constexpr bool kReaderMayLimit = true;
#endif
constexpr int kReaderStream = 0;
constexpr int kReaderObjects = 1;

constexpr long kReaderCalls[] = {
    SYS_read,       SYS_write,          SYS_pread64,      SYS_lseek,           SYS_close,  SYS_fcntl,      SYS_fstat,
    SYS_newfstatat, SYS_statx,          SYS_getdents64,   SYS_munmap,          SYS_mremap, SYS_madvise,    SYS_brk,
    SYS_futex,      SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit,   SYS_exit_group,
};

sock_filter reader_load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
sock_filter reader_answer(unsigned value) { return BPF_STMT(BPF_RET | BPF_K, value); }
// Goes on with the next instruction when it is that value, else `skip` further.
sock_filter reader_when(long value, unsigned char skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(value), 0, skip);
}

std::vector<sock_filter> reader_program() {
  static constexpr unsigned kRefused = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> program;
  program.push_back(reader_load(offsetof(seccomp_data, arch)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kReaderArchitecture, 1, 0));
  program.push_back(reader_answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(reader_load(offsetof(seccomp_data, nr)));
  for (const long number : kReaderCalls) {
    program.push_back(reader_when(number, 1));
    program.push_back(reader_answer(SECCOMP_RET_ALLOW));
  }
  // Files are opened for reading only, and memory is never code. Both architectures are little-endian: the low half of
  // the third argument is looked at.
  struct Forbidden {
    long number;
    unsigned bits;
  };
  for (const auto& [number, bits] :
       {Forbidden{SYS_openat, O_ACCMODE | O_CREAT | O_TRUNC}, {SYS_mmap, PROT_EXEC}, {SYS_mprotect, PROT_EXEC}}) {
    program.push_back(reader_when(number, 4));
    program.push_back(reader_load(offsetof(seccomp_data, args) + 16));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    program.push_back(reader_answer(kRefused));
    program.push_back(reader_answer(SECCOMP_RET_ALLOW));
  }
  program.push_back(reader_answer(kRefused));
  return program;
}

Status confine_reader(int stream, int objects) {
  TRY(sys::install_fd(stream, kReaderStream));
  TRY(sys::install_fd(objects, kReaderObjects));
  TRY(sys::close_from(kReaderObjects + 1));
  TRY(sys::die_with_parent());
  TRY(sys::give_up_capabilities());
  TRY(sys::no_new_privileges());
  TRY(sys::limit_resource(sys::Resource::kCoreSize, 0));
  if (kReaderMayLimit) TRY(sys::limit_resource(sys::Resource::kAddressSpace, kReaderMemoryMax));
  const std::vector<sock_filter> program = reader_program();
  TRY(sys::install_filter(program.data(), program.size(), sys::Listener::kNone));
  return {};
}

std::optional<std::string> read_exactly(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const auto count = sys::read_some(fd, std::span(bytes).subspan(at));
    if (!count || *count == 0) return std::nullopt;
    at += *count;
  }
  return bytes;
}

Status answer_questions() {
  GitStore store{UniqueFd(kReaderObjects)};
  for (;;) {
    const auto size = read_exactly(kReaderStream, 1);
    if (!size) return {};
    const auto asked = static_cast<unsigned char>(size->front());
    const auto name = read_exactly(kReaderStream, asked & ~wire::kAllCopiesBit);
    if (!name || name->size() < 2) return {};
    using enum GitStore::Copies;
    const bool all = (asked & wire::kAllCopiesBit) != 0;
    TRY(wire::send_git_object(kReaderStream, store.read(*name, all ? kAllAlike : kFirst)));
  }
}

}  // namespace

Status serve_git_objects(int stream, int objects) {
  TRY(confine_reader(stream, objects));
  return answer_questions();
}

Result<GitReader> GitReader::start(UniqueFd objects) {
  auto [ours, its] = TRY(sys::socket_pair());
  // Neither takes the other's number.
  const UniqueFd stream = TRY(sys::duplicate(its.get(), kReaderObjects + 1));
  const UniqueFd directory = TRY(sys::duplicate(objects.get(), kReaderObjects + 1));
  const pid_t pid = TRY(sys::fork_process(sys::Parentage::kOwn));
  if (pid == 0) sys::exit_now(serve_git_objects(stream.get(), directory.get()) ? 0 : 1);
  return GitReader(TRY(sys::adopt_child(pid)), std::move(ours));
}

}  // namespace hutch::guest
