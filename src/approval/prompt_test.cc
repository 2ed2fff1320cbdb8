// The prompt: which choices where, which key does what, and what a terminal may send meanwhile.
#include "approval/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "approval/prompt_text.h"
#include "base/text.h"
#include "policy/document/reader.h"

namespace hutch::approval {
namespace {

using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Place kExactPlace{Coverage::kExact, "/work/foo", "/work/foo"};
const Place kParentPlace{Coverage::kParent, "/work/foo/sub", "/work/foo"};
const Place kNoPlace{Coverage::kNone, "/work/bar", ""};
const Place kFixedPlace{Coverage::kFixed, "/work/bar", ""};

Question question() {
  return {.kind = Kind::kConnect,
          .target = "a.example:443",
          .process = {4711, "/usr/bin/curl", {"/bin/sh"}},
          .rule = "default"};
}
Key letter(char c) { return {KeyKind::kCharacter, c}; }
constexpr Key kEnter{KeyKind::kEnter};
constexpr Key kEscape{KeyKind::kEscape};
constexpr Key kUp{KeyKind::kUp};
constexpr Key kDown{KeyKind::kDown};

std::vector<std::string> labels(const Prompt& prompt) {
  std::vector<std::string> labels;
  for (const Choice& choice : prompt.shown()) {
    labels.push_back((choice.key == 0 ? std::string("esc") : std::string(1, choice.key)) + " " + choice.label);
  }
  return labels;
}

// The decision after these keys; kAbort's opposite is no decision at all.
std::optional<Decided> pressed(const Place& place, const std::vector<Key>& keys) {
  Prompt prompt(question(), place);
  std::optional<Decided> decided;
  for (const Key& key : keys) {
    EXPECT_FALSE(decided) << "decided too early";
    decided = prompt.press(key);
  }
  return decided;
}
constexpr Decided of(Answer answer) { return {answer}; }

TEST(Prompt, TheThreeCasesOfTheSeed) {
  EXPECT_THAT(labels(Prompt(question(), kExactPlace)),
              ElementsAre("esc Abort", "s Allow for this session only", "P Allow for this project (/work/foo)",
                          "A Allow for all projects (default.json)"));
  EXPECT_THAT(
      labels(Prompt(question(), kParentPlace)),
      ElementsAre("esc Abort", "s Allow for this session only", "P Allow for this project (parent: /work/foo)",
                  "N Allow for this project (new config: /work/foo/sub)", "A Allow for all projects (default.json)"));
  EXPECT_THAT(labels(Prompt(question(), kNoPlace)),
              ElementsAre("esc Abort", "s Allow for this session only",
                          "P Allow for this project (new, as your default: /work/bar)",
                          "A Allow for all projects (default.json)"));
  EXPECT_THAT(labels(Prompt(question(), kFixedPlace)), ElementsAre("esc Abort", "s Allow for this session only"))
      << "what is saved would not hold for a policy that was named";
}

TEST(Prompt, SessionAndAbortNeverConfirm) {
  EXPECT_EQ(pressed(kNoPlace, {letter('s')}), of(Answer::kSession));
  EXPECT_EQ(pressed(kNoPlace, {kEscape}), of(Answer::kAbort));
  EXPECT_EQ(pressed(kNoPlace, {{KeyKind::kInterrupt}}), of(Answer::kAbort));
  EXPECT_EQ(pressed(kNoPlace, {letter('p'), kEscape}), of(Answer::kAbort));
  EXPECT_EQ(pressed(kNoPlace, {letter('p'), letter('s')}), of(Answer::kSession));
  EXPECT_EQ(pressed(kNoPlace, {letter('S')}), std::nullopt);
}

TEST(Prompt, UpperCaseCommits) {
  EXPECT_EQ(pressed(kExactPlace, {letter('P')}), of(Answer::kProject));
  EXPECT_EQ(pressed(kParentPlace, {letter('P')}), of(Answer::kProject));
  EXPECT_EQ(pressed(kParentPlace, {letter('N')}), of(Answer::kNewEntry));
  EXPECT_EQ(pressed(kNoPlace, {letter('A')}), of(Answer::kEverywhere));
  EXPECT_EQ(pressed(kExactPlace, {letter('N')}), std::nullopt) << "not offered there";
  EXPECT_EQ(pressed(kFixedPlace, {letter('P')}), std::nullopt);
  EXPECT_EQ(pressed(kFixedPlace, {letter('A')}), std::nullopt);
}

TEST(Prompt, LowerCaseWaitsForEnter) {
  EXPECT_EQ(pressed(kParentPlace, {letter('p')}), std::nullopt);
  EXPECT_EQ(pressed(kParentPlace, {letter('p'), kEnter}), of(Answer::kProject));
  EXPECT_EQ(pressed(kParentPlace, {letter('n'), kEnter}), of(Answer::kNewEntry));
  EXPECT_EQ(pressed(kParentPlace, {letter('a'), kEnter}), of(Answer::kEverywhere));
  EXPECT_EQ(pressed(kParentPlace, {letter('p'), letter('a'), kEnter}), of(Answer::kEverywhere)) << "the last letter";
  Prompt prompt(question(), kParentPlace);
  prompt.press(letter('p'));
  EXPECT_TRUE(prompt.is_pending());
  prompt.press({KeyKind::kBackspace});
  EXPECT_FALSE(prompt.is_pending());
  prompt.press(letter('p'));
  prompt.press(kDown);
  EXPECT_FALSE(prompt.is_pending()) << "moving away takes it back";
  EXPECT_EQ(prompt.press(kEnter), of(Answer::kNewEntry));
}

TEST(Prompt, ArrowsAndEnter) {
  EXPECT_EQ(pressed(kNoPlace, {kEnter}), of(Answer::kAbort)) << "Enter alone allows nothing";
  EXPECT_EQ(pressed(kNoPlace, {kUp, kEnter}), of(Answer::kAbort));
  EXPECT_EQ(pressed(kNoPlace, {kDown, kEnter}), of(Answer::kSession));
  EXPECT_EQ(pressed(kNoPlace, {kDown, kDown, kEnter}), of(Answer::kProject));
  EXPECT_EQ(pressed(kNoPlace, {kDown, kDown, kDown, kDown, kDown, kEnter}), of(Answer::kEverywhere));
  EXPECT_EQ(pressed(kNoPlace, {kDown, kDown, kUp, kEnter}), of(Answer::kSession));
  EXPECT_EQ(pressed(kNoPlace, {letter('x'), letter(' ')}), std::nullopt);
}

TEST(Prompt, MoreIsBehindTheQuestionMark) {
  EXPECT_EQ(pressed(kNoPlace, {letter('O')}), std::nullopt);
  EXPECT_EQ(pressed(kNoPlace, {letter('m'), letter('T')}), std::nullopt);
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('O')}), of(Answer::kOnce));
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('o'), kEnter}), of(Answer::kOnce));
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('t'), kEnter}), of(Answer::kTree));
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('T')}), of(Answer::kTree));
  Prompt prompt(question(), kFixedPlace);
  prompt.press(letter('?'));
  EXPECT_THAT(labels(prompt), ElementsAre("esc Abort", "s Allow for this session only", "O Allow once",
                                          "T Allow for what this command starts", "M Allow for some minutes"));
  for (int at = 0; at < 9; ++at) prompt.press(kDown);
  EXPECT_EQ(prompt.marked(), 4U);
  prompt.press(letter('?'));
  EXPECT_EQ(prompt.marked(), 1U) << "what is no longer shown is not marked";
}

