// ncurses (ncurses(3X)): the one file that includes it.
#include "tui/terminal_screen.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <langinfo.h>

#include <clocale>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sys/process/host_info.h"
#include "sys/process/unwaiting.h"
#include "sys/terminal.h"

namespace hutch::tui {

namespace {

// How long the rest of a key's sequence may be in coming, in milliseconds: longer over a slow line than a person waits.
constexpr int kEscapeWait = 100;
// Numbers of our own for what a terminal sends around a paste (xterm, ctlseqs, "Bracketed Paste Mode").
constexpr int kPasteBegin = KEY_MAX + 1;
constexpr int kPasteEnd = KEY_MAX + 2;
constexpr std::string_view kPasteOn = "\x1b[?2004h";
constexpr std::string_view kPasteOff = "\x1b[?2004l";

enum Pair : short { kRedPair = 1, kGreenPair = 2 };

Charset take_charset();
attr_t attributes_of(Style style);
std::optional<Event> key_event(wint_t code);
std::optional<Event> control_event(wint_t character);
std::string utf8(wint_t character);
std::wstring wide(std::string_view text);
void drop_sequence();

}  // namespace

struct TerminalScreen::State {
  SCREEN* screen = nullptr;
  Charset charset = Charset::kAscii;
  bool is_pasting = false;
};

Result<std::unique_ptr<TerminalScreen>> TerminalScreen::open() {
  auto state = std::make_unique<State>();
  state->charset = take_charset();
  const auto unknown = [] {
    const std::string kind = printable(sys::environment_variable("TERM").value_or(""), 64);
    return fail(Error::unsupported(cat({"a terminal of the kind \"", kind,
                                        "\" (TERM) is not known here, or cannot be drawn on; `hutch config edit` opens "
                                        "your editor, and `hutch help config` lists what needs no screen"})));
  };
  state->screen = newterm(nullptr, stdout, stdin);
  if (state->screen == nullptr) return unknown();
  // Also (char*)-1 for what is no name of a text (terminfo(3X)).
  const char* const place_cursor = tigetstr("cup");
  if (place_cursor == nullptr || reinterpret_cast<std::intptr_t>(place_cursor) == -1) {
    delscreen(state->screen);
    return unknown();
  }
  return std::make_unique<TerminalScreen>(std::move(state));
}

TerminalScreen::TerminalScreen(std::unique_ptr<State> state) : state_(std::move(state)) {
  raw();
  noecho();
  nonl();
  set_escdelay(kEscapeWait);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  // Terminals send the one or the other by their mode (DECCKM), and terminfo has one of them.
  for (const auto& [letter, key] : {std::pair('A', KEY_UP), std::pair('B', KEY_DOWN), std::pair('C', KEY_RIGHT),
                                    std::pair('D', KEY_LEFT), std::pair('H', KEY_HOME), std::pair('F', KEY_END)}) {
    for (const char* prefix : {"\x1b[", "\x1bO"}) define_key((std::string(prefix) + letter).c_str(), key);
  }
  define_key("\x1b[200~", kPasteBegin);
  define_key("\x1b[201~", kPasteEnd);
  const bool plain = !sys::environment_variable("NO_COLOR").value_or("").empty();
  if (!plain && has_colors()) {
    start_color();
    use_default_colors();
    init_pair(kRedPair, COLOR_RED, -1);
    init_pair(kGreenPair, COLOR_GREEN, -1);
  }
  (void)sys::write_until_told(1, kPasteOn);
}

TerminalScreen::~TerminalScreen() {
  (void)sys::write_until_told(1, kPasteOff);
  endwin();
  delscreen(state_->screen);
}

Surface TerminalScreen::surface() const {
  return {.columns = static_cast<std::size_t>(getmaxx(stdscr)),
          .rows = static_cast<std::size_t>(getmaxy(stdscr)),
          .charset = state_->charset};
}

void TerminalScreen::show(const Frame& frame) const {
  werase(stdscr);
  int row = 0;
  for (const Line& line : frame.lines) {
    wmove(stdscr, row++, 0);
    for (const Span& span : line) {
      wattrset(stdscr, static_cast<int>(attributes_of(span.style)));
      const std::wstring text = wide(span.text);
      waddnwstr(stdscr, text.data(), static_cast<int>(text.size()));
    }
  }
  wattrset(stdscr, static_cast<int>(A_NORMAL));
  // Terminals that cannot hide it have it at the end.
  curs_set(frame.cursor ? 1 : 0);
  if (frame.cursor) {
    wmove(stdscr, static_cast<int>(frame.cursor->row), static_cast<int>(frame.cursor->column));
  } else {
    wmove(stdscr, getmaxy(stdscr) - 1, getmaxx(stdscr) - 1);
  }
  wrefresh(stdscr);
}

std::optional<Event> TerminalScreen::read() {
  while (true) {
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == ERR) return std::nullopt;
    std::optional<Event> event;
    if (kind == KEY_CODE_YES) {
      if (code == kPasteBegin || code == kPasteEnd) {
        state_->is_pasting = code == kPasteBegin;
      } else if (!state_->is_pasting) {
        event = key_event(code);
      }
    } else if (state_->is_pasting) {
      event = Event{EventKind::kPaste, utf8(code)};
    } else {
      event = control_event(code);
    }
    const bool is_shown = !event || state_->charset == Charset::kUtf8 || code < 0x80;
    if (event && is_shown) return event;
  }
}

