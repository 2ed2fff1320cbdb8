// Draws the wizard: a head, a body with a mark in it, and a foot; what a screen is too small for is left out of the
// head first.
#include "tui/draw.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "tui/columns.h"

namespace hutch::tui {

namespace {

constexpr std::size_t kTextBytesMax = 16384;
constexpr std::string_view kLock = "🔒 ";

struct Parts {
  std::vector<Line> head;
  std::vector<Line> body;
  std::size_t marked = 0;
  std::vector<Line> about;   // of what is marked
  std::vector<Line> notice;
  std::vector<Line> keys;
  std::optional<std::size_t> cursor;  // the column, on the first line of `notice`
};

class Drawer {
 public:
  Drawer(const Wizard& wizard, const Surface& surface) : wizard_(wizard), surface_(surface) {}

  Parts menu() const;
  Parts fields() const;
  Parts list() const;

 private:
  std::string shown(std::string_view text) const;
  void add_wrapped(std::vector<Line>& lines, std::string_view text, Style style) const;
  void add_row(std::vector<Line>& lines, std::string_view name, std::string_view value) const;
  Line marked_line(std::size_t at, std::string_view name, std::size_t width, std::string_view value) const;
  void add_foot(Parts& parts, std::string_view about, std::string_view keys) const;
  void add_input(Parts& parts) const;

  const Wizard& wizard_;
  const Surface& surface_;
};

Frame composed(Parts parts, const Surface& surface);

}  // namespace

Frame draw(const Wizard& wizard, const Surface& surface) {
  if (surface.columns < kColumnsMin || surface.rows < kRowsMin) {
    const std::string text = cat({"at least ", std::to_string(kColumnsMin), "x", std::to_string(kRowsMin)});
    return {{{{cut_end(text, surface.columns)}}}, std::nullopt};
  }
  const Drawer drawer(wizard, surface);
  switch (wizard.screen()) {
    case Screen::kMenu: return composed(drawer.menu(), surface);
    case Screen::kFields: return composed(drawer.fields(), surface);
    case Screen::kList: break;
  }
  return composed(drawer.list(), surface);
}

namespace {

Parts Drawer::menu() const {
  Parts parts;
  const Overview& overview = wizard_.overview();
  const bool is_on = overview.enabled == policy::Switch::kEnabled;
  if (!overview.status.empty()) add_wrapped(parts.head, overview.status, is_on ? Style::kTitle : Style::kBad);
  if (!overview.trouble.empty()) add_wrapped(parts.head, overview.trouble, Style::kBad);
  for (const Overview::Row& row : overview.summary) add_row(parts.head, row.name, row.value);
  if (!overview.grants.empty()) add_row(parts.head, "this session", join(overview.grants, ", "));
  parts.head.emplace_back();
  parts.marked = wizard_.marked();
  const std::vector<MenuChoice>& choices = wizard_.choices();
  for (std::size_t at = 0; at < choices.size(); ++at) {
    parts.body.push_back(marked_line(at, choices[at].label, 22, choices[at].about));
  }
  add_foot(parts, "", "Up, Down; Enter takes what is marked; Esc or q leaves");
  return parts;
}

Parts Drawer::fields() const {
  Parts parts;
  const Draft& draft = wizard_.draft();
  parts.head.push_back({{cut_start(shown(wizard_.policy().name), surface_.columns), Style::kTitle}});
  if (draft.is_changed()) {
    parts.head.push_back({{"changed, not saved", Style::kBad}});
  } else {
    parts.head.push_back({{wizard_.policy().standing == Opened::Standing::kNew ? "new: s saves it" : "", Style::kDim}});
  }
  parts.head.emplace_back();
  const std::vector<const policy::Key*>& keys = wizard_.fields();
  std::size_t longest = 0;
  for (const policy::Key* key : keys) longest = std::max(longest, key->name.size());
  const std::size_t width = std::min(longest + 2, surface_.columns / 2);
  for (std::size_t at = 0; at < keys.size(); ++at) {
    const std::string value = value_text(draft.text(), *keys[at]);
    parts.body.push_back(marked_line(at, keys[at]->name, width, value.empty() ? "-" : shown(value)));
  }
  parts.marked = wizard_.marked();
  const policy::Key& key = *keys[parts.marked];
  add_foot(parts, cat({key.name, ": ", key.text}),
           wizard_.field_set() == FieldSet::kBasic ? "Enter changes; s saves; ? more; Esc or q leaves"
                                                   : "Enter changes; s saves; ? less; Esc or q leaves");
  return parts;
}

Parts Drawer::list() const {
  Parts parts;
  const policy::Key& key = *wizard_.list();
  parts.head.push_back({{cut_start(key.name, surface_.columns), Style::kTitle}});
  parts.head.push_back({{cut_start(shown(wizard_.policy().name), surface_.columns), Style::kDim}});
  parts.head.emplace_back();
  const std::vector<Item> items = wizard_.items();
  for (std::size_t at = 0; at < items.size(); ++at) parts.body.push_back(marked_line(at, items[at].shown, 0, ""));
  if (items.empty()) parts.body.push_back({{"  (empty)", Style::kDim}});
  parts.marked = wizard_.marked();
  // What is marked is shown whole, where its row is too short for it.
  const bool is_long = !items.empty() && columns_of(shown(items[parts.marked].shown)) + 2 > surface_.columns;
  add_foot(parts, is_long ? std::string_view(items[parts.marked].shown) : key.text,
           "a adds; d deletes; Esc or b goes back");
  return parts;
}

// As a person may see it on this terminal.
std::string Drawer::shown(std::string_view text) const {
  if (surface_.charset == Charset::kUtf8) return printable(text, kTextBytesMax);
  if (text.starts_with(kLock)) text.remove_prefix(kLock.size());
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string spelt;
  for (const char byte : printable(text, kTextBytesMax)) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x80) {
      spelt += byte;
    } else {
      spelt += cat({"\\x", kHex.substr(value >> 4, 1), kHex.substr(value & 15, 1)});
    }
  }
  return spelt;
}

