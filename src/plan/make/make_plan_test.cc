// Golden tests of plans: rules and facts in, the text of the plan out. HUTCH_ACCEPT=1 writes what came out as right.
#include "plan/make/make_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "plan/make/plan_text.h"
#include "plan/make/widening.h"
#include "plan/make/world_testing.h"

namespace hutch::plan {
namespace {

using policy::Origin;
using policy::Place;
using policy::Rule;
using policy::Verb;

// What every plan has to keep, whatever the rules are.
void check_order(const SandboxPlan& plan) {
  std::map<std::string, MountKind> mounts;
  std::set<std::string> own = {};  // directories on the plan's own tmpfs
  std::set<std::string> files = {};
  std::set<std::string> sealed;
  const auto parent = [](const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? std::string("/") : path.substr(0, slash);
  };
  const auto mount_of = [&](std::string path) {
    while (!mounts.contains(path)) path = parent(path);
    return path;
  };
  for (const MountStep& step : plan.mounts) {
    const std::string text = step_text(step);
    if (step.kind == MountKind::kSeal) {
      EXPECT_EQ(mounts.contains(step.target), true) << text;
      sealed.insert(step.target);
      continue;
    }
    const bool makes_name = step.kind == MountKind::kDirectory || step.kind == MountKind::kSymlink ||
                            step.kind == MountKind::kFile || step.make != MakeTarget::kNothing;
    if (makes_name && step.target != "/") {
      const std::string above = mount_of(parent(step.target));
      EXPECT_EQ(mounts.at(above), MountKind::kTmpfs) << "a name made beneath a bind: " << text;
      EXPECT_FALSE(sealed.contains(above)) << "a name made after the seal: " << text;
      EXPECT_TRUE(own.contains(parent(step.target))) << "the directory above is missing: " << text;
    }
    if (step.kind == MountKind::kDirectory) {
      EXPECT_TRUE(own.insert(step.target).second) << "made twice: " << text;
      continue;
    }
    if (step.kind == MountKind::kSymlink) continue;
    if (step.kind == MountKind::kFile) {
      EXPECT_TRUE(files.insert(step.target).second) << "made twice: " << text;
      continue;
    }
    EXPECT_EQ(step.kind == MountKind::kCover, files.contains(step.source)) << "not made yet: " << text;
    if (step.kind == MountKind::kTmpfs) own.insert(step.target);
    const bool over_the_host = step.make == MakeTarget::kNothing && step.target != "/" && step.target != "/dev/shm";
    if (step.kind == MountKind::kBind || step.kind == MountKind::kHideFile || over_the_host) {
      EXPECT_NE(step.identity, Identity()) << text;
    }
    EXPECT_TRUE(mounts.emplace(step.target, step.kind).second) << "mounted twice: " << text;
  }
  EXPECT_TRUE(sealed.contains("/"));
}

void expect_golden(World& world, const std::string& name) {
  const auto plan = world.plan();
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  check_order(*plan);
  const std::string path = std::string(HUTCH_SOURCE_DIR) + "/src/plan/make/golden/" + name + ".txt";
  const std::string got = plan_text(*plan);
  if (std::getenv("HUTCH_ACCEPT") != nullptr) {
    std::ofstream(path) << got;
    return;
  }
  std::ifstream file(path);
  std::stringstream want;
  want << file.rdbuf();
  EXPECT_EQ(got, want.str()) << "run with HUTCH_ACCEPT=1 if the new plan is right, and read the difference";
}

TEST(MakePlanTest, Workspace) {
  World world;
  world.workspace();
  world.limits = {.memory_bytes = 512ULL << 20, .tmp_bytes = 1ULL << 30, .timeout = std::chrono::seconds(30)};
  expect_golden(world, "workspace");
  world.limits.memory_bytes = 0;
  EXPECT_TRUE(world.plan().value().notes.empty()) << "/tmp is as large as was asked for";
}

TEST(MakePlanTest, MandatoryDeniesPinTheirAncestors) {
  World world;
  world.workspace();
  for (const char* path :
       {"/home/u/p/.git", "/home/u/p/.git/hooks", "/home/u/p/a", "/home/u/p/a/b", "/home/u/p/a/b/.git"}) {
    world.directory(path);
  }
  for (const char* path : {"/home/u/p/.git/config", "/home/u/p/a/b/.git/config", "/home/u/p/.mcp.json"})
    world.file(path);
  for (const char* path :
       {"/home/u/p/.git/hooks", "/home/u/p/.git/config", "/home/u/p/a/b/.git/config", "/home/u/p/.mcp.json"}) {
    world.rule(Verb::kDenyWrite, path, Origin::kMandatory);
  }
  expect_golden(world, "mandatory");
}

TEST(MakePlanTest, DeniesInsideTheProject) {
  World world;
  world.workspace();
  for (const char* path : {"/home/u/p/secret", "/home/u/p/secret/open", "/home/u/p/dist", "/home/u/p/x"})
    world.directory(path);
  for (const char* path : {"/home/u/p/.env", "/home/u/p/x/key.pem"}) world.file(path);
  world.rule(Verb::kDenyRead, "/home/u/p/secret");
  world.rule(Verb::kAllowRead, "/home/u/p/secret/open");
  world.rule(Verb::kDenyWrite, "/home/u/p/dist");
  world.rule(Verb::kDenyRead, "/home/u/p/.env");
  world.rule(Verb::kDenyRead, "/home/u/p/x/key.pem");
  world.rule(Verb::kDenyRead, "/home/u/p/absent");
  world.rule(Verb::kDenyWrite, "/home/u/p/absent-too");
  expect_golden(world, "denies");
}

TEST(MakePlanTest, AllowsInsideTheHiddenHome) {
  World world;
  world.workspace();
  world.directory("/home/u/.cargo");
  world.directory("/home/u/.cargo/bin");
  world.directory("/home/u/out");
  world.file("/home/u/.gitconfig");
  world.link("/home/u/link", "/home/u/p/x");
  world.place(Place::kPrivate, "/home/u/.cargo");
  world.rule(Verb::kAllowRead, "/home/u/.cargo/bin");
  world.rule(Verb::kAllowRead, "/home/u/.gitconfig");
  world.rule(Verb::kAllowRead, "/home/u/link");
  world.rule(Verb::kAllowRead, "/home/u/out");
  world.rule(Verb::kAllowWrite, "/home/u/out");
  world.rule(Verb::kAllowRead, "/home/u/absent");
  expect_golden(world, "allows");
}

// What is hidden, and what is not the host's own, is not covered.
TEST(MakePlanTest, TlsThatIsOpened) {
  World world;
  world.workspace();
  world.network = NetworkKind::kGateway;
  world.options = {"SSL_CERT_FILE=/mine"};
  world.file("/etc/ssl/cert.pem");
  world.file("/etc/ssl/hidden.pem");
  world.file("/tmp/cert.pem");
  world.file("/etc/ssl/certs/java/cacerts");
  world.rule(Verb::kDenyRead, "/etc/ssl/hidden.pem");
  world.trust = {.opening = TlsOpening::kSome,
                 .stores = {"/etc/ssl/cert.pem", "/etc/ssl/hidden.pem", "/tmp/cert.pem", "/etc/absent.pem"},
                 .java_stores = {"/etc/ssl/certs/java/cacerts"}};
  expect_golden(world, "tls_opened");
}

std::vector<std::string> own_files_in(World& world) {
  std::vector<std::string> found;
  const auto plan = world.plan();
  if (!plan) return {plan.error().message};
  for (const MountStep& step : plan->mounts) {
    if (step.kind == MountKind::kFile) found.push_back("file " + step.target);
    if (step.kind == MountKind::kCover) found.push_back("cover " + step.target);
  }
  return found;
}

TEST(MakePlanTest, FilesOfTheSandboxsOwnCoverWhatIsShownAndAreMadeInPrivatePlaces) {
  World world;
  world.workspace();
  world.file("/etc/hosts");
  world.pipe("/etc/pipe");
  world.directory("/etc/directory");
  world.file("/root/hidden");
  world.covered = {{"/etc/hosts", "hosts", "h"}, {"/etc/pipe", "pipe", "p"},   {"/etc/directory", "d", "d"},
                   {"/etc/absent", "a", "a"},    {"/root/hidden", "h2", "h2"}, {"/run/systemd/stub.conf", "s", "s"}};
  EXPECT_EQ(own_files_in(world),
            (std::vector<std::string>{"file /.hutch/hosts", "cover /etc/hosts", "file /.hutch/pipe", "cover /etc/pipe",
                                      "file /run/systemd/stub.conf"}));
}

TEST(MakePlanTest, AnOsUserHasAFewPlacesOverTheMachinesFiles) {
  World world;
  world.workspace();
  world.os_user = OsUserInput{.groups = {7}};
  world.network = NetworkKind::kHost;
  world.limits.tmp_bytes = 4096;
  world.directory("/dev/shm");
  world.cwd = "/root/closed";  // the kernel's to say
  const auto plan = world.plan();
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->uid, 1000U);
  EXPECT_EQ(plan->groups, std::vector<std::uint32_t>{7});
  std::vector<std::string> targets;
  for (const MountStep& step : plan->mounts) {
    targets.push_back(step.target);
    EXPECT_EQ(step.size_bytes, step.kind == MountKind::kTmpfs ? 4096U : 0U);
  }
  EXPECT_EQ(targets, (std::vector<std::string>{"/proc", "/tmp", "/dev/shm"}));
  EXPECT_TRUE(plan->landlock.writable.empty());
  world.cwd = "/tmp/p";
  const auto refused = world.plan();
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("lies in /tmp"), std::string::npos) << refused.error().message;
}

