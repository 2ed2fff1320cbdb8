// The completion scripts: each names every verb and option.
#include "cli/options/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "cli/options/verbs.h"

namespace hutch::cli {
namespace {

using testing::HasSubstr;

TEST(Completion, KnowsEveryVerbAndOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell);
    EXPECT_THAT(script, testing::Not(testing::ContainsRegex("@[A-Z]+@"))) << shell;
    for (const Verb& verb : verbs()) {
      EXPECT_THAT(script, HasSubstr(std::string(verb.name))) << shell;
      for (const OptionGroup& group : verb.groups) {
        for (const Option& option : group.options) {
          const std::string bare(option.name.substr(option.name.find_first_not_of('-')));
          EXPECT_THAT(script, HasSubstr(bare)) << shell;
        }
      }
      const std::vector<std::string> choices(verb.word_choices.begin(), verb.word_choices.end());
      EXPECT_THAT(script, HasSubstr(join(choices, " "))) << shell << " " << verb.name;
    }
  }
}

TEST(Completion, KnowsTheValuesThatTheOptionsTake) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell);
    for (const ValueKind kind : {ValueKind::kBackend, ValueKind::kNetwork, ValueKind::kRecordType, ValueKind::kScope}) {
      const auto values = values_of(kind);
      ASSERT_FALSE(values.empty());
      EXPECT_THAT(script, HasSubstr(join({values.begin(), values.end()}, " "))) << shell;
    }
  }
}

}  // namespace
}  // namespace hutch::cli
