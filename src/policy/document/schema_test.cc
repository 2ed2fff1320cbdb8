// Holds the documentation of policy files against the table of keys. HUTCH_ACCEPT=1 writes the schema anew.
#include "policy/document/schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/text.h"
#include "policy/keys.h"

namespace hutch::policy {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SchemaTest, TheFileOfTheRepositoryIsTheTable) {
  const std::string path = cat({HUTCH_SOURCE_DIR, "/docs/policy.schema.json"});
  if (std::getenv("HUTCH_ACCEPT") != nullptr) std::ofstream(path) << policy_schema();
  EXPECT_EQ(read(path), policy_schema()) << "run with HUTCH_ACCEPT=1 if the new schema is right";
}

TEST(SchemaTest, EveryKeyIsDocumented) {
  const std::string page = read(cat({HUTCH_SOURCE_DIR, "/docs/policy.md"}));
  for (const Key& key : all_keys()) {
    EXPECT_NE(page.find(cat({"`", key.name, "`"})), std::string::npos) << key.name << " is missing from docs/policy.md";
  }
}

}  // namespace
}  // namespace hutch::policy
