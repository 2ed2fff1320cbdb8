// The tests of the archive of an image's layers.
#include "service/image/layer_merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace hutch::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string header(std::string name, char type = '0', std::uint64_t size = 0, const std::string& target = {}) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644");
  block.replace(124, 11, fmt::format("{:011o}", size));
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(157, target.size(), target);
  block.replace(257, 8,
                std::string_view("ustar\0"
                                 "00",
                                 8));
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}
std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 511) / 512 * 512);
  return bytes;
}
std::string file(const std::string& name, const std::string& bytes = {}) {
  return header(name, '0', bytes.size()) + padded(bytes);
}
std::string directory(const std::string& name) { return header(name, '5'); }
std::string extended(char type, const std::string& bytes) { return header("ext", type, bytes.size()) + padded(bytes); }
std::string pax(const std::string& keyword, const std::string& value) {
  std::size_t length = keyword.size() + value.size() + 3;
  length += std::to_string(length + 3).size();
  const std::string record = fmt::format("{} {}={}\n", length, keyword, value);
  EXPECT_EQ(record.size(), length);
  return extended('x', record);
}
const std::string kEnd(1024, '\0');

// The layers from the uppermost down; the pieces are of that size.
Result<std::string> merged(const std::vector<std::string>& layers, std::size_t piece = 1 << 20) {
  std::string out;
  LayerMerge merge([&](std::string_view bytes) {
    out += bytes;
    return Status();
  });
  for (const std::string& layer : layers) {
    for (std::size_t at = 0; at < layer.size(); at += piece) TRY(merge.add(std::string_view(layer).substr(at, piece)));
    TRY(merge.end_layer());
  }
  TRY(merge.end());
  return out;
}
std::string error_of(const std::vector<std::string>& layers) {
  const auto result = merged(layers);
  return result ? "" : result.error().message;
}

TEST(LayerMerge, TakesTheUppermostOfEach) {
  const std::string upper = directory("etc/") + file("etc/one", "new") + kEnd;
  const std::string lower = directory("./etc") + file("./etc/one", "old") + file("/etc/two", "of below") + kEnd;
  const std::string all = directory("etc/") + file("etc/one", "new") + file("/etc/two", "of below") + kEnd;
  for (const std::size_t piece : {1UZ, 511UZ, 512UZ, 513UZ, 1UZ << 20}) {
    EXPECT_EQ(merged({upper, lower}, piece).value(), all) << piece;
  }
  EXPECT_EQ(merged({upper, lower + "whatever comes behind the end"}).value(), all);
  EXPECT_EQ(merged({}).value(), kEnd);
}

TEST(LayerMerge, LeavesOutWhatWasTakenAway) {
  const std::string upper = file("a/.wh.gone") + file(".wh.tree") + directory("b") + file("b/.wh..wh..opq") +
                            file("b/own", "x") + file("c", "a file now") + kEnd;
  const std::string lower = file("a/gone", "x") + file("a/stays", "x") + directory("tree") + file("tree/x/y", "x") +
                            directory("b") + file("b/other", "x") + directory("c") + file("c/in", "x") +
                            file("treefrog", "x") + kEnd;
  EXPECT_EQ(merged({upper, lower}).value(), directory("b") + file("b/own", "x") + file("c", "a file now") +
                                                file("a/stays", "x") + file("treefrog", "x") + kEnd);
  // In a layer whose own marks these are, what is beside them stays.
  EXPECT_EQ(merged({file("a/.wh.x") + file("a/x", "new") + kEnd}).value(), file("a/x", "new") + kEnd);
}

TEST(LayerMerge, KnowsLongNames) {
  const std::string path = std::string(150, 'd') + "/" + std::string(150, 'f');
  const std::string by_pax = pax("path", path) + file("short", "1");
  const std::string by_gnu = extended('L', path + std::string(1, '\0')) + file("short", "2");
  EXPECT_EQ(merged({by_pax + kEnd, by_gnu + kEnd}).value(), by_pax + kEnd);
  EXPECT_EQ(merged({by_gnu + kEnd, by_pax + file("more") + kEnd}).value(), by_gnu + file("more") + kEnd);
  // Its size as well, and nothing of it is the next one's.
  std::string large = pax("size", "3") + header("x", '0', 0) + padded("abc") + file("y", "z");
  EXPECT_EQ(merged({large + kEnd}).value(), large + kEnd);
  EXPECT_EQ(merged({extended('g', "comment") + file("y", "z") + kEnd}).value(), file("y", "z") + kEnd);
}

TEST(LayerMerge, FollowsNoNameThatAnotherLayerReplaced) {
  const std::string links = file("a", "x") + header("b", '1', 0, "./a");
  EXPECT_EQ(merged({links + kEnd}).value(), links + kEnd);
  EXPECT_THAT(error_of({file("a", "new") + kEnd, links + kEnd}), HasSubstr("another name of a"));
  EXPECT_EQ(merged({file("b", "new") + kEnd, links + kEnd}).value(), file("b", "new") + file("a", "x") + kEnd);
  const std::string symlink = header("s", '2', 0, "../../up");
  EXPECT_EQ(merged({symlink + kEnd}).value(), symlink + kEnd);
}

TEST(LayerMerge, RefusesWhatIsNoLayer) {
  std::string damaged = file("x", "y");
  damaged[3] = 'z';
  EXPECT_THAT(error_of({damaged}), HasSubstr("damaged"));
  EXPECT_THAT(error_of({std::string(512, 'j')}), HasSubstr("damaged"));
  EXPECT_THAT(error_of({"junk"}), HasSubstr("in the middle"));
  EXPECT_THAT(error_of({header("x", '0', 5)}), HasSubstr("in the middle"));
  EXPECT_THAT(error_of({header("x", '0', 600) + std::string(512, 'x')}), HasSubstr("in the middle"));
  EXPECT_THAT(error_of({pax("path", "y")}), HasSubstr("in the middle"));
  EXPECT_THAT(error_of({pax("path", "y") + kEnd}), HasSubstr("in the middle"));
  EXPECT_THAT(error_of({file("a/../../x")}), HasSubstr("leads out"));
  EXPECT_THAT(error_of({header("x", '1', 0, "../y")}), HasSubstr("leads out"));
  EXPECT_THAT(error_of({file("x") + file("./x")}), HasSubstr("twice"));
  EXPECT_THAT(error_of({header("x", 'S')}), HasSubstr("not known"));
  EXPECT_THAT(error_of({pax("GNU.sparse.major", "1") + file("x")}), HasSubstr("holes"));
  EXPECT_THAT(error_of({header("x", '5', 512) + padded("x")}), HasSubstr("with data"));
  EXPECT_THAT(error_of({file(".wh.")}), HasSubstr("no name"));
  EXPECT_THAT(error_of({header("x", 'x', 2 << 20)}), HasSubstr("damaged"));
  EXPECT_THAT(error_of({pax("size", "-1") + file("x")}), HasSubstr("no file has"));
}

}  // namespace
}  // namespace hutch::service
