// Tests of what is found at the paths of rules, on a real tree.
#include "host/paths/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "host/paths/expand.h"
#include "policy/decide.h"
#include "policy/defaults.h"

namespace hutch::host {
namespace {

namespace fs = std::filesystem;
using policy::Access;
using policy::Rule;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

// A home with a project in it, below a directory of its own. Not below /tmp: that is a private place.
class PathsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string("/var/tmp/hutch-paths-XXXXXX");
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base_ = fs::canonical(pattern);
    home_ = base_ / "home/u";
    project_ = home_ / "p";
    fs::create_directories(project_);
    facts_.home = home_;
    facts_.cwd = project_;
    facts_.uid = 1000;
    facts_.root = {{"etc", plan::FileType::kDirectory, ""},
                   {"var", plan::FileType::kDirectory, ""},
                   {"bin", plan::FileType::kSymlink, "usr/bin"}};
    files_.deny_read = {{base_ / "home"}};
    files_.allow_read = {{"."}};
    files_.allow_write = {{"."}};
  }
  void TearDown() override { fs::remove_all(base_); }

  fs::path make(const fs::path& path) {
    fs::create_directories((project_ / path).parent_path());
    std::ofstream(project_ / path) << "x";
    return project_ / path;
  }
  fs::path make_directory(const fs::path& path) {
    fs::create_directories(project_ / path);
    return project_ / path;
  }

  std::string in(const std::string& path) const { return project_ / path; }

  Result<PathAnswer> look() {
    policy::Policy policy;
    policy.filesystem = files_;
    const policy::Bases bases{.home = home_, .project = project_, .cwd = project_};
    PathQuestion question{
        .rules = TRY(policy::rules_of(policy, bases)), .project = project_, .policy_files = policy_files_, .also = {}};
    for (Rule& rule : TRY(policy::rules_of(options_, bases))) question.rules.push_back(rule);
    return look_at_paths(question, facts_);
  }
  bool may(Access access, const fs::path& path) {
    const auto answer = look();
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer && policy::decide(answer->rules, access, path.string()).allowed;
  }
  bool readable(const fs::path& path) { return may(Access::kRead, path); }
  bool writable(const fs::path& path) { return may(Access::kWrite, path); }
  std::string error() {
    const auto answer = look();
    return answer ? std::string("no error") : answer.error().message;
  }

  fs::path base_, home_, project_;
  plan::HostFacts facts_;
  policy::Filesystem files_;
  policy::PathOptions options_;
  std::vector<std::string> policy_files_;
};

TEST_F(PathsTest, Workspace) {
  EXPECT_TRUE(writable(project_ / "new"));
  EXPECT_FALSE(readable(home_ / ".ssh/id"));
  EXPECT_FALSE(writable(home_ / "x"));
  EXPECT_TRUE(readable("/etc/passwd"));
  EXPECT_FALSE(writable("/etc/passwd"));
  EXPECT_TRUE(writable("/tmp/x"));
  EXPECT_TRUE(writable(home_ / ".cache/x")) << "private";
}

TEST_F(PathsTest, APrivateDirectoryThatIsAbsentIsMadeByNobody) {
  make_directory("there");
  files_.own_directories = {{"there"}, {"absent"}};
  EXPECT_TRUE(writable(project_ / "there/x"));
  EXPECT_FALSE(writable(project_ / "absent"));
  EXPECT_FALSE(writable(project_ / "absent/x"));
  EXPECT_THAT(look()->notes, Contains(HasSubstr("private[1] \"absent\" is absent")));
}

TEST_F(PathsTest, IdentityOfEachSourceAndOfWhatIsAboveIt) {
  make("a/b/secret");
  files_.deny_read.push_back({"a/b/secret"});
  const auto answer = look();
  ASSERT_TRUE(answer.has_value());
  for (const fs::path& path : {project_, project_ / "a", project_ / "a/b", project_ / "a/b/secret"}) {
    const plan::SeenPath* seen = answer->facts.find(path.string());
    ASSERT_NE(seen, nullptr) << path;
    EXPECT_NE(seen->identity, plan::Identity()) << path;
  }
}