TEST(MakePlanTest, ProjectBelowTmp) {
  World world;
  world.facts.cwd = "/tmp/w/p";
  world.directory("/tmp/w");
  world.directory("/tmp/w/p");
  world.rule(Verb::kDenyRead, "/home");
  world.rule(Verb::kAllowRead, "/tmp/w/p");
  world.rule(Verb::kAllowWrite, "/tmp/w/p");
  world.rule(Verb::kDenyWrite, "/tmp/w/absent");
  expect_golden(world, "project_below_tmp");
}

TEST(MakePlanTest, HomeBelowTmp) {
  World world;
  world.facts.home = "/tmp/h";
  world.facts.cwd = "/tmp/p";
  world.directory("/tmp/h");
  world.directory("/tmp/p");
  world.rule(Verb::kAllowRead, "/tmp/p");
  world.rule(Verb::kAllowWrite, "/tmp/p");
  expect_golden(world, "home_below_tmp");
}

TEST(MakePlanTest, ProjectIsHome) {
  World world;
  world.facts.cwd = "/home/u";
  for (const char* path : {"/home/u/.config", "/home/u/.config/hutch"}) world.directory(path);
  world.file("/home/u/.bashrc");
  world.rule(Verb::kDenyRead, "/home");
  world.rule(Verb::kAllowRead, "/home/u");
  world.rule(Verb::kAllowWrite, "/home/u");
  world.rule(Verb::kDenyWrite, "/home/u/.bashrc", Origin::kMandatory);
  world.rule(Verb::kDenyRead, "/home/u/.config/hutch", Origin::kStore);
  expect_golden(world, "project_is_home");
}

