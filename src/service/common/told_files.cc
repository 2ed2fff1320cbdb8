// Settles the remarks about files once the command has ended.
#include "service/common/told_files.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/text.h"
#include "plan/git/config_change.h"
#include "policy/defaults.h"
#include "sys/files/beneath.h"
#include "sys/files/files.h"
#include "sys/io.h"
#include "wire/access.h"

namespace hutch::service {

namespace {

constexpr std::uint32_t kSetIds = 06000;
constexpr std::size_t kDiffLinesMax = 24;
constexpr std::size_t kDiffColumnsMax = 160;

// The host path of a file in the sandbox: below the source of the innermost mount.
struct ToldPlace {
  std::string source;
  std::string rest;  // relative to `source`
};

std::optional<ToldPlace> told_place(const plan::SandboxPlan& plan, const std::string& file) {
  const plan::MountStep* innermost = nullptr;
  for (const plan::MountStep& step : plan.mounts) {
    const bool holds = step.kind == plan::MountKind::kBind && is_within(file, step.target);
    if (holds && (innermost == nullptr || step.target.size() > innermost->target.size())) innermost = &step;
  }
  if (innermost == nullptr || file == innermost->target) return std::nullopt;
  return ToldPlace{innermost->source, file.substr(innermost->target == "/" ? 1 : innermost->target.size() + 1)};
}

bool gives_rights_still(const plan::SandboxPlan& plan, const std::string& file) {
  const auto place = told_place(plan, file);
  if (!place) return true;
  const auto there = sys::file_status(sys::kCwd, cat({place->source, "/", place->rest}));
  return there && (there->mode & kSetIds) != 0;
}

// The current content of a text. The sandbox may have put a link at the path or above it, so no link is followed.
struct TextNow {
  enum class Kind { kAbsent, kText, kOther } kind = Kind::kOther;
  std::string text;
  std::string link;
};

TextNow text_now(const plan::SandboxPlan& plan, const std::string& file) {
  const auto place = told_place(plan, file);
  if (!place) return {};
  const auto directory = sys::open(place->source, sys::Open::kPath);
  if (!directory) return {};
  const auto opened = sys::open_beneath(directory->get(), place->rest, sys::Beneath::kReadExact);
  if (!opened && opened.error().sys_errno == ENOENT) return {.kind = TextNow::Kind::kAbsent, .text = {}, .link = {}};
  if (!opened) {
    auto link = sys::link_text(directory->get(), place->rest);
    return {.kind = TextNow::Kind::kOther, .text = {}, .link = link ? std::move(*link) : std::string()};
  }
  const auto status = sys::file_status(opened->get(), "");
  if (!status || status->kind != sys::EntryKind::kFile) return {};
  auto text = sys::read_at(opened->get(), 0, wire::kInstructionBytesMax + 1);
  if (!text || text->size() > wire::kInstructionBytesMax) return {};
  return {.kind = TextNow::Kind::kText, .text = std::move(*text), .link = {}};
}

// Absent: show the lines of the text.
std::optional<std::string> settings_diff(std::string_view before, std::string_view after) {
  const auto changes = plan::told_git_config_changes(before, after);
  if (!changes) return std::nullopt;
  std::string diff;
  const std::size_t shown = std::min(changes->size(), kDiffLinesMax);
  for (std::size_t i = 0; i < shown; ++i) diff += cat({"    ", printable((*changes)[i], kDiffColumnsMax), "\n"});
  if (shown < changes->size()) diff += cat({"    ... ", std::to_string(changes->size() - shown), " lines more\n"});
  return diff;
}

// Whether the remark still holds; if so, adds what changed.
bool settle_instructions(const plan::SandboxPlan& plan, sandbox::Refusal& told) {
  TextNow now = text_now(plan, told.file);
  if (!now.link.empty()) {
    told.diff = cat({"    a symbolic link to ", printable(now.link, kDiffColumnsMax), "\n"});
    return true;
  }
  if (now.kind == TextNow::Kind::kOther || !told.before) return true;
  if (now.text == *told.before) return false;
  const auto settings = told.rule == policy::kKeptGitConfig ? settings_diff(*told.before, now.text) : std::nullopt;
  told.diff = settings ? *settings : short_diff(*told.before, now.text);
  return !settings || !settings->empty();
}

std::vector<std::string_view> diff_lines(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? std::vector<std::string_view>() : split(text, '\n');
}

}  // namespace

void settle_told_files(sandbox::Outcome& outcome, const plan::SandboxPlan& plan) {
  std::erase_if(outcome.refusals, [&](sandbox::Refusal& told) {
    switch (told.about) {
      case sandbox::Refusal::About::kRefusal: return false;
      case sandbox::Refusal::About::kRights: return !gives_rights_still(plan, told.file);
      case sandbox::Refusal::About::kInstructions: return !settle_instructions(plan, told);
    }
    return false;
  });
}

std::string short_diff(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> old_lines = diff_lines(before);
  const std::vector<std::string_view> new_lines = diff_lines(after);
  std::size_t begin = 0;
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  while (begin < shorter && old_lines[begin] == new_lines[begin]) ++begin;
  std::size_t end = 0;
  while (end < shorter - begin && old_lines[old_lines.size() - 1 - end] == new_lines[new_lines.size() - 1 - end]) ++end;
  std::string diff;
  const auto add = [&](const std::vector<std::string_view>& lines, std::string_view sign) {
    const std::size_t count = lines.size() - end - begin;
    const std::size_t shown = std::min(count, kDiffLinesMax / 2);
    for (std::size_t i = begin; i < begin + shown; ++i) {
      diff += cat({"    ", sign, printable(lines[i], kDiffColumnsMax), "\n"});
    }
    if (shown < count) diff += cat({"    ", sign, "... ", std::to_string(count - shown), " lines more\n"});
  };
  add(old_lines, "-");
  add(new_lines, "+");
  return diff;
}

}  // namespace hutch::service
