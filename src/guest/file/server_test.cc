// The file server as the host sees it, without capabilities: every request, and attempts to lead it astray.
#include "guest/file/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "sys/channel.h"
#include "sys/files/identity.h"
#include "sys/process/process.h"
#include "wire/connection.h"
#include "wire/files.h"

namespace hutch::guest {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace wire;  // NOLINT

std::string make_directory_in(const std::string& parent) {
  std::string name = parent + "/hutch-files-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return fs::canonical(name);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

// A child of the test that serves with the rights of the files' owner alone, even where the test is root.
class FileServer : public testing::Test {
 protected:
  FileServer()
      : parent_(make_directory_in(fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp")), root_(parent_ + "/root") {
    fs::create_directory(root_);
    auto ends = sys::socket_pair();
    server_ = ::fork();
    if (server_ == 0) {
      ends->first.reset();
      const bool served = sys::drop_capabilities() && sys::no_new_privileges() && serve_files(std::move(ends->second));
      ::_exit(served ? 0 : 1);
    }
    host_.emplace(std::move(ends->first));
  }

  ~FileServer() override {
    host_.reset();
    if (server_ > 0) ::waitpid(server_, nullptr, 0);
    fs::remove_all(parent_);
    for (const std::string& path : others_) fs::remove_all(path);
  }

  FileReply ask(const FileRequest& request) {
    if (!host_->send(request)) return FileFailed{Error::invalid("not sent")};
    pollfd wait{host_->fd(), POLLIN, 0};
    if (::poll(&wait, 1, 45'000) != 1) return FileFailed{{Code::kTimeout, 0, "no answer"}};
    const auto frame = host_->receive();
    if (!frame || !*frame) return FileFailed{Error::invalid("closed")};
    auto reply = decode_file_reply((*frame)->header, (*frame)->body);
    return reply ? *reply : FileReply(FileFailed{reply.error()});
  }

  // What is answered when all goes well.
  template <class Reply>
  Reply get(const FileRequest& request) {
    FileReply reply = ask(request);
    if (auto* wanted = std::get_if<Reply>(&reply)) return *wanted;
    const auto* failed = std::get_if<FileFailed>(&reply);
    ADD_FAILURE() << (failed != nullptr ? failed->error.message : "another kind of answer");
    return {};
  }

  Error failure(const FileRequest& request) {
    FileReply reply = ask(request);
    if (auto* failed = std::get_if<FileFailed>(&reply)) return failed->error;
    ADD_FAILURE() << "it was done";
    return {};
  }

  FilePlace at(std::string path) const { return {root_, std::move(path)}; }
  std::string read(const std::string& path) { return get<FileContent>(ReadFile{at(path), 0, kFileChunkBytes}).bytes; }
  FileWritten write(const std::string& path, std::string text) {
    return get<FileWritten>(WriteFile{at(path), std::move(text), {}, {}});
  }
  std::vector<std::string> list(const std::string& path, std::uint32_t depth) {
    std::vector<std::string> paths;
    for (const FileEntry& entry : get<FileEntries>(ListDirectory{at(path), depth, kFileEntriesMax}).entries) {
      paths.push_back(entry.path);
    }
    return paths;
  }
  std::uint32_t mode(const std::string& path) { return get<FileStat>(StatFile{at(path)}).mode; }

  // A directory on another file system than the root.
  std::string elsewhere() {
    others_.push_back(make_directory_in("/tmp"));
    struct stat here{};
    struct stat there{};
    ::stat(root_.c_str(), &here);
    ::stat(others_.back().c_str(), &there);
    return here.st_dev == there.st_dev ? "" : others_.back();
  }

  std::string parent_;
  std::string root_;
  std::vector<std::string> others_;
  pid_t server_ = -1;
  std::optional<Connection> host_;
};

TEST_F(FileServer, WhatIsWrittenIsRead) {
  const FileWritten written = write("new/dir/a.txt", std::string("a\0b", 3));
  EXPECT_TRUE(written.created);
  EXPECT_EQ(written.stat.mode, 0644U);
  EXPECT_EQ(written.stat.version.size, 3U);
  EXPECT_EQ(read("new/dir/a.txt"), std::string("a\0b", 3));
  EXPECT_EQ(get<FileStat>(StatFile{at("new/dir/a.txt")}), written.stat);
  const auto part = get<FileContent>(ReadFile{at("new/dir/a.txt"), 2, 1});
  EXPECT_EQ(part.bytes, "b");
  EXPECT_EQ(part.stat, written.stat);
  EXPECT_EQ(get<FileContent>(ReadFile{at("new/dir/a.txt"), 1ULL << 63, 10}).bytes, "");
  EXPECT_FALSE(write("new/dir/a.txt", "").created);
  EXPECT_EQ(read("new/dir/a.txt"), "");
  EXPECT_THAT(list(".", 9), ElementsAre("new", "new/dir", "new/dir/a.txt"));
}

TEST_F(FileServer, AFileIsReplacedWholeAndKeepsItsMode) {
  put(root_ + "/a", "old");
  fs::create_hard_link(root_ + "/a", root_ + "/same");
  ::chmod((root_ + "/a").c_str(), 0750);
  EXPECT_EQ(write("a", "new").stat.mode, 0750U);
  EXPECT_EQ(text_of(root_ + "/same"), "old");
  EXPECT_EQ(text_of(root_ + "/a"), "new");
  EXPECT_EQ(get<FileWritten>(WriteFile{at("a"), "x", 0600, {}}).stat.mode, 0600U);
  EXPECT_THAT(list(".", 1), ElementsAre("a", "same"));
}

TEST_F(FileServer, AFileInPiecesAppearsWhole) {
  write("f", "old");
  get<FileDone>(BeginUpload{at("f"), 1, 0600});
  get<FileDone>(BeginUpload{at("new/g"), 2, {}});
  get<FileDone>(AppendUpload{1, "a"});
  get<FileDone>(AppendUpload{2, "x"});
  get<FileDone>(AppendUpload{1, std::string(kFileChunkBytes, 'b')});
  EXPECT_EQ(read("f"), "old");
  const FileWritten f = get<FileWritten>(EndUpload{1, EndUpload::Then::kPut});
  EXPECT_EQ(f.stat.version.size, kFileChunkBytes + 1);
  EXPECT_EQ(f.stat.mode, 0600U);
  EXPECT_FALSE(f.created);
  EXPECT_TRUE(get<FileWritten>(EndUpload{2, EndUpload::Then::kPut}).created);
  EXPECT_EQ(read("new/g"), "x");
  EXPECT_THAT(list(".", 1), ElementsAre("f", "new"));
}

TEST_F(FileServer, AnUploadThatIsDroppedLeavesWhatWasThere) {
  write("f", "old");
  get<FileDone>(BeginUpload{at("f"), 1, {}});
  get<FileDone>(AppendUpload{1, "new"});
  get<FileDone>(EndUpload{1, EndUpload::Then::kDrop});
  EXPECT_EQ(read("f"), "old");
  EXPECT_THAT(list(".", 1), ElementsAre("f"));
  EXPECT_EQ(failure(AppendUpload{1, "new"}).code, Code::kNotFound);
  EXPECT_EQ(failure(EndUpload{1, EndUpload::Then::kPut}).code, Code::kNotFound);
}

TEST_F(FileServer, UploadsAreSoManyAtOnceAndLeadNowhereElse) {
  EXPECT_EQ(failure(BeginUpload{at("../f"), 1, {}}).code, Code::kPermissionDenied);
  for (std::uint64_t id = 0; id < kUploadsMax; ++id) get<FileDone>(BeginUpload{at(std::to_string(id)), id, {}});
  EXPECT_EQ(failure(BeginUpload{at("again"), 0, {}}).code, Code::kInvalidArgument);
  EXPECT_EQ(failure(BeginUpload{at("more"), 99, {}}).code, Code::kConflict);
  get<FileDone>(EndUpload{0, EndUpload::Then::kDrop});
  get<FileDone>(BeginUpload{at("more"), 99, {}});
}

TEST_F(FileServer, AFileThatWasChangedMeanwhileIsAConflict) {
  const FileVersion seen = write("a", "one").stat.version;
  write("a", "two");
  const Error conflict = failure(WriteFile{at("a"), "three", {}, seen});
  EXPECT_EQ(conflict.code, Code::kConflict);
  EXPECT_THAT(conflict.message, HasSubstr("changed by somebody else"));
  EXPECT_EQ(failure(WriteFile{at("gone"), "three", {}, seen}).code, Code::kConflict);
  EXPECT_EQ(read("a"), "two");
  const FileVersion now = get<FileStat>(StatFile{at("a")}).version;
  get<FileWritten>(WriteFile{at("a"), "three", {}, now});
  EXPECT_EQ(read("a"), "three");
}

TEST_F(FileServer, LinksBelowTheRootAreFollowed) {
  write("dir/file", "old");
  fs::create_symlink("dir", root_ + "/way");
  fs::create_symlink("way/../dir/file", root_ + "/link");
  fs::create_symlink("dir/later", root_ + "/dangling");
  EXPECT_EQ(read("link"), "old");
  EXPECT_FALSE(write("link", "new").created);
  EXPECT_TRUE(write("dangling", "made").created);
  EXPECT_TRUE(fs::is_symlink(root_ + "/link"));
  EXPECT_EQ(text_of(root_ + "/dir/file"), "new");
  EXPECT_EQ(text_of(root_ + "/dir/later"), "made");
  const auto stat = get<FileStat>(StatFile{at("link")});
  EXPECT_EQ(stat.kind, FileKind::kSymlink);
  EXPECT_EQ(stat.target, "way/../dir/file");
  EXPECT_EQ(get<FileStat>(StatFile{at("way/file")}).kind, FileKind::kRegular);
}

TEST_F(FileServer, NothingLeadsOutOfTheRoot) {
  put(parent_ + "/secret", "canary");
  fs::create_directory(parent_ + "/outside");
  fs::create_symlink("/etc/passwd", root_ + "/absolute");
  fs::create_symlink("../secret", root_ + "/up");
  fs::create_symlink("../outside", root_ + "/out");
  fs::create_symlink("/proc/self/root", root_ + "/magic");
  fs::create_symlink(root_ + "/../secret", root_ + "/dots");
  fs::create_directory(root_ + "/in");
  for (const std::string path :
       {"../secret", "in/../../secret", "/etc/passwd", "absolute", "up", "out/file", "magic/etc/passwd", "dots"}) {
    const FileRequest requests[] = {ReadFile{at(path), 0, 100}, WriteFile{at(path), "x", {}, {}}};
    for (const FileRequest& request : requests) {
      const Error error = failure(request);
      EXPECT_EQ(error.code, Code::kPermissionDenied) << path;
      EXPECT_THAT(error.message, HasSubstr("leads out of " + root_)) << path;
    }
  }
  for (const std::string path : {"..", "out", "/", "magic"}) {
    EXPECT_EQ(failure(ListDirectory{at(path), 1, 10}).code, Code::kPermissionDenied) << path;
    EXPECT_EQ(failure(FindFiles{at(path), "*", 10}).code, Code::kPermissionDenied) << path;
  }
  EXPECT_EQ(failure(MakeDirectory{at("out/new")}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(RemoveFile{at("../secret")}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(MoveFile{at("../secret"), at("here")}).code, Code::kPermissionDenied);
  write("mine", "x");
  EXPECT_EQ(failure(MoveFile{at("mine"), at("out/mine")}).code, Code::kPermissionDenied);
  EXPECT_EQ(text_of(parent_ + "/secret"), "canary");
  EXPECT_TRUE(fs::is_empty(parent_ + "/outside"));
  // Of a root that is a link itself nothing is known.
  EXPECT_EQ(failure(ReadFile{{root_ + "/in/../up", "a"}, 0, 1}).code, Code::kInvalidArgument);
  EXPECT_EQ(failure(ReadFile{{root_ + "/nowhere", "a"}, 0, 1}).code, Code::kNotFound);
}

TEST_F(FileServer, AbsoluteLinksWithinTheRootAreFollowed) {
  fs::create_directories(root_ + "/dir/in");
  put(root_ + "/dir/in/file", "text");
  fs::create_symlink(root_ + "/dir", root_ + "/whole");
  fs::create_symlink(root_ + "/whole/in/file", root_ + "/file");
  fs::create_symlink("../whole/in", root_ + "/dir/both");
  fs::create_symlink(root_, root_ + "/self");
  fs::create_symlink(root_ + "/dir/later", root_ + "/dangling");
  for (const char* path : {"file", "whole/in/file", "dir/both/file", "self/self/file", "whole/../file"}) {
    EXPECT_EQ(read(path), "text") << path;
  }
  EXPECT_EQ(get<FileStat>(StatFile{at("file")}).kind, FileKind::kSymlink);
  EXPECT_EQ(get<FileStat>(StatFile{at("whole/.")}).kind, FileKind::kDirectory);
  EXPECT_EQ(failure(StatFile{at("file/.")}).code, Code::kInvalidArgument);
  EXPECT_THAT(list("whole", 1), ElementsAre("both", "in"));
  EXPECT_FALSE(write("file", "new").created);
  EXPECT_EQ(text_of(root_ + "/dir/in/file"), "new");
  EXPECT_TRUE(write("dangling", "x").created);
  EXPECT_TRUE(write("whole/a/b", "x").created);
  EXPECT_TRUE(fs::exists(root_ + "/dir/a/b") && fs::exists(root_ + "/dir/later"));
  fs::create_directory(root_ + "-other");  // only begins as the root does
  fs::create_symlink(root_ + "-other", root_ + "/other");
  EXPECT_EQ(failure(ListDirectory{at("other"), 1, 10}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(WriteFile{at("other/f"), "x", {}, {}}).code, Code::kPermissionDenied);
}

TEST_F(FileServer, ALoopOfLinksIsToldAsOne) {
  fs::create_symlink("loop", root_ + "/loop");
  fs::create_symlink(root_ + "/around", root_ + "/around");
  for (const char* path : {"loop", "around", "loop/file", "around/file"}) {
    EXPECT_EQ(failure(WriteFile{at(path), "x", {}, {}}).code, Code::kInvalidArgument) << path;
    const Error error = failure(ReadFile{at(path), 0, 100});
    EXPECT_EQ(error.code, Code::kInvalidArgument) << path;
    EXPECT_THAT(error.message, HasSubstr("too many levels of symbolic links")) << path;
  }
}

TEST_F(FileServer, LinksAreRemovedAndMovedThemselves) {
  put(parent_ + "/secret", "canary");
  fs::create_symlink("../secret", root_ + "/up");
  fs::create_symlink("..", root_ + "/dir");
  get<FileMoved>(MoveFile{at("up"), at("renamed")});
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("renamed")}).entries, 1U);
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("dir"), RemoveFile::Tree::kRemove}).entries, 1U);
  EXPECT_EQ(text_of(parent_ + "/secret"), "canary");
  EXPECT_THAT(list(".", 1), IsEmpty());
}

TEST_F(FileServer, OnlyRegularFilesAreReadOrReplaced) {
  ::mkfifo((root_ + "/fifo").c_str(), 0644);
  fs::create_directory(root_ + "/dir");
  const FilePlace places[] = {at("fifo"), at("dir"), {"/dev", "zero"}, {"/dev", "ptmx"}, at(".")};
  for (const FilePlace& place : places) {
    EXPECT_EQ(failure(ReadFile{place, 0, 10}).code, Code::kInvalidArgument) << place.path;
    EXPECT_EQ(failure(WriteFile{place, "x", {}, {}}).code, Code::kInvalidArgument) << place.path;
  }
  EXPECT_EQ(get<FileStat>(StatFile{at("fifo")}).kind, FileKind::kOther);
  EXPECT_EQ(get<FileStat>(StatFile{at(".")}).kind, FileKind::kDirectory);
  EXPECT_THAT(get<FileContent>(ReadFile{{"/proc", "self/status"}, 0, 1000}).bytes, HasSubstr("Name:"));
}

TEST_F(FileServer, NamesMayHoldAnything) {
  const std::string name = "a\n*?[\"'$;\x01 -rf \xff";
  write(name, "x");
  EXPECT_EQ(read(name), "x");
  EXPECT_THAT(list(".", 1), ElementsAre(name));
  const Error error = failure(ReadFile{at("no\nsuch"), 0, 1});
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("no\\x0asuch"));
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at(name)}).entries, 1U);
  EXPECT_EQ(failure(WriteFile{at(std::string(300, 'x')), "", {}, {}}).code, Code::kInvalidArgument);
}

