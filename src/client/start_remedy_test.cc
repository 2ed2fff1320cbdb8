// The remedy for each reason why a daemon does not start.
#include "client/start_remedy.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace hutch::client {
namespace {

const host::StateDirs kDirs{"/s/config", "/s/data", "/s/run"};

std::string told(int err) { return with_start_remedy({Code::kSystem, err, "open(/s/data/x)"}, kDirs).message; }

TEST(StartRemedy, NamesThePlacesAndAWayOut) {
  EXPECT_EQ(told(ENOSPC),
            "open(/s/data/x); make room for /s/data and /s/run (df tells), or set HUTCH_STATE to the absolute "
            "path of another directory");
  for (const int err : {ENOSPC, EDQUOT, EROFS, EACCES, EPERM, ENOTDIR, ELOOP}) {
    EXPECT_TRUE(told(err).starts_with("open(/s/data/x); ")) << err;
    EXPECT_NE(told(err).find("/s/data and /s/run"), std::string::npos) << err;
    EXPECT_NE(told(err).find("HUTCH_STATE"), std::string::npos) << err;
  }
}

TEST(StartRemedy, SaysNothingWhereNoneIsKnown) {
  EXPECT_EQ(told(0), "open(/s/data/x)");
  EXPECT_EQ(told(EIO), "open(/s/data/x)");
}

}  // namespace
}  // namespace hutch::client
