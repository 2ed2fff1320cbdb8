// The policies for coding agents: each is read, and closes what its agent obeys outside.
#include "policy/document/presets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "policy/document/reader.h"
#include "policy/obeyed/obeyed.h"
#include "policy/rules.h"

namespace hutch::policy {
namespace {

TEST(Presets, EachIsAPolicyOfItsOwnName) {
  EXPECT_EQ(presets().size(), 10U);
  for (const Preset& preset : presets()) {
    const auto read = read_policy(std::string(preset.text), std::string(preset.name));
    ASSERT_TRUE(read) << preset.name << ": " << read.error().message;
    EXPECT_TRUE(rules_of(*read, {"/home/u", "/home/u/p", "/home/u/p"})) << preset.name;
    EXPECT_EQ(find_preset(preset.name), &preset);
    EXPECT_FALSE(read->filesystem.deny_read.empty());
    EXPECT_FALSE(preset.state.empty());
    for (const std::string_view state : preset.state) EXPECT_TRUE(state.starts_with("~/")) << state;
    // A place that is the sandbox's own needs a directory.
    for (const PathEntry& entry : read->filesystem.own_directories) {
      EXPECT_TRUE(std::ranges::count(preset.state, entry.text) == 1) << entry.text;
    }
  }
}

TEST(Presets, AnUnknownOneListsThem) {
  EXPECT_TRUE(may_be_preset("nosuch"));
  EXPECT_FALSE(may_be_preset("./codex"));
  EXPECT_FALSE(may_be_preset("policy.json"));
  const Error error = no_preset("codx", "--policy");
  EXPECT_EQ(error.message.find("--policy: there is no preset \"codx\"; did you mean codex?"), 0U) << error.message;
  for (const Preset& preset : presets()) EXPECT_NE(error.message.find(preset.name), std::string::npos);
}

TEST(Presets, AreFoundByTheWholeNameAlone) {
  EXPECT_EQ(find_preset(""), nullptr);
  EXPECT_EQ(find_preset("claude"), nullptr);
  EXPECT_EQ(find_preset("Codex"), nullptr);
}

// What the same program, started outside, obeys.
TEST(Presets, NoneLetsWhatRunsOutsideBeChanged) {
  struct Case {
    const char* preset;
    const char* path;
  };
  for (const Case& one :
       {Case{"claude-code", "~/.claude/settings.json"}, Case{"claude-code", "~/.claude/skills"},
        Case{"codex", "~/.codex/config.toml"}, Case{"codex", "~/.codex/hooks.json"}, Case{"codex", "~/.codex/.env"},
        Case{"codex", "~/.codex/automations"}, Case{"claude-code", "~/.claude/projects/*/memory"},
        Case{"pi", "~/.pi/agent/extensions"}, Case{"pi", "~/.pi/agent/settings.json"}}) {
    const auto read = read_policy(std::string(find_preset(one.preset)->text), one.preset);
    ASSERT_TRUE(read);
    bool denied = false;
    for (const PathEntry& entry : read->filesystem.deny_write) denied = denied || entry.text == one.path;
    EXPECT_TRUE(denied) << one.path;
  }
}

TEST(Presets, EachLeavesAloneWhatAnyAgentObeysInTheProject) {
  for (const Preset& preset : presets()) {
    const auto read = read_policy(std::string(preset.text), std::string(preset.name));
    ASSERT_TRUE(read);
    for (const char* path : {".pi", ".agents", ".codex"}) {
      EXPECT_TRUE(std::ranges::count(read->filesystem.deny_write, path, &PathEntry::text) == 1)
          << preset.name << ": " << path;
    }
    EXPECT_TRUE(read->filesystem.allow_obeyed.empty()) << preset.name;
  }
}

TEST(Presets, TheListHoldsWhatAgentsObeyInTheProject) {
  for (const char* name :
       {".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".claude/skills", ".claude/workflows",
        ".cursor/mcp.json", ".gemini/settings.json", ".zed/settings.json", "opencode.json", "opencode.jsonc"}) {
    const ObeyedFile* file = find_obeyed(name);
    ASSERT_NE(file, nullptr) << name;
    EXPECT_EQ(file->treatment, ObeyedTreatment::kHeld) << name;
  }
}

}  // namespace
}  // namespace hutch::policy
