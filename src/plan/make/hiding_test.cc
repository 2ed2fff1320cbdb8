// What hides a place of a sandbox that runs: which rules do, what is mounted, and what stays visible in it.
#include "plan/make/hiding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/defaults.h"
#include "policy/glob.h"

namespace hutch::plan {
namespace {

using policy::Origin;
using policy::Rule;
using policy::Verb;

class Hidings : public testing::Test {
 protected:
  Hidings() {
    facts.home = "/home/u";
    facts.root = {{"home", FileType::kDirectory, ""}, {"srv", FileType::kDirectory, ""}};
    for (const char* path : {"/home", "/home/u", "/home/u/p", "/srv", "/srv/a", "/srv/a/keep", "/srv/a/x"}) {
      see(path, FileType::kDirectory);
    }
    see("/srv/f", FileType::kFile);
    see("/srv/a/keep/f", FileType::kFile);
    see("/srv/link", FileType::kSymlink);
    before = {rule(Verb::kDenyRead, "/home"), rule(Verb::kAllowRead, "/home/u/p"),
              rule(Verb::kAllowWrite, "/home/u/p")};
    now = before;
  }

  void see(const std::string& path, FileType type) {
    const auto at = std::ranges::upper_bound(paths.seen, path, {}, &SeenPath::path);
    paths.seen.insert(at, {.path = path, .type = type, .identity = {1, ++files_}});
  }
  static Rule rule(Verb verb, const std::string& path) {
    return {.verb = verb, .path = path, .text = path, .where = std::string(policy::name_of(verb))};
  }
  void add(Verb verb, const std::string& path) { now.push_back(rule(verb, path)); }
  void always(Verb verb, const std::string& path) {
    before.push_back(rule(verb, path));
    add(verb, path);
  }

  std::vector<Hiding> hidings() {
    const policy::Policy policy = policy::default_policy();
    return plan_hiding({.policy = policy,
                        .rules = now,
                        .facts = facts,
                        .paths = paths,
                        .project = "/home/u/p",
                        .cwd = "/home/u/p",
                        .limits = {},
                        .caller_environment = {},
                        .environment = {}},
                       before);
  }
  // "file /srv/f" for each step of each.
  std::vector<std::string> said() {
    std::vector<std::string> lines;
    for (const Hiding& hiding : hidings()) {
      for (const MountStep& step : hiding.steps) lines.push_back(word(step) + " " + step.target);
    }
    return lines;
  }
  static std::string word(const MountStep& step) {
    switch (step.kind) {
      case MountKind::kHideFile: return "file";
      case MountKind::kTmpfs: return step.make == MakeTarget::kNothing ? "cover" : "own";
      case MountKind::kDirectory: return "make";
      case MountKind::kBind: return "keep";
      case MountKind::kSeal: return "seal";
      default: return "?";
    }
  }

  using Lines = std::vector<std::string>;
  HostFacts facts;
  PathFacts paths;
  std::vector<Rule> before;
  std::vector<Rule> now;