TEST_F(FileServer, AWalkGoesLevelByLevelAndFollowsNoLink) {
  write("b/c/d.txt", "x");
  write(".git/config", "x");
  write("a.txt", "x");
  fs::create_symlink("b", root_ + "/link");
  fs::create_symlink("..", root_ + "/b/up");
  EXPECT_THAT(list(".", 1), ElementsAre(".git", "a.txt", "b", "link"));
  EXPECT_THAT(list(".", 2), ElementsAre(".git", "a.txt", "b", "link", ".git/config", "b/c", "b/up"));
  EXPECT_THAT(list("b", 9), ElementsAre("c", "up", "c/d.txt"));
  EXPECT_EQ(failure(ListDirectory{at("a.txt"), 1, 1}).code, Code::kInvalidArgument);
  EXPECT_EQ(failure(ListDirectory{at("nowhere"), 1, 1}).code, Code::kNotFound);
  const auto some = get<FileEntries>(ListDirectory{at("."), 9, 2});
  EXPECT_EQ(some.entries.size(), 2U);
  EXPECT_EQ(some.found, 8U);
  const auto texts = get<FileEntries>(FindFiles{at("."), "*.t?t", 10});
  ASSERT_EQ(texts.entries.size(), 2U);
  EXPECT_EQ(texts.entries[0].path, "a.txt");
  EXPECT_EQ(texts.entries[1].path, "b/c/d.txt");
  EXPECT_EQ(get<FileEntries>(FindFiles{at("."), "*", 10}).found, 3U);
  EXPECT_EQ(get<FileEntries>(FindFiles{at("."), "*", 10}).unread, 0U);
}

