// Every key on every screen of the wizard.
#include "tui/wizard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"

namespace hutch::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kStart = R"({"filesystem": {"denyRead": ["/a", "/b", "/c"]}})";

Overview overview(Coverage coverage) {
  return {.enabled = policy::Switch::kEnabled,
          .coverage = coverage,
          .directory = "/work/foo/sub",
          .project = coverage == Coverage::kNone ? "" : "/work/foo"};
}

// Keys: a letter each; "<Enter>" and the like by name.
std::optional<Deed> press(Wizard& wizard, std::string_view keys) {
  static const std::map<std::string, EventKind, std::less<>> kNames = {
      {"Enter", EventKind::kEnter},  {"Esc", EventKind::kEscape},   {"Up", EventKind::kUp},
      {"Down", EventKind::kDown},    {"PgUp", EventKind::kPageUp},  {"PgDn", EventKind::kPageDown},
      {"Home", EventKind::kHome},    {"End", EventKind::kEnd},      {"Left", EventKind::kLeft},
      {"BS", EventKind::kBackspace}, {"^C", EventKind::kInterrupt}, {"^U", EventKind::kClear},
  };
  std::optional<Deed> deed;
  while (!keys.empty()) {
    EXPECT_FALSE(deed) << "done before " << keys;
    if (keys.front() == '<') {
      const std::size_t end = keys.find('>');
      deed = wizard.press({kNames.find(keys.substr(1, end - 1))->second});
      keys.remove_prefix(end + 1);
    } else {
      deed = wizard.press({EventKind::kText, std::string(keys.substr(0, 1))});
      keys.remove_prefix(1);
    }
  }
  return deed;
}

DeedKind kind(const std::optional<Deed>& deed) {
  EXPECT_TRUE(deed.has_value());
  return deed.value_or(Deed{}).kind;
}

// With the default's fields open.
Wizard opened(std::string text = kStart, Opened::Standing standing = Opened::Standing::kSaved) {
  Wizard wizard(overview(Coverage::kExact));
  EXPECT_EQ(kind(press(wizard, "<End><Enter>")), DeedKind::kOpen);
  wizard.opened({std::move(text), "/c/default.json", standing});
  return wizard;
}

// On the list of filesystem.denyRead.
Wizard on_list() {
  Wizard wizard = opened();
  EXPECT_FALSE(press(wizard, "<Down><Down><Down><Down><Enter>"));
  EXPECT_EQ(wizard.screen(), Screen::kList);
  return wizard;
}

std::vector<std::string> labels(const Wizard& wizard) {
  std::vector<std::string> labels;
  for (const MenuChoice& choice : wizard.choices()) labels.push_back(cat({choice.label, ": ", choice.about}));
  return labels;
}

TEST(Menu, TheThreeCases) {
  EXPECT_THAT(labels(Wizard(overview(Coverage::kExact))),
              ElementsAre("Disable sandbox: for this session alone, and nothing is saved",
                          "Edit this project: /work/foo", "Edit the default: for every directory without an entry"));
  EXPECT_THAT(labels(Wizard(overview(Coverage::kParent))),
              ElementsAre(HasSubstr("Disable"), "Edit this project: parent: /work/foo",
                          "New project entry: /work/foo/sub, a copy of its parent's", HasSubstr("default")));
  EXPECT_THAT(labels(Wizard(overview(Coverage::kNone))),
              ElementsAre(HasSubstr("Disable"), "New project entry: /work/foo/sub, a copy of your default",
                          HasSubstr("Edit the default")));
}

TEST(Menu, EnterAtOnceTogglesTheSandbox) {
  Wizard on(overview(Coverage::kExact));
  EXPECT_EQ(kind(press(on, "<Enter>")), DeedKind::kToggle);
  Overview disabled = overview(Coverage::kExact);
  disabled.enabled = policy::Switch::kDisabled;
  Wizard off(disabled);
  EXPECT_EQ(off.choices().front().label, "Enable sandbox");
  EXPECT_EQ(kind(press(off, "<Enter>")), DeedKind::kToggle);
}

