// The wizard's screens against the ones in golden/: HUTCH_ACCEPT=1 writes them anew, and the difference is to be read.
#include "tui/draw.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "tui/columns.h"

namespace hutch::tui {
namespace {

constexpr Surface kWide{80, 24, Charset::kUtf8};
constexpr Surface kSmall{kColumnsMin, kRowsMin, Charset::kUtf8};

char letter_of(Style style) {
  switch (style) {
    case Style::kPlain: return ' ';
    case Style::kTitle: return 'T';
    case Style::kMarked: return 'M';
    case Style::kDim: return 'D';
    case Style::kGood: return 'G';
    case Style::kBad: return 'B';
  }
  return '?';
}

// A line each: the styles of its spans, and the text between bars.
std::string dump(const Frame& frame) {
  std::string text;
  for (const Line& line : frame.lines) {
    std::string styles;
    std::string content;
    for (const Span& span : line) {
      styles += letter_of(span.style);
      content += span.text;
    }
    styles.resize(2, ' ');
    text += cat({styles, "|", content, "|\n"});
  }
  if (frame.cursor) {
    text += cat({"cursor ", std::to_string(frame.cursor->row), ",", std::to_string(frame.cursor->column), "\n"});
  }
  return text;
}

Frame drawn(const Wizard& wizard, const Surface& surface) {
  Frame frame = draw(wizard, surface);
  EXPECT_LE(frame.lines.size(), surface.rows);
  for (const Line& line : frame.lines) {
    std::size_t columns = 0;
    for (const Span& span : line) columns += columns_of(span.text);
    EXPECT_LE(columns, surface.columns) << dump(frame);
  }
  if (frame.cursor) {
    EXPECT_LT(frame.cursor->row, frame.lines.size());
    EXPECT_LT(frame.cursor->column, surface.columns);
  }
  return frame;
}

void expect_golden(const Wizard& wizard, const Surface& surface, const std::string& name) {
  const std::string path = std::string(HUTCH_SOURCE_DIR) + "/src/tui/golden/" + name + ".txt";
  const std::string got = dump(drawn(wizard, surface));
  if (std::getenv("HUTCH_ACCEPT") != nullptr) {
    std::ofstream(path) << got;
    return;
  }
  std::ifstream file(path);
  std::stringstream want;
  want << file.rdbuf();
  EXPECT_EQ(got, want.str()) << "run with HUTCH_ACCEPT=1 if the new screen is right, and read the difference";
}

Overview drawn_overview() {
  return {.enabled = policy::Switch::kEnabled,
          .status = "🔒 Sandbox: 3 domains, 2 write paths",
          .summary = {{"policy", "/home/ada/.config/hutch/projects.json \"/work/foo\""},
                      {"paths from", "/work/foo"},
                      {"allowedDomains", "registry.npmjs.org, pypi.org, files.pythonhosted.org, *.debian.org:443"},
                      {"denyRead", "/home, /root"},
                      {"allowWrite", "., /tmp/build"}},
          .grants = {"a.example:443", "b.example:80"},
          .trouble = "",
          .coverage = Coverage::kParent,
          .directory = "/work/foo/sub",
          .project = "/work/foo"};
}

constexpr const char* kPolicy = R"({
  "enabled": true,
  "network": {"allowedDomains": ["registry.npmjs.org", "pypi.org", "files.pythonhosted.org", "*.debian.org:443"]},
  "filesystem": {"denyRead": ["/home", "/root"], "allowRead": ["."],
                 "allowWrite": [".", "/tmp/\u001b[2J\u202eevil", "/srv/日本語/größe"]},
  "limits": {"memory": "2G"}
})";

Wizard fields(std::string text = kPolicy, Opened::Standing standing = Opened::Standing::kSaved) {
  Wizard wizard(drawn_overview());
  wizard.opened({std::move(text), "/home/ada/.config/hutch/projects.json \"/work/foo\"", standing});
  return wizard;
}

void press_key(Wizard& wizard, EventKind kind, int times = 1) {
  for (; times > 0; --times) wizard.press({kind});
}
void type_text(Wizard& wizard, std::string_view text) {
  for (const char letter : text) wizard.press({EventKind::kText, std::string(1, letter)});
}

Wizard list(int field) {
  Wizard wizard = fields();
  press_key(wizard, EventKind::kDown, field);
  press_key(wizard, EventKind::kEnter);
  return wizard;
}