TEST_F(FileServer, ManyEntriesAreCountedAndCutOff) {
  fs::create_directory(root_ + "/many");
  const std::string end(180, 'x');
  for (int i = 0; i < 30'000; ++i) ::close(::creat((root_ + "/many/" + std::to_string(i) + end).c_str(), 0644));
  const auto listed = get<FileEntries>(ListDirectory{at("many"), 1, kFileEntriesMax});
  EXPECT_EQ(listed.found, 30'000U);
  EXPECT_EQ(listed.entries.size(), kFileEntriesMax);
  EXPECT_EQ(get<FileEntries>(FindFiles{at("."), "9*", 10}).found, 1'111U);
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("many"), RemoveFile::Tree::kRemove}).entries, 30'001U);
}

TEST_F(FileServer, AnAnswerNeverOutgrowsAFrame) {
  // Links with long texts: more bytes for each entry than its name has.
  for (int i = 0; i < 4000; ++i) {
    ASSERT_EQ(::symlink(std::string(4000, 'y').c_str(), (root_ + "/" + std::to_string(i)).c_str()), 0);
  }
  const auto listed = get<FileEntries>(ListDirectory{at("."), 1, kFileEntriesMax});
  EXPECT_EQ(listed.found, 4000U);
  EXPECT_LT(listed.entries.size(), 4000U);
  EXPECT_GT(listed.entries.size(), 1000U);
}

TEST_F(FileServer, DeepTreesAreWalkedAndRemoved) {
  int directory = ::open(root_.c_str(), O_PATH);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(::mkdirat(directory, "deep", 0755), 0);
    const int next = ::openat(directory, "deep", O_PATH);
    ::close(directory);
    directory = next;
  }
  ::close(::openat(directory, "bottom", O_CREAT | O_WRONLY, 0644));
  ::close(directory);
  const auto listed = get<FileEntries>(ListDirectory{at("."), 1'000'000, kFileEntriesMax});
  EXPECT_GT(listed.entries.size(), 700U);
  for (const FileEntry& entry : listed.entries) EXPECT_LE(entry.path.size(), limits::kPathBytesMax);
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("deep"), RemoveFile::Tree::kRemove}).entries, 3001U);
  EXPECT_THAT(list(".", 1), IsEmpty());
}

