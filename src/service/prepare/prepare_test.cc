// Tests of the way from a request to a plan and to verdicts, on a real tree.
#include "service/prepare/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "service/explain/explain.h"

namespace hutch::service {
namespace {

namespace fs = std::filesystem;
using policy::Access;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class PrepareTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/var/tmp/hutch-prepare-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base_ = fs::canonical(pattern);
    home_ = base_ / "u";
    project_ = home_ / "p";
    fs::create_directories(project_ / "sub");
    facts_.uid = 1000;
    facts_.gid = 1000;
    facts_.user = "u";
    facts_.home = home_;
    facts_.cwd = project_;
    for (const auto& entry : fs::directory_iterator("/")) {
      const bool link = entry.is_symlink();
      facts_.root.push_back({entry.path().filename(), link ? plan::FileType::kSymlink : plan::FileType::kDirectory,
                             link ? fs::read_symlink(entry.path()).string() : ""});
    }
    caller_.environment = {"PATH=/usr/bin", "XDG_CONFIG_HOME=" + (base_ / "config").string()};
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(const fs::path& path, std::string_view text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Result<Prepared> prepared() { return prepare(request_, facts_, caller_); }
  std::string error() {
    const auto result = prepared();
    return result ? std::string("no error") : result.error().message;
  }
  PathVerdict verdict(Access access, const std::string& path) {
    const auto result = prepared();
    EXPECT_TRUE(result.has_value()) << result.error().message;
    return judge_path(*result, facts_, path, access).value();
  }
  bool reads(const std::string& path) { return verdict(Access::kRead, path).allowed; }
  bool writes(const std::string& path) { return verdict(Access::kWrite, path).allowed; }

  fs::path base_, home_, project_;
  plan::HostFacts facts_;
  PlaceRequest request_;
  Caller caller_;
};

TEST_F(PrepareTest, APolicyThatIsGivenBeatsEveryFile) {
  write(base_ / "config/hutch/default.json", R"({"filesystem": {"denyRead": ["sub"]}})");
  policy::Policy given;
  given.source = "given";
  given.filesystem.deny_read = {{"other"}};
  request_.policy = given;
  request_.policy_file = "/absent.json";
  EXPECT_EQ(prepared()->policy.source, "given");
  EXPECT_TRUE(reads((project_ / "sub").string()));
  EXPECT_FALSE(reads((project_ / "other").string()));
  EXPECT_FALSE(writes(project_.string()));
}

TEST_F(PrepareTest, TheEnvironmentMayBePathAlone) {
  caller_.environment.insert(caller_.environment.end(), {"TERM=xterm", "LANG=C", "SECRET=x"});
  request_.policy_file.reset();
  request_.policy = policy::Policy();
  request_.policy->network.mode = policy::NetworkMode::kNone;
  request_.base_environment = plan::BaseEnvironment::kPathAlone;
  request_.environment = {"GIVEN=1"};
  const auto result = prepared();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_THAT(result->plan.environment, testing::UnorderedElementsAre("PATH=/usr/bin", "GIVEN=1"));
}

TEST_F(PrepareTest, BuiltInPolicy) {
  const auto result = prepared();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->backend, BackendKind::kNamespace);
  EXPECT_EQ(result->policy.source, "built-in default");
  EXPECT_EQ(result->plan.network, plan::NetworkKind::kGateway) << "so that what is refused can be told";
  EXPECT_EQ(result->plan.cwd, project_);
}

TEST_F(PrepareTest, DefaultThenProjects) {
  write(base_ / "config/hutch/default.json", R"({"filesystem": {"denyRead": ["~/p/sub"]}})");
  EXPECT_EQ(prepared()->policy.source, (base_ / "config/hutch/default.json").string());
  EXPECT_FALSE(reads("sub"));
  write(base_ / "config/hutch/projects.json",
        "{\"" + home_.string() + "\": {\"filesystem\": {\"allowWrite\": [\"x\"]}}, \"/\": {}}");
  EXPECT_THAT(prepared()->policy.source, HasSubstr("projects.json"));
  EXPECT_TRUE(reads("sub")) << "nothing is merged";
  EXPECT_EQ(prepared()->plan.project, home_) << "relative entries are about the entry's own directory";
  fs::create_directories(home_ / "x");
  EXPECT_TRUE(writes((home_ / "x/y").string()));
  EXPECT_FALSE(writes("y"));
}

TEST_F(PrepareTest, BrokenConfigurationIsAnError) {
  write(base_ / "config/hutch/default.json", "{");
  EXPECT_THAT(error(), HasSubstr("default.json: line 1, column 2: not JSON"));
  fs::remove(base_ / "config/hutch/default.json");
  fs::create_directories(base_ / "config/hutch/default.json");
  EXPECT_THAT(error(), HasSubstr("is a directory"));
}

TEST_F(PrepareTest, NamedPolicy) {
  write(project_ / "policy.json",
        R"({"filesystem": {"allowWrite": ["."]}, "limits": {"memory": "16M", "timeout": "5s"}})");
  request_.policy_file = "policy.json";
  request_.limits.memory_bytes = 4096;
  const auto result = prepared();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->plan.limits.memory_bytes, 4096U) << "the command line replaces";
  EXPECT_EQ(result->plan.limits.timeout, std::chrono::seconds(5));
  EXPECT_FALSE(writes("policy.json"));
  EXPECT_TRUE(writes("other.json"));
  request_.policy_file = "absent.json";
  EXPECT_THAT(error(), StartsWith("--policy: " + (project_ / "absent.json").string() + ": there is no such file"));
}