TEST(MakePlanTest, RootUserWritesEverywhere) {
  World world;
  world.facts.uid = 0;
  world.facts.gid = 0;
  world.facts.user = "root";
  world.facts.home = "/root";
  world.directory("/usr/share");
  world.file("/usr/share/x");
  world.workspace();
  world.rule(Verb::kAllowRead, "/");
  world.rule(Verb::kAllowWrite, "/");
  world.rule(Verb::kDenyWrite, "/usr/share/x");
  expect_golden(world, "root_writes_everywhere");
}

TEST(MakePlanTest, HomeOutsideOfHome) {
  World world;
  world.facts.home = "/var/lib/ci";
  world.facts.cwd = "/var/lib/ci/job";
  for (const char* path : {"/var/lib", "/var/lib/ci", "/var/lib/ci/job"}) world.directory(path);
  world.rule(Verb::kDenyRead, "/var/lib/ci");
  world.rule(Verb::kAllowRead, "/var/lib/ci/job");
  world.rule(Verb::kAllowWrite, "/var/lib/ci/job");
  world.place(Place::kPrivate, "/var/lib/ci/.cache");
  expect_golden(world, "home_outside_of_home");
}

TEST(MakePlanTest, EverythingHiddenButSome) {
  World world;
  for (const char* path : {"/boot", "/etc", "/home", "/root", "/run", "/tmp", "/usr", "/var"})
    world.rule(Verb::kDenyRead, path);
  for (const char* path : {"/usr", "/home/u/p"}) world.rule(Verb::kAllowRead, path);
  world.file("/etc/hosts");
  world.rule(Verb::kAllowRead, "/etc/hosts");
  expect_golden(world, "everything_hidden_but_some");
}