TEST_F(FileServer, RemovalSaysWhatWasThere) {
  write("dir/sub/file", "x");
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("nowhere")}).entries, 0U);
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("no/where")}).entries, 0U);
  EXPECT_EQ(failure(RemoveFile{at("dir")}).code, Code::kInvalidArgument);
  EXPECT_EQ(failure(RemoveFile{at("."), RemoveFile::Tree::kRemove}).code, Code::kInvalidArgument);
  EXPECT_EQ(failure(RemoveFile{at("dir/.."), RemoveFile::Tree::kRemove}).code, Code::kInvalidArgument);
  EXPECT_EQ(get<FileRemoved>(RemoveFile{at("dir/"), RemoveFile::Tree::kRemove}).entries, 3U);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(FileServer, HugeAndSparseFilesAreReadInPartsAndCopiedAsTheyAre) {
  put(root_ + "/sparse", "start");
  fs::resize_file(root_ + "/sparse", 1ULL << 40);
  const int fd = ::open((root_ + "/sparse").c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(fd, "middle", 6, 1LL << 39), 6);
  ::close(fd);
  const auto part = get<FileContent>(ReadFile{at("sparse"), (1ULL << 39) - 4, 10});
  EXPECT_EQ(part.bytes, std::string(4, '\0') + "middle");
  EXPECT_EQ(part.stat.version.size, 1ULL << 40);
  EXPECT_EQ(get<FileContent>(ReadFile{at("sparse"), 0, kFileChunkBytes}).bytes.size(), kFileChunkBytes);
  const std::string other = elsewhere();
  if (other.empty()) GTEST_SKIP() << "one file system alone";
  get<FileMoved>(MoveFile{at("sparse"), {other, "sparse"}});
  EXPECT_EQ(get<FileContent>(ReadFile{{other, "sparse"}, (1ULL << 39) - 4, 10}).bytes, part.bytes);
  EXPECT_EQ(fs::file_size(other + "/sparse"), 1ULL << 40);
  EXPECT_FALSE(fs::exists(root_ + "/sparse"));
}

