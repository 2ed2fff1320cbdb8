// What the host makes of the answers of a file server, and of one that keeps no rule.
#include "sandbox/run/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sys/channel.h"
#include "sys/io.h"

namespace hutch::sandbox {
namespace {

using testing::HasSubstr;
using wire::AddToTree;
using wire::Connection;
using wire::decode_file_request;
using wire::encode;
using wire::FileContent;
using wire::FileDone;
using wire::FileEntries;
using wire::FileFailed;
using wire::FileKind;
using wire::FileMoved;
using wire::FilePlace;
using wire::FileReply;
using wire::FileRequest;
using wire::FileStat;
using wire::FindFiles;
using wire::kFileChunkBytes;
using wire::ListDirectory;
using wire::MakeDirectory;
using wire::MoveFile;
using wire::ReadFile;
using wire::RemoveFile;
using wire::StatFile;
using wire::WriteFile;

const FilePlace kPlace{"/root", "a"};

// A server that answers each request with what `reply` says, as raw bytes; nothing more once that is empty.
class Server {
 public:
  using Reply = std::function<std::string(const FileRequest&)>;
  explicit Server(Reply reply, std::chrono::milliseconds answer_max = kFileAnswerMax) {
    auto ends = sys::socket_pair();
    files.emplace(std::move(ends->first), answer_max);
    thread_ = std::thread([socket = std::move(ends->second), reply = std::move(reply)]() mutable {
      Connection host(std::move(socket));
      for (auto frame = host.receive(); frame && *frame; frame = host.receive()) {
        const auto request = decode_file_request((*frame)->header, (*frame)->body);
        const std::string bytes = request ? reply(*request) : "";
        if (bytes.empty() || !sys::send_all(host.fd(), bytes, {})) return;
      }
    });
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    files.reset();
    thread_.join();
  }

  std::optional<Files> files;

 private:
  std::thread thread_;
};

Server::Reply always(const FileReply& reply) {
  return [bytes = encode(reply)](const FileRequest&) { return bytes; };
}

void expect_refused(const FileRequest& request, const FileReply& reply) {
  Server server(always(reply));
  const auto asked = server.files->ask(request);
  ASSERT_FALSE(asked.has_value());
  EXPECT_THAT(asked.error().message, HasSubstr("an answer to another request"));
  EXPECT_TRUE(server.files->is_dead());
  EXPECT_FALSE(server.files->ask(request).has_value());
}

FileEntries entries(std::vector<std::string> paths) {
  FileEntries all;
  for (std::string& path : paths) all.entries.push_back({std::move(path), {}});
  all.found = all.entries.size();
  return all;
}

TEST(Files, AnswersAreGivenOn) {
  Server server([](const FileRequest& request) {
    if (std::holds_alternative<ReadFile>(request)) return encode(FileReply(FileContent{"text", {}}));
    return encode(FileReply(FileFailed{{Code::kNotFound, 0, "a\x1b: there is no such file"}}));
  });
  const auto content = server.files->ask(ReadFile{kPlace, 0, 10});
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ(std::get<FileContent>(*content).bytes, "text");
  const auto failed = server.files->ask(StatFile{kPlace});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::kNotFound);
  EXPECT_EQ(failed.error().message, "a\\x1b: there is no such file");
  EXPECT_FALSE(server.files->is_dead());
  EXPECT_TRUE(server.files->ask(ReadFile{kPlace, 0, 10}).has_value());
}

TEST(Files, ARequestThatBreaksALimitIsNotSent) {
  Server server(always(FileStat{}));
  EXPECT_FALSE(server.files->ask(StatFile{{"relative", "a"}}).has_value());
  EXPECT_FALSE(server.files->ask(ReadFile{kPlace, 0, kFileChunkBytes + 1}).has_value());
  EXPECT_TRUE(server.files->ask(StatFile{kPlace}).has_value());
}

TEST(Files, AnAnswerToSomethingElseIsTheLast) {
  expect_refused(StatFile{kPlace}, FileDone{});
  expect_refused(MakeDirectory{kPlace}, FileStat{});
  expect_refused(ReadFile{kPlace, 0, 3}, FileContent{"four", {}});
  expect_refused(RemoveFile{kPlace}, FileDone{});
  expect_refused(WriteFile{kPlace, "", {}, {}}, FileStat{});
}

TEST(Files, PathsOfAnAnswerLeadNowhereElse) {
  for (const char* path : {"/etc/passwd", "..", "../a", "a/../../b", "a//b", "a/", "./a"}) {
    expect_refused(ListDirectory{kPlace, 1, 10}, entries({"fine", path}));
    expect_refused(FindFiles{kPlace, "*", 10}, entries({path}));
  }
  expect_refused(ListDirectory{kPlace, 1, 2}, entries({"a", "b", "c"}));
  expect_refused(MoveFile{kPlace, {"/root", "b"}}, FileMoved{{"/other", "b"}});
  expect_refused(MoveFile{kPlace, {"/root", "b"}}, FileMoved{{"/root", "../b"}});
  Server server(always(entries({"a\nb", "..a/...", "x"})));
  EXPECT_TRUE(server.files->ask(ListDirectory{kPlace, 1, 10}).has_value());
}

TEST(Files, BytesThatAreNoAnswerAreTheEnd) {
  const std::string fine = encode(FileReply(FileStat{}));
  for (const std::string& bytes : {std::string(100, '\xff'), std::string("\x01\0\0\0\x63\0\0\0x", 9), fine + fine}) {
    Server server([bytes](const FileRequest&) { return bytes; });
    EXPECT_FALSE(server.files->ask(StatFile{kPlace}).has_value());
    EXPECT_TRUE(server.files->is_dead());
  }
}

TEST(Files, TheEndOfTheServerIsAnError) {
  Server server([](const FileRequest&) { return std::string(); });
  const auto asked = server.files->ask(StatFile{kPlace});
  ASSERT_FALSE(asked.has_value());
  EXPECT_THAT(asked.error().message, HasSubstr("the file server has ended"));
}

TEST(Files, AServerThatCannotServeSaysWhy) {
  auto ends = sys::socket_pair();
  Files files(std::move(ends->first));
  ASSERT_TRUE(sys::send_all(ends->second.get(), encode(FileReply(FileFailed{{Code::kSystem, 0, "no filter"}})), {}));
  ends->second.reset();
  const auto asked = files.ask(StatFile{kPlace});
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().message, "no filter");
}