TEST(Drawing, Menu) {
  const Wizard wizard{drawn_overview()};
  expect_golden(wizard, kWide, "menu");
  expect_golden(wizard, kSmall, "menu_small");
  expect_golden(wizard, {60, 12, Charset::kAscii}, "menu_ascii");
}

TEST(Drawing, MenuOfADisabledSandbox) {
  Overview off = drawn_overview();
  off.enabled = policy::Switch::kDisabled;
  off.status = "Sandbox: disabled";
  off.grants.clear();
  off.coverage = Coverage::kNone;
  Wizard wizard{off};
  press_key(wizard, EventKind::kDown);
  expect_golden(wizard, kWide, "menu_disabled");
}

TEST(Drawing, MenuOfBrokenFiles) {
  Overview broken{.trouble =
                      "/home/ada/.config/hutch/projects.json: line 4: \"/work\": networ: unknown key; did you "
                      "mean network?",
                  .directory = "/work/foo"};
  Wizard wizard{broken};
  wizard.failed("mend it by hand first");
  expect_golden(wizard, kWide, "menu_broken");
  expect_golden(wizard, kSmall, "menu_broken_small");
}

TEST(Drawing, Fields) {
  Wizard wizard = fields();
  expect_golden(wizard, kWide, "fields");
  expect_golden(wizard, kSmall, "fields_small");
  press_key(wizard, EventKind::kEnter);
  press_key(wizard, EventKind::kEscape);
  expect_golden(wizard, kWide, "fields_unsaved");
  wizard.saved({kPolicy, "/home/ada/.config/hutch/default.json"}, "limits hold from the next start on");
  expect_golden(wizard, kWide, "fields_saved");
}

TEST(Drawing, FieldsOfANewEntry) { expect_golden(fields("{}", Opened::Standing::kNew), kWide, "fields_new"); }

TEST(Drawing, AllFields) {
  Wizard wizard = fields();
  type_text(wizard, "?");
  press_key(wizard, EventKind::kPageDown, 3);
  expect_golden(wizard, kWide, "fields_all");
  expect_golden(wizard, kSmall, "fields_all_small");
}

TEST(Drawing, List) {
  Wizard wizard = list(6);
  press_key(wizard, EventKind::kDown);
  expect_golden(wizard, kWide, "list");
  expect_golden(wizard, {kColumnsMin, kRowsMin, Charset::kAscii}, "list_ascii");
  expect_golden(list(7), kSmall, "list_empty");
}

TEST(Drawing, ALongItemIsShownWhole) {
  Wizard wizard = list(6);
  type_text(wizard, "a");
  type_text(wizard, cat({"/srv/", std::string(60, 'x'), "/end"}));
  press_key(wizard, EventKind::kEnter);
  expect_golden(wizard, kSmall, "list_long");
}

TEST(Drawing, Input) {
  Wizard wizard = list(2);
  type_text(wizard, "a*.com");
  press_key(wizard, EventKind::kEnter);
  expect_golden(wizard, kWide, "input_wrong");
  expect_golden(wizard, kSmall, "input_wrong_small");
  type_text(wizard, std::string(50, 'y'));
  press_key(wizard, EventKind::kLeft, 3);
  expect_golden(wizard, kSmall, "input_long");
  press_key(wizard, EventKind::kHome);
  expect_golden(wizard, kSmall, "input_long_home");
}

TEST(Drawing, TooSmall) {
  EXPECT_EQ(dump(drawn(Wizard(drawn_overview()), {39, 24})), "  |at least 40x10|\n");
  EXPECT_EQ(dump(drawn(Wizard(drawn_overview()), {80, 9})), "  |at least 40x10|\n");
  EXPECT_EQ(dump(drawn(Wizard(drawn_overview()), {5, 1})), "  |at...|\n");
  drawn(Wizard(drawn_overview()), {0, 1});
}

TEST(Drawing, EverySizeFits) {
  Wizard menu{drawn_overview()};
  Wizard all = fields();
  type_text(all, "?");
  Wizard typing = list(6);
  type_text(typing, "a/some/where");
  for (std::size_t columns = kColumnsMin; columns < 100; columns += 17) {
    for (std::size_t rows = kRowsMin; rows < 40; rows += 7) {
      for (const Wizard* const wizard : {&menu, &all, &typing}) {
        EXPECT_EQ(drawn(*wizard, {columns, rows}).lines.size(), rows);
      }
    }
  }
}

}  // namespace
}  // namespace hutch::tui
