// Shared files in the database: the last of each name, of each agent apart.
#include "store/artifacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory_testing.h"

namespace hutch::store {
namespace {

using testing::ElementsAre;

class ArtifactsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Artifacts> open() { return std::move(Artifacts::open(directory_ + "/data")).value(); }
  static Artifact artifact(const std::string& agent, const std::string& name, const std::string& sha256 = "ab") {
    return {.agent = agent,
            .name = name,
            .size = 1ULL << 40,
            .sha256 = sha256,
            .type = "text/plain",
            .description = "d\n\"'",
            .shared = "2026-01-01T00:00:00.000Z"};
  }

  const TestDirectory made_{"artifacts"};
  const std::string directory_ = made_.path();
  std::unique_ptr<Artifacts> artifacts_ = open();
};

TEST_F(ArtifactsTest, EverythingIsKept) {
  ASSERT_TRUE(artifacts_->put(artifact("a", "x")));
  artifacts_ = open();
  EXPECT_EQ(artifacts_->find("a", "x").value(), artifact("a", "x"));
  EXPECT_EQ(artifacts_->find("a", "y").value(), std::nullopt);
  EXPECT_EQ(artifacts_->find("b", "x").value(), std::nullopt);
}

TEST_F(ArtifactsTest, TheLastOfANameAndTheLastFirst) {
  for (const char* name : {"x", "y", "x"}) ASSERT_TRUE(artifacts_->put(artifact("a", name)));
  ASSERT_TRUE(artifacts_->put(artifact("a", "x", "cd")));
  ASSERT_TRUE(artifacts_->put(artifact("b", "z")));
  EXPECT_THAT(artifacts_->list("a").value(), ElementsAre(artifact("a", "x", "cd"), artifact("a", "y")));
  EXPECT_THAT(artifacts_->list("b").value(), ElementsAre(artifact("b", "z")));
}

TEST_F(ArtifactsTest, OfARemovedAgentNothingIsLeft) {
  ASSERT_TRUE(artifacts_->put(artifact("a", "x")));
  ASSERT_TRUE(artifacts_->put(artifact("b", "x")));
  ASSERT_TRUE(artifacts_->forget("a"));
  EXPECT_THAT(artifacts_->list("a").value(), ElementsAre());
  EXPECT_EQ(artifacts_->list("b").value().size(), 1U);
}

TEST_F(ArtifactsTest, SoManyAreKept) {
  for (std::int64_t i = 0; i < kArtifactsOfAgentMax + 2; ++i) {
    ASSERT_TRUE(artifacts_->put(artifact("a", std::to_string(i))));
  }
  EXPECT_EQ(artifacts_->list("a").value().size(), static_cast<std::size_t>(kArtifactsOfAgentMax));
  EXPECT_EQ(artifacts_->find("a", "1").value(), std::nullopt);
  EXPECT_TRUE(artifacts_->find("a", "2").value());
}

}  // namespace
}  // namespace hutch::store