TEST(Files, ASilentServerHoldsNobodyUp) {
  auto ends = sys::socket_pair();
  Files reads(std::move(ends->first), std::chrono::milliseconds(50));
  const auto silent = reads.ask(StatFile{kPlace});
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code, Code::kTimeout);
  EXPECT_TRUE(reads.is_dead());
  // Nor does one that does not even read.
  auto others = sys::socket_pair();
  Files writes(std::move(others->first), std::chrono::milliseconds(50));
  const auto stuck = writes.ask(WriteFile{kPlace, std::string(kFileChunkBytes, 'x'), {}, {}});
  ASSERT_FALSE(stuck.has_value());
  EXPECT_EQ(stuck.error().code, Code::kTimeout);
}

TEST(Files, DescriptorsAreRefused) {
  auto ends = sys::socket_pair();
  Files files(std::move(ends->first));
  const int given = ends->second.get();
  ASSERT_TRUE(sys::send_all(ends->second.get(), encode(FileReply(FileStat{})), {&given, 1}));
  EXPECT_FALSE(files.ask(StatFile{kPlace}).has_value());
  EXPECT_TRUE(files.is_dead());
}

TEST(Files, ManyThreadsAskOneServer) {
  Server server([](const FileRequest& request) {
    return encode(FileReply(FileContent{std::get<ReadFile>(request).place.path, {}}));
  });
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&server, number] {
      for (int i = 0; i < 50; ++i) {
        const std::string path = std::to_string(number * 1000 + i);
        const auto content = server.files->ask(ReadFile{{"/root", path}, 0, 100});
        EXPECT_TRUE(content && std::get<FileContent>(*content).bytes == path);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Files, AFileThatWasAskedForComesAlong) {
  Server server(always(FileDone{}));
  const auto file = server.files->ask_for_file({"a", FileKind::kRegular, 0600, 0, ""});
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message, HasSubstr("other descriptors"));
  EXPECT_TRUE(server.files->is_dead());
  Server other(always(FileDone{}));
  EXPECT_TRUE(other.files->ask(AddToTree{"a", FileKind::kDirectory, 0700, 0, ""}).has_value());
}

}  // namespace
}  // namespace hutch::sandbox
