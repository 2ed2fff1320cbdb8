// The tests of what is provisioned step by step.
#include "service/vm/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory_testing.h"
#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"

namespace hutch::service {
namespace {

constexpr int kForm = 1;
constexpr std::int64_t kNow = 1'000'000;

class VmStepsTest : public testing::Test {
 protected:
  std::string top() const { return place_.path(); }
  VmSteps open(std::int64_t now = kNow, int form = kForm) {
    auto steps = VmSteps::open(top(), form, now);
    EXPECT_TRUE(steps) << (steps ? "" : steps.error().message);
    return std::move(*steps);
  }
  // What it says, and how often anything was made so far.
  std::string take(VmSteps& steps, const std::string& key = "of a kernel") {
    const auto make = [&](const std::string& into) -> Result<VmSteps::Made> {
      ++made_;
      TRY(sys::replace_file(into + "/kernel", "bytes"));
      TRY(sys::replace_file(into + "/scratch", "not of it"));
      return VmSteps::Made{cat({"about ", std::to_string(made_)}), {"kernel"}};
    };
    return steps.take({"kernel", key, "the kernel"}, make, [&](const std::string& line) { said_ += line + "\n"; })
        .value();
  }

  TestDirectory place_{"steps"};
  int made_ = 0;
  std::string said_;
};

TEST_F(VmStepsTest, TakesWhatWasMadeWhole) {
  {
    VmSteps steps = open();
    EXPECT_EQ(take(steps), "about 1");
    EXPECT_FALSE(sys::exists(steps.file("scratch")));
    EXPECT_EQ(said_, "");
  }
  VmSteps steps = open(kNow + 60);
  EXPECT_EQ(take(steps), "about 1");
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(said_, "the kernel: taken from before\n");
  EXPECT_EQ(steps.sums_without("").size(), 1U);
  EXPECT_TRUE(steps.sums_without("kernel").empty());
}

TEST_F(VmStepsTest, MakesAnewWhatIsAnother) {
  {
    VmSteps steps = open();
    take(steps);
  }
  {
    VmSteps steps = open();
    EXPECT_EQ(take(steps, "of another"), "about 2");
  }
  {
    VmSteps steps = open();
    ASSERT_TRUE(sys::replace_file(steps.file("kernel"), "other")) << "half of it, or somebody's";
    EXPECT_EQ(take(steps, "of another"), "about 3");
    ASSERT_TRUE(sys::unlink_at(sys::kCwd, steps.file("kernel")));
  }
  {
    VmSteps steps = open();
    EXPECT_EQ(take(steps, "of another"), "about 4");
  }
  {
    VmSteps steps = open(kNow, kForm + 1);
    EXPECT_EQ(take(steps, "of another"), "about 5") << "another hutch's";
  }
  {
    VmSteps steps = open(kNow + 24 * 3600 + 1, kForm + 1);
    EXPECT_EQ(take(steps, "of another"), "about 6") << "of yesterday";
  }
  {
    VmSteps steps = open(kNow, kForm + 1);
    EXPECT_EQ(take(steps, "of another"), "about 7") << "of tomorrow";
  }
  VmSteps steps = open(kNow, kForm + 1);
  EXPECT_EQ(take(steps, ""), "about 8");
  EXPECT_EQ(take(steps, ""), "about 9") << "what nobody can tell from another";
}

TEST_F(VmStepsTest, TakesNothingThatWasNotWritten) {
  {
    VmSteps steps = open();
    const auto fails = [](const std::string& into) -> Result<VmSteps::Made> {
      TRY(sys::replace_file(into + "/kernel", "half"));
      return fail(Error::invalid("the network went away"));
    };
    EXPECT_FALSE(steps.take({"kernel", "of a kernel", "the kernel"}, fails, [](const std::string&) {}));
    EXPECT_FALSE(sys::exists(steps.file("kernel")));
    EXPECT_FALSE(sys::exists(half_made(top())));
  }
  for (const char* text : {"", "{", "[]", "{}", R"({"form": 1, "begun": 1000000, "steps": 3})",
                           R"({"form": 1, "begun": 1000000, "steps": {"kernel": {"key": "of a kernel",
                               "about": "x", "sums": {"../kernel": "x"}}}})"}) {
    {
      VmSteps steps = open();
      ASSERT_TRUE(sys::replace_file(steps.file("steps.json"), text));
      ASSERT_TRUE(sys::replace_file(steps.file("kernel"), "bytes"));
    }
    VmSteps steps = open();
    EXPECT_FALSE(sys::exists(steps.file("kernel"))) << text;
  }
}

TEST_F(VmStepsTest, BecomeTheFilesInOneMoment) {
  const auto text_of = [&](const char* name) { return sys::regular_file_text(top() + "/files/" + name, 100); };
  {
    VmSteps steps = open();
    take(steps);
    ASSERT_TRUE(sys::replace_file(steps.file("leftover"), "x"));
    ASSERT_TRUE(steps.publish("manifest.json", "first", {"kernel"}));
  }
  EXPECT_EQ(text_of("manifest.json").value(), "first");
  EXPECT_EQ(text_of("kernel").value(), "bytes");
  EXPECT_FALSE(text_of("leftover"));
  EXPECT_FALSE(text_of("steps.json"));
  {
    // One that ended right after the exchange leaves the others beside, with nothing that could be taken.
    VmSteps steps = open();
    EXPECT_EQ(take(steps), "about 2") << "a provisioning that came to its end is not gone on from";
    ASSERT_TRUE(sys::replace_file(top() + "/files/steps.json", "{}"));
    ASSERT_TRUE(steps.publish("manifest.json", "second", {"kernel"}));
  }
  EXPECT_EQ(text_of("manifest.json").value(), "second");
  EXPECT_FALSE(sys::exists(top() + "/begun"));
}

}  // namespace
}  // namespace hutch::service