TEST_F(PrepareTest, Backend) {
  const auto found = [](const char* name) { return find_backend("--backend", name); };
  EXPECT_EQ(found("namepsace").error().message, "--backend: \"namepsace\" is not a backend; did you mean namespace?");
  EXPECT_THAT(found("seatbelt").error().message, StartsWith("--backend: this version does not have seatbelt"));
  EXPECT_THAT(found("quite-another").error().message, HasSubstr("use namespace, bwrap, user, container, vm or none"));
  request_.backend = BackendKind::kVm;
  EXPECT_EQ(prepared()->plan.cwd, "/workspace");
  EXPECT_EQ(prepared()->plan.uid, 1000U);
  EXPECT_EQ(prepared()->plan.network, plan::NetworkKind::kGateway);
  request_.allow_read = {"/etc"};
  EXPECT_THAT(error(), StartsWith("--allow-read: backend vm shows nothing"));
  request_.allow_read.clear();
  request_.network.allow_domains = {"example.org"};
  EXPECT_THAT(prepared()->plan.environment, testing::Contains("http_proxy=http://10.0.2.2:1023"));
  request_.network.allow_domains.clear();
  request_.network.allow_sockets = {"/run/x"};
  EXPECT_THAT(error(), StartsWith("backend vm: a machine reaches none of this one's Unix sockets"));
  request_.network.allow_sockets.clear();
  request_.backend = BackendKind::kNone;
  EXPECT_EQ(prepared()->plan.network, plan::NetworkKind::kHost);
  write(base_ / "config/hutch/default.json", R"({"backend": "bwrap"})");
  request_.backend.reset();
  EXPECT_EQ(prepared()->backend, BackendKind::kBwrap);
}

TEST_F(PrepareTest, DisabledIsTheBackendNone) {
  write(base_ / "config/hutch/default.json", R"({"enabled": false, "backend": "bwrap"})");
  EXPECT_EQ(prepared()->backend, BackendKind::kNone);
  request_.backend = BackendKind::kNamespace;
  EXPECT_EQ(prepared()->backend, BackendKind::kNamespace) << "asked for by name";
}

TEST_F(PrepareTest, WhetherThereMayBeNoIsolation) {
  const std::string file = base_ / "config/hutch/config.json";
  const auto refuses = [&] {
    const auto result = prepared();
    EXPECT_TRUE(result || (result.error().code == Code::kPermissionDenied &&
                           result.error().message.contains("security.sandboxOnly in " + file)));
    return !result;
  };
  const Residence agent;
  request_.backend = BackendKind::kNone;
  EXPECT_FALSE(refuses()) << "a person types it";
  caller_.residence = &agent;
  EXPECT_TRUE(refuses());
  EXPECT_THAT(error(), HasSubstr("not set, forbids it to agents; name another backend, or let them have it: hutch "
                                 "settings set security.sandboxOnly false"));
  write(file, R"({"security": {"sandboxOnly": false}})");
  EXPECT_FALSE(refuses());
  write(file, R"({"security": {"sandboxOnly": true}})");
  EXPECT_TRUE(refuses());
  caller_.residence = nullptr;
  EXPECT_TRUE(refuses());
  write(base_ / "config/hutch/default.json", R"({"enabled": false})");
  request_.backend.reset();
  EXPECT_TRUE(refuses()) << "nor by the policy";
}

