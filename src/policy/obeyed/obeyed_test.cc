// The list of files that programs obey: each entry is complete, and the lookup finds exactly its names.
#include "policy/obeyed/obeyed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "policy/obeyed/page.h"

namespace hutch::policy {
namespace {

// A path with the name, also for a name with a wildcard.
std::string path_of(const ObeyedFile& file) {
  return cat({"/p/a/", file.name.starts_with('*') ? cat({"x", file.name.substr(1)}) : std::string(file.name)});
}

bool has(const std::vector<ObeyedAt>& found, const ObeyedFile& file, const std::string& path) {
  return std::ranges::any_of(found, [&](const ObeyedAt& at) { return at.file == &file && at.path == path; });
}

TEST(Obeyed, EachEntryIsWhole) {
  std::set<std::string_view> names;
  for (const ObeyedFile& file : obeyed_files()) {
    EXPECT_TRUE(names.insert(file.name).second) << file.name << " is there twice";
    EXPECT_FALSE(file.name.starts_with('/') || file.name.ends_with('/') || file.name.contains("//")) << file.name;
    EXPECT_FALSE(file.name.substr(1).contains('*') || file.name.contains('?')) << file.name;
    EXPECT_FALSE(file.reader.empty() || file.reason.empty() || file.source.empty()) << file.name;
  }
  for (const ObeyedInHome& file : obeyed_in_home()) {
    EXPECT_FALSE(file.name.starts_with('/') || file.reader.empty() || file.reason.empty() || file.source.empty());
  }
}

TEST(Obeyed, EachIsFoundAtItselfAndInIt) {
  for (const ObeyedFile& file : obeyed_files()) {
    const std::string path = path_of(file);
    EXPECT_TRUE(has(obeyed_at(path), file, path)) << path;
    EXPECT_TRUE(has(obeyed_at(path + "/deep/x"), file, path)) << path;
    EXPECT_FALSE(has(obeyed_at(path + "2"), file, path + "2")) << path;
    EXPECT_FALSE(has(obeyed_at(cat({"/p/a/x", std::string_view(path).substr(5)})), file, path)) << path;
    EXPECT_EQ(find_obeyed(file.name), &file);
  }
  EXPECT_TRUE(obeyed_at("/").empty());
  EXPECT_TRUE(obeyed_at("/p/src/main.cc").empty());
  EXPECT_TRUE(obeyed_at("/p//" + std::string(255, 'a')).empty());
}

TEST(Obeyed, PackagesBringFilesAlong) {
  for (const ObeyedFile& file : obeyed_files()) {
    const std::string path = cat({"/p/node_modules/m", std::string_view(path_of(file)).substr(4)});
    EXPECT_EQ(has(obeyed_at(path), file, path), file.scope == ObeyedScope::kEverywhere) << path;
  }
  EXPECT_TRUE(is_in_packages("/p/node_modules"));
  EXPECT_TRUE(is_in_packages("/p/node_modules/.bin/x"));
  EXPECT_FALSE(is_in_packages("/p/my_node_modules/x"));
  EXPECT_FALSE(is_in_packages("/p/node_modules2"));
}

TEST(Obeyed, WhatLeadsToAName) {
  for (const ObeyedFile& file : obeyed_files()) {
    for (std::size_t slash = file.name.find('/'); slash != std::string_view::npos;
         slash = file.name.find('/', slash + 1)) {
      const std::string_view above = file.name.substr(0, slash);
      const std::string path = cat({"/p/", above});
      const auto found = obeyed_below(path);
      EXPECT_TRUE(std::ranges::any_of(found, [&](const ObeyedBelow& one) {
        return one.file == &file && one.above == above;
      })) << file.name;
    }
  }
  EXPECT_TRUE(obeyed_below("/p/src").empty());
  EXPECT_TRUE(obeyed_below("/p/.claude2").empty());
  EXPECT_TRUE(obeyed_below("/p/.vscode").empty()) << "it is one itself";
}

TEST(Obeyed, ThePageOfTheRepositoryIsTheList) {
  const std::string path = cat({HUTCH_SOURCE_DIR, "/docs/obeyed.md"});
  if (std::getenv("HUTCH_ACCEPT") != nullptr) std::ofstream(path) << obeyed_page();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), obeyed_page()) << "run with HUTCH_ACCEPT=1 if the new page is right";
}

}  // namespace
}  // namespace hutch::policy
