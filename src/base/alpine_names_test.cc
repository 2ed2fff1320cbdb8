// Names of packages that differ between Alpine and Debian.
#include "base/alpine_names.h"

#include <gtest/gtest.h>

namespace hutch {
namespace {

TEST(AlpineNames, AreDebiansWhereTheyDiffer) {
  EXPECT_EQ(debian_name_of("py3-pandas"), "python3-pandas");
  EXPECT_EQ(debian_name_of("py3-pip"), "python3-pip");
  EXPECT_EQ(debian_name_of("py3-pillow"), "python3-pil");
  EXPECT_EQ(debian_name_of("build-base"), "build-essential");
  EXPECT_EQ(debian_name_of("openssl-dev"), "libssl-dev");
}

TEST(AlpineNames, ThatTheTableDoesNotHaveStayAsTheyAre) {
  for (const char* name : {"jq", "python3", "libffi-dev", "no-such-thing", ""}) {
    EXPECT_FALSE(debian_name_of(name)) << name;
  }
}

}  // namespace
}  // namespace hutch