TEST_F(PrepareTest, TheDiskIsLimitedByContainersAlone) {
  write(base_ / "config/hutch/default.json", R"({"limits": {"disk": "1G"}})");
  EXPECT_THAT(error(), HasSubstr("default.json: limits.disk: backend namespace cannot hold it"));
  request_.backend = BackendKind::kNone;
  EXPECT_THAT(error(), HasSubstr("limits.disk: backend none cannot hold it"));
  request_.backend = BackendKind::kContainer;
  request_.image = "debian:12";
  const auto result = prepared();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->plan.limits.disk_bytes, 1ULL << 30);
}

TEST_F(PrepareTest, NetworkKinds) {
  const auto kind = [&](std::string_view network) {
    write(base_ / "config/hutch/default.json", "{\"network\": " + std::string(network) + "}");
    return prepared()->plan.network;
  };
  EXPECT_EQ(kind(R"({"allowedDomains": ["example.com"]})"), plan::NetworkKind::kGateway);
  EXPECT_EQ(kind(R"({"allowedDomains": []})"), plan::NetworkKind::kGateway);
  EXPECT_EQ(kind(R"("outbound")"), plan::NetworkKind::kGateway);
  EXPECT_EQ(kind(R"("none")"), plan::NetworkKind::kNone);
  request_.network.mode = policy::NetworkMode::kRules;
  request_.network.allow_domains = {"example.com"};
  EXPECT_EQ(kind(R"("none")"), plan::NetworkKind::kGateway);
  EXPECT_THAT(prepared()->policy.network.allowed_domains, testing::ElementsAre("example.com"));
  request_.network.mode.reset();
  EXPECT_THAT(error(), StartsWith("--allow-domain: the policy's network is \"none\""));
  request_.backend = BackendKind::kNone;
  request_.network = {};
  EXPECT_EQ(kind(R"("outbound")"), plan::NetworkKind::kHost);
}

TEST_F(PrepareTest, NetworkDetails) {
  write(base_ / "config/hutch/default.json",
        R"({"network": {"hostPorts": [5432], "allowedDomains": ["a.org"], "allowedUdp": ["a.org:123"],
    "tlsTerminate": {"extraCaCertPaths": ["~/ca.pem", "certs/b.pem"]}}})");
  request_.network.host_ports = {6379};
  request_.network.allow_udp = {"192.0.2.7:123"};
  caller_.environment.emplace_back("https_proxy=http://u:s3cret@proxy.example:3128");
  const auto result = prepared();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_THAT(result->plan.host_ports, testing::ElementsAre(5432, 6379));
  ASSERT_EQ(result->plan.udp.size(), 2U);
  EXPECT_EQ(result->plan.udp[0].host, "a.org");
  EXPECT_EQ(result->plan.udp[1].host, "192.0.2.7");
  EXPECT_THAT(result->policy.network.tls.extra_ca_paths,
              testing::ElementsAre((home_ / "ca.pem").string(), (project_ / "certs/b.pem").string()));
  ASSERT_TRUE(result->parent_proxies.https);
  const auto explanation = explain(request_, facts_, caller_, {});
  ASSERT_TRUE(explanation.has_value());
  EXPECT_THAT(explanation_text(*explanation), HasSubstr("through http://proxy.example:3128 (with credentials)"));
  for (const std::string& text : {explanation_text(*explanation), explanation_json(*explanation)}) {
    EXPECT_THAT(text, testing::Not(HasSubstr("s3cret")));
  }
}

TEST_F(PrepareTest, ProxiesThatCannotBeUsed) {
  caller_.environment.emplace_back("ALL_PROXY=socks5://proxy.example:1080");
  EXPECT_THAT(prepared()->plan.notes, Contains(HasSubstr("ALL_PROXY: a proxy of the kind socks5://")));
  request_.network.mode = policy::NetworkMode::kOutbound;
  EXPECT_THAT(error(), HasSubstr("ALL_PROXY: a proxy of the kind socks5://"));
  request_.network.mode = policy::NetworkMode::kNone;
  EXPECT_EQ(error(), "no error");
}