TEST(Prompt, Minutes) {
  const std::vector<Key> fifteen = {letter('?'), letter('M'), letter('1'), letter('5'), kEnter};
  EXPECT_EQ(pressed(kNoPlace, fifteen), (Decided{Answer::kMinutes, minutes(15)}));
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('m'), kEnter, letter('7'), kEnter}),
            (Decided{Answer::kMinutes, minutes(7)}));
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('M'), kEnter}), std::nullopt) << "a number is missing";
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('M'), letter('0'), kEnter}), std::nullopt);
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('M'), letter('P'), letter('A'), kUp, kDown}), std::nullopt)
      << "no letter counts there";
  EXPECT_EQ(pressed(kNoPlace, {letter('?'), letter('M'), {KeyKind::kInterrupt}}), of(Answer::kAbort));
  Prompt prompt(question(), kNoPlace);
  for (const Key& key : {letter('?'), letter('M')}) prompt.press(key);
  for (int at = 0; at < 8; ++at) prompt.press(letter('9'));
  EXPECT_EQ(prompt.minutes(), "999999");
  EXPECT_EQ(prompt.press(kEnter), std::nullopt) << "more than a year";
  prompt.press({KeyKind::kBackspace});
  EXPECT_EQ(prompt.minutes(), "99999");
  prompt.press(kEscape);
  EXPECT_EQ(prompt.minutes(), std::nullopt) << "back to the list";
  EXPECT_EQ(prompt.press(kEscape), of(Answer::kAbort));
}

