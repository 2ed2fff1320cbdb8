// The process that reads objects of git, and what it is asked.
#include "guest/git_reader.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "guest/git_store.h"
#include "sys/channel.h"
#include "sys/identity.h"
#include "sys/io.h"
#include "sys/lockdown.h"
#include "sys/process.h"
#include "sys/rlimits.h"

namespace hutch::guest {

namespace {

#if defined(__x86_64__)
constexpr unsigned kReaderArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kReaderArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this architecture are not known here"
#endif

// A question is the size of a name and the name. An answer is the kind of the object, the number of its bytes in four
// bytes, and the bytes; the kind 0: there is none.
constexpr std::size_t kAnswerHeadBytes = 5;
constexpr std::size_t kReadObjectBytesMax = 8 << 20;
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

Status serve_objects() {
  GitStore store{UniqueFd(kReaderObjects)};
  for (;;) {
    const auto size = read_exactly(kReaderStream, 1);
    if (!size) return {};
    const auto name = read_exactly(kReaderStream, static_cast<unsigned char>(size->front()));
    if (!name || name->size() < 2) return {};
    const auto found = store.read(*name);
    std::string answer(1, found ? static_cast<char>(found->kind) : '\0');
    const std::size_t bytes = found ? found->bytes.size() : 0;
    for (int shift = 24; shift >= 0; shift -= 8) answer.push_back(static_cast<char>(bytes >> shift & 0xff));
    TRY(sys::write_all(kReaderStream, answer));
    if (found) TRY(sys::write_all(kReaderStream, found->bytes));
  }
}

}  // namespace

Result<GitReader> GitReader::start(UniqueFd objects) {
  auto [ours, its] = TRY(sys::socket_pair());
  // Neither takes the other's number.
  const UniqueFd stream = TRY(sys::duplicate(its.get(), kReaderObjects + 1));
  const UniqueFd directory = TRY(sys::duplicate(objects.get(), kReaderObjects + 1));
  const pid_t pid = TRY(sys::fork_process(sys::Parentage::kOwn));
  if (pid == 0) {
    const Status confined = confine_reader(stream.get(), directory.get());
    sys::exit_now(confined && serve_objects() ? 0 : 1);
  }
  TRY(sys::set_nonblocking(ours.get()));
  return GitReader(TRY(sys::adopt_child(pid)), std::move(ours));
}

std::optional<plan::GitObject> GitReader::read(std::string_view name, std::chrono::steady_clock::time_point until) {
  if (!stream_) return std::nullopt;
  auto answered = ask(name, until);
  if (!answered && answered.error().sys_errno != ENOENT) stream_.reset();
  return answered ? std::optional(std::move(*answered)) : std::nullopt;
}

Result<plan::GitObject> GitReader::ask(std::string_view name, std::chrono::steady_clock::time_point until) const {
  TRY(sys::send_all(stream_.get(), cat({std::string(1, static_cast<char>(name.size())), name}), {}));
  std::string bytes;
  std::size_t wanted = kAnswerHeadBytes;
  std::array<char, 64 << 10> part{};
  while (bytes.size() < wanted) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(Error::from_errno("read an object", ETIMEDOUT));
    pollfd ready{stream_.get(), POLLIN, 0};
    TRY(sys::poll({&ready, 1}, left));
    if (ready.revents == 0) continue;
    const auto count =
        sys::read_some(stream_.get(), std::span(part).first(std::min(part.size(), wanted - bytes.size())));
    if (!count && count.error().sys_errno == EAGAIN) continue;
    if (!count) return fail(count.error());
    if (*count == 0) return fail(Error::from_errno("read an object", EPIPE));
    bytes.append(part.data(), *count);
    if (bytes.size() != kAnswerHeadBytes || wanted != kAnswerHeadBytes) continue;
    for (std::size_t i = 1; i < kAnswerHeadBytes; ++i) {
      wanted = (i == 1 ? 0 : wanted << 8) | static_cast<unsigned char>(bytes[i]);
    }
    if (wanted > kReadObjectBytesMax) return fail(Error::from_errno("read an object", EPROTO));
    wanted += kAnswerHeadBytes;
  }
  const auto kind = static_cast<plan::GitObjectKind>(bytes.front());
  using enum plan::GitObjectKind;
  if (kind != kCommit && kind != kTree && kind != kTag) return fail(Error::from_errno("read an object", ENOENT));
  return plan::GitObject{kind, bytes.substr(kAnswerHeadBytes)};
}

}  // namespace hutch::guest