TEST(Menu, OpensEachScope) {
  const auto scope = [](std::string_view keys) {
    Wizard wizard(overview(Coverage::kParent));
    const auto deed = press(wizard, keys);
    EXPECT_EQ(kind(deed), DeedKind::kOpen);
    return deed->scope;
  };
  EXPECT_EQ(scope("<Down><Enter>"), policy::Scope::kProject);
  EXPECT_EQ(scope("<Down><Down><Enter>"), policy::Scope::kNew);
  EXPECT_EQ(scope("<Down><Down><Down><Down><Enter>"), policy::Scope::kDefault);
  EXPECT_EQ(scope("<Down><Down><Up><Enter>"), policy::Scope::kProject);
  EXPECT_EQ(scope("<PgDn><Enter>"), policy::Scope::kDefault);
  EXPECT_EQ(scope("<End><Home><Up><Down><Enter>"), policy::Scope::kProject);
  EXPECT_EQ(scope("x<Left><Down><Enter>"), policy::Scope::kProject) << "other keys do nothing";
}

TEST(Menu, LeavesByEscOrQ) {
  for (const std::string_view keys : {"<Esc>", "q", "<Down>q"}) {
    Wizard wizard(overview(Coverage::kNone));
    EXPECT_EQ(kind(press(wizard, keys)), DeedKind::kLeave);
  }
}

TEST(Menu, SaysWhatFailed) {
  Wizard wizard(overview(Coverage::kNone));
  press(wizard, "<Down><Enter>");
  wizard.failed("projects.json: line 3");
  EXPECT_EQ(wizard.screen(), Screen::kMenu);
  EXPECT_EQ(wizard.notice().text, "projects.json: line 3");
  EXPECT_EQ(wizard.notice().tone, Notice::Tone::kBad);
  press(wizard, "<Up>");
  EXPECT_EQ(wizard.notice().text, "") << "until the next key";
}

TEST(Menu, AMarkStaysOnAChoiceThatIsThere) {
  Wizard wizard(overview(Coverage::kParent));
  press(wizard, "<End>");
  EXPECT_EQ(wizard.marked(), 3U);
  wizard.show(overview(Coverage::kExact));
  EXPECT_EQ(wizard.marked(), 2U);
}

TEST(AnyScreen, ControlCLeavesAtOnce) {
  Wizard menu(overview(Coverage::kNone));
  EXPECT_EQ(kind(press(menu, "<^C>")), DeedKind::kInterrupt);
  Wizard changed = opened();
  EXPECT_EQ(kind(press(changed, "<Enter><^C>")), DeedKind::kInterrupt) << "unsaved or not";
  Wizard list = on_list();
  EXPECT_EQ(kind(press(list, "<^C>")), DeedKind::kInterrupt);
  Wizard typing = on_list();
  EXPECT_EQ(kind(press(typing, "a/x<^C>")), DeedKind::kInterrupt);
}

TEST(Fields, EnterTurnsAFlag) {
  Wizard wizard = opened();
  EXPECT_FALSE(press(wizard, "<Enter>"));
  EXPECT_EQ(value_text(wizard.draft().text(), *policy::find_key("enabled")), "false");
  EXPECT_TRUE(wizard.draft().is_changed());
}

TEST(Fields, Moving) {
  Wizard wizard = opened();
  press(wizard, "<Up>");
  EXPECT_EQ(wizard.marked(), 0U);
  press(wizard, "<Down><Down>");
  EXPECT_EQ(wizard.marked(), 2U);
  press(wizard, "<PgDn><Down>");
  EXPECT_EQ(wizard.marked(), 7U);
  press(wizard, "?<PgDn>");
  EXPECT_EQ(wizard.marked(), 17U);
  press(wizard, "<PgUp><PgUp>");
  EXPECT_EQ(wizard.marked(), 0U);
  press(wizard, "<End>");
  EXPECT_EQ(wizard.marked(), wizard.fields().size() - 1);
}

TEST(Fields, MoreIsBehindTheQuestionMark) {
  Wizard wizard = opened();
  EXPECT_THAT(wizard.fields(), SizeIs(8));
  press(wizard, "<Down>?");
  EXPECT_GT(wizard.fields().size(), 40U);
  EXPECT_EQ(wizard.marked(), 1U) << "the same field";
  press(wizard, "<End>?");
  EXPECT_THAT(wizard.fields(), SizeIs(8));
  EXPECT_EQ(wizard.marked(), 0U) << "what is no longer shown is not marked";
}

