// Which directories are not projects.
#include "plan/paths/wide_start.h"

#include <gtest/gtest.h>

namespace hutch::plan {
namespace {

TEST(WideStart, AHomeAndWhatIsAboveIt) {
  EXPECT_EQ(why_wide("/home/u", "/home/u", 0), "is your home");
  EXPECT_EQ(why_wide("/home", "/home/u", 0), "holds your home");
  EXPECT_EQ(why_wide("/", "/home/u", 0), "holds your home");
  EXPECT_EQ(why_wide("/home", "/root", 0), "holds homes");
  EXPECT_EQ(why_wide("/srv", "/srv/people/u", 0), "holds your home");
  EXPECT_EQ(why_wide("/root", "/home/u", 0), "holds homes");
}

TEST(WideStart, AProjectIsNone) {
  for (const char* path : {"/home/u/p", "/home/u2", "/home/us", "/srv/p", "/tmp", "/homes"}) {
    EXPECT_EQ(why_wide(path, "/home/u", kOtherProjectsMin - 1), std::nullopt) << path;
  }
}

TEST(WideStart, OtherProjects) {
  EXPECT_EQ(why_wide("/home/u/src", "/home/u", kOtherProjectsMin), "holds 4 or more repositories");
}

}  // namespace
}  // namespace hutch::plan
