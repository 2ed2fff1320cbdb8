// Where an engine listens, and what its answers say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/container/engine_answers.h"
#include "backend/container/engine_place.h"
#include "base/base64.h"
#include "base/text.h"

namespace hutch::backend::container {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(EngineSockets, AreThoseOfTheMachineAndOfTheUser) {
  EXPECT_THAT(*engine_sockets({"", "/run/user/7", 7}),
              ElementsAre("/var/run/docker.sock", "/run/user/7/podman/podman.sock", "/run/podman/podman.sock"));
  EXPECT_THAT(*engine_sockets({"", "/run/user/7", 0}), ElementsAre("/var/run/docker.sock", "/run/podman/podman.sock"));
  EXPECT_THAT(*engine_sockets({"unix:///x/y.sock", "/run/user/7", 7}), ElementsAre("/x/y.sock"));
}

TEST(EngineSockets, RefuseWhatIsNoUnixSocket) {
  for (const char* host : {"tcp://1.2.3.4:2375", "unix://x", "ssh://a", "/var/run/docker.sock"}) {
    const auto sockets = engine_sockets({host, "", 0});
    ASSERT_FALSE(sockets) << host;
    EXPECT_EQ(sockets.error().code, Code::kUnsupported);
    EXPECT_THAT(sockets.error().message, HasSubstr("unix:///path"));
  }
}

// However the bytes arrive.
Result<Answer> read_by(std::string_view bytes, std::size_t step) {
  AnswerReader reader;
  for (std::size_t at = 0; at < bytes.size() && !reader.done(); at += step) TRY(reader.take(bytes.substr(at, step)));
  TRY(reader.end());
  return reader.answer();
}

TEST(AnswerReader, ReadsByLengthByChunksAndToTheEnd) {
  for (const std::size_t step : {1U, 3U, 1000U}) {
    for (const char* rest : {"Content-Length: 5\r\n\r\nhello", "\r\nhello",
                             "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"}) {
      const auto answer = read_by(std::string("HTTP/1.1 404 Not Found\r\n") + rest, step);
      ASSERT_TRUE(answer) << answer.error().message << rest;
      EXPECT_EQ(answer->status, 404U);
      EXPECT_EQ(answer->body, "hello") << rest << step;
    }
  }
}

TEST(AnswerReader, RefusesWhatIsCutOffOrHasNoEnd) {
  EXPECT_FALSE(read_by("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 4));
  EXPECT_FALSE(read_by("HTTP/1.1 200 OK\r\nContent-Len", 4));
  EXPECT_FALSE(read_by("SSH-2.0-OpenSSH\r\n\r\n", 100));
  EXPECT_FALSE(read_by("HTTP/1.1 200 OK\r\nX: " + std::string(AnswerReader::kHeadBytesMax, 'x'), 4096));
  EXPECT_FALSE(read_by("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", 4096));
  EXPECT_FALSE(read_by("HTTP/1.1 200 OK\r\n\r\n" + std::string(AnswerReader::kBodyBytesMax + 1, 'x'), 65536));
}

TEST(AnswerReader, ExpectsNoBodyToHead) {
  AnswerReader reader("HEAD");
  ASSERT_TRUE(reader.take("HTTP/1.1 200 OK\r\nX-Docker-Container-Path-Stat: e30=\r\nContent-Length: 900\r\n\r\n"));
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.answer().path_stat, "e30=");
}

Result<PathInside> path_stat(std::string_view json) { return read_path_stat(to_base64(json)); }

TEST(EngineAnswers, SayWhatLiesAtAPath) {
  using enum PathInside::Kind;
  const auto kind = [](std::uint64_t mode) { return path_stat(cat({R"({"mode":)", std::to_string(mode), "}"}))->kind; };
  EXPECT_EQ(kind(0644), kFile);
  EXPECT_EQ(kind(1ULL << 23 | 0755), kFile) << "setuid";
  EXPECT_EQ(kind(1ULL << 31 | 0755), kDirectory);
  EXPECT_EQ(kind(1ULL << 25 | 0644), kOther) << "a pipe";
  EXPECT_EQ(kind(1ULL << 26 | 1ULL << 21), kOther) << "a device";
  EXPECT_EQ(kind(1ULL << 24), kOther) << "a socket";
  EXPECT_EQ(kind(1ULL << 19), kOther);
  EXPECT_EQ(kind(134218239), kLink);
  EXPECT_EQ(path_stat(R"({"mode":134218239,"linkTarget":"/usr/bin"})")->leads_to, "/usr/bin");
  // Where another file could lie by the name that the answer has for it.
  for (const char* target : {R"("etc/x")", R"("")", "7", R"("/a\ufffd")", R"("/a\nb")", R"("/a b")"}) {
    EXPECT_EQ(path_stat(cat({R"({"mode":134218239,"linkTarget":)", target, "}"}))->leads_to, "") << target;
  }
  for (const char* json : {"{}", "[]", R"({"mode":"420"})", R"({"mode":-1})", R"({"mode":1.5})"}) {
    EXPECT_FALSE(path_stat(json)) << json;
  }
  EXPECT_FALSE(read_path_stat("no base64!"));
  EXPECT_FALSE(read_path_stat(""));
}

TEST(EngineAnswers, GiveTheEnginesMessagePrintable) {
  const auto body = good_body({404, R"({"message":"No such image: \u001b[2Jx"})"}, "POST /containers/create");
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, Code::kNotFound);
  EXPECT_EQ(body.error().message, R"(POST /containers/create: the engine answers 404: No such image: \x1b[2Jx)");
  EXPECT_THAT(good_body({500, "oops\n"}, "GET /x").error().message, HasSubstr(R"(500: oops\x0a)"));
  EXPECT_EQ(*good_body({204, ""}, "GET /x"), "");
}

TEST(EngineAnswers, AgreeOnAVersion) {
  const auto docker = read_version(R"({"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12"})");
  ASSERT_TRUE(docker) << docker.error().message;
  EXPECT_EQ(docker->name, "docker");
  EXPECT_EQ(docker->api, "1.41");
  // One that no longer speaks the oldest.
  EXPECT_EQ(read_version(R"({"ApiVersion":"1.52","MinAPIVersion":"1.44"})")->api, "1.44");
  EXPECT_EQ(read_version(R"({"ApiVersion":"1.41","Components":[{"Name":"Podman Engine"}]})")->name, "podman");
  EXPECT_EQ(read_version(R"({"ApiVersion":"1.40"})").error().code, Code::kUnsupported);
  for (const char* bad : {"", "[]", "{}", R"({"ApiVersion":1.41})", R"({"ApiVersion":"1.41/../x"})",
                          R"({"ApiVersion":"1.44","MinAPIVersion":"1.50"})"}) {
    EXPECT_FALSE(read_version(bad)) << bad;
  }
}

TEST(EngineAnswers, PodmanSaysItsVersionWithItsPing) {
  const auto reader_of = [](std::string_view head) {
    AnswerReader reader;
    EXPECT_TRUE(reader.take(cat({"HTTP/1.1 ", head, "\r\nContent-Length: 2\r\n\r\nOK"})));
    return read_podman_ping(reader.answer());
  };
  const auto podman = reader_of("200 OK\r\nApi-Version: 1.41\r\nServer: Libpod/4.3.1 (linux)");
  ASSERT_TRUE(podman);
  EXPECT_EQ(podman->name, "podman");
  EXPECT_EQ(podman->version, "4.3.1");
  EXPECT_EQ(podman->api, "1.41");
  for (const char* other :
       {"200 OK\r\nApi-Version: 1.41\r\nServer: Docker/20.10.24 (linux)", "200 OK\r\nServer: Libpod/4.3.1",
        "200 OK\r\nApi-Version: 1.40\r\nServer: Libpod/3.0", "200 OK\r\nApi-Version: x\r\nServer: Libpod/4.3.1",
        "500 No\r\nApi-Version: 1.41\r\nServer: Libpod/4.3.1 (linux)", "200 OK"}) {
    EXPECT_FALSE(reader_of(other)) << other;
  }
}

TEST(EngineAnswers, AreOfBoundedDepthAndLength) {
  EXPECT_FALSE(read_info(R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}"));
  const auto info = read_info(R"({"Driver":")" + std::string(5000, 'x') + R"(","CgroupVersion":2})");
  ASSERT_TRUE(info);
  EXPECT_LE(info->storage_driver.size(), 300U);
  EXPECT_EQ(info->cgroup_version, "");
}

TEST(EngineAnswers, SayWhichLimitsAreHeld) {
  const auto rootless = read_info(R"({"Driver":"overlay","MemoryLimit":true,"CpuCfsQuota":false})");
  ASSERT_TRUE(rootless);
  EXPECT_TRUE(rootless->holds_memory);
  EXPECT_FALSE(rootless->holds_cpu);
  const auto silent = read_info(R"({"Driver":"overlay"})");
  ASSERT_TRUE(silent);
  EXPECT_TRUE(silent->holds_memory && silent->holds_cpu);
}

TEST(EngineAnswers, OfAnImageOwnLabelsAreKept) {
  const auto image = read_image(R"({"Id":"sha256:00","Config":{"Labels":{"hutch.base":"sha256:11","maintainer":"x",
      "hutch.number":7,"hutch.long":")" +
                                std::string(50'000, 'x') + R"("}}})");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->id, "sha256:00");
  EXPECT_EQ(image->labels.size(), 2U);
  EXPECT_EQ(image->labels.at("hutch.base"), "sha256:11");
  EXPECT_LE(image->labels.at("hutch.long").size(), 17'000U);
  EXPECT_TRUE(read_image(R"({"Id":"x","Config":null})")->labels.empty());
  EXPECT_FALSE(read_image(R"({"Config":{}})"));
  EXPECT_FALSE(read_image("[]"));
}

TEST(EngineAnswers, SayWhetherTheDiskCanBeLimited) {
  const auto refusal = [](std::string_view text) {
    const auto info = read_info(text);
    EXPECT_TRUE(info) << info.error().message;
    const Status checked = check_disk_limit(*info);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(
      refusal(R"({"Driver":"overlay2","DriverStatus":[["Backing Filesystem","xfs"],["Supports d_type","true"]]})"), "");
  EXPECT_EQ(refusal(R"({"Driver":"btrfs"})"), "");
  EXPECT_EQ(refusal(R"({"Driver":"zfs","DriverStatus":null})"), "");
  EXPECT_THAT(refusal(R"({"Driver":"overlay2","DriverStatus":[["Backing Filesystem","extfs"]]})"),
              HasSubstr("cannot hold it (overlay2 on extfs); leave it out, or have the engine's data on xfs"));
  EXPECT_THAT(refusal(R"({"Driver":"vfs","DriverStatus":[[1,2],["Backing Filesystem"],"x"]})"), HasSubstr("(vfs)"));
  EXPECT_THAT(refusal(R"({"DriverStatus":{"Backing Filesystem":"xfs"}})"), HasSubstr("cannot hold it"));
}

TEST(EngineAnswers, OfAListTheNamesAreHutchs) {
  const auto names =
      read_own_names(R"([{"Names":["/hutch-0123456789abcdef","/other"]},{"Names":["hutch-ffffffffffffffff"]},
      {"Names":["/hutch-0123456789abcdef/../x","/hutch-0123456789ABCDEF","/hutch-0","/hutch-agent-0123456789",7]},
      {"Names":null},{},7])");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_THAT(*names, ElementsAre("hutch-0123456789abcdef", "hutch-ffffffffffffffff"));
  EXPECT_TRUE(read_own_names("[]")->empty());
  EXPECT_FALSE(read_own_names("{}"));
  EXPECT_FALSE(read_own_names(""));
}

TEST(RequestText, IsWholeAndCloses) {
  EXPECT_EQ(request_text("GET", "/version", ""),
            "GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string post = request_text("POST", "/x", "{}");
  EXPECT_THAT(post, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(post, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_TRUE(post.ends_with("\r\n\r\n{}"));
}

TEST(RequestText, InChunks) {
  const std::string head = chunked_request_head("POST", "/x", "application/x-tar");
  EXPECT_THAT(head, HasSubstr("POST /x HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_EQ(chunk_head(0x1f4), "1f4\r\n");
}

TEST(ImportAnswers, SayInAGoodOneThatItFailed) {
  EXPECT_TRUE(check_imported("{\"status\":\"sha256:00\"}\r\n"));
  EXPECT_TRUE(check_imported(""));
  const Status failed = check_imported("{\"status\":\"x\"}\r\n{\"errorDetail\":{},\"error\":\"no \\u001bspace\"}\r\n");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("no \\x1bspace"));
}

TEST(ContainerAnswers, AreBelievedWithinLimits) {
  const auto state = read_container_state(R"({"State":{"Running":true,"Pid":42,"ExitCode":0,"Error":""}})");
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->is_running);
  EXPECT_EQ(state->pid, 42U);
  for (const char* pid : {"-1", "1e30", "\"7\"", "99999999"}) {
    const auto odd = read_container_state(std::string(R"({"State":{"Running":"yes","Pid":)") + pid + "}}");
    ASSERT_TRUE(odd) << pid;
    EXPECT_FALSE(odd->is_running);
    EXPECT_EQ(odd->pid, 0U) << pid;
  }
  EXPECT_FALSE(read_container_state("{}"));
  EXPECT_FALSE(read_container_state("[]"));
  EXPECT_EQ(*read_created(R"({"Id":"0af9"})"), "0af9");
  for (const char* id : {"{}", R"({"Id":""})", R"({"Id":"../x"})", R"({"Id":7})"}) EXPECT_FALSE(read_created(id)) << id;
}

}  // namespace
}  // namespace hutch::backend::container