TEST(MakePlanTest, CwdHasToBeThere) {
  World world;
  world.workspace();
  world.directory("/home/other");
  world.file("/home/u/p/file");
  const auto error = [&](const std::string& cwd) {
    world.cwd = cwd;
    const auto plan = world.plan();
    return plan ? std::string("no error") : plan.error().message;
  };
  EXPECT_EQ(error("/home/other"),
            "the working directory /home/other is not readable in the sandbox (denyRead \"/home\"); "
            "--allow-read /home/other makes it so");
  EXPECT_EQ(error("/home/u/p/absent"), "--cwd /home/u/p/absent: no such directory");
  EXPECT_EQ(error("/home/u/p/file"), "--cwd /home/u/p/file: is not a directory");
  EXPECT_EQ(error("/usr"), "no error");
  EXPECT_EQ(error("/tmp"), "no error");
}

TEST(MakePlanTest, Notes) {
  World world;
  world.workspace();
  world.directory("/home/u/.local");
  world.directory("/home/u/.local/bin");
  ASSERT_EQ(world.plan().value().notes.size(), 1U);
  EXPECT_EQ(world.plan().value().notes.front(),
            "PATH holds directories that are hidden here; --allow-read /home/u/.local/bin shows them");
  world.rule(Verb::kAllowRead, "/home/u/.local");
  EXPECT_TRUE(world.plan().value().notes.empty());
  world.facts.home = "/nonexistent";
  EXPECT_EQ(world.plan().value().notes.front(),
            "HOME is not a directory that can be used; in the sandbox it is /nonexistent");
}

TEST(MakePlanTest, AnInstallationSeesTheGivenRootAndNothingOfTheHost) {
  World world;
  world.facts.home = "/root";
  world.cwd = "/";
  world.image.emplace(
      ImageInput{.root = "/images/x",
                 .identity = {1, 2},
                 .layer = "/layers/a",
                 .ids = map_for_files(make_id_map(1000, 1000, IdRange{100'000, 65'536}, IdRange{100'000, 65'536})),
                 .use = ImageInput::Use::kInstall});
  const SandboxPlan plan = world.plan().value();
  EXPECT_EQ(plan.rights, Rights::kImageRoot);
  EXPECT_EQ(plan.uid, 0U);
  EXPECT_EQ(plan.ids.kind, IdMap::Kind::kMany);
  ASSERT_FALSE(plan.mounts.empty());
  EXPECT_EQ(plan.mounts[0].kind, MountKind::kGivenRoot);
  for (const MountStep& step : plan.mounts) {
    EXPECT_TRUE(step.kind != MountKind::kBind || step.target == "/sys/devices/system") << step_text(step);
    EXPECT_NE(step.kind, MountKind::kImage);
  }
  world.image->use = ImageInput::Use::kLive;
  EXPECT_EQ(world.plan().value().rights, Rights::kNone);
}

TEST(MakePlanTest, LandlockNamesNothingThatAnImageNeedNotHave) {
  World world;
  world.directory(world.facts.cwd);
  world.image.emplace();
  world.image->root = "/images/x";
  const auto writable = world.plan().value().landlock.writable;
  EXPECT_EQ(std::ranges::count(writable, "/"), 1);
  EXPECT_EQ(std::ranges::count(writable, world.facts.cwd), 0);
}

