// The help: each verb is found once, and each option says what it takes.
#include "cli/options/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/text.h"
#include "cli/options/verbs.h"

namespace hutch::cli {
namespace {

using testing::HasSubstr;

TEST(Help, ListsEachVerbInOneGroup) {
  std::map<std::string_view, int> times;
  for (const VerbGroup& group : verb_groups()) {
    for (const std::string_view name : group.verbs) {
      EXPECT_NE(find_verb(name), nullptr) << name;
      ++times[name];
    }
  }
  for (const Verb& verb : verbs()) EXPECT_EQ(times[verb.name], 1) << verb.name;
  EXPECT_EQ(times.size(), verbs().size());
}

TEST(Help, BeginsWithTheVerbsOfANewcomer) {
  EXPECT_LE(verb_groups().front().verbs.size(), 10U);
  const std::string text = help_text("");
  EXPECT_LT(text.find("  run "), text.find("  questions "));
}

TEST(Help, NamesTheValuesThatAnOptionTakes) {
  for (const Verb& verb : verbs()) {
    const std::string text = help_text(verb.name);
    for (const OptionGroup& group : verb.groups) {
      for (const Option& option : group.options) {
        for (const std::string_view value : values_of(option.kind)) {
          EXPECT_THAT(text, HasSubstr(std::string(value))) << verb.name << " " << option.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hutch::cli