TEST_F(FileServer, WhatMayNotBeReadOrWrittenIsDenied) {
  write("closed", "x");
  write("fixed", "x");
  write("dir/inner/file", "x");
  ::chmod((root_ + "/closed").c_str(), 0);
  ::chmod((root_ + "/fixed").c_str(), 0444);
  ::chmod((root_ + "/dir/inner").c_str(), 0);
  EXPECT_EQ(failure(ReadFile{at("closed"), 0, 1}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(WriteFile{at("fixed"), "y", {}, {}}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(ReadFile{at("dir/inner/file"), 0, 1}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(RemoveFile{at("dir"), RemoveFile::Tree::kRemove}).code, Code::kPermissionDenied);
  EXPECT_EQ(failure(ListDirectory{at("dir/inner"), 1, 1}).code, Code::kPermissionDenied);
  EXPECT_THAT(list("dir", 9), ElementsAre("inner"));
  EXPECT_EQ(get<FileEntries>(ListDirectory{at("dir"), 9, 10}).unread, 1U);
  EXPECT_EQ(get<FileEntries>(FindFiles{at("."), "*", 10}).unread, 1U);
  EXPECT_EQ(failure(WriteFile{{"/proc", "new"}, "x", {}, {}}).code, Code::kNotFound);
  ::chmod((root_ + "/dir/inner").c_str(), 0755);
  EXPECT_EQ(text_of(root_ + "/fixed"), "x");
}

TEST_F(FileServer, FilesMoveAsRenamed) {
  write("a", "one");
  write("b", "two");
  EXPECT_EQ(get<FileMoved>(MoveFile{at("a"), at("b")}).destination, at("b"));
  EXPECT_EQ(read("b"), "one");
  EXPECT_EQ(get<FileMoved>(MoveFile{at("b"), at("new/sub/c")}).destination, at("new/sub/c"));
  fs::create_directory(root_ + "/into");
  EXPECT_EQ(get<FileMoved>(MoveFile{at("new/sub"), at("into/")}).destination, at("into/sub"));
  EXPECT_EQ(get<FileMoved>(MoveFile{at("into/sub/c"), at(".")}).destination, at("c"));
  EXPECT_EQ(failure(MoveFile{at("nowhere"), at("x")}).code, Code::kNotFound);
  EXPECT_EQ(failure(MoveFile{at("into"), at("into/sub/deeper")}).code, Code::kInvalidArgument);
  write("new/into/sub/full", "x");
  EXPECT_EQ(failure(MoveFile{at("new/into"), at(".")}).code, Code::kConflict);
  EXPECT_EQ(failure(MoveFile{at("into"), at("c")}).code, Code::kInvalidArgument);
  EXPECT_EQ(read("c"), "one");
}

TEST_F(FileServer, TreesMoveToAnotherFileSystem) {
  const std::string other = elsewhere();
  if (other.empty()) GTEST_SKIP() << "one file system alone";
  write("tree/a/file", "content");
  ::chmod((root_ + "/tree/a/file").c_str(), 0751);
  ::chmod((root_ + "/tree/a").c_str(), 0700);
  fs::create_symlink("/etc/passwd", root_ + "/tree/link");
  const FileStat before = get<FileStat>(StatFile{at("tree/a/file")});
  get<FileMoved>(MoveFile{at("tree"), {other, "new/tree"}});
  EXPECT_FALSE(fs::exists(root_ + "/tree"));
  const FileStat after = get<FileStat>(StatFile{{other, "new/tree/a/file"}});
  EXPECT_EQ(after.mode, 0751U);
  EXPECT_EQ(after.modified_ns, before.modified_ns);
  EXPECT_EQ(text_of(other + "/new/tree/a/file"), "content");
  EXPECT_EQ(get<FileStat>(StatFile{{other, "new/tree/a"}}).mode, 0700U);
  EXPECT_EQ(fs::read_symlink(other + "/new/tree/link"), "/etc/passwd");
  get<FileMoved>(MoveFile{{other, "new/tree/link"}, at("link")});
  EXPECT_EQ(fs::read_symlink(root_ + "/link"), "/etc/passwd");
}

TEST_F(FileServer, OfAMoveThatFailsNothingStays) {
  const std::string other = elsewhere();
  if (other.empty()) GTEST_SKIP() << "one file system alone";
  write("tree/a/file", "content");
  ::mkfifo((root_ + "/tree/a/fifo").c_str(), 0644);
  EXPECT_EQ(failure(MoveFile{at("tree"), {other, "tree"}}).code, Code::kInvalidArgument);
  EXPECT_EQ(failure(MoveFile{at("tree/a/fifo"), {other, "fifo"}}).code, Code::kInvalidArgument);
  EXPECT_TRUE(fs::is_empty(other));
  EXPECT_EQ(text_of(root_ + "/tree/a/file"), "content");
  fs::remove(root_ + "/tree/a/fifo");
  fs::create_directories(other + "/tree/full");
  EXPECT_EQ(failure(MoveFile{at("tree"), {other, "."}}).code, Code::kConflict);
  EXPECT_THAT(get<FileEntries>(ListDirectory{{other, "."}, 9, 10}).found, 2U);
  EXPECT_EQ(text_of(root_ + "/tree/a/file"), "content");
}

TEST_F(FileServer, DirectoriesAreMadeWithTheirParents) {
  get<FileDone>(MakeDirectory{at("a/b/c")});
  get<FileDone>(MakeDirectory{at("a/b/c/")});
  get<FileDone>(MakeDirectory{at(".")});
  EXPECT_EQ(mode("a/b/c"), 0755U);
  write("file", "x");
  EXPECT_EQ(failure(MakeDirectory{at("file")}).code, Code::kConflict);
  EXPECT_EQ(failure(MakeDirectory{at("file/sub")}).code, Code::kConflict);
}

// A process of the sandbox that exchanges a directory for a link to outside of the root, again and again.
class Swapper {
 public:
  Swapper(const std::string& directory, const std::string& link) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (;;) ::renameat2(AT_FDCWD, directory.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  }
  Swapper(const Swapper&) = delete;
  Swapper& operator=(const Swapper&) = delete;
  ~Swapper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

TEST_F(FileServer, ADirectoryThatIsSwappedForALinkLeadsNowhere) {
  fs::create_directories(parent_ + "/outside/sub");
  put(parent_ + "/outside/secret", "canary");
  put(parent_ + "/outside/sub/canary", "canary");
  write("top/dir/mine", "mine");
  fs::create_symlink("../../outside", root_ + "/top/link");
  const Swapper swapper(root_ + "/top/dir", root_ + "/top/link");
  int answers = 0;
  for (int i = 0; i < 300; ++i) {
    for (const FileEntry& entry : get<FileEntries>(ListDirectory{at("."), 9, 1000}).entries) {
      EXPECT_THAT(entry.path, testing::Not(testing::AnyOf(HasSubstr("secret"), HasSubstr("canary"))));
    }
    const FileReply reply = ask(ReadFile{at("top/dir/secret"), 0, 100});
    EXPECT_FALSE(std::holds_alternative<FileContent>(reply));
    ask(MakeDirectory{at("top/dir/made/by/me")});
    ask(RemoveFile{at("top/dir/secret")});
    ask(RemoveFile{at("top/dir/sub"), RemoveFile::Tree::kRemove});
    if (std::holds_alternative<FileWritten>(ask(WriteFile{at("top/dir/mine"), "mine", {}, {}}))) ++answers;
  }
  EXPECT_GT(answers, 0);
  EXPECT_EQ(text_of(parent_ + "/outside/secret"), "canary");
  EXPECT_EQ(text_of(parent_ + "/outside/sub/canary"), "canary");
  EXPECT_FALSE(fs::exists(parent_ + "/outside/mine") || fs::exists(parent_ + "/outside/made"));
}

TEST_F(FileServer, ATreeThatIsSwappedWhileItIsRemovedLeadsNowhere) {
  fs::create_directories(parent_ + "/outside/sub");
  put(parent_ + "/outside/sub/canary", "canary");
  for (int round = 0; round < 15; ++round) {
    for (int i = 0; i < 50; ++i) write("tree/dir/sub/" + std::to_string(i), "x");
    fs::create_symlink("../../outside", root_ + "/tree/link");
    {
      const Swapper swapper(root_ + "/tree/dir", root_ + "/tree/link");
      ask(RemoveFile{at("tree"), RemoveFile::Tree::kRemove});
    }
    ask(RemoveFile{at("tree"), RemoveFile::Tree::kRemove});
    ASSERT_FALSE(fs::exists(root_ + "/tree"));
  }
  EXPECT_EQ(text_of(parent_ + "/outside/sub/canary"), "canary");
}

TEST_F(FileServer, AFrameThatBreaksARuleEndsIt) {
  ASSERT_TRUE(sys::send_all(host_->fd(), encode(FileRequest(StatFile{{"relative", "a"}})), {}));
  EXPECT_THAT(failure(StatFile{at(".")}).message, testing::AnyOf(HasSubstr("closed"), HasSubstr("not sent")));
  int status = 0;
  ASSERT_EQ(::waitpid(server_, &status, 0), server_);
  server_ = -1;
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(FileServer, StartedByTheInitItIsLockedDown) {
  auto started = start_file_server();
  ASSERT_TRUE(started.has_value()) << started.error().message;
  const pid_t pid = started->pid;
  EXPECT_THAT(sys::children_of(sys::own_pid()), testing::Contains(pid));
  Connection own = std::move(*host_);
  host_.emplace(std::move(started->stream));
  write("a", "x");
  EXPECT_EQ(read("a"), "x");
  const std::string status = text_of("/proc/" + std::to_string(pid) + "/status");
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_EQ(::getsid(pid), pid);
  host_.emplace(std::move(own));
  int ended = 0;
  ASSERT_EQ(::waitpid(pid, &ended, 0), pid);
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace hutch::guest
