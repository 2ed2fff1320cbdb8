// Requests to the file server and its answers come out as they went in, and nothing over a limit does.
#include "wire/files.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace hutch::wire {
namespace {

const FilePlace kPlace{"/home/x", "a/b\n c"};
const FileStat kStat{FileKind::kSymlink, 0755, -5, {1ULL << 60, 7, -9}, "../t"};

Result<FileRequest> decode_as(const FileRequest&, const FrameHeader& header, std::string_view body) {
  return decode_file_request(header, body);
}
Result<FileReply> decode_as(const FileReply&, const FrameHeader& header, std::string_view body) {
  return decode_file_reply(header, body);
}

template <class Message>
std::optional<Message> round(const Message& message) {
  const std::string bytes = encode(message);
  const auto header = decode_header(std::string_view(bytes).substr(0, kFrameHeaderBytes));
  if (!header) return std::nullopt;
  auto decoded = decode_as(message, *header, std::string_view(bytes).substr(kFrameHeaderBytes));
  if (!decoded) return std::nullopt;
  EXPECT_EQ(encode(*decoded), bytes);
  return std::move(*decoded);
}

template <class One>
One request(const One& one) {
  return std::get<One>(*round(FileRequest(one)));
}
template <class One>
One reply(const One& one) {
  return std::get<One>(*round(FileReply(one)));
}

TEST(FileMessage, RequestsComeOutAsTheyWentIn) {
  EXPECT_EQ(request(StatFile{kPlace}).place, kPlace);
  const ReadFile read = request(ReadFile{kPlace, 1ULL << 40, 4096});
  EXPECT_EQ(read.offset, 1ULL << 40);
  EXPECT_EQ(read.bytes_max, 4096U);
  const WriteFile write = request(WriteFile{kPlace, std::string("a\0b", 3), 0600, FileVersion{1, 2, 3}});
  EXPECT_EQ(write.content, std::string("a\0b", 3));
  EXPECT_EQ(write.mode, 0600U);
  EXPECT_EQ(write.expected, (FileVersion{1, 2, 3}));
  EXPECT_FALSE(request(WriteFile{kPlace, "", {}, {}}).mode.has_value());
  const BeginUpload begin = request(BeginUpload{kPlace, ~0ULL, 0600});
  EXPECT_EQ(begin.id, ~0ULL);
  EXPECT_EQ(begin.mode, 0600U);
  EXPECT_EQ(request(AppendUpload{7, std::string("a\0b", 3)}).bytes, std::string("a\0b", 3));
  EXPECT_EQ(request(EndUpload{7, EndUpload::Then::kPut}).then, EndUpload::Then::kPut);
  EXPECT_EQ(request(ListDirectory{kPlace, 3, 10}).depth_max, 3U);
  EXPECT_EQ(request(FindFiles{kPlace, "*.c", 10}).pattern, "*.c");
  EXPECT_EQ(request(RemoveFile{kPlace, RemoveFile::Tree::kRemove}).tree, RemoveFile::Tree::kRemove);
  EXPECT_EQ(request(RemoveFile{kPlace, RemoveFile::Tree::kForce}).tree, RemoveFile::Tree::kForce);
  EXPECT_EQ(request(RemoveFile{kPlace, RemoveFile::Tree::kOpen}).tree, RemoveFile::Tree::kOpen);
  EXPECT_EQ(request(MoveFile{kPlace, {"/", "."}}).destination, (FilePlace{"/", "."}));
  EXPECT_EQ(request(MakeDirectory{kPlace}).place, kPlace);
  EXPECT_EQ(request(BeginTree{{"/home", "a/b"}, ".new"}).temporary, ".new");
  const AddToTree entry = request(AddToTree{"a/b", FileKind::kSymlink, 0777, -5, "../x"});
  EXPECT_EQ(entry.path, "a/b");
  EXPECT_EQ(entry.kind, FileKind::kSymlink);
  EXPECT_EQ(entry.mode, 0777U);
  EXPECT_EQ(entry.modified_ns, -5);
  EXPECT_EQ(entry.target, "../x");
  EXPECT_EQ(request(EndTree{EndTree::Then::kPut}).then, EndTree::Then::kPut);
}

TEST(FileMessage, AnswersComeOutAsTheyWentIn) {
  EXPECT_EQ(reply(kStat), kStat);
  EXPECT_EQ(reply(FileContent{"x", kStat}).stat, kStat);
  EXPECT_TRUE(reply(FileWritten{kStat, true}).created);
  const std::vector<FileEntry> entries = {{"a", kStat}, {"a/b", FileStat{}}};
  EXPECT_EQ(reply(FileEntries{entries, 9}).entries, entries);
  EXPECT_EQ(reply(FileEntries{entries, 9, 2}).found, 9U);
  EXPECT_EQ(reply(FileEntries{entries, 9, 2}).unread, 2U);
  EXPECT_EQ(reply(FileRemoved{4}).entries, 4U);
  EXPECT_EQ(reply(FileMoved{kPlace}).destination, kPlace);
  reply(FileDone{});
  EXPECT_EQ(reply(FileFailed{{Code::kConflict, 16, "busy"}}).error.message, "busy");
}

TEST(FileMessage, RequestsOverALimitAreRefused) {
  const std::string nul("a\0b", 3);
  const std::string long_path(limits::kPathBytesMax + 1, 'a');
  for (const FilePlace& bad : {FilePlace{"home", "a"}, FilePlace{"/", ""}, FilePlace{"", "a"}, FilePlace{"/", nul},
                               FilePlace{"/" + nul, "a"}, FilePlace{"/", long_path}, FilePlace{"/" + long_path, "a"}}) {
    EXPECT_FALSE(round(FileRequest(StatFile{bad})));
    EXPECT_FALSE(round(FileRequest(MoveFile{kPlace, bad})));
  }
  EXPECT_FALSE(round(FileRequest(ReadFile{kPlace, 0, kFileChunkBytes + 1})));
  EXPECT_FALSE(round(FileRequest(WriteFile{kPlace, std::string(kFileChunkBytes + 1, 'x'), {}, {}})));
  EXPECT_TRUE(round(FileRequest(WriteFile{kPlace, std::string(kFileChunkBytes, 'x'), {}, {}})));
  EXPECT_FALSE(round(FileRequest(WriteFile{kPlace, "", 010000, {}})));
  EXPECT_FALSE(round(FileRequest(BeginUpload{{"home", "a"}, 1, {}})));
  EXPECT_FALSE(round(FileRequest(BeginUpload{kPlace, 1, 010000})));
  EXPECT_FALSE(round(FileRequest(AppendUpload{1, std::string(kFileChunkBytes + 1, 'x')})));
  EXPECT_FALSE(round(FileRequest(ListDirectory{kPlace, 1, kFileEntriesMax + 1})));
  EXPECT_FALSE(round(FileRequest(FindFiles{kPlace, nul, 1})));
  EXPECT_FALSE(round(FileRequest(FindFiles{kPlace, "*", kFileEntriesMax + 1})));
}

TEST(FileMessage, ATreeIsOfNamesAlone) {
  for (const char* path : {"/a", "a/", "a//b", ".", "..", "a/../b", "./a"}) {
    EXPECT_FALSE(round(FileRequest(BeginTree{{"/home", path}, ".new"}))) << path;
    EXPECT_FALSE(round(FileRequest(AddToTree{path, FileKind::kRegular, 0600, 0, ""}))) << path;
    EXPECT_FALSE(round(FileRequest(BeginTree{{"/home", "a"}, path}))) << path;
  }
  EXPECT_FALSE(round(FileRequest(BeginTree{{"/home", "a"}, "b/c"})));
  EXPECT_TRUE(round(FileRequest(AddToTree{"", FileKind::kDirectory, 0700, 0, ""})));
  EXPECT_FALSE(round(FileRequest(AddToTree{"a", FileKind::kRegular, 04755, 0, ""})));
  EXPECT_FALSE(round(FileRequest(AddToTree{"a", FileKind::kSymlink, 0777, 0, ""})));
  EXPECT_FALSE(round(FileRequest(AddToTree{"a", FileKind::kRegular, 0600, 0, "x"})));
  EXPECT_FALSE(round(FileRequest(AddToTree{"a", FileKind::kOther, 0600, 0, ""})));
}

TEST(FileMessage, AnswersOverALimitAreRefused) {
  const std::string nul("a\0b", 3);
  EXPECT_FALSE(round(FileReply(FileContent{std::string(kFileChunkBytes + 1, 'x'), {}})));
  EXPECT_FALSE(round(FileReply(FileEntries{{{"", {}}}, 1})));
  EXPECT_FALSE(round(FileReply(FileEntries{{{nul, {}}}, 1})));
  EXPECT_FALSE(round(FileReply(FileEntries{{{"a", {}}}, 0})));
  EXPECT_FALSE(
      round(FileReply(FileEntries{std::vector<FileEntry>(kFileEntriesMax + 1, {"a", {}}), kFileEntriesMax + 1})));
  FileStat stat;
  stat.target = nul;
  EXPECT_FALSE(round(FileReply(stat)));
  stat = {};
  stat.mode = 0100644;
  EXPECT_FALSE(round(FileReply(stat)));
}

TEST(FileMessage, BytesThatAreNoMessageAreRefused) {
  EXPECT_FALSE(decode_file_request({0, 99, 0}, ""));
  EXPECT_FALSE(decode_file_reply({0, 99, 0}, ""));
  const std::string bytes = encode(FileReply(FileEntries{{{"a", kStat}}, 1})).substr(kFrameHeaderBytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_file_reply({static_cast<std::uint32_t>(size), 3, 0}, bytes.substr(0, size)));
  }
  EXPECT_TRUE(decode_file_reply({static_cast<std::uint32_t>(bytes.size()), 3, 0}, bytes));
  EXPECT_FALSE(decode_file_reply({static_cast<std::uint32_t>(bytes.size() + 1), 3, 0}, bytes + "x"));
}

}  // namespace
}  // namespace hutch::wire
