// sandbox_list_directory and sandbox_find_files: names, printed so that none can pass for another line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

constexpr std::uint32_t kEntriesMax = 1000;
constexpr std::uint32_t kTreeEntriesMax = 200;
constexpr std::uint32_t kTreeDepth = 3;
constexpr std::uint32_t kFoundMax = 200;
constexpr std::size_t kListedNameBytesMax = 8192;  // a path of PATH_MAX, each byte escaped twice

std::string list_line(const wire::FileEntry& entry);
std::string mode_text(const wire::FileStat& stat);
std::string date_text(std::int64_t modified_ns);
Envelope listed(Value::Object result, std::string_view member, std::vector<std::string> lines,
                const wire::FileEntries& answer);

}  // namespace

Envelope list_directory(const Call& call) {
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  const bool tree = call.arguments.is_set("recursive");
  const wire::ListDirectory request{located->place, tree ? kTreeDepth : 1, tree ? kTreeEntriesMax : kEntriesMax};
  Result<wire::FileEntries> answer = ask<wire::FileEntries>(call.context.place, request);
  if (!answer) {
    const std::string what = cat({"Failed to list `", named(call, "path", *located), "`"});
    return failed(what, answer.error(), Retry::kNo);
  }
  std::vector<std::string> lines;
  lines.reserve(answer->entries.size());
  for (const wire::FileEntry& entry : answer->entries) lines.push_back(list_line(entry));
  return listed({{"path", located->absolute}}, "entries", std::move(lines), *answer);
}

Envelope find_files(const Call& call) {
  const std::string& pattern = call.arguments.text("pattern");
  if (pattern.find('/') != std::string::npos) {
    return bad_argument(
        "pattern", cat({"Argument `pattern` is matched against file names alone. Got `", printable(pattern), "`."}),
        "a glob without `/`, such as `*.py`; give the directory in `path`");
  }
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  const wire::FindFiles request{located->place, pattern, kFoundMax};
  Result<wire::FileEntries> answer = ask<wire::FileEntries>(call.context.place, request);
  if (!answer) {
    const std::string what = cat({"Failed to look for files in `", named(call, "path", *located), "`"});
    return failed(what, answer.error(), Retry::kNo);
  }
  std::vector<std::string> lines;
  const std::string_view above = located->absolute == "/" ? "" : std::string_view(located->absolute);
  for (const wire::FileEntry& entry : answer->entries) {
    lines.push_back(printable(cat({above, "/", entry.path}), kListedNameBytesMax));
  }
  std::ranges::sort(lines);
  return listed({{"pattern", pattern}, {"path", located->absolute}}, "files", std::move(lines), *answer);
}

namespace {

// The count is of what there is; the text holds what fits.
Envelope listed(Value::Object result, std::string_view member, std::vector<std::string> lines,
                const wire::FileEntries& answer) {
  std::string text;
  std::size_t characters = 0;
  std::size_t shown = 0;
  for (const std::string& line : lines) {
    characters += count_characters(line) + 1;
    if (characters > kOutputCharacters) break;
    text += line;
    text += '\n';
    ++shown;
  }
  const std::uint64_t count = std::max<std::uint64_t>(answer.found, lines.size());
  result.emplace(member, std::move(text));
  result.emplace("count", count);
  result.emplace("truncated", count > shown);
  Envelope envelope = success(std::move(result));
  if (count > shown) {
    envelope.warnings.push_back(
        fmt::format("Only {} of at least {} are shown. Name a directory further down.", shown, count));
  }
  if (answer.unread > 0) {
    envelope.warnings.push_back(fmt::format("Not all could be read: {} {} closed to this user.", answer.unread,
                                            answer.unread == 1 ? "directory is" : "directories are"));
  }
  return envelope;
}

// As `ls -l` writes it: mode, size, time, name.
std::string list_line(const wire::FileEntry& entry) {
  const wire::FileStat& stat = entry.stat;
  std::string line = fmt::format("{} {:>10} {} {}", mode_text(stat), stat.version.size, date_text(stat.modified_ns),
                                 printable(entry.path, kListedNameBytesMax));
  if (stat.kind == wire::FileKind::kDirectory) line += '/';
  if (stat.kind == wire::FileKind::kSymlink) line += cat({" -> ", printable(stat.target, kListedNameBytesMax)});
  return line;
}

std::string mode_text(const wire::FileStat& stat) {
  std::string text = "----------";
  switch (stat.kind) {
    case wire::FileKind::kRegular: break;
    case wire::FileKind::kDirectory: text[0] = 'd'; break;
    case wire::FileKind::kSymlink: text[0] = 'l'; break;
    case wire::FileKind::kOther: text[0] = '?'; break;
  }
  for (std::size_t bit = 0; bit < 9; ++bit) {
    if (stat.mode & (0400U >> bit)) text[1 + bit] = "rwx"[bit % 3];
  }
  return text;
}

// UTC; the sandbox chooses the time, so what no calendar has is no error.
std::string date_text(std::int64_t modified_ns) {
  // In seconds first: a day before the earliest nanosecond would overflow.
  const std::chrono::sys_seconds time{std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(modified_ns))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::minutes>(time - day));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count());
}

}  // namespace

}  // namespace hutch::tool