void TerminalScreen::resize() const {
  const auto size = sys::terminal_size(1);
  if (size && size->rows > 0 && size->columns > 0) resizeterm(size->rows, size->columns);
  // What a terminal does with its content when it gets smaller is its own affair.
  clearok(stdscr, TRUE);
}

namespace {

// ncurses goes by the locale. One that is not installed, or none at all, says nothing against UTF-8.
Charset take_charset() {
  const auto is_utf8 = [] { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; };
  std::string asked;
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (asked.empty()) asked = sys::environment_variable(name).value_or("");
  }
  if (std::setlocale(LC_CTYPE, "") != nullptr && is_utf8()) return Charset::kUtf8;
  const bool may_be =
      asked.empty() || asked.find("UTF-8") != std::string::npos || asked.find("utf8") != std::string::npos;
  if (may_be && std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr && is_utf8()) return Charset::kUtf8;
  // Another charset would need modules that a static program cannot load.
  std::setlocale(LC_CTYPE, "C");
  return Charset::kAscii;
}

attr_t attributes_of(Style style) {
  switch (style) {
    case Style::kPlain: return A_NORMAL;
    case Style::kTitle: return A_BOLD;
    case Style::kMarked: return A_REVERSE;
    case Style::kDim: return A_DIM;
    case Style::kGood: return static_cast<attr_t>(COLOR_PAIR(kGreenPair));
    case Style::kBad: return static_cast<attr_t>(COLOR_PAIR(kRedPair)) | A_BOLD;
  }
  return A_NORMAL;
}

std::optional<Event> key_event(wint_t code) {
  switch (code) {
    case KEY_UP: return Event{EventKind::kUp};
    case KEY_DOWN: return Event{EventKind::kDown};
    case KEY_LEFT: return Event{EventKind::kLeft};
    case KEY_RIGHT: return Event{EventKind::kRight};
    case KEY_PPAGE: return Event{EventKind::kPageUp};
    case KEY_NPAGE: return Event{EventKind::kPageDown};
    case KEY_HOME: return Event{EventKind::kHome};
    case KEY_END: return Event{EventKind::kEnd};
    case KEY_BACKSPACE: return Event{EventKind::kBackspace};
    case KEY_DC: return Event{EventKind::kDelete};
    case KEY_ENTER: return Event{EventKind::kEnter};
    default: return std::nullopt;
  }
}

std::optional<Event> control_event(wint_t character) {
  switch (character) {
    case '\r':
    case '\n': return Event{EventKind::kEnter};
    case '\x03': return Event{EventKind::kInterrupt};
    case '\x15': return Event{EventKind::kClear};
    case '\b':
    case '\x7f': return Event{EventKind::kBackspace};
    case '\x1b': {
      // One that ncurses found no key for: with more behind it, it is not the key Esc.
      wint_t next = 0;
      if (wget_wch(stdscr, &next) == ERR) return Event{EventKind::kEscape};
      if (next == '[' || next == 'O') drop_sequence();
      return std::nullopt;
    }
    default: break;
  }
  if (character < ' ') return std::nullopt;
  return Event{EventKind::kText, utf8(character)};
}

// To the byte that ends it (ECMA-48, 5.4).
void drop_sequence() {
  wint_t next = 0;
  while (wget_wch(stdscr, &next) == OK && (next < '@' || next > '~')) {}
}

std::string utf8(wint_t character) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | ((character >> shift) & 0x3fU)); };
  if (character < 0x80) return {static_cast<char>(character)};
  if (character < 0x800) return {static_cast<char>(0xc0U | character >> 6), tail(0)};
  if (character < 0x10000) return {static_cast<char>(0xe0U | character >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0U | (character >> 18 & 7U)), tail(12), tail(6), tail(0)};
}

// Of what printable() has made: well-formed UTF-8.
std::wstring wide(std::string_view text) {
  std::wstring characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    auto code = static_cast<wchar_t>(length == 1 ? lead : lead & (0x7f >> length));
    for (std::size_t more = 1; more < length && at + more < text.size(); ++more) {
      code = static_cast<wchar_t>(code << 6 | (static_cast<unsigned char>(text[at + more]) & 0x3f));
    }
    characters += code;
    at += length;
  }
  return characters;
}

}  // namespace

}  // namespace hutch::tui
