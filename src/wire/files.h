// Files of a sandbox by message: what the host asks the guest's file server, and what that answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "wire/message.h"

namespace hutch::wire {

// A file below a directory of the sandbox. The kernel holds the containment: nothing on the way, a symbolic link
// included, may lead out of `root` (openat2(2), RESOLVE_BENEATH).
struct FilePlace {
  std::string root;  // absolute, as the sandbox sees it
  std::string path;  // relative; "." is the root itself
  bool operator==(const FilePlace&) const = default;
};

enum class FileKind { kRegular, kDirectory, kSymlink, kOther };

// Which content a file had when it was looked at: another one means that somebody wrote it meanwhile.
struct FileVersion {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // st_ctim since the epoch
  bool operator==(const FileVersion&) const = default;
};

struct FileStat {
  FileKind kind = FileKind::kOther;
  std::uint32_t mode = 0;         // permission bits
  std::int64_t modified_ns = 0;   // since the epoch
  FileVersion version;
  std::string target;             // of a symbolic link
  bool operator==(const FileStat&) const = default;
};

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

// Level by level, no symbolic link followed; a directory that may not be read is listed as empty.
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
  enum class Tree { kRefuse, kRemove } tree = Tree::kRefuse;
};

// Within one file system as rename(2), else by copy and removal.
struct MoveFile {
  FilePlace source;
  FilePlace destination;  // directories on the way are made; an existing directory takes the source into it
};

struct MakeDirectory {
  FilePlace place;  // with its parents; one that is there is no error
};

using FileRequest =
    std::variant<StatFile, ReadFile, WriteFile, ListDirectory, FindFiles, RemoveFile, MoveFile, MakeDirectory>;

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
};

struct FileRemoved {
  std::uint64_t entries = 0;  // 0: there was nothing
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

// Whole frames, header included; as wire/message.h. What is decoded keeps the limits above, has no path of more than
// limits::kPathBytesMax bytes, and none with a NUL byte.
std::string encode(const FileRequest& request);
std::string encode(const FileReply& reply);
Result<FileRequest> decode_file_request(const FrameHeader& header, std::string_view body);
Result<FileReply> decode_file_reply(const FrameHeader& header, std::string_view body);

}  // namespace hutch::wire
