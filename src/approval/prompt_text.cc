// Draws the prompt.
#include "approval/prompt_text.h"

#include <algorithm>

#include "base/printable_name.h"
#include "base/text.h"

namespace hutch::approval {

namespace {

// A byte is at most one column where text is printable(); a name in another script is cut early rather than late.
std::string cut(std::string text, std::size_t columns) {
  if (text.size() <= columns) return text;
  std::size_t end = columns > 3 ? columns - 3 : 0;
  // Not inside of a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Both the beginning and the end of a host or a path matter. A long one is shown over several lines; of one that would
// fill the terminal, both ends are shown. Continued lines have a deeper indent than all others, so that no name can
// make a line that looks like one of hutch's.
void add_wrapped(std::vector<std::string>& lines, std::string_view indent, const std::string& text,
                 std::size_t columns) {
  static constexpr std::string_view kFurtherIn = "      ";
  static constexpr std::size_t kLinesAtEachEnd = 4;
  std::vector<std::string> wrapped;
  for (std::size_t at = 0; at < text.size();) {
    const std::string all_in = cat({indent, wrapped.empty() ? std::string_view() : kFurtherIn});
    const std::size_t width = std::max<std::size_t>(columns, all_in.size() + 8) - all_in.size();
    std::size_t end = std::min(at + width, text.size());
    while (end < text.size() && end > at + 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    wrapped.push_back(cat({all_in, std::string_view(text).substr(at, end - at)}));
    at = end;
  }
  if (wrapped.size() > 2 * kLinesAtEachEnd + 1) {
    const std::size_t between = wrapped.size() - 2 * kLinesAtEachEnd;
    const auto first = wrapped.begin() + kLinesAtEachEnd;
    *first = cut(cat({indent, kFurtherIn, "[", std::to_string(between), " lines]"}), columns);
    wrapped.erase(first + 1, first + static_cast<std::ptrdiff_t>(between));
  }
  lines.insert(lines.end(), wrapped.begin(), wrapped.end());
}

std::string who(const Process& process) {
  if (process.pid == 0 && process.program.empty()) return "a process that could not be told";
  std::string text = cat({process.program.empty() ? "?" : printable(process.program), " (process ",
                          process.pid == 0 ? "?" : std::to_string(process.pid), ")"});
  for (const std::string& above : process.chain) text += cat({" < ", printable(above, 128)});
  return text;
}

std::string key_text(const Choice& choice) {
  return choice.key == 0 ? "[esc]" : cat({"[", std::string(1, choice.key), "]  "});
}

}  // namespace

std::vector<std::string> prompt_lines(const Prompt& prompt, const Surroundings& around) {
  const Question& question = prompt.question();
  std::vector<std::string> lines = {"hutch: may the sandbox", ""};
  Question named = question;
  named.target = printable_name(question.target);
  add_wrapped(lines, "  ", subject_of(named), around.columns);
  lines.push_back("");
  lines.push_back(cut(cat({"  asked by ", who(question.process)}), around.columns));
  lines.push_back(cut(cat({"  rule: ", printable(question.rule)}), around.columns));
  lines.push_back("");
  const std::vector<Choice> shown = prompt.shown();
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const std::string_view mark = at == prompt.marked() ? "> " : "  ";
    lines.push_back(cut(cat({mark, key_text(shown[at]), " ", shown[at].label}), around.columns));
  }
  lines.push_back("");
  if (prompt.minutes()) {
    lines.push_back(cut(cat({"  minutes: ", *prompt.minutes(), "_"}), around.columns));
  } else if (prompt.is_pending()) {
    lines.push_back(cut("  press Enter to confirm", around.columns));
  } else {
    lines.push_back(
        cut(prompt.is_more() ? "  Enter takes what is marked; ? less" : "  Enter takes what is marked; ? more",
            around.columns));
  }
  std::string waiting = cat({"  no answer in ", std::to_string(around.left.count()), " s means no"});
  if (around.others > 0) waiting += cat({"; questions behind this one: ", std::to_string(around.others)});
  lines.push_back(cut(waiting, around.columns));
  return lines;
}

}  // namespace hutch::approval
