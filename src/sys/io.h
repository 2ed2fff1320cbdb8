// Descriptors: reading, writing, pipes, polling, duplicating. read(2), write(2), pipe(2), poll(2), splice(2).
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Both ends close-on-exec.
Result<Pipe> pipe();

// The number of bytes, 0 at the end. EAGAIN on a non-blocking descriptor is the error with sys_errno EAGAIN.
Result<std::size_t> read_some(int fd, std::span<char> into);
Result<std::size_t> write_some(int fd, std::string_view bytes);
Status write_all(int fd, std::string_view bytes);

// Everything up to the end, at most `bytes_max`; more is an error.
Result<std::string> read_to_end(int fd, std::size_t bytes_max);

// How many of the descriptors are ready; an absent timeout waits for ever. A signal's interruption counts as none.
Result<int> poll(std::span<pollfd> fds, std::optional<std::chrono::milliseconds> timeout);

Status set_nonblocking(int fd);
// What the number was opened for (fcntl(2), F_GETFL).
enum class OpenFor { kReading, kWriting, kBoth };
Result<OpenFor> opened_for(int fd);
Status restore_blocking(int fd);

// dup2(2) that leaves the copy open across exec, even when both numbers are the same.
Status install_fd(int fd, int number);

// A close-on-exec copy at a number of at least `number_min`.
Result<UniqueFd> duplicate(int fd, int number_min = 3);

// Whether the number is open at all.
bool is_open(int fd);

bool is_open_for_reading(int fd);

// Whether both numbers refer to the same open file description (kcmp(2)); false where the kernel cannot tell.
bool is_same_open_file(int a, int b);

// Closes every descriptor from `first` on (close_range(2)).
Status close_from(int first);
// Marks every descriptor from `first` on close-on-exec.
Status cloexec_from(int first);

// Opens /dev/null at those of 0, 1 and 2 that are closed, so that nothing else lands on these numbers.
Status fill_standard_streams();

enum class StreamKind { kClosed, kPipe, kTerminal, kFile, kSocket, kOther };

// What a standard stream is. kPipe: an anonymous pipe; kFile: anything with a name that could be opened again, or whose
// mode and attributes are those of a file (regular file, directory, block device, named pipe); kOther: a character
// device, /dev/null alike.
StreamKind stream_kind(int fd);

// How many bytes wait in a pipe, asked at either end (FIONREAD); 0 where that cannot be told.
std::size_t bytes_waiting(int fd);
// Whether whoever has a socket's other end has read all that was sent (SIOCOUTQ); also where that cannot be told.
bool has_read_all(int socket);

// Moves a file's offset back: for input that was read ahead.
Status seek_back(int fd, std::size_t bytes);

}  // namespace hutch::sys