TEST_F(PathsTest, DeniesFollowLinks) {
  const fs::path target = make("real/key");
  fs::create_symlink("real/key", project_ / "link");
  files_.deny_read.push_back({"link"});
  EXPECT_FALSE(readable(target));
  const auto answer = look();
  EXPECT_THAT(answer->notes, Contains(HasSubstr("is a symbolic link")));
}

TEST_F(PathsTest, DeniesFollowDanglingLinks) {
  fs::create_symlink(project_ / "later", project_ / "link");
  files_.deny_write.push_back({"link"});
  EXPECT_FALSE(writable(project_ / "later"));
}

TEST_F(PathsTest, DotDotComesAfterLinks) {
  make("x/secret");
  make_directory("x/sub");
  make("secret");
  fs::create_symlink("x/sub", project_ / "link");
  files_.deny_read.push_back({"link/../secret"});
  EXPECT_FALSE(readable(project_ / "x/secret"));
  EXPECT_TRUE(readable(project_ / "secret"));
}

TEST_F(PathsTest, CyclesOfLinksAreAnError) {
  fs::create_symlink("b", project_ / "a");
  fs::create_symlink("a", project_ / "b");
  EXPECT_EQ(error(), "no error") << "a cycle that no rule is about does not matter";
  for (auto* list : {&files_.deny_read, &files_.deny_write, &files_.allow_write}) {
    list->push_back({"a"});
    EXPECT_THAT(error(), HasSubstr("cycle of symbolic links")) << list->size();
    list->pop_back();
  }
}

TEST_F(PathsTest, AllowWriteDoesNotEscapeByALink) {
  fs::create_directories(home_ / "other");
  fs::create_symlink(home_ / "other", project_ / "out");
  files_.allow_write.push_back({"out"});
  EXPECT_THAT(error(), StartsWith("filesystem.allowWrite[1]: \"out\" escapes by a symbolic link: "));
  files_.allow_write.back() = {"out/deeper"};
  EXPECT_THAT(error(), HasSubstr("escapes by a symbolic link"));
  files_.allow_write.pop_back();
  files_.allow_read.push_back({"out/deeper"});
  EXPECT_THAT(error(), HasSubstr("escapes by a symbolic link"));
}

TEST_F(PathsTest, LinksThatStayInTheProjectAreFine) {
  make_directory("real");
  fs::create_symlink("real", project_ / "link");
  files_.deny_write.clear();
  files_.allow_write = {{"link"}};
  EXPECT_TRUE(writable(project_ / "real/x"));
  EXPECT_FALSE(writable(project_ / "x"));
}

TEST_F(PathsTest, AllowReadOfALinkNamesTheLinkAlone) {
  fs::create_directories(home_ / "secret");
  fs::create_symlink(home_ / "secret", home_ / "link");
  files_.allow_read.push_back({"~/link"});
  EXPECT_TRUE(readable(home_ / "link"));
  EXPECT_FALSE(readable(home_ / "secret"));
}

TEST_F(PathsTest, Patterns) {
  const fs::path first = make("a.pem");
  const fs::path hidden = make(".hidden.pem");
  const fs::path deep = make("x/y/b.pem");
  const fs::path other = make("a.txt");
  files_.deny_read.push_back({"*.pem"});
  EXPECT_FALSE(readable(first));
  EXPECT_FALSE(readable(hidden));
  EXPECT_TRUE(readable(deep));
  files_.deny_read.back() = {"**/*.pem"};
  EXPECT_FALSE(readable(first));
  EXPECT_FALSE(readable(deep));
  EXPECT_TRUE(readable(other));
  const auto answer = look();
  EXPECT_THAT(answer->notes, Contains("patterns hold only for files that exist at the start: \"**/*.pem\""));
}

TEST_F(PathsTest, PatternsWhereNothingCanBeMadeNeedNoWord) {
  files_.deny_read.push_back({"/etc/*.hutch"});
  EXPECT_THAT(look()->notes, Not(Contains(HasSubstr("patterns"))));
  files_.allow_write.push_back({"/etc/*.hutch"});
  EXPECT_THAT(look()->notes, Contains(HasSubstr("patterns hold only")));
}

