// The prompt on this process's terminal. Control sequences are xterm's, which every terminal in use knows.
#include "sandbox/questions/terminal_prompt.h"

#include <algorithm>
#include <cerrno>

#include "approval/prompt_text.h"
#include "base/text.h"
#include "sys/files/files.h"
#include "sys/io.h"

namespace hutch::sandbox {

namespace {

// The rest of a sequence comes at once; an ESC that stands alone so long is the key.
constexpr std::chrono::milliseconds kEscapeWait{100};
// The seconds that are left are drawn.
constexpr std::chrono::milliseconds kRedraw{1000};
// How long the end of a prompt waits for whoever reads the terminal, so that they see the screen as it was.
constexpr std::chrono::milliseconds kHideWait{500};

}  // namespace

std::unique_ptr<TerminalPrompt> TerminalPrompt::open(const ScreenWatch* screen) {
  auto terminal = sys::open_own_terminal();
  if (!terminal || !sys::set_nonblocking(terminal->get())) return nullptr;
  return std::make_unique<TerminalPrompt>(std::move(*terminal), screen);
}

TerminalPrompt::~TerminalPrompt() { hide(); }

bool TerminalPrompt::may_ask() {
  const auto terminal = sys::open_own_terminal();
  return terminal && sys::is_foreground(terminal->get());
}

Status TerminalPrompt::show(Shown shown) {
  hide();
  shown_ = std::move(shown);
  complaint_.clear();
  keys_ = {};
  raw_.emplace(TRY(sys::RawMode::enter(terminal_.get())));
  TRY(sys::discard_input(terminal_.get()));
  prompt_.emplace(shown_.question, shown_.place);
  own_screen_ = screen_ == nullptr || !screen_->is_alternate();
  // 1049 saves the cursor with its colours, and restores them.
  TRY(write(own_screen_ ? "\x1b[?1049h\x1b[?25l"
                        : "\x1b"
                          "7\x1b[?25l"));
  return draw();
}

void TerminalPrompt::complain(std::string message) {
  complaint_ = std::move(message);
  (void)draw();
}

// Nobody reads the terminal if the last drawing still waits: a newer one would only wait behind it.
Status TerminalPrompt::draw() {
  if (!prompt_) return {};
  TRY(flush());
  if (!held_.empty()) return {};
  const auto size = sys::terminal_size(terminal_.get());
  const std::size_t columns = size && size->columns > 0 ? size->columns : 80;
  const auto left = std::chrono::ceil<std::chrono::seconds>(shown_.end - std::chrono::steady_clock::now());
  std::vector<std::string> lines =
      approval::prompt_lines(*prompt_, {columns, shown_.others, std::max(left, std::chrono::seconds(0))});
  if (!complaint_.empty()) lines.push_back(cat({"  ", printable(complaint_, columns > 8 ? columns - 6 : 2)}));
  std::string text = "\x1b[m\x1b[H\x1b[2J";
  // Of a small screen the end, where the answers are.
  const std::size_t rows = size && size->rows > 0 ? size->rows : 24;
  const std::size_t first = lines.size() > rows ? lines.size() - rows : 0;
  for (std::size_t at = first; at < lines.size(); ++at) text += cat({at == first ? "" : "\r\n", lines[at]});
  return write(text);
}

void TerminalPrompt::hide() {
  if (!prompt_) return;
  const std::string_view cursor = screen_ != nullptr && screen_->is_cursor_hidden() ? "" : "\x1b[?25h";
  (void)write(cat({own_screen_ ? "\x1b[?1049l"
                               : "\x1b[2J\x1b"
                                 "8",
                   cursor}));
  const auto until = std::chrono::steady_clock::now() + kHideWait;
  while (!held_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd room{terminal_.get(), POLLOUT, 0};
    if (left.count() <= 0 || sys::poll({&room, 1}, left).value_or(0) == 0 || !flush()) break;
  }
  raw_.reset();
  prompt_.reset();
}

Result<std::optional<approval::Decided>> TerminalPrompt::read() {
  char bytes[256];
  const auto count = sys::read_some(terminal_.get(), bytes);
  if (!count && count.error().sys_errno == EAGAIN) return std::optional<approval::Decided>();
  // The terminal is gone, or this process is in its background.
  if (!count || *count == 0) return std::optional(approval::Decided{});
  return press(keys_.take({bytes, *count}));
}

Result<std::optional<approval::Decided>> TerminalPrompt::settle() {
  if (keys_.is_holding()) return press(keys_.settle());
  TRY(draw());
  return std::optional<approval::Decided>();
}

std::optional<std::chrono::milliseconds> TerminalPrompt::time_left() const {
  if (!prompt_) return std::nullopt;
  return keys_.is_holding() ? kEscapeWait : kRedraw;
}

Result<std::optional<approval::Decided>> TerminalPrompt::press(const std::vector<approval::Key>& keys) {
  for (const approval::Key& key : keys) {
    if (const auto decided = prompt_->press(key)) return decided;
  }
  TRY(draw());
  return std::optional<approval::Decided>();
}

Status TerminalPrompt::write(std::string_view text) {
  held_ += text;
  return flush();
}

// A write that waits would keep this process from its signals and its time limits.
Status TerminalPrompt::flush() {
  while (!held_.empty()) {
    const auto count = sys::write_some(terminal_.get(), held_);
    if (!count) return count.error().sys_errno == EAGAIN ? Status() : fail(count.error());
    held_.erase(0, *count);
  }
  return {};
}

}  // namespace hutch::sandbox