TEST(Answers, WhatEachDoes) {
  const auto effect = [](Answer answer) { return effect_of(answer, minutes(5), question()); };
  EXPECT_FALSE(effect(Answer::kAbort).allowed);
  EXPECT_TRUE(effect(Answer::kOnce).allowed);
  EXPECT_EQ(effect(Answer::kOnce).grant, std::nullopt);
  EXPECT_EQ(effect(Answer::kSession).grant, (Grant{Answer::kSession}));
  EXPECT_EQ(effect(Answer::kTree).grant, (Grant{Answer::kTree}));
  EXPECT_EQ(effect(Answer::kMinutes).grant, (Grant{Answer::kMinutes, minutes(5)}));
  for (const Answer answer : {Answer::kOnce, Answer::kSession, Answer::kTree, Answer::kMinutes}) {
    EXPECT_FALSE(effect(answer).save) << "memory alone";
  }
  EXPECT_EQ(effect(Answer::kProject).save->scope, policy::Scope::kProject);
  EXPECT_EQ(effect(Answer::kNewEntry).save->scope, policy::Scope::kNew);
  EXPECT_EQ(effect(Answer::kEverywhere).save->scope, policy::Scope::kDefault);
  EXPECT_EQ(effect(Answer::kEverywhere).grant, (Grant{Answer::kSession})) << "for what runs now as well";
}

std::string saved(Question question) {
  std::string text = "{}";
  const Effect effect = effect_of(Answer::kProject, minutes(0), question);
  for (const policy::Edit& edit : effect.save->edits) {
    text = *policy::edited(text, edit);
  }
  const auto read = policy::read_policy(text, "p");
  EXPECT_TRUE(read.has_value()) << read.error().message;
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }), text.end());
  return text;
}