void Drawer::add_wrapped(std::vector<Line>& lines, std::string_view text, Style style) const {
  for (std::string& line : wrapped(shown(text), surface_.columns)) lines.push_back({{std::move(line), style}});
}

// A name in a column of its own, its value beside it over as many lines as it needs.
void Drawer::add_row(std::vector<Line>& lines, std::string_view name, std::string_view value) const {
  static constexpr std::size_t kNameColumns = 16;
  std::string column = fitted(shown(name), kNameColumns);
  for (std::string& part : wrapped(shown(value), surface_.columns - kNameColumns)) {
    lines.push_back({{column, Style::kDim}, {std::move(part)}});
    column.assign(kNameColumns, ' ');
  }
}

Line Drawer::marked_line(std::size_t at, std::string_view name, std::size_t width, std::string_view value) const {
  const bool is_marked = at == wizard_.marked();
  const std::string_view mark = is_marked ? "> " : "  ";
  const Style style = is_marked ? Style::kMarked : Style::kPlain;
  if (width == 0) return {{cat({mark, cut_end(shown(name), surface_.columns - 2)}), style}};
  // The end of a key's name says what it is.
  const std::string column = fitted(cut_start(shown(name), width - 1), width);
  return {{cat({mark, column, cut_end(shown(value), surface_.columns - 2 - width)}), style}};
}

void Drawer::add_foot(Parts& parts, std::string_view about, std::string_view keys) const {
  const Notice& notice = wizard_.notice();
  if (!about.empty()) add_wrapped(parts.about, about, Style::kDim);
  if (wizard_.input()) add_input(parts);
  if (!notice.text.empty()) {
    const Style style = notice.tone == Notice::Tone::kBad    ? Style::kBad
                        : notice.tone == Notice::Tone::kGood ? Style::kGood
                                                             : Style::kPlain;
    add_wrapped(parts.notice, notice.text, style);
  }
  add_wrapped(parts.keys, wizard_.input() ? "Enter takes it; Esc does not" : keys, Style::kDim);
}

// The part of the line around the cursor, where it is too long for the screen.
void Drawer::add_input(Parts& parts) const {
  static constexpr std::string_view kPrompt = "= ";
  const InputLine& line = wizard_.input()->line;
  const std::size_t room = surface_.columns - kPrompt.size() - 1;
  const std::string before = cut_start(shown(std::string_view(line.text()).substr(0, line.cursor())), room);
  const std::size_t column = columns_of(before);
  const std::string after = cut_end(shown(std::string_view(line.text()).substr(line.cursor())), room - column);
  parts.notice.push_back({{std::string(kPrompt), Style::kTitle}, {before + after}});
  parts.cursor = kPrompt.size() + column;
}

// The lines of the body around the one that is marked.
std::vector<Line> window(const std::vector<Line>& body, std::size_t marked, std::size_t rows) {
  if (body.size() <= rows) return body;
  const std::size_t first = std::min(marked > rows / 2 ? marked - rows / 2 : 0, body.size() - rows);
  const auto begin = body.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(rows)};
}

void append(std::vector<Line>& lines, const std::vector<Line>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

// To `rows`, at least one: the empty line at its end goes first.
void shorten(std::vector<Line>& head, std::size_t rows) {
  if (head.size() > rows && head.back().empty()) head.pop_back();
  if (head.size() <= rows) return;
  const std::size_t left_out = head.size() - rows + 1;
  head.resize(rows);
  if (rows > 1)
    head.back() = {{cat({"... ", std::to_string(left_out), " lines more: hutch config show"}), Style::kDim}};
}

Frame composed(Parts parts, const Surface& surface) {
  // The foot leaves three lines for the body and one for the head.
  const std::size_t foot_max = surface.rows - 4;
  parts.keys.resize(std::min(parts.keys.size(), foot_max / 2));
  parts.notice.resize(std::min(parts.notice.size(), foot_max - parts.keys.size()));
  parts.about.resize(std::min(parts.about.size(), foot_max - parts.keys.size() - parts.notice.size()));
  const std::size_t foot = parts.about.size() + parts.notice.size() + parts.keys.size();
  const std::size_t body_min = std::min(parts.body.size(), std::max<std::size_t>(4, surface.rows / 3));
  const std::size_t head_max = surface.rows - foot - std::min(body_min, surface.rows - foot - 1);
  shorten(parts.head, head_max);
  const std::size_t rows = surface.rows - foot - parts.head.size();
  // Where not all of it is seen, how far it goes.
  if (parts.body.size() > rows) {
    const std::string far = cat({"  ", std::to_string(parts.marked + 1), " of ", std::to_string(parts.body.size())});
    Span& last = parts.keys.back().back();
    if (columns_of(last.text) + far.size() <= surface.columns) last.text += far;
  }
  Frame frame;
  append(frame.lines, parts.head);
  append(frame.lines, window(parts.body, parts.marked, rows));
  // The foot is at the bottom.
  frame.lines.resize(surface.rows - foot);
  append(frame.lines, parts.about);
  if (parts.cursor) frame.cursor = Frame::Cursor{frame.lines.size(), *parts.cursor};
  append(frame.lines, parts.notice);
  append(frame.lines, parts.keys);
  return frame;
}

}  // namespace

}  // namespace hutch::tui
