// What ends with an agent's sandbox.
#include "service/agent/stops.h"

#include <gtest/gtest.h>

namespace hutch::service {

TEST(AgentStops, StopIsOfOneAgentAndOfWhatBeganBefore) {
  AgentStops stops;
  const auto ada = stops.of("ada");
  const auto bob = stops.of("bob");
  stops.stop("ada");
  EXPECT_TRUE(ada.stop_requested());
  EXPECT_FALSE(bob.stop_requested());
  EXPECT_FALSE(stops.of("ada").stop_requested());
  stops.stop("nobody");
}

TEST(AgentStops, AfterTheEndNothingBegins) {
  AgentStops stops;
  const auto ada = stops.of("ada");
  stops.end_all();
  EXPECT_TRUE(ada.stop_requested());
  EXPECT_TRUE(stops.of("ada").stop_requested());
  EXPECT_TRUE(stops.of("new").stop_requested());
}

}  // namespace hutch::service