TEST_F(PathsTest, PatternsHoldInAllFourLists) {
  const fs::path file = make("src/a.gen");
  files_.allow_write = {{"src/*.gen"}};
  EXPECT_TRUE(writable(file));
  EXPECT_FALSE(writable(project_ / "src/b"));
  files_.deny_write = {{"src/?.gen"}};
  EXPECT_FALSE(writable(file));
  fs::create_directories(home_ / ".config/git");
  files_.allow_read.push_back({"~/.config/g*"});
  EXPECT_TRUE(readable(home_ / ".config/git/config"));
}

TEST_F(PathsTest, LiteralEntriesAreNoPatterns) {
  const fs::path star = make("a*");
  const fs::path plain = make("ab");
  files_.deny_read.push_back({"a*", policy::EntryForm::kLiteral});
  EXPECT_FALSE(readable(star));
  EXPECT_TRUE(readable(plain));
}

TEST_F(PathsTest, PatternsDoNotFollowLinks) {
  fs::create_directories(home_ / "other");
  std::ofstream(home_ / "other/a.pem") << "x";
  fs::create_symlink(home_ / "other", project_ / "link");
  EXPECT_THAT(expand_pattern((project_ / "**/*.pem").string()).value(), IsEmpty());
  EXPECT_THAT(expand_pattern((project_ / "*").string()).value(), ElementsAre((project_ / "link").string()));
}

TEST_F(PathsTest, PatternsWithSeveralWildcards) {
  make("a/1/b/x");
  make("a/2/3/b/x");
  make("a/b/x");
  EXPECT_THAT(expand_pattern((project_ / "a/**/b/*").string()).value(),
              UnorderedElementsAre((project_ / "a/1/b/x").string(), (project_ / "a/2/3/b/x").string(),
                                   (project_ / "a/b/x").string()));
  EXPECT_THAT(expand_pattern((project_ / "a/*/b/x").string()).value(), ElementsAre((project_ / "a/1/b/x").string()));
  EXPECT_THAT(expand_pattern((project_ / "none/*").string()).value(), IsEmpty());
  EXPECT_THAT(expand_pattern((project_ / "a/b/x/*").string()).value(), IsEmpty()) << "a file has nothing below it";
}

TEST_F(PathsTest, ANameThatIsThePatternItselfIsDenied) {
  const fs::path named = make("[slug]/x.env");
  EXPECT_THAT(expand_pattern((project_ / "[slug]/*.env").string()).value(), IsEmpty());
  EXPECT_THAT(expand_pattern((project_ / "[slug]/*.env").string(), Doubt::kIsMatch).value(),
              ElementsAre(named.string()));
}

TEST_F(PathsTest, MandatoryDenies) {
  const fs::path denied[] = {make(".git/hooks/pre-commit"), make(".git/config"),     make(".mcp.json"),
                             make("a/.mcp.json"),           make("a/b/.git/config"), make(".vscode/tasks.json"),
                             make(".claude/commands/x"),    make("wt/.git"),         make(".git/modules/m/config")};
  make(".git/modules/m/HEAD");
  for (const fs::path& path : denied) {
    EXPECT_FALSE(writable(path)) << path;
    EXPECT_TRUE(readable(path)) << path;
  }
  EXPECT_TRUE(writable(make(".git/HEAD")));
  EXPECT_FALSE(writable(make(".claude/settings.local.json")));
  EXPECT_TRUE(writable(make(".claude/notes.json")));
  EXPECT_TRUE(writable(make("node_modules/m/.mcp.json"))) << "not looked into";
  EXPECT_TRUE(writable(make("1/2/3/.mcp.json"))) << "deeper than three";
  EXPECT_FALSE(writable(make("1/2/.mcp.json")));
}