TEST_F(PrepareTest, JudgesHosts) {
  write(base_ / "config/hutch/default.json", R"({"network": {"allowedDomains": ["*.example.com", "10.0.0.0/8"],
    "deniedDomains": ["bad.example.com"], "deniedDomainReasons": {"bad.example.com": "it is bad"},
    "hostPorts": [5432]}})");
  const auto judged = [&](const std::string& typed) {
    const auto verdict = judge_host(*prepared(), typed);
    return verdict ? verdict_text(*verdict) : verdict.error().message;
  };
  EXPECT_EQ(judged("a.example.com:443"),
            "allowed: connect a.example.com:443: network.allowedDomains \"*.example.com\": an entry allows it");
  EXPECT_THAT(judged("BAD.example.com."), HasSubstr("(bad.example.com:443): network.deniedDomains \"bad.example.com\": "
                                                    "it is bad"));
  EXPECT_THAT(judged("other.org"), StartsWith("ask: connect other.org (other.org:443): default: "));
  EXPECT_THAT(judged("10.1.1.1"), StartsWith("allowed: "));
  EXPECT_THAT(judged("169.254.169.254:80"), StartsWith("ask: connect 169.254.169.254:80: default: it is the "));
  EXPECT_THAT(judged("[::1]:5432"), StartsWith("allowed: connect [::1]:5432: network.hostPorts 5432: "));
  EXPECT_THAT(judged("0177.1:80"), StartsWith("ask: connect 0177.1:80 (127.0.0.1:80): default: it is a "));
  EXPECT_THAT(judged("a b"), HasSubstr("a host name holds no blanks"));
  const auto verdict = judge_host(*prepared(), "other.org");
  EXPECT_THAT(verdict_json(*verdict), HasSubstr("\"allowed\":false,\"verdict\":\"ask\""));
  request_.network.mode = policy::NetworkMode::kNone;
  EXPECT_THAT(judged("a.example.com"), StartsWith("denied: "));
  EXPECT_THAT(judged("localhost:5432"), StartsWith("denied: "));
  request_.backend = BackendKind::kNone;
  EXPECT_THAT(judged("x.org"), StartsWith("allowed: connect x.org (x.org:443): --backend none: "));
}

TEST_F(PrepareTest, Cwd) {
  request_.cwd = "sub";
  EXPECT_EQ(prepared()->plan.cwd, project_ / "sub");
  EXPECT_EQ(prepared()->plan.project, project_);
  request_.cwd = "absent";
  EXPECT_THAT(error(), HasSubstr("no such directory"));
  request_.cwd = "..";
  EXPECT_THAT(error(), HasSubstr("is not readable in the sandbox"));
}

TEST_F(PrepareTest, HiddenCommandIsTold) {
  write(home_ / "bin/tool", "x");
  caller_.command = "../bin/tool";
  caller_.environment[0] = "PATH=" + (home_ / "bin").string() + ":/usr/bin";
  const auto notes = prepared()->plan.notes;
  EXPECT_THAT(notes, Contains((home_ / "bin/tool").string() + " is hidden here; --allow-read " +
                              (home_ / "bin").string() + " shows it"));
  EXPECT_THAT(notes, Contains(StartsWith("PATH holds directories that are hidden here; --allow-read ")));
}

TEST_F(PrepareTest, OwnDirectoryIsMadeWhereASandboxCould) {
  facts_.cwd = home_;
  facts_.store_dirs = {(home_ / ".config/hutch").string()};
  ASSERT_EQ(error(), "no error");
  EXPECT_TRUE(fs::is_directory(home_ / ".config/hutch"));
  EXPECT_EQ(fs::status(home_ / ".config/hutch").permissions(), fs::perms::owner_all);
  EXPECT_FALSE(writes(".config/hutch/default.json"));
  EXPECT_TRUE(writes(".config/other"));
}

