// What bubblewrap tells of its child, and what is no such thing.
#include "backend/bwrap/bwrap_network.h"

#include <gtest/gtest.h>

namespace hutch::backend {
namespace {

TEST(BwrapNetwork, ItsChild) {
  EXPECT_EQ(*child_of_bwrap("{\n    \"child-pid\": 1933,\n    \"net-namespace\": 4026532180\n}\n"), 1933);
  for (const char* text :
       {"", "{", "[]", "{}", "{\"child-pid\": \"1\"}", "{\"child-pid\": 0}", "{\"child-pid\": -1}"}) {
    EXPECT_FALSE(child_of_bwrap(text)) << text;
  }
}

}  // namespace
}  // namespace hutch::backend