TEST_F(PathsTest, ARepositoryInsideOfWhatLooksLikeOneIsFound) {
  const std::string modules = ".git/modules/";
  make(".git/HEAD");
  make(modules + "a/HEAD");
  make(modules + "a/logs/refs/remotes/origin/HEAD");
  make_directory(modules + "a/objects/12/34");
  std::vector<std::string> all = {in(".git"), in(modules + "a")};
  for (const char* inner :
       {"a/b", "a/modules", "a/refs", "a/x/y/z", "a/x/y/z/worktrees/w", "a/modules/d/e/modules/f/g"}) {
    make(modules + inner + "/HEAD");
    if (std::string_view(inner).ends_with("/w")) {
      make(modules + inner + "/commondir");
    } else {
      make_directory(modules + inner + "/objects");
      make_directory(modules + inner + "/refs");
    }
    all.push_back(in(modules + inner));
  }
  make(modules + "a/modules/d/HEAD");
  all.push_back(in(modules + "a/modules/d"));
  for (const char* slashes : {"third/lib", "1/2/3/x"}) {
    make(modules + slashes + "/HEAD");
    all.push_back(in(modules + slashes));
  }
  const MandatoryFound found = find_mandatory({.root = project_}).value();
  EXPECT_THAT(std::set<std::string>(found.repositories.begin(), found.repositories.end()),
              UnorderedElementsAreArray(all));
  EXPECT_EQ(found.not_searched, "");
  make_directory(modules + "a/1/2/3/4/5/6/7");
  EXPECT_EQ(find_mandatory({.root = project_})->not_searched, in(modules + "a/1/2/3/4/5/6"));
}

TEST_F(PathsTest, MandatoryDeniesAreLiftedByName) {
  const fs::path file = make(".bashrc");
  EXPECT_FALSE(writable(file));
  files_.allow_write.push_back({".bashrc"});
  EXPECT_TRUE(writable(file));
  files_.allow_write.back() = {".bash*"};
  EXPECT_FALSE(writable(file)) << "a pattern names no file";
}

TEST_F(PathsTest, MandatoryNamesThatAreLinks) {
  const fs::path hooks = make_directory("shared-hooks");
  make_directory(".git");
  fs::create_symlink("../shared-hooks", project_ / ".git/hooks");
  EXPECT_FALSE(writable(hooks / "pre-commit"));
  fs::create_symlink("loop", project_ / "loop");
  fs::create_symlink("loop", project_ / ".mcp.json");
  EXPECT_EQ(error(), "no error") << "a cycle at a name that nobody gave";
}

TEST_F(PathsTest, AbsentDeniesAreTold) {
  files_.deny_write = {{"later"}};
  EXPECT_THAT(
      look()->notes,
      Contains("absent, so the deny holds only for files that exist at the start: filesystem.denyWrite[0] \"later\""));
  files_.deny_write = {{"/etc/hutch-absent"}};
  EXPECT_THAT(look()->notes, Not(Contains(HasSubstr("hutch-absent")))) << "nothing in the sandbox can make it";
}

TEST_F(PathsTest, WriteWithoutReadIsTold) {
  fs::create_directories(home_ / "out");
  files_.allow_write.push_back({"~/out"});
  EXPECT_THAT(look()->notes, Contains(HasSubstr("not writable, because it may not be read")));
  EXPECT_FALSE(writable(home_ / "out/x"));
  files_.allow_write.pop_back();
  options_.allow_write = {"~/out"};
  EXPECT_TRUE(writable(home_ / "out/x")) << "the option allows reading too";
}

TEST_F(PathsTest, RootDenySpreads) {
  files_.deny_read = {{"/"}};
  EXPECT_FALSE(readable("/etc/passwd"));
  EXPECT_TRUE(readable("/proc/cpuinfo"));
  EXPECT_TRUE(writable("/dev/null"));
  files_.allow_read = {{"."}, {"/etc"}};
  EXPECT_TRUE(readable("/etc/passwd"));
  files_.allow_read = {{"/"}};
  EXPECT_TRUE(readable("/etc/passwd")) << "allowRead beats denyRead of the same path";
}

