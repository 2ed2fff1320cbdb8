// Files of a sandbox by message: what the host asks the guest's file server, and what that answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "wire/file_stat.h"
#include "wire/file_tree.h"
#include "wire/message.h"

namespace hutch::wire {

// --- requests ---

// Of a symbolic link: the link itself.
struct StatFile {
  FilePlace place;
};

// Of regular files alone: a pipe or a device is refused, and never opened for reading.
struct ReadFile {
  FilePlace place;
  std::uint64_t offset = 0;
  std::uint64_t bytes_max = 0;  // at most kFileChunkBytes
};

// The whole content at once, or nothing: a temporary file in the same directory, then rename(2). Directories on the way
// are made. The mode of a file that is replaced is kept. A symbolic link is followed to what it names below the root.
struct WriteFile {
  FilePlace place;
  std::string content;  // at most kFileChunkBytes
  std::optional<std::uint32_t> mode;  // absent: kept, or 0644
  std::optional<FileVersion> expected;  // Code::kConflict when the file is another by now
};

// A file in pieces, for what is too large for one message: written beside its place, which it takes at the end as a
// WriteFile does. Whoever asks chooses the id by chance, so that the id of one server means nothing to the next.
struct BeginUpload {
  FilePlace place;
  std::uint64_t id = 0;
  std::optional<std::uint32_t> mode;  // absent: kept, or 0644
};

struct AppendUpload {
  std::uint64_t id = 0;
  std::string bytes;  // at most kFileChunkBytes
};

struct EndUpload {
  std::uint64_t id = 0;
  enum class Then { kDrop, kPut } then = Then::kDrop;
};

// Level by level, no symbolic link followed; a directory that may not be read is listed as empty, and counted.
struct ListDirectory {
  FilePlace place;
  std::uint32_t depth_max = 1;  // 1: the directory's own entries
  std::uint32_t entries_max = 0;
};

// Regular files whose name matches a pattern of fnmatch(3).
struct FindFiles {
  FilePlace place;
  std::string pattern;
  std::uint32_t entries_max = 0;
};

struct RemoveFile {
  FilePlace place;
  // kForce: directories in it that are closed to their owner are opened. kOpen: likewise, and it ends as kRemove does.
  enum class Tree { kRefuse, kRemove, kForce, kOpen } tree = Tree::kRefuse;
};

// Within one file system as rename(2), else by copy and removal.
struct MoveFile {
  FilePlace source;
  FilePlace destination;  // directories on the way are made; an existing directory takes the source into it
};

struct MakeDirectory {
  FilePlace place;  // with its parents; one that is there is no error
};

using FileRequest = std::variant<StatFile, ReadFile, WriteFile, ListDirectory, FindFiles, RemoveFile, MoveFile,
                                 MakeDirectory, BeginUpload, AppendUpload, EndUpload, BeginTree, AddToTree, EndTree>;

// --- answers ---

struct FileContent {
  std::string bytes;
  FileStat stat;  // of the whole file
};

struct FileWritten {
  FileStat stat;
  bool created = false;
};

struct FileEntry {
  std::string path;  // relative to what was listed, directories before what is in them
  FileStat stat;
  bool operator==(const FileEntry&) const = default;
};

struct FileEntries {
  std::vector<FileEntry> entries;
  std::uint64_t found = 0;  // also those beyond entries_max; of a walk that ended early, so far
  std::uint64_t unread = 0;  // directories that may not be read
};

struct FileRemoved {
  std::uint64_t entries = 0;  // 0: there was nothing; of kForce 1 for all
};

struct FileMoved {
  FilePlace destination;  // where it is now
};

struct FileDone {};

// kNotFound, kPermissionDenied, kConflict, kInvalidArgument, or kSystem with its errno.
struct FileFailed {
  Error error;
};

using FileReply =
    std::variant<FileStat, FileContent, FileWritten, FileEntries, FileRemoved, FileMoved, FileDone, FileFailed>;

inline constexpr std::size_t kFileChunkBytes = 4 << 20;
inline constexpr std::uint32_t kFileEntriesMax = 20'000;
inline constexpr std::size_t kUploadsMax = 16;  // at once, of one server

// Whole frames, header included; as wire/message.h. What is decoded keeps the limits above, has no path of more than
// limits::kPathBytesMax bytes, and none with a NUL byte.
std::string encode(const FileRequest& request);
std::string encode(const FileReply& reply);
Result<FileRequest> decode_file_request(const FrameHeader& header, std::string_view body);
Result<FileReply> decode_file_reply(const FrameHeader& header, std::string_view body);

}  // namespace hutch::wire
