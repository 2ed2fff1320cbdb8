// default.json and projects.json: which entry holds, which one is changed, and that nothing wrong is ever written.
#include "store/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "policy/document/edit.h"

namespace hutch::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PoliciesTest : public ::testing::Test {
 protected:
  PoliciesTest() : base_(fs::temp_directory_path() / ("hutch-policies-" + std::to_string(::getpid()))) {
    fs::remove_all(base_);
  }
  ~PoliciesTest() override { fs::remove_all(base_); }

  void write(const char* name, std::string_view text) {
    fs::create_directories(base_);
    std::ofstream(base_ / name) << text;
  }
  std::string read(const char* name) {
    std::stringstream text;
    text << std::ifstream(base_ / name).rdbuf();
    return text.str();
  }
  static Policies::Change add(std::string domain) {
    return [domain = std::move(domain)](const std::string& policy) {
      return policy::edited(policy, {policy::EditKind::kAdd, "network.allowedDomains", domain});
    };
  }
  std::string domains(Scope scope, const std::string& directory) {
    const auto entry = policies_.before_change(scope, directory);
    return policy::value_at(entry->text, "network.allowedDomains")->value_or("none");
  }

  fs::path base_;
  Policies policies_{base_.string()};
};

TEST_F(PoliciesTest, BuiltInUntilSomethingIsSaved) {
  const auto held = policies_.holding("/p");
  EXPECT_EQ(held->file, "");
  EXPECT_EQ(policies_.coverage("/p")->project, std::nullopt);
  EXPECT_THAT(policies_.errors(), IsEmpty());
  EXPECT_FALSE(fs::exists(base_)) << "reading makes nothing";
}

TEST_F(PoliciesTest, AProjectBeginsAsTheDefault) {
  ASSERT_TRUE(policies_.change(Scope::kDefault, "/p", add("d.example")).has_value());
  const auto saved = policies_.change(Scope::kProject, "/p", add("p.example"));
  ASSERT_TRUE(saved.has_value()) << saved.error().message;
  EXPECT_EQ(saved->project, "/p");
  EXPECT_EQ(domains(Scope::kProject, "/p"), R"(["d.example","p.example"])");
  EXPECT_EQ(domains(Scope::kDefault, "/p"), R"(["d.example"])");
  EXPECT_TRUE(policies_.coverage("/p")->exact);
  EXPECT_FALSE(policies_.coverage("/p/sub")->exact);
  EXPECT_EQ(fs::status(base_ / "projects.json").permissions(), fs::perms(0600));
}

TEST_F(PoliciesTest, TheParentOrANewEntry) {
  ASSERT_TRUE(policies_.change(Scope::kProject, "/p", add("p.example")).has_value());
  EXPECT_EQ(policies_.change(Scope::kProject, "/p/sub", add("x.example"))->project, "/p") << "the one that covers";
  EXPECT_EQ(policies_.change(Scope::kNew, "/p/sub", add("y.example"))->project, "/p/sub");
  EXPECT_EQ(domains(Scope::kProject, "/p/sub"), R"(["p.example","x.example","y.example"])") << "copied";
  EXPECT_EQ(domains(Scope::kProject, "/p"), R"(["p.example","x.example"])");
  EXPECT_EQ(policies_.change(Scope::kNew, "/p/sub", add("z.example"))->project, "/p/sub") << "there by now";
  EXPECT_EQ(policies_.holding("/p/sub/deep")->project, "/p/sub");
}

TEST_F(PoliciesTest, WhatIsWrongIsNeverWritten) {
  ASSERT_TRUE(policies_.change(Scope::kDefault, "/p", add("d.example")).has_value());
  const std::string before = read("default.json");
  EXPECT_FALSE(policies_.change(Scope::kDefault, "/p", add("not a host")).has_value());
  EXPECT_EQ(read("default.json"), before);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(base_)) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("default.json", "lock")) << "nothing is left behind";
}

TEST_F(PoliciesTest, WhatAPersonBrokeIsNotOverwritten) {
  write("projects.json", "{\n\"/p\": {\"enabled\": true},\n\"/q\": {\n\"networ\": 1}}");
  const std::string before = read("projects.json");
  const auto changed = policies_.change(Scope::kProject, "/p", add("a.example"));
  ASSERT_FALSE(changed.has_value());
  EXPECT_THAT(changed.error().message, HasSubstr("projects.json: line 4: \"/q\": networ: unknown key"));
  EXPECT_FALSE(policies_.change(Scope::kDefault, "/p", add("a.example")).has_value());
  EXPECT_EQ(read("projects.json"), before);
  EXPECT_FALSE(fs::exists(base_ / "default.json"));
  EXPECT_THAT(policies_.errors(), ElementsAre(HasSubstr("line 4")));
}

TEST_F(PoliciesTest, ALinkAndAModeStay) {
  write("mine.json", "{}");
  fs::permissions(base_ / "mine.json", fs::perms(0644));
  fs::create_symlink("mine.json", base_ / "default.json");
  ASSERT_TRUE(policies_.change(Scope::kDefault, "/p", add("a.example")).has_value());
  EXPECT_TRUE(fs::is_symlink(base_ / "default.json"));
  EXPECT_THAT(read("mine.json"), HasSubstr("a.example"));
  EXPECT_EQ(fs::status(base_ / "mine.json").permissions(), fs::perms(0644));
}

TEST_F(PoliciesTest, TwoWritersAtOnceLoseNothing) {
  constexpr int kEach = 20;
  const auto writer = [&](const char* name) {
    for (int at = 0; at < kEach; ++at) {
      const auto saved =
          policies_.change(Scope::kProject, "/p", add(std::string(name) + std::to_string(at) + ".example"));
      EXPECT_TRUE(saved.has_value()) << saved.error().message;
    }
  };
  std::thread other(writer, "a");
  writer("b");
  other.join();
  const std::string all = domains(Scope::kProject, "/p");
  for (int at = 0; at < kEach; ++at) {
    EXPECT_THAT(all, HasSubstr("\"a" + std::to_string(at) + ".example\""));
    EXPECT_THAT(all, HasSubstr("\"b" + std::to_string(at) + ".example\""));
  }
}

TEST_F(PoliciesTest, ProjectsFromElsewhere) {
  EXPECT_EQ(*policies_.add_projects(R"({"/a": {}, "/b": {"enabled": false}})"), 2U);
  EXPECT_THAT(policies_.add_projects(R"({"/b": {}})").error().message, HasSubstr("\"/b\" is there already"));
  EXPECT_EQ(policies_.holding("/b/c")->project, "/b");
}

}  // namespace
}  // namespace hutch::store