TEST_F(PathsTest, PlacesOfTheKernel) {
  const auto with = [&](std::vector<policy::PathEntry>& list, const char* path) {
    list.push_back({path});
    const std::string message = error();
    list.pop_back();
    return message;
  };
  EXPECT_EQ(with(files_.allow_write, "/dev/null"), "no error");
  EXPECT_EQ(with(files_.allow_write, "/dev"), "no error");
  EXPECT_EQ(with(files_.allow_read, "/proc"), "no error");
  EXPECT_EQ(with(files_.deny_read, "/dev/kvm"), "no error") << "it is not there";
  EXPECT_EQ(with(files_.deny_write, "/sys"), "no error");
  EXPECT_THAT(with(files_.allow_read, "/dev/kvm"), HasSubstr("cannot hold: the sandbox's /dev does not have it"));
  EXPECT_THAT(with(files_.allow_write, "/proc/sys/kernel"), HasSubstr("cannot hold"));
  EXPECT_THAT(with(files_.deny_read, "/proc/cpuinfo"), HasSubstr("cannot hold"));
}

TEST_F(PathsTest, PrivatePlaces) {
  files_.deny_read.push_back({"/tmp/x"});
  files_.deny_write.push_back({"/tmp"});
  EXPECT_TRUE(writable("/tmp/x")) << "the host's /tmp is not there, which is what was asked for";
  fs::create_directories("/tmp/hutch-paths-test");
  files_.allow_read.push_back({"/tmp/hutch-paths-test"});
  EXPECT_FALSE(writable("/tmp/hutch-paths-test/y"));
  files_.deny_write.clear();
  files_.allow_read.pop_back();
  files_.allow_write.push_back({"/tmp/hutch-paths-test"});
  const auto answer = look();
  EXPECT_EQ(policy::decide(answer->rules, Access::kWrite, "/tmp/hutch-paths-test/y").view, policy::View::kReadWrite);
  fs::remove("/tmp/hutch-paths-test");
}

TEST_F(PathsTest, PrivatePlacesOfHomeOnlyWhereHomeIsHidden) {
  files_.allow_read.push_back({"~"});
  EXPECT_FALSE(writable(home_ / ".cache/x"));
  EXPECT_TRUE(readable(home_ / ".cache/x"));
}

TEST_F(PathsTest, OwnFilesAreNeverVisible) {
  facts_.store_dirs = {(project_ / "store").string()};
  policy_files_ = {make("policy.json").string()};
  EXPECT_EQ(look()->missing_store, std::vector<std::string>{(project_ / "store").string()})
      << "a sandbox could make it";
  make("store/default.json");
  EXPECT_THAT(look()->missing_store, IsEmpty());
  files_.allow_read.push_back({"store"});
  files_.allow_write.push_back({"store"});
  files_.allow_write.push_back({"policy.json"});
  EXPECT_FALSE(readable(project_ / "store/default.json"));
  EXPECT_FALSE(writable(project_ / "store/default.json"));
  EXPECT_TRUE(readable(project_ / "policy.json"));
  EXPECT_FALSE(writable(project_ / "policy.json"));
}

TEST_F(PathsTest, CredentialsAreNeverReadable) {
  fs::create_directories(home_ / ".ssh");
  std::ofstream(home_ / ".ssh/id") << "key";
  std::ofstream(home_ / ".ssh/known_hosts") << "host";
  std::ofstream(home_ / ".netrc") << "key";
  std::ofstream(home_ / "own.key") << "key";
  files_.allow_read = {{"."}, {"~"}, {"~/.s*"}, {"~/.n*"}};
  files_.allow_write = {{"."}, {"~"}};
  files_.credentials = {{"~/*.key"}};
  EXPECT_FALSE(readable(home_ / ".ssh/id")) << "neither a directory nor a pattern lifts it";
  EXPECT_FALSE(readable(home_ / ".netrc"));
  EXPECT_FALSE(writable(home_ / ".netrc"));
  EXPECT_FALSE(readable(home_ / "own.key"));
  files_.allow_read.push_back({"~/.netrc"});
  files_.allow_read.push_back({"~/.ssh/known_hosts"});
  files_.allow_read.push_back({"~/own.key"});
  EXPECT_TRUE(readable(home_ / ".netrc")) << "it is named";
  EXPECT_TRUE(readable(home_ / ".ssh/known_hosts"));
  EXPECT_FALSE(readable(home_ / ".ssh/id")) << "for that file alone";
  EXPECT_TRUE(readable(home_ / "own.key"));
}

