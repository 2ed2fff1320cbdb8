// What is told of a recipe's needs, to whom.
#include "service/plugins/needs.h"

#include <gtest/gtest.h>

namespace hutch::service {
namespace {

store::AgentRecord agent_of(std::string backend) {
  store::AgentRecord agent;
  agent.name = "alice";
  agent.backend = std::move(backend);
  return agent;
}

TEST(PluginNeeds, TheLineIsOneThatWorksOnTheBackend) {
  EXPECT_EQ(need_line("path:~/my files", agent_of("user")), "needs ~/my files: hutch share --agent alice ~/'my files'");
  for (const char* backend : {"namespace", "bwrap", "container", "vm", ""}) {
    const std::string line = need_line("path:~/x", agent_of(backend));
    EXPECT_EQ(line.find("hutch share"), std::string::npos) << line;
    EXPECT_NE(line.find("allowRead"), std::string::npos) << line;
  }
}

TEST(PluginNeeds, AModelIsToldNoWayIn) {
  for (const char* need : {"path:~/x", "browser", "display"}) {
    const std::string text = need_for_model(need);
    for (const char* word : {"hutch", "share", "policy", "allow"})
      EXPECT_EQ(text.find(word), std::string::npos) << text;
  }
}

TEST(PluginNeeds, AProbeTakesThePathAsAWord) {
  const auto probe = need_probe("path:~/$(id)", "/home/u");
  EXPECT_EQ(probe.back(), "/home/u/$(id)");
  EXPECT_EQ(probe.at(2), "test -r \"$1\"");
}

}  // namespace
}  // namespace hutch::service
