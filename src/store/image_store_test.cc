// Manifests of images, names, layers: what is taken, and what is not.
#include "store/image_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/directory_testing.h"
#include "store/layer_store.h"

namespace hutch::store {
namespace {

ImageManifest manifest() {
  ImageManifest manifest{"debian:12", "sha256:abc", "2026-01-31T12:00:00Z", 7, 4096, {}};
  manifest.ids = plan::make_id_map(1001, 1001, plan::IdRange{100'000, 65'536}, plan::IdRange{200'000, 65'536});
  return manifest;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(ImageManifest, IsReadAsItWasWritten) {
  EXPECT_EQ(*parse_manifest(manifest_json(manifest())), manifest());
  ImageManifest one = manifest();
  one.ids = plan::make_id_map(1001, 1001, std::nullopt, std::nullopt);
  EXPECT_EQ(*parse_manifest(manifest_json(one)), one);
  one.environment = {"PATH=/go/bin:/bin", "EMPTY="};
  EXPECT_EQ(*parse_manifest(manifest_json(one)), one);
  // One from before there were variables.
  one.environment.clear();
  EXPECT_EQ(*parse_manifest(replaced(manifest_json(one), ",\n  \"environment\": []", "")), one);
}

TEST(ImageManifest, AnythingElseIsAnError) {
  const std::string good = manifest_json(manifest());
  const std::string bad[] = {"",
                             "null",
                             "[]",
                             "{}",
                             good.substr(0, good.size() / 2),
                             replaced(good, "\"version\": 1", "\"version\": 2"),
                             replaced(good, "\"version\": 1", "\"version\": \"1\""),
                             replaced(good, "\"entries\": 7", "\"entries\": -7"),
                             replaced(good, "\"many\"", "\"all\""),
                             replaced(good, "\"user\": 1001", "\"user\": 4294967296"),
                             replaced(good, "\"digest\"", "\"digets\""),
                             replaced(good, "\"users\": [", "\"users\": [[1,2],"),
                             replaced(good, "\"environment\": [", "\"environment\": [1"),
                             replaced(good, "\"environment\": [", "\"environment\": [\"x\""),
                             replaced(good, "\"groups\": [", "\"groups\": [[1,2,-3],"),
                             std::string(2000, '['),
                             std::string(1, '\0')};
  for (const std::string& text : bad) EXPECT_FALSE(parse_manifest(text)) << text;
}

TEST(ImageName, HasATagAndLeadsNowhere) {
  EXPECT_EQ(*image_name("python"), "python:latest");
  EXPECT_EQ(*image_name("my.own_py-3:V1.2"), "my.own_py-3:V1.2");
  for (const std::string bad :
       {"", ":", "a:", ":b", "..", "../a", "a/b", ".a", "-a", "A", "a:b:c", "a b", "a:.", "a\n"}) {
    EXPECT_FALSE(image_name(bad)) << bad;
  }
  EXPECT_FALSE(image_name(std::string(101, 'a')));
}

TEST(ImageStore, FindsWhatIsThereByItsNameAlone) {
  const TestDirectory directory("images");
  const ImageStore store(directory.path());
  EXPECT_TRUE(store.list()->empty());
  std::filesystem::create_directories(store.place("debian:12"));
  std::ofstream(store.place("debian:12") + "/manifest.json") << manifest_json(manifest());
  EXPECT_EQ(**store.find("debian:12"), manifest());
  EXPECT_EQ(store.list()->size(), 1U);
  EXPECT_FALSE(*store.find("debian:13"));
  // Under a name that is not its own it is none.
  std::filesystem::rename(store.place("debian:12"), store.place("debian:13"));
  EXPECT_FALSE(store.find("debian:13"));
  EXPECT_FALSE(store.list());
}

TEST(LayerStore, IsMadeAndPutAwayAsAWhole) {
  const TestDirectory directory("images");
  const LayerStore store(directory.path());
  EXPECT_FALSE(*store.find("alice"));
  EXPECT_FALSE(*store.put_away("alice"));
  // What an earlier start that broke off has left is no layer.
  std::filesystem::create_directories(store.part("alice") + "/kept/files");
  EXPECT_FALSE(*store.find("alice"));
  ASSERT_TRUE(store.make("alice", manifest()));
  EXPECT_EQ(**store.find("alice"), manifest());
  EXPECT_FALSE(std::filesystem::exists(store.kept("alice") + "/files"));
  EXPECT_FALSE(store.make("alice", manifest()));
  EXPECT_TRUE(*store.put_away("alice"));
  EXPECT_FALSE(*store.find("alice"));
  EXPECT_EQ(**LayerStore::image_of(store.rest("alice")), manifest());
}

}  // namespace
}  // namespace hutch::store