TEST_F(PathsTest, OwnFilesBehindALinkThatCouldBeReplaced) {
  fs::create_directories(base_ / "real");
  fs::create_symlink(base_ / "real", project_ / "config");
  facts_.store_dirs = {(project_ / "config/hutch").string()};
  EXPECT_THAT(error(), HasSubstr("lies behind the symbolic link " + (project_ / "config").string()));
  facts_.store_dirs = {(base_ / "real/hutch").string()};
  EXPECT_EQ(error(), "no error");
  make("real.json");
  fs::create_symlink("real.json", project_ / "policy.json");
  policy_files_ = {(project_ / "policy.json").string()};
  EXPECT_THAT(error(), StartsWith("the policy file "));
}

TEST_F(PathsTest, RepositoriesWithoutAWorkTree) {
  for (const char* directory : {"bare.git/objects", "bare.git/refs", "bare.git/hooks"}) make_directory(directory);
  make("bare.git/HEAD");
  EXPECT_FALSE(writable(make("bare.git/config")));
  EXPECT_FALSE(writable(project_ / "bare.git/hooks/update"));
  EXPECT_TRUE(writable(project_ / "bare.git/objects/x"));
  EXPECT_TRUE(writable(make("plain/config"))) << "no repository";
}

TEST_F(PathsTest, ALinkNamedGitLeadsToTheRulesOfItsRepository) {
  for (const char* directory : {"1/2/3/4/objects", "1/2/3/4/refs", "1/2/3/4/hooks", "w"}) make_directory(directory);
  make("1/2/3/4/HEAD");
  make("1/2/3/4/config");
  fs::create_symlink("../1/2/3/4", project_ / "w/.git");
  for (const char* held : {"1/2/3/4/config", "1/2/3/4/hooks/x"}) EXPECT_FALSE(writable(project_ / held)) << held;
  for (const char* free : {"1/2/3/4/index.lock", "1/2/3/4/refs/x"}) EXPECT_TRUE(writable(project_ / free)) << free;
  const auto answer = look();
  ASSERT_TRUE(answer.has_value());
  const auto holds_link = [&](const plan::NameRule& rule) { return rule.pattern == in("w/.git"); };
  EXPECT_TRUE(std::ranges::any_of(answer->names, holds_link)) << "no mount holds a link";
  make_directory("plain");
  fs::create_symlink("plain", project_ / ".git");
  EXPECT_FALSE(writable(project_ / "plain/x")) << "no repository yet";
}

TEST_F(PathsTest, AsSeenFromInside) {
  fs::create_directories(home_ / "hidden");
  fs::create_symlink("/etc", home_ / "hidden/link");
  fs::create_symlink("/etc", project_ / "link");
  make_directory("sub");
  fs::create_directories(home_ / "hidden/deep");
  const auto answer = look();
  const auto is_made = [&](std::string_view path) { return path == home_.string(); };
  const auto way = [&](const fs::path& path) { return *path_as_seen(path.string(), answer->rules, is_made); };
  const auto seen = [&](const fs::path& path) { return way(path).leads_to.path; };
  EXPECT_EQ(seen(project_ / "link/passwd"), "/etc/passwd");
  EXPECT_EQ(seen(home_ / "hidden/link/passwd"), (home_ / "hidden/link/passwd").string())
      << "a hidden link leads nowhere";
  EXPECT_EQ(seen(project_ / "sub/../x"), (project_ / "x").string());
  EXPECT_FALSE(way(project_ / "sub/../x").is_lost);
  EXPECT_FALSE(way(home_ / "../x").is_lost) << "the sandbox has a directory of its own there";
  EXPECT_FALSE(way("/../etc").is_lost);
  EXPECT_TRUE(way(home_ / "hidden/deep/../link").is_lost);
}

}  // namespace
}  // namespace hutch::host
