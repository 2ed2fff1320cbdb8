// The commands of a shell line, each as its words, with marks where the shell would expand something.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hutch::policy {

// What a word can become. Several forms: the line assigns several values to one variable, or a default.
using ShellForms = std::vector<std::string>;
inline constexpr std::size_t kShellFormsMax = 4;

// These stand in a form for an expansion that the line does not define. The first is one that git defines, or the
// output of a command: usually a directory of the repository.
inline constexpr char kOwnPlace = '\0';
inline constexpr char kSomePlace = '\1';

class ShellExpander {
 public:
  ShellExpander() = default;
  ShellExpander(const ShellExpander&) = delete;
  ShellExpander& operator=(const ShellExpander&) = delete;
  virtual ~ShellExpander() = default;

  // Both return at least one form. $name; `depth` of $(line) is that of the line in which it stands.
  virtual ShellForms variable(std::string_view name) = 0;
  virtual ShellForms substituted(std::string_view line, int depth) = 0;
  // A parenthesis between two commands: a directory that a subshell moves to is only its own.
  virtual void begin_subshell() = 0;
  virtual void end_subshell() = 0;
};

// The line may contain both marks already. Operators only separate commands and words, so that a damaged line has
// commands as well. The work is linear in the line's size, apart from that of the expander.
class ShellLine {
 public:
  ShellLine(std::string_view line, ShellExpander& expander, int depth)
      : line_(line), expander_(expander), depth_(depth) {}

  // The words of the next command, at least one, none of them empty; nothing at the line's end.
  std::optional<std::vector<ShellForms>> next();

 private:
  void pass(char c);
  void append(char c);
  void append(const ShellForms& forms);
  void end_word();
  void take_expansion();
  ShellForms parameter(std::string_view inner);

  std::string_view line_;
  ShellExpander& expander_;
  int depth_;
  std::size_t at_ = 0;
  char quote_ = 0;
  char passed_ = 0;  // what ends the last command
  ShellForms word_ = {std::string()};
  std::vector<ShellForms> words_;
};

}  // namespace hutch::policy
