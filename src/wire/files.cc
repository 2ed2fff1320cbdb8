// The requests to the guest's file server, and its answers, as bytes.
#include "wire/files.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "wire/codec.h"
#include "wire/frame_codec.h"

namespace hutch::wire {

namespace {

enum class FileFlag : std::uint8_t { kNo, kYes };

constexpr std::uint32_t kModeMax = 07777;
// The least that an entry takes: a kind, a mode, four numbers and two texts.
constexpr std::size_t kEntryBytesMin = 1 + 4 + 4 * 8 + 2 * 4;

// --- writing ---

void write_signed(Writer& out, std::int64_t value) { out.u64(static_cast<std::uint64_t>(value)); }
void write_flag(Writer& out, FileFlag flag) { out.u8(static_cast<std::uint8_t>(flag)); }

void write_place(Writer& out, const FilePlace& place) {
  out.text(place.root);
  out.text(place.path);
}

void write_version(Writer& out, const FileVersion& version) {
  out.u64(version.inode);
  out.u64(version.size);
  write_signed(out, version.changed_ns);
}

void write_file(Writer& out, const StatFile& request) { write_place(out, request.place); }

void write_file(Writer& out, const ReadFile& request) {
  write_place(out, request.place);
  out.u64(request.offset);
  out.u64(request.bytes_max);
}

void write_file(Writer& out, const WriteFile& request) {
  write_place(out, request.place);
  out.text(request.content);
  write_flag(out, request.mode ? FileFlag::kYes : FileFlag::kNo);
  if (request.mode) out.u32(*request.mode);
  write_flag(out, request.expected ? FileFlag::kYes : FileFlag::kNo);
  if (request.expected) write_version(out, *request.expected);
}

void write_file(Writer& out, const BeginUpload& request) {
  write_place(out, request.place);
  out.u64(request.id);
  write_flag(out, request.mode ? FileFlag::kYes : FileFlag::kNo);
  if (request.mode) out.u32(*request.mode);
}

void write_file(Writer& out, const AppendUpload& request) {
  out.u64(request.id);
  out.text(request.bytes);
}

void write_file(Writer& out, const EndUpload& request) {
  out.u64(request.id);
  out.u8(static_cast<std::uint8_t>(request.then));
}

void write_file(Writer& out, const ListDirectory& request) {
  write_place(out, request.place);
  out.u32(request.depth_max);
  out.u32(request.entries_max);
}

void write_file(Writer& out, const FindFiles& request) {
  write_place(out, request.place);
  out.text(request.pattern);
  out.u32(request.entries_max);
}

void write_file(Writer& out, const RemoveFile& request) {
  write_place(out, request.place);
  out.u8(static_cast<std::uint8_t>(request.tree));
}

void write_file(Writer& out, const MoveFile& request) {
  write_place(out, request.source);
  write_place(out, request.destination);
}

void write_file(Writer& out, const MakeDirectory& request) { write_place(out, request.place); }

void write_file(Writer& out, const FileStat& stat) {
  out.u8(static_cast<std::uint8_t>(stat.kind));
  out.u32(stat.mode);
  write_signed(out, stat.modified_ns);
  write_version(out, stat.version);
  out.text(stat.target);
}

void write_file(Writer& out, const FileContent& reply) {
  out.text(reply.bytes);
  write_file(out, reply.stat);
}

void write_file(Writer& out, const FileWritten& reply) {
  write_file(out, reply.stat);
  write_flag(out, reply.created ? FileFlag::kYes : FileFlag::kNo);
}

void write_file(Writer& out, const FileEntries& reply) {
  out.u32(static_cast<std::uint32_t>(reply.entries.size()));
  for (const FileEntry& entry : reply.entries) {
    out.text(entry.path);
    write_file(out, entry.stat);
  }
  out.u64(reply.found);
  out.u64(reply.unread);
}

void write_file(Writer& out, const FileRemoved& reply) { out.u64(reply.entries); }
void write_file(Writer& out, const FileMoved& reply) { write_place(out, reply.destination); }
void write_file(Writer&, const FileDone&) {}
void write_file(Writer& out, const FileFailed& reply) { write_error(out, reply.error); }

void write_file(Writer& out, const BeginTree& request) {
  write_place(out, request.place);
  out.text(request.temporary);
}

void write_file(Writer& out, const AddToTree& request) {
  out.text(request.path);
  out.u8(static_cast<std::uint8_t>(request.kind));
  out.u32(request.mode);
  write_signed(out, request.modified_ns);
  out.text(request.target);
}

void write_file(Writer& out, const EndTree& request) { out.u8(static_cast<std::uint8_t>(request.then)); }

// --- reading ---

std::int64_t read_signed(Reader& in) { return static_cast<std::int64_t>(in.u64()); }
bool read_flag(Reader& in) { return in.choice(FileFlag::kYes) == FileFlag::kYes; }

FilePlace read_place(Reader& in) {
  FilePlace place;
  place.root = in.text();
  place.path = in.text();
  return place;
}

FileVersion read_version(Reader& in) {
  FileVersion version;
  version.inode = in.u64();
  version.size = in.u64();
  version.changed_ns = read_signed(in);
  return version;
}

void read_file(Reader& in, StatFile& request) { request.place = read_place(in); }

void read_file(Reader& in, ReadFile& request) {
  request.place = read_place(in);
  request.offset = in.u64();
  request.bytes_max = in.u64();
}

void read_file(Reader& in, WriteFile& request) {
  request.place = read_place(in);
  request.content = in.text();
  if (read_flag(in)) request.mode = in.u32();
  if (read_flag(in)) request.expected = read_version(in);
}

void read_file(Reader& in, BeginUpload& request) {
  request.place = read_place(in);
  request.id = in.u64();
  if (read_flag(in)) request.mode = in.u32();
}

void read_file(Reader& in, AppendUpload& request) {
  request.id = in.u64();
  request.bytes = in.text();
}

void read_file(Reader& in, EndUpload& request) {
  request.id = in.u64();
  request.then = in.choice(EndUpload::Then::kPut);
}

void read_file(Reader& in, ListDirectory& request) {
  request.place = read_place(in);
  request.depth_max = in.u32();
  request.entries_max = in.u32();
}

void read_file(Reader& in, FindFiles& request) {
  request.place = read_place(in);
  request.pattern = in.text();
  request.entries_max = in.u32();
}

void read_file(Reader& in, RemoveFile& request) {
  request.place = read_place(in);
  request.tree = in.choice(RemoveFile::Tree::kOpen);
}

void read_file(Reader& in, MoveFile& request) {
  request.source = read_place(in);
  request.destination = read_place(in);
}

void read_file(Reader& in, MakeDirectory& request) { request.place = read_place(in); }

void read_file(Reader& in, BeginTree& request) {
  request.place = read_place(in);
  request.temporary = in.text();
}

void read_file(Reader& in, AddToTree& request) {
  request.path = in.text();
  request.kind = in.choice(FileKind::kSymlink);
  request.mode = in.u32();
  request.modified_ns = read_signed(in);
  request.target = in.text();
}

void read_file(Reader& in, EndTree& request) { request.then = in.choice(EndTree::Then::kPut); }

void read_file(Reader& in, FileStat& stat) {
  stat.kind = in.choice(FileKind::kOther);
  stat.mode = in.u32();
  stat.modified_ns = read_signed(in);
  stat.version = read_version(in);
  stat.target = in.text();
}

void read_file(Reader& in, FileContent& reply) {
  reply.bytes = in.text();
  read_file(in, reply.stat);
}

void read_file(Reader& in, FileWritten& reply) {
  read_file(in, reply.stat);
  reply.created = read_flag(in);
}

void read_file(Reader& in, FileEntries& reply) {
  const std::size_t count = in.count(kEntryBytesMin);
  reply.entries.resize(count);
  for (FileEntry& entry : reply.entries) {
    entry.path = in.text();
    read_file(in, entry.stat);
  }
  reply.found = in.u64();
  reply.unread = in.u64();
}

void read_file(Reader& in, FileRemoved& reply) { reply.entries = in.u64(); }
void read_file(Reader& in, FileMoved& reply) { reply.destination = read_place(in); }
void read_file(Reader&, FileDone&) {}
void read_file(Reader& in, FileFailed& reply) { read_error(in, reply.error); }

// --- the limits ---

bool is_path(std::string_view text) {
  return text.size() <= limits::kPathBytesMax && text.find('\0') == std::string_view::npos;
}

// Relative, and no step back.
bool are_names(std::string_view path) {
  return std::ranges::all_of(split(path, '/'),
                             [](std::string_view name) { return !name.empty() && name != "." && name != ".."; });
}

bool holds(const FilePlace& place) {
  return place.root.starts_with('/') && is_path(place.root) && !place.path.empty() && is_path(place.path);
}

bool holds(const StatFile& request) { return holds(request.place); }
bool holds(const ReadFile& request) { return holds(request.place) && request.bytes_max <= kFileChunkBytes; }
bool holds(const WriteFile& request) {
  return holds(request.place) && request.content.size() <= kFileChunkBytes && request.mode.value_or(0) <= kModeMax;
}
bool holds(const BeginUpload& request) { return holds(request.place) && request.mode.value_or(0) <= kModeMax; }
bool holds(const AppendUpload& request) { return request.bytes.size() <= kFileChunkBytes; }
bool holds(const EndUpload&) { return true; }
bool holds(const ListDirectory& request) { return holds(request.place) && request.entries_max <= kFileEntriesMax; }
bool holds(const FindFiles& request) {
  return holds(request.place) && is_path(request.pattern) && request.entries_max <= kFileEntriesMax;
}
bool holds(const RemoveFile& request) { return holds(request.place); }
bool holds(const MoveFile& request) { return holds(request.source) && holds(request.destination); }
bool holds(const MakeDirectory& request) { return holds(request.place); }

bool holds(const BeginTree& request) {
  return holds(request.place) && are_names(request.place.path) && are_names(request.temporary) &&
         request.temporary.find('/') == std::string::npos;
}
bool holds(const AddToTree& request) {
  const bool named = request.path.empty() || (is_path(request.path) && are_names(request.path));
  return named && request.mode <= 0777U && is_path(request.target) &&
         (request.kind == FileKind::kSymlink) == !request.target.empty();
}
bool holds(const EndTree&) { return true; }

bool holds(const FileStat& stat) { return stat.mode <= kModeMax && is_path(stat.target); }
bool holds(const FileContent& reply) { return reply.bytes.size() <= kFileChunkBytes && holds(reply.stat); }
bool holds(const FileWritten& reply) { return holds(reply.stat); }
bool holds(const FileEntries& reply) {
  if (reply.entries.size() > kFileEntriesMax || reply.found < reply.entries.size()) return false;
  for (const FileEntry& entry : reply.entries) {
    if (entry.path.empty() || !is_path(entry.path) || !holds(entry.stat)) return false;
  }
  return true;
}
bool holds(const FileRemoved&) { return true; }
bool holds(const FileMoved& reply) { return holds(reply.destination); }
bool holds(const FileDone&) { return true; }
bool holds(const FileFailed&) { return true; }

// As one object: the overloads above, for whichever alternative it is.
constexpr auto kWriteFile = [](Writer& out, const auto& message) { write_file(out, message); };
constexpr auto kReadFile = [](Reader& in, auto& message) { read_file(in, message); };

template <class Message>
Result<Message> decode(const FrameHeader& header, std::string_view body) {
  Message message = TRY(decode_frame<Message>(header, body, kReadFile));
  if (std::visit([](const auto& one) { return holds(one); }, message)) return message;
  return fail(Error::invalid(cat({"file message type ", std::to_string(header.type), ": over a limit"})));
}

}  // namespace

std::string encode(const FileRequest& request) { return encode_frame(request, kWriteFile); }
std::string encode(const FileReply& reply) { return encode_frame(reply, kWriteFile); }

Result<FileRequest> decode_file_request(const FrameHeader& header, std::string_view body) {
  return decode<FileRequest>(header, body);
}

Result<FileReply> decode_file_reply(const FrameHeader& header, std::string_view body) {
  return decode<FileReply>(header, body);
}

}  // namespace hutch::wire