TEST_F(PrepareTest, Verdicts) {
  write(home_ / "secret", "x");
  write(project_ / "file", "x");
  EXPECT_TRUE(writes("file"));
  EXPECT_TRUE(writes("sub/../file"));
  EXPECT_FALSE(reads("../secret"));
  EXPECT_FALSE(reads((home_ / "secret").string()));
  EXPECT_TRUE(reads(home_.string())) << "the sandbox's own";
  EXPECT_TRUE(reads("/etc/passwd"));
  EXPECT_FALSE(writes("/etc/passwd"));
  EXPECT_TRUE(writes("/dev/null"));
  EXPECT_FALSE(reads("/dev/hutch"));
  EXPECT_FALSE(writes("/dev/new"));
  EXPECT_TRUE(writes("/dev/shm/x"));
  EXPECT_TRUE(writes("/tmp/x"));
  EXPECT_FALSE(reads("/sys/kernel"));
  EXPECT_FALSE(writes("/proc/sys/kernel/hostname"));
  EXPECT_EQ(verdict(Access::kWrite, "file").rule, "filesystem.allowWrite[0] \".\"");
}

TEST_F(PrepareTest, WhatTheHostHasInAPrivatePlaceIsNotThere) {
  std::string host_file = "/tmp/hutch-prepare-XXXXXX";
  const int fd = ::mkstemp(host_file.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  EXPECT_FALSE(reads(host_file));
  EXPECT_TRUE(writes(host_file)) << "a new file of the sandbox's own";
  EXPECT_TRUE(reads("/tmp"));
  request_.allow_read = {host_file};
  EXPECT_TRUE(reads(host_file));
  fs::remove(host_file);
}

TEST_F(PrepareTest, RootOfTheSandboxTakesNoNewNames) {
  request_.allow_write = {"/"};
  EXPECT_FALSE(writes("/hutch-new-name"));
  EXPECT_FALSE(writes("/"));
  EXPECT_FALSE(reads((home_ / "secret").string())) << "the deny is the more specific";
}

TEST_F(PrepareTest, AllowedNamesThatCannotBeMade) {
  request_.allow_read = {home_.string()};
  request_.allow_write = {(home_ / "absent").string(), "sub/absent"};
  EXPECT_FALSE(writes((home_ / "absent").string()));
  EXPECT_TRUE(writes("sub/absent"));
  EXPECT_TRUE(writes("new/deeper/x")) << "the directories can be made first";
  EXPECT_THAT(prepared()->plan.notes, Contains(HasSubstr("absent, so nothing is allowed by it: --allow-write")));
}

TEST_F(PrepareTest, LinkedDirectories) {
  if (!fs::is_symlink("/var/run")) GTEST_SKIP() << "/var/run is no link here";
  EXPECT_EQ(verdict(Access::kRead, "/var/run").path, "/run");
  request_.deny_read = {"/var"};
  request_.allow_read = {project_.string()};
  EXPECT_FALSE(reads("/var/run")) << "the link is hidden";
  request_.deny_read = {"/var/run"};
  EXPECT_TRUE(reads("/var/lib")) << "the rule is about /run";
}

TEST_F(PrepareTest, TheFilesOwnModeCounts) {
  write(project_ / "closed", "x");
  ASSERT_EQ(::chmod((project_ / "closed").c_str(), 0), 0);
  facts_.uid = ::geteuid();
  facts_.gid = ::getegid();
  const PathVerdict closed = verdict(Access::kRead, "closed");
  EXPECT_FALSE(closed.allowed) << "root has no capabilities inside either";
  EXPECT_EQ(closed.rule, "file mode");
}

TEST_F(PrepareTest, ExplainTellsPathsFromHosts) {
  write(project_ / "file", "x");
  const auto explanation = explain(request_, facts_, caller_, {"file", "./new", "example.com", "~/x"});
  ASSERT_TRUE(explanation.has_value()) << explanation.error().message;
  EXPECT_EQ(explanation->paths.size(), 6U) << "reading and writing of three";
  ASSERT_EQ(explanation->hosts.size(), 1U);
  EXPECT_EQ(explanation->hosts.front().verdict, policy::HostVerdict::kAsk);
  const std::string text = explanation_text(*explanation);
  EXPECT_THAT(text,
              HasSubstr("allowed: write file (" + (project_ / "file").string() + "): filesystem.allowWrite[0] \".\""));
  EXPECT_THAT(text, HasSubstr("ask: connect example.com (example.com:443): default: "));
  const std::string json = explanation_json(*explanation);
  EXPECT_THAT(json, HasSubstr("\"backend\":\"namespace\""));
  EXPECT_THAT(json, HasSubstr("\"access\":\"write\""));
}

}  // namespace
}  // namespace hutch::service