TEST(Fields, SSaves) {
  Wizard wizard = opened();
  EXPECT_FALSE(press(wizard, "s"));
  EXPECT_EQ(wizard.notice().text, "nothing to save");
  press(wizard, "<Enter>");
  const auto deed = press(wizard, "s");
  EXPECT_EQ(kind(deed), DeedKind::kSave);
  EXPECT_EQ(deed->scope, policy::Scope::kDefault);
  wizard.saved({wizard.draft().text(), "/c/default.json"}, "");
  EXPECT_EQ(wizard.notice().text, "saved in /c/default.json");
  EXPECT_EQ(wizard.screen(), Screen::kFields);
  EXPECT_FALSE(wizard.draft().is_changed());
  EXPECT_EQ(value_text(wizard.draft().text(), *policy::find_key("enabled")), "false");
  wizard.saved({kStart, "/c/default.json"}, "a command runs on without");
  EXPECT_EQ(wizard.notice().text, "saved in /c/default.json; a command runs on without");
}

TEST(Fields, ANewEntryIsSavedAsItIs) {
  Wizard wizard = opened(kStart, Opened::Standing::kNew);
  EXPECT_EQ(kind(press(wizard, "s")), DeedKind::kSave);
}

TEST(Fields, WhatCannotBeSavedStays) {
  Wizard wizard = opened();
  press(wizard, "<Enter>s");
  wizard.failed("it is another by now");
  EXPECT_EQ(wizard.notice().text, "it is another by now");
  EXPECT_TRUE(wizard.draft().is_changed());
  EXPECT_EQ(kind(press(wizard, "s")), DeedKind::kSave) << "again";
}

TEST(Fields, LeavesByEscOrQ) {
  for (const std::string_view keys : {"<Esc>", "q", "?q"}) {
    Wizard wizard = opened();
    EXPECT_EQ(kind(press(wizard, keys)), DeedKind::kLeave);
  }
}

TEST(Fields, WhatIsNotSavedIsAskedAbout) {
  for (const std::string_view key : {"<Esc>", "q"}) {
    Wizard wizard = opened();
    EXPECT_FALSE(press(wizard, "<Enter>"));
    EXPECT_FALSE(press(wizard, key));
    EXPECT_THAT(wizard.notice().text, HasSubstr("not saved"));
    EXPECT_FALSE(press(wizard, "<Down>")) << "any other key goes on";
    EXPECT_FALSE(press(wizard, key));
    EXPECT_EQ(kind(press(wizard, key)), DeedKind::kLeave);
  }
  Wizard wizard = opened();
  EXPECT_EQ(kind(press(wizard, "<Enter>qs")), DeedKind::kSave);
  wizard.saved({kStart, "/c/default.json"}, "");
  EXPECT_EQ(kind(press(wizard, "q")), DeedKind::kLeave) << "nothing is unsaved any more";
}

TEST(Fields, Scalars) {
  Wizard wizard = opened(R"({"limits": {"memory": "1G"}})");
  press(wizard, "?");
  while (wizard.fields()[wizard.marked()]->name != "limits.memory") press(wizard, "<Down>");
  const auto memory = [&] { return scalar_text(wizard.draft().text(), *policy::find_key("limits.memory")); };
  press(wizard, "<Enter>");
  ASSERT_TRUE(wizard.input());
  EXPECT_EQ(wizard.input()->line.text(), "1G") << "as it is";
  press(wizard, "<BS><BS>2x<Enter>");
  ASSERT_TRUE(wizard.input()) << "what is wrong stays to be mended";
  EXPECT_THAT(wizard.notice().text, HasSubstr("limits.memory"));
  EXPECT_EQ(memory(), "1G");
  press(wizard, "<BS>");
  EXPECT_EQ(wizard.notice().text, "");
  press(wizard, "G<Enter>");
  EXPECT_FALSE(wizard.input());
  EXPECT_EQ(memory(), "2G");
  press(wizard, "<Enter>qs?<Esc>");
  EXPECT_EQ(memory(), "2G") << "Esc takes nothing, and letters are text there";
  EXPECT_FALSE(wizard.input());
  press(wizard, "<Enter><^U><Enter>");
  EXPECT_EQ(memory(), "") << "an empty line takes it away";
  press(wizard, "<Enter><Enter>");
  EXPECT_FALSE(wizard.input());
  EXPECT_EQ(wizard.notice().text, "") << "and it may stay so";
}