TEST(Answers, WhatIsSaved) {
  EXPECT_EQ(saved(question()), R"({"network":{"allowedDomains":["a.example:443"]}})");
  EXPECT_EQ(saved({.kind = Kind::kRead, .target = "/etc/x", .process = {}, .rule = ""}),
            R"({"filesystem":{"allowRead":["/etc/x"]}})");
  EXPECT_EQ(saved({.kind = Kind::kWrite, .target = "/etc/x", .process = {}, .rule = ""}),
            R"({"filesystem":{"allowWrite":["/etc/x"]}})");
  EXPECT_EQ(
      saved({.kind = Kind::kWrite, .target = "/h/x", .process = {}, .rule = "", .visibility = Visibility::kHidden}),
      R"({"filesystem":{"allowWrite":["/h/x"],"allowRead":["/h/x"]}})");
  EXPECT_EQ(saved({.kind = Kind::kSocket, .target = "/run/s", .process = {}, .rule = ""}),
            R"({"network":{"allowUnixSockets":["/run/s"]}})");
  EXPECT_EQ(saved({.kind = Kind::kRead, .target = "/a/*\"\\\x1f\n", .process = {}, .rule = ""}),
            R"({"filesystem":{"allowRead":[{"path":"/a/*\"\\\u001f\n","literal":true}]}})")
      << "a name with a star stays that name";
}

// Nothing runs yet, and no policy can say it: what is saved, and what is of a command, are no answers.
TEST(Answers, BeforeAStart) {
  std::vector<Answer> answers;
  for (const Choice& choice : choices_at({Coverage::kStart, "/home/carol/foo", "/home/carol/foo"})) {
    answers.push_back(choice.answer);
  }
  EXPECT_EQ(answers, (std::vector{Answer::kAbort, Answer::kSession, Answer::kOnce}));
  const Question question{.kind = Kind::kIsolation, .target = "agent alice"};
  EXPECT_EQ(subject_of(question), "run without isolation: agent alice");
  EXPECT_EQ(name_of(question.kind), "isolation");
  EXPECT_FALSE(effect_of(Answer::kOnce, {}, question).grant);
  EXPECT_TRUE(effect_of(Answer::kSession, {}, question).grant);
}

TEST(Answers, NamesBothWays) {
  for (const Answer answer : {Answer::kAbort, Answer::kOnce, Answer::kSession, Answer::kTree, Answer::kMinutes,
                              Answer::kProject, Answer::kNewEntry, Answer::kEverywhere}) {
    EXPECT_EQ(answer_named(name_of(answer)), answer);
  }
  EXPECT_EQ(answer_named("yes"), std::nullopt);
}

TEST(Never, WhatIsNotAsked) {
  using policy::Origin;
  using policy::Verb;
  const auto why = [](Kind kind, Verb verb, Origin origin, policy::Asks asks = {}) {
    const policy::Rule rule{.verb = verb, .origin = origin, .path = "/x", .text = "/x", .where = "list[0]"};
    return never_asked(kind, &rule, asks).value_or("asked");
  };
  EXPECT_EQ(why(Kind::kWrite, Verb::kDenyWrite, Origin::kPolicy), "list[0] \"/x\" denies it");
  EXPECT_EQ(why(Kind::kRead, Verb::kDenyRead, Origin::kCredential), "it is a credential");
  EXPECT_THAT(why(Kind::kRead, Verb::kDenyRead, Origin::kStore), HasSubstr("hutch's own files"));
  EXPECT_THAT(why(Kind::kWrite, Verb::kDenyWrite, Origin::kMandatory), HasSubstr("programs outside"));
  EXPECT_EQ(why(Kind::kRead, Verb::kDenyRead, Origin::kPolicy), "asked") << "what denyRead hides is a question";
  EXPECT_EQ(never_asked(Kind::kWrite, nullptr, {}), std::nullopt);
  const auto off = policy::read_policy(R"({"ask": false})", "p")->asks;
  EXPECT_THAT(why(Kind::kRead, Verb::kDenyRead, Origin::kPolicy, off), HasSubstr("the policy says"));
  EXPECT_TRUE(never_asked(Kind::kWrite, nullptr, off) && never_asked(Kind::kSocket, nullptr, off));
  const auto part = policy::read_policy(R"({"ask": {"write": "deny"}})", "p")->asks;
  EXPECT_TRUE(never_asked(Kind::kWrite, nullptr, part));
  EXPECT_FALSE(never_asked(Kind::kRead, nullptr, part));
}

std::vector<Key> typed(std::string_view bytes) {
  KeyReader reader;
  std::vector<Key> keys = reader.take(bytes);
  for (const Key& key : reader.settle()) keys.push_back(key);
  return keys;
}

TEST(Keys, WhatAPersonTypes) {
  EXPECT_THAT(typed("s"), ElementsAre(letter('s')));
  EXPECT_THAT(typed("\r"), ElementsAre(kEnter));
  EXPECT_THAT(typed("\x1b"), ElementsAre(kEscape));
  EXPECT_THAT(typed("\x1b[A"), ElementsAre(kUp));
  EXPECT_THAT(typed("\x1bOB"), ElementsAre(kDown));
  EXPECT_THAT(typed("\x03"), ElementsAre(Key{KeyKind::kInterrupt}));
  EXPECT_THAT(typed("\x7f"), ElementsAre(Key{KeyKind::kBackspace}));
  KeyReader reader;
  EXPECT_THAT(reader.take("\x1b"), IsEmpty());
  EXPECT_TRUE(reader.is_holding());
  EXPECT_THAT(reader.take("[B"), ElementsAre(kDown)) << "a sequence in two reads";
}

TEST(Keys, WhatATerminalSendsIsNoKey) {
  EXPECT_THAT(typed("\x1b[12;40R"), IsEmpty()) << "where the cursor is";
  EXPECT_THAT(typed("\x1b[?1;2c"), IsEmpty());
  EXPECT_THAT(typed("\x1b]lP\x1b\\"), IsEmpty()) << "a window's title, which the program chose";
  EXPECT_THAT(typed("\x1bP1$rP\x1b\\"), IsEmpty());
  EXPECT_THAT(typed("\x1b]11;rgb:0/0/0\a"), IsEmpty());
  EXPECT_THAT(typed("AP"), IsEmpty()) << "an answerback, or a paste";
  EXPECT_THAT(typed("\x1b[200~P\x1b[201~"), IsEmpty());
  EXPECT_THAT(typed("\x1b[200~\x1b[A\x1b\x1b[201~"), IsEmpty());
  EXPECT_THAT(typed("\x1bP"), IsEmpty());
  KeyReader reader;
  EXPECT_THAT(reader.take("\x1b]l"), IsEmpty());
  EXPECT_THAT(reader.take("P"), IsEmpty()) << "a title in two reads";
  EXPECT_THAT(reader.take("\x1b\\"), IsEmpty());
  EXPECT_THAT(reader.take("P"), ElementsAre(letter('P')));
}

std::string drawn(const Question& asked, std::size_t columns) {
  std::string text;
  for (const std::string& line : prompt_lines(Prompt(asked, kParentPlace), {columns, 2, std::chrono::seconds(58)})) {
    EXPECT_LE(line.size(), columns) << line;
    text += line + "\n";
  }
  return text;
}

TEST(Drawing, SaysWhoAndWhat) {
  EXPECT_EQ(drawn(question(), 72),
            "hutch: may the sandbox\n"
            "\n"
            "  connect to a.example:443\n"
            "\n"
            "  asked by /usr/bin/curl (process 4711) < /bin/sh\n"
            "  rule: default\n"
            "\n"
            "> [esc] Abort\n"
            "  [s]   Allow for this session only\n"
            "  [P]   Allow for this project (parent: /work/foo)\n"
            "  [N]   Allow for this project (new config: /work/foo/sub)\n"
            "  [A]   Allow for all projects (default.json)\n"
            "\n"
            "  Enter takes what is marked; ? more\n"
            "  no answer in 58 s means no; questions behind this one: 2\n");
}

TEST(Drawing, ASandboxCannotDraw) {
  Question asked = question();
  asked.target = "a\x1b[2Jb\xe2\x80\xae.example:443";
  asked.process.program = "/x\r\ny";
  const std::string text = drawn(asked, 80);
  EXPECT_THAT(text, HasSubstr("a\\x1b[2Jb"));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(Drawing, ALongTargetIsShownWhole) {
  Question asked = question();
  asked.target = std::string(100, 'a') + ".evil.example:443";
  const std::string text = drawn(asked, 40);
  std::string joined = text;
  std::erase_if(joined, [](char c) { return c == '\n' || c == ' '; });
  EXPECT_THAT(joined, HasSubstr(asked.target));
}

TEST(Drawing, AVeryLongNamePushesNothingOffTheTerminal) {
  Question asked = question();
  asked.kind = Kind::kWrite;
  asked.target = cat({"/home/ann/.profile", std::string(4000, '\x01'), "/the-end"});
  const std::string text = drawn(asked, 80);
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
  EXPECT_THAT(text, HasSubstr("  write /home/ann/.profile"));
  EXPECT_THAT(text, HasSubstr("/the-end\n"));
}

TEST(Drawing, ANameMakesNoLineOfHutchs) {
  Question asked = question();
  asked.kind = Kind::kWrite;
  for (const std::string_view line : {"  asked by /usr/bin/git (process 1)", "> [esc] Allow", "  rule: none"}) {
    for (std::size_t size = 50; size < 80; ++size) {
      asked.target = cat({"/home/ann/", std::string(size, ' '), line});
      EXPECT_THAT(drawn(asked, 80), Not(HasSubstr(cat({"\n", line})))) << size;
      asked.target = cat({"/home/ann/", std::string(size, 'x'), line.substr(2)});
      EXPECT_THAT(drawn(asked, 80), Not(HasSubstr(cat({"\n", line})))) << size;
    }
  }
}

}  // namespace
}  // namespace hutch::approval