// Thousands of matches of one pattern: the work must not grow with their square.
TEST(MakePlanTest, ManyRules) {
  World world;
  world.workspace();
  for (int i = 0; i < 20'000; ++i) {
    const std::string path = "/home/u/p/f" + std::to_string(i);
    world.file(path);
    world.rule(Verb::kDenyWrite, path);
  }
  const auto plan = world.plan();
  ASSERT_TRUE(plan.has_value());
  EXPECT_GT(plan->mounts.size(), 20'000U);
}

TEST(MakePlanTest, WhatIsHiddenIsNamedWhereItMayBeAskedAbout) {
  World world;
  world.workspace();
  world.file("/home/u/p/secret");
  world.rule(Verb::kDenyRead, "/home/u/p/secret");
  EXPECT_EQ(world.plan().value().hidden, std::vector<std::string>());
  world.questions = FileQuestions::kAll;
  EXPECT_EQ(world.plan().value().questions, FileQuestions::kNone) << "without a supervisor nobody asks";
  world.supervision = Supervision::kNames;
  const SandboxPlan plan = world.plan().value();
  EXPECT_EQ(plan.questions, FileQuestions::kAll);
  EXPECT_EQ(plan.hidden, (std::vector<std::string>{"/home", "/home/u", "/home/u/p/secret", "/root"}));
}

TEST(MakePlanTest, WithAnImageTheHostsPlacesAreAskedAbout) {
  World world;
  world.workspace();
  world.file("/home/u/p/secret");
  world.rule(Verb::kDenyRead, "/home/u/p/secret");
  world.supervision = Supervision::kNames;
  world.questions = FileQuestions::kAll;
  world.image.emplace().root = "/images/x";
  const SandboxPlan plan = world.plan().value();
  EXPECT_EQ(plan.hidden, (std::vector<std::string>{"/home/u", "/home/u/p/secret"}));
  EXPECT_TRUE(is_of_host(plan, "/home/u/p/x") && is_of_host(plan, "/home/u/q"));
  EXPECT_FALSE(is_of_host(plan, "/etc/passwd") || is_of_host(plan, "/root/x"));
}

std::string text_of(const Widening& widening) {
  std::string text;
  for (const MountStep& step : widening.steps) text += step_text(step) + "\n";
  return text;
}

TEST(WideningTest, ADirectoryKeepsClosedWhatOtherRulesClose) {
  World world;
  world.workspace();
  world.directory("/home/u/q");
  world.directory("/home/u/q/.ssh");
  world.file("/home/u/q/token");
  world.directory("/home/u/q/kept");
  world.rule(Verb::kDenyRead, "/home/u/q/.ssh", Origin::kCredential);
  world.rule(Verb::kDenyRead, "/home/u/q/token");
  world.rule(Verb::kDenyWrite, "/home/u/q/kept");
  const Widening shown = world.widening("/home/u/q", Access::kReadOnly);
  EXPECT_EQ(shown.at, "/home/u/q");
  ASSERT_EQ(shown.steps.front().kind, MountKind::kBind);
  EXPECT_EQ(shown.steps.front().access, Access::kReadOnly);
  const auto step_at = [](const Widening& of, const std::string& path) {
    const auto found = std::ranges::find(of.steps, path, &MountStep::target);
    return found == of.steps.end() ? std::string("nothing") : step_text(*found);
  };
  EXPECT_NE(step_at(shown, "/home/u/q/.ssh"), "nothing") << text_of(shown);
  EXPECT_NE(step_at(shown, "/home/u/q/token"), "nothing") << text_of(shown);
  const Widening changed = world.widening("/home/u/q", Access::kReadWrite);
  EXPECT_EQ(changed.steps.front().access, Access::kReadWrite);
  EXPECT_NE(step_at(changed, "/home/u/q/kept"), "nothing") << text_of(changed);
  for (const MountStep& step : changed.steps) EXPECT_TRUE(step.target.starts_with("/home/u/q")) << step_text(step);
}

TEST(WideningTest, MountPointsAreMadeInFileSystemsOfTheSandboxAlone) {
  World world;
  world.workspace();
  world.directory("/home/u/q");
  const Widening shown = world.widening("/home/u/q", Access::kReadOnly);
  EXPECT_EQ(shown.steps.size(), 1U) << text_of(shown);
  EXPECT_NE(std::ranges::find(shown.own, "/"), shown.own.end());
  EXPECT_EQ(std::ranges::find(shown.own, "/home/u/p"), shown.own.end()) << "the project is the host's";
}

TEST(MakePlan, AShareWithoutASourceIsTheSandboxsOwn) {
  World world;
  world.workspace();
  world.shares = {{.source = {}, .target = "/workspace"}, {.source = "/srv/given", .target = "/workspace/given"}};
  world.cwd = "/workspace";
  world.limits.tmp_bytes = 4096;
  const auto plan = world.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  const auto own = std::ranges::find(plan->mounts, "/workspace", &MountStep::target);
  ASSERT_NE(own, plan->mounts.end());
  EXPECT_EQ(own->kind, MountKind::kTmpfs);
  EXPECT_EQ(own->make, MakeTarget::kDirectory);
  EXPECT_EQ(own->size_bytes, 4096U);
  const auto given = std::ranges::find(plan->mounts, "/workspace/given", &MountStep::target);
  ASSERT_NE(given, plan->mounts.end());
  EXPECT_EQ(given->kind, MountKind::kBind);
  EXPECT_LT(own, given);
  EXPECT_NE(std::ranges::find(plan->landlock.writable, "/workspace"), plan->landlock.writable.end());
}

TEST(MakePlan, ASupervisorSeesWhatNothingIsWritablePast) {
  World world;
  world.workspace();
  world.supervision = Supervision::kNames;
  const std::vector<std::string> project = {"/home/u/p"};
  const auto sees = [&](const std::vector<std::string>& paths) {
    const auto plan = world.plan();
    return plan && supervises_changes(*plan, paths);
  };
  EXPECT_TRUE(sees(project));
  EXPECT_TRUE(sees({"/home/u/p/sub"}));
  EXPECT_TRUE(sees({"/home"}));
  // An agent's home is supervised too, and found by the host's path; in it only git's names count.
  world.shares = {{.source = "/srv/agent", .target = "/workspace"}};
  EXPECT_TRUE(sees({"/home/u/p", "/srv/agent"}));
  EXPECT_TRUE(sees({"/srv/agent/x"}));
  EXPECT_EQ(world.plan()->names.own, std::vector<std::string>{"/workspace"});
  // hutch's own socket and a read-only share are not supervised.
  world.shares.push_back({.source = "/run/hutch/sock", .target = "/run/hutch.sock", .kind = MakeTarget::kFile});
  world.shares.push_back({.source = "/srv/tools", .target = "/tools", .access = Access::kReadOnly});
  const auto plan = world.plan();
  EXPECT_EQ(plan->names.own, std::vector<std::string>{"/workspace"});
  EXPECT_EQ(std::ranges::count(plan->supervised, "/run/hutch.sock"), 0);
  EXPECT_EQ(std::ranges::count(plan->supervised, "/tools"), 0);
  EXPECT_FALSE(sees({"/run/hutch/sock"}));
  // The rest of an image's system is its own.
  world.image.emplace().root = "/images/x";
  EXPECT_EQ(world.plan()->names.own, std::vector<std::string>{"/workspace"});
  EXPECT_TRUE(sees({"/home/u/p", "/srv/agent"}));
  world.image.reset();
  world.shares = {};
  world.supervision = Supervision::kNone;
  EXPECT_FALSE(sees(project));
}

TEST(MakePlan, AServiceOfTheHostMayChangeWhatNoSupervisorSees) {
  SandboxPlan plan;
  plan.supervisor = Supervisor::kBeside;
  EXPECT_TRUE(supervises_changes(plan, std::vector<std::string>{"/w"}));
  plan.host_ports = {5432};
  EXPECT_FALSE(supervises_changes(plan, std::vector<std::string>{"/w"}));
}

}  // namespace
}  // namespace hutch::plan