TEST(List, Adding) {
  Wizard wizard = on_list();
  EXPECT_FALSE(press(wizard, "a/dd<Enter>"));
  EXPECT_THAT(wizard.items(), SizeIs(4));
  EXPECT_EQ(wizard.items().back().shown, "/dd");
  EXPECT_EQ(wizard.marked(), 3U) << "what was added is marked";
  press(wizard, "a/a<Enter>");
  EXPECT_THAT(wizard.items(), SizeIs(4));
  EXPECT_EQ(wizard.marked(), 0U) << "it was there already";
  press(wizard, "a<Enter>");
  EXPECT_THAT(wizard.items(), SizeIs(4)) << "nothing was typed";
  press(wizard, "a/e<Esc>");
  EXPECT_THAT(wizard.items(), SizeIs(4));
  EXPECT_EQ(wizard.screen(), Screen::kList) << "Esc left the line alone";
  press(wizard, "a{<Enter>");
  EXPECT_TRUE(wizard.input());
  EXPECT_THAT(wizard.notice().text, HasSubstr("JSON"));
  press(wizard, "<Esc>");
  EXPECT_EQ(wizard.notice().text, "");
}

TEST(List, Deleting) {
  Wizard wizard = on_list();
  press(wizard, "<Down>d");
  ASSERT_THAT(wizard.items(), SizeIs(2));
  EXPECT_EQ(wizard.items()[1].shown, "/c");
  EXPECT_EQ(wizard.marked(), 1U) << "the one after it";
  press(wizard, "d");
  EXPECT_EQ(wizard.marked(), 0U) << "the last one";
  press(wizard, "d");
  EXPECT_THAT(wizard.items(), IsEmpty());
  press(wizard, "d<Down>");
  EXPECT_EQ(wizard.marked(), 0U);
  EXPECT_EQ(wizard.notice().text, "");
}

TEST(List, GoesBackByEscOrB) {
  for (const std::string_view key : {"<Esc>", "b"}) {
    Wizard wizard = on_list();
    EXPECT_FALSE(press(wizard, key));
    EXPECT_EQ(wizard.screen(), Screen::kFields);
    EXPECT_EQ(wizard.marked(), 4U) << "where it came from";
  }
  Wizard wizard = on_list();
  press(wizard, "qs?");
  EXPECT_EQ(wizard.screen(), Screen::kList) << "keys of the other screen";
}

TEST(List, Names) {
  Wizard wizard = opened(R"({"environment": {"CI": "1"}})");
  press(wizard, "?");
  while (wizard.fields()[wizard.marked()]->name != "environment") press(wizard, "<Down>");
  press(wizard, "<Enter>aA=b<Enter>");
  ASSERT_THAT(wizard.items(), SizeIs(2));
  EXPECT_EQ(wizard.items()[1].shown, "A=b");
  press(wizard, "a=<Enter>");
  EXPECT_THAT(wizard.notice().text, HasSubstr("a name is missing"));
  press(wizard, "<Esc><Home>d");
  EXPECT_THAT(wizard.items(), SizeIs(1));
}

TEST(Paste, IsNoCommand) {
  Wizard wizard = on_list();
  for (const char* const character : {"d", "b", "q"}) wizard.press({EventKind::kPaste, character});
  EXPECT_THAT(wizard.items(), SizeIs(3));
  EXPECT_EQ(wizard.screen(), Screen::kList);
  press(wizard, "a");
  for (const char* const character : {"/", "x", "\n"}) wizard.press({EventKind::kPaste, character});
  EXPECT_EQ(wizard.input()->line.text(), "/x");
}

}  // namespace
}  // namespace hutch::tui
