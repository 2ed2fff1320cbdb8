// sandbox_read_file: a whole file, lines of it, or its last lines; never more characters than asked for.
#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "base/utf8.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/steps.h"

#include <fmt/format.h>

namespace hutch::tool {

namespace {

constexpr std::int64_t kCharactersDefault = 100'000;
// How far into a file a line is looked for. Beyond that a command is the better tool.
constexpr std::uint64_t kScanBytesMax = 256 << 20;
constexpr std::uint64_t kChunkBytes = 1 << 20;

struct Selection {
  std::string text;
  bool cut = false;  // the file has more of what was asked for
};

struct Lines {
  std::int64_t first = 1;
  std::int64_t count = 0;  // 0: to the end
  std::size_t bytes_max = 0;
};

Result<Selection> read_lines(Place& place, const wire::FilePlace& file, const Lines& wanted);
Result<Selection> read_tail(Place& place, const wire::FilePlace& file, std::int64_t lines, std::size_t bytes_max);
std::uint64_t count_lines(std::string_view text);
Envelope content_answer(const Call& call, const Located& located, Selection selection, std::int64_t characters_max);

}  // namespace

Envelope read_file(const Call& call) {
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  const Arguments& arguments = call.arguments;
  const std::int64_t asked_max = arguments.number("max_chars").value_or(0);
  const std::int64_t characters_max = asked_max > 0 ? asked_max : kCharactersDefault;
  const std::size_t bytes_max = static_cast<std::size_t>(characters_max) * 4;
  const std::int64_t tail = arguments.number("tail_lines").value_or(0);
  const std::int64_t first = arguments.number("start_line").value_or(0);
  const std::int64_t count = arguments.number("line_count").value_or(0);  // at least 1 when it is given
  Result<Selection> selection = Selection{};
  if (tail > 0) {
    selection = read_tail(call.context.place, located->place, tail, bytes_max);
  } else {
    const Lines lines{std::max<std::int64_t>(1, first), count, bytes_max};
    selection = read_lines(call.context.place, located->place, lines);
  }
  if (!selection) {
    const std::string what = cat({"Failed to read `", printable(arguments.text("path")), "`"});
    return failed(what, selection.error(), Retry::kNo);
  }
  if (call.context.scrubber != nullptr) {
    // Before it is cut to what is asked for: of a value that is cut through nothing is known any more.
    // What ends in the middle of a line may be written still.
    const bool begins = tail <= 0 && first <= 1;
    const bool goes_on = (selection->cut && tail <= 0) || !selection->text.ends_with('\n');
    const secret::Cut end = goes_on ? secret::Cut::kEnd : secret::Cut::kNowhere;
    const secret::Cut both = end == secret::Cut::kEnd ? secret::Cut::kBoth : secret::Cut::kBegin;
    selection->text = call.context.scrubber->scrub(selection->text, begins ? end : both);
  }
  return content_answer(call, *located, std::move(*selection), characters_max);
}

namespace {

Result<Selection> read_lines(Place& place, const wire::FilePlace& file, const Lines& wanted) {
  Selection out;
  std::int64_t line = 1;
  std::uint64_t offset = 0;
  // One byte more than may be shown tells whether there is more.
  const std::uint64_t enough = wanted.bytes_max + 1;
  for (;;) {
    const std::uint64_t chunk =
        wanted.first == 1 ? std::min<std::uint64_t>(enough, wire::kFileChunkBytes) : kChunkBytes;
    const auto content = TRY(ask<wire::FileContent>(place, wire::ReadFile{file, offset, chunk}));
    if (content.bytes.empty()) return out;
    offset += content.bytes.size();
    std::string_view rest = content.bytes;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      const std::size_t length = newline == std::string_view::npos ? rest.size() : newline + 1;
      if (line >= wanted.first) out.text += rest.substr(0, length);
      rest.remove_prefix(length);
      if (newline != std::string_view::npos) ++line;
      if (out.text.size() >= enough) {
        out.cut = true;
        return out;
      }
      if (wanted.count > 0 && line - wanted.first >= wanted.count) return out;
    }
    if (offset >= content.stat.version.size && content.stat.version.size > 0) return out;
    if (offset >= kScanBytesMax) {
      return fail(Error::invalid(fmt::format("the lines asked for are not within its first {}; use `sandbox_exec`",
                                             size_text(kScanBytesMax))));
    }
  }
}

Result<Selection> read_tail(Place& place, const wire::FilePlace& file, std::int64_t lines, std::size_t bytes_max) {
  // The size first; reading nothing is refused of what is no regular file as reading is.
  const auto start = TRY(ask<wire::FileContent>(place, wire::ReadFile{file, 0, 1}));
  const std::uint64_t size = start.stat.version.size;
  const std::uint64_t window = std::min<std::uint64_t>({size, bytes_max + 1, wire::kFileChunkBytes});
  const auto content = TRY(ask<wire::FileContent>(place, wire::ReadFile{file, size - window, window}));
  const std::string_view text = content.bytes;
  std::size_t at = text.size();
  if (text.ends_with('\n')) --at;
  for (std::int64_t found = 0; found < lines; ++found) {
    const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    if (newline == std::string_view::npos) {
      const bool cut = window < size;
      const std::string_view whole = cut ? without_cut_character(text) : text;
      return Selection{.text = std::string(whole), .cut = cut};
    }
    at = newline;
  }
  return Selection{.text = std::string(text.substr(at + 1))};
}

Envelope content_answer(const Call& call, const Located& located, Selection selection, std::int64_t characters_max) {
  const Arguments& arguments = call.arguments;
  if (selection.text.find('\0') != std::string::npos) {
    return final_failure(Kind::kExecutionError,
                         cat({"Failed to read `", printable(arguments.text("path")),
                              "`: it is a binary file. Look at it with `sandbox_exec` (file, xxd, strings)."}));
  }
  if (selection.cut) selection.text.resize(without_cut_character(selection.text).size());
  const bool tail = arguments.number("tail_lines").value_or(0) > 0;
  const auto most = static_cast<std::size_t>(characters_max);
  const std::string_view shown = first_characters(selection.text, most);
  const bool truncated = selection.cut || shown.size() < selection.text.size();
  Value::Object result = {{"path", located.absolute}, {"content", shown}, {"size", count_characters(shown)}};
  if (tail) {
    result.emplace("tail_lines", *arguments.number("tail_lines"));
  } else if (arguments.number("start_line").value_or(0) > 0 || arguments.has("line_count")) {
    result.emplace("start_line", std::max<std::int64_t>(1, arguments.number("start_line").value_or(1)));
    result.emplace("line_count", count_lines(shown));
  }
  if (arguments.number("max_chars").value_or(0) > 0) result.emplace("max_chars", characters_max);
  if (truncated) result.emplace("truncated", true);
  const bool utf8 = is_utf8(shown);
  Envelope envelope = success(std::move(result));
  if (truncated) {
    envelope.warnings.push_back(
        fmt::format("Only {} characters are shown; the file has more. Read on with `start_line` and `line_count`, or "
                    "raise `max_chars`.",
                    count_characters(shown)));
  }
  if (!utf8) envelope.warnings.emplace_back("The file is not all UTF-8: other bytes are shown as U+FFFD.");
  return envelope;
}

std::uint64_t count_lines(std::string_view text) {
  const auto newlines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
  return newlines + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

}  // namespace

}  // namespace hutch::tool