 private:
  std::uint64_t files_ = 0;
};

TEST_F(Hidings, FilesAndDirectories) {
  EXPECT_EQ(said(), Lines());
  add(Verb::kDenyRead, "/srv/f");
  add(Verb::kDenyRead, "/srv/a");
  EXPECT_EQ(said(), Lines({"cover /srv/a", "seal /srv/a", "file /srv/f"}));
  EXPECT_EQ(hidings()[0].steps[0].identity, paths.find("/srv/a")->identity);
  EXPECT_EQ(hidings()[0].steps[0].mode, 0111u);
  EXPECT_EQ(hidings()[1].steps[0].identity, paths.find("/srv/f")->identity);
}

TEST_F(Hidings, InTheProject) {
  see("/home/u/p/secret", FileType::kFile);
  add(Verb::kDenyRead, "/home/u/p/secret");
  EXPECT_EQ(said(), Lines({"file /home/u/p/secret"}));
}

TEST_F(Hidings, OnlyWhatIsThereAndWasVisible) {
  add(Verb::kDenyRead, "/srv/none");
  add(Verb::kDenyRead, "/srv/link");
  see("/home/u/other", FileType::kFile);
  add(Verb::kDenyRead, "/home/u/other");
  EXPECT_EQ(said(), Lines());
}

TEST_F(Hidings, OnlyByARuleThatIsNew) {
  always(Verb::kDenyRead, "/srv/f");
  before.push_back(rule(Verb::kAllowRead, "/srv/f"));
  EXPECT_EQ(said(), Lines()) << "an allowRead that went is no denyRead that came";
}

TEST_F(Hidings, NotWhatIsAllowedAllTheSame) {
  add(Verb::kDenyRead, "/srv/f");
  add(Verb::kAllowRead, "/srv/f");
  EXPECT_EQ(said(), Lines());
}

TEST_F(Hidings, WhatIsAllowedInItStays) {
  add(Verb::kDenyRead, "/srv/a");
  add(Verb::kAllowRead, "/srv/a/keep");
  EXPECT_EQ(said(), Lines({"cover /srv/a", "keep /srv/a/keep", "seal /srv/a"}));
  EXPECT_EQ(hidings()[0].steps[1].source, "/srv/a/keep");
  EXPECT_EQ(hidings()[0].steps[1].make, MakeTarget::kDirectory);
}

TEST_F(Hidings, WhatIsHiddenInThatIsCoveredOnce) {
  always(Verb::kDenyRead, "/srv/a/keep/f");
  add(Verb::kDenyRead, "/srv/a");
  add(Verb::kAllowRead, "/srv/a/keep");
  EXPECT_EQ(said(), Lines({"cover /srv/a", "keep /srv/a/keep", "seal /srv/a"})) << "it lies in what is kept";
  before.erase(std::ranges::find(before, "/srv/a/keep/f", &Rule::path));
  EXPECT_EQ(said(),
            Lines({"cover /srv/a", "keep /srv/a/keep", "file /srv/a/keep/f", "seal /srv/a", "file /srv/a/keep/f"}))
      << "once more for where it is shown besides";
}

TEST_F(Hidings, WhatWasHiddenIsNotKept) {
  always(Verb::kDenyRead, "/srv/a/x");
  add(Verb::kDenyRead, "/srv/a");
  add(Verb::kAllowRead, "/srv/a/x");
  EXPECT_EQ(said(), Lines({"cover /srv/a", "seal /srv/a"})) << "somebody has to look for it first";
}

TEST_F(Hidings, APrivatePlaceInItGoesOn) {
  see("/srv/a/tmp", FileType::kDirectory);
  for (auto* rules : {&before, &now}) {
    rules->push_back({.verb = Verb::kPlace,
                      .origin = Origin::kBuiltIn,
                      .place = policy::Place::kPrivate,
                      .path = "/srv/a/tmp",
                      .text = "",
                      .where = "built in"});
  }
  add(Verb::kDenyRead, "/srv/a");
  EXPECT_EQ(said(), Lines({"cover /srv/a", "keep /srv/a/tmp", "seal /srv/a"}));
}

TEST_F(Hidings, Names) {
  add(Verb::kDenyRead, "/srv/[x");
  add(Verb::kDenyRead, "/home/u/p/d");
  add(Verb::kAllowRead, "/home/u/p/d/keep");
  add(Verb::kDenyRead, "/srv/a");
  add(Verb::kAllowRead, "/srv/a/keep");
  const auto names = hidden_names(now, before);
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0].pattern, "/home/u/p/d");
  EXPECT_EQ(names[0].lifted, Lines({"/home/u/p/d/keep"}));
  EXPECT_EQ(names[1].pattern, policy::escape_wildcards("/srv/[x"));
  EXPECT_EQ(names[2].lifted, Lines()) << "it could not be written before";
  EXPECT_TRUE(hidden_names(before, before).empty());
}

TEST_F(Hidings, ACopyIsFoundByItsFileAndTheDirectoriesAboveIt) {
  const auto cover = [](std::string target, std::string source) {
    return MountStep{.kind = MountKind::kCover, .target = std::move(target), .source = std::move(source)};
  };
  SandboxPlan plan;
  plan.mounts = {cover("/etc/hosts", "/.hutch/hosts"), cover("/etc/ssh/d/x", "/.hutch/checked-2")};
  EXPECT_EQ(copied_below(plan, "/etc/ssh/d/x"), "/etc/ssh/d/x");
  EXPECT_EQ(copied_below(plan, "/etc"), "/etc/ssh/d/x");
  EXPECT_EQ(copied_below(plan, "/etc/ssh/d/y"), "");
  EXPECT_EQ(copied_below(plan, "/etc/hosts"), "") << "it holds nothing of the host's";
}

}  // namespace
}  // namespace hutch::plan
