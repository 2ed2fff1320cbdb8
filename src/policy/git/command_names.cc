// Finds the files that a command line names.
#include "policy/git/command_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "policy/git/settings.h"
#include "policy/git/shell_line.h"

namespace hutch::policy {

namespace {

using Needs = ObeyedName::Needs;

constexpr int kNestedMax = 4;  // command lines in words of command lines
constexpr std::size_t kNestedBytesMin = std::size_t{1} << 16;
constexpr std::size_t kNestedShare = 16;
constexpr std::size_t kNamesMax = std::size_t{1} << 15;
constexpr std::size_t kSubshellsMax = 64;
constexpr std::size_t kVariablesMax = 256;
constexpr std::size_t kDirectoriesMax = 16;
constexpr std::size_t kPlainWordsMax = 256;
constexpr std::size_t kValuesMax = 8;  // of "=" in one word
constexpr std::size_t kFormBytesMax = 4096;  // PATH_MAX

// Where a command stands in its line.
struct WordPlace {
  bool is_command = false;   // the next word may be a program
  bool is_certain = true;    // it is one: not the value of an option
  bool is_behind = false;    // a program such as env(1) starts it
  bool is_script = false;    // an interpreter reads the next word
  bool is_python = false;    // that interpreter
  bool names_only = false;   // the program runs none of its arguments
  bool runs_directory = false;  // the program runs what is in the directories that it is given
  std::string before;        // the previous word
  ShellForms moved_to;       // the current directory; empty: that of the line
};

class CommandReader : public ShellExpander {
 public:
  std::vector<ObeyedName> run(std::string_view line);

  // ShellExpander
  ShellForms variable(std::string_view name) override;
  ShellForms substituted(std::string_view line, int depth) override;
  void begin_subshell() override;
  void end_subshell() override;

 private:
  void read_pass(std::string_view line);
  // A command of the line is surely one, or a word may be no line of commands.
  enum class Line { kCertain, kMaybe };
  ShellForms read_line(std::string_view line, int depth, Line kind = Line::kCertain);
  void take_command(const std::vector<ShellForms>& words, int depth);
  void take_word(const std::string& word, const WordPlace& place, int depth);
  void take_values(const std::string& word, const WordPlace& place, int depth);
  void take_setting(const GitEntry& entry, int depth);
  void assign(std::string_view name, std::string_view value);
  void add_piece(std::string_view piece, const WordPlace& place, Needs needs);
  void add_plain(std::string_view word, const WordPlace& place);
  void add_place(std::string_view piece, Needs needs);
  void add_pattern(std::string_view piece);
  void add_modules(std::string_view names, const ShellForms& moved_to);
  void add_imports(std::string_view program, const ShellForms& moved_to);
  void take_loop(const std::vector<ShellForms>& words);
  void add(std::string path, Needs needs, GitRead kind = GitRead::kProgram);
  void finish();

  std::size_t bytes_left_ = 0;
  ShellForms moved_to_;  // the last cd; empty: none
  std::vector<ShellForms> subshells_;  // the directories outside of those that are open
  Line line_ = Line::kCertain;
  std::map<std::string, ShellForms, std::less<>> variables_;
  std::vector<std::string> environment_;
  std::map<std::string, Needs> directories_;  // that the command looks for programs in, besides those of the user
  std::map<std::string, Needs> plain_words_;  // names in such a directory
  std::map<std::pair<std::string, Needs>, GitRead> names_;
};

bool is_marker(char c) { return c == kOwnPlace || c == kSomePlace; }
bool is_absolute(std::string_view path) { return path.starts_with('/') || path.starts_with('~'); }
std::string without_markers(std::string_view piece);
std::string without_dots(std::string_view path);
std::size_t name_end(std::string_view word);
bool is_state_of_git(std::string_view path);
template <std::size_t kSize>
bool is_program_of(std::string_view word, const std::array<std::string_view, kSize>& names);
bool is_command_line(std::string_view word);
bool takes_commands(std::string_view word);
bool is_before_program(std::string_view word);
bool is_interpreter(std::string_view word);
bool is_python(std::string_view word);
bool assigns_variable(std::string_view word);
bool runs_no_argument(std::string_view word);
bool takes_directory(std::string_view word);
Needs needs_of_argument(const WordPlace& place);
void move_on(const ShellForms& word, WordPlace& place);
ShellForms below_each(const ShellForms& directories, const ShellForms& names);

}  // namespace

std::vector<ObeyedName> names_in_command(std::string_view line) { return CommandReader().run(line); }

namespace {

std::vector<ObeyedName> CommandReader::run(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  if (line.starts_with('!')) line.remove_prefix(1);
  // A function may use what the line assigns below it.
  read_pass(line);
  names_.clear();
  plain_words_.clear();
  read_pass(line);
  finish();
  std::vector<ObeyedName> names;
  for (const auto& [name, kind] : names_) {
    // The first one protects the most.
    const bool is_known = !names.empty() && names.back().path == name.first && name.second <= Needs::kFile;
    if (!is_known) names.push_back({kind, name.first, name.second});
  }
  return names;
}

void CommandReader::read_pass(std::string_view line) {
  moved_to_.clear();
  environment_.clear();
  bytes_left_ = line.size() + std::max(kNestedBytesMin, kNestedShare * line.size());
  (void)read_line(line, 0);
}

// Returns the directory that the line moves to; empty: none.
ShellForms CommandReader::read_line(std::string_view line, int depth, Line kind) {
  if (depth > kNestedMax || line.size() > bytes_left_ || names_.size() > kNamesMax) return {};
  bytes_left_ -= line.size();
  const ShellForms before = moved_to_;
  const std::vector<ShellForms> open = std::exchange(subshells_, {});
  const Line outer = line_;
  if (kind == Line::kMaybe) line_ = kind;
  ShellLine commands(line, *this, depth);
  while (const auto words = commands.next()) take_command(*words, depth);
  line_ = outer;
  subshells_ = open;
  ShellForms after = std::exchange(moved_to_, before);
  if (depth == 0 || after == before) return {};
  return after;
}

ShellForms CommandReader::variable(std::string_view name) {
  static constexpr std::array<std::string_view, 2> kDirectories = {"PWD", "OLDPWD"};
  if (name == "HOME") return {"~"};
  const auto assigned = variables_.find(name);
  if (assigned != variables_.end()) return assigned->second;
  const bool is_own = name.starts_with("GIT_") || std::ranges::find(kDirectories, name) != kDirectories.end();
  return {std::string(1, is_own ? kOwnPlace : kSomePlace)};
}

// $(cd tools && pwd)
ShellForms CommandReader::substituted(std::string_view line, int depth) {
  ShellForms forms = read_line(line, depth + 1);
  forms.insert(forms.begin(), std::string(1, kOwnPlace));
  return forms;
}

void CommandReader::begin_subshell() {
  if (subshells_.size() < kSubshellsMax) subshells_.push_back(moved_to_);
}

void CommandReader::end_subshell() {
  if (subshells_.empty()) return;
  moved_to_ = std::move(subshells_.back());
  subshells_.pop_back();
}

void CommandReader::take_command(const std::vector<ShellForms>& words, int depth) {
  static constexpr std::array<std::string_view, 2> kMoves = {"cd", "pushd"};
  const auto is_first = [](const ShellForms& forms) {
    return !assigns_variable(forms.front()) && !is_before_program(forms.front());
  };
  const auto first = std::ranges::find_if(words, is_first);
  const bool moves = first != words.end() && std::ranges::find(kMoves, first->front()) != kMoves.end();
  if (words.front().front() == "for") take_loop(words);
  const auto is_exec = [](const ShellForms& forms) { return takes_commands(forms.front()); };
  const bool finds = first != words.end() && is_program_of(first->front(), std::array<std::string_view, 1>{"find"}) &&
                     std::ranges::any_of(words, is_exec);
  WordPlace place;
  place.runs_directory = finds;
  place.moved_to = moved_to_;
  place.is_command = true;
  place.is_certain = line_ == Line::kCertain;
  for (const ShellForms& forms : words) {
    const std::string& word = forms.front();
    if (moves && &forms > &*first && !word.starts_with('-')) {
      moved_to_ = below_each(moved_to_, forms);
      return;
    }
    for (const std::string& form : forms) take_word(form, place, depth);
    move_on(forms, place);
  }
}

// for f in checks/*; do "$f"; done
void CommandReader::take_loop(const std::vector<ShellForms>& words) {
  static constexpr std::size_t kFirstValue = 3;
  if (words.size() <= kFirstValue || words[2].front() != "in") return;
  const std::string& name = words[1].front();
  if (name_end(name) != name.size()) return;
  const bool is_any = words.size() - kFirstValue > kShellFormsMax;
  if (is_any) return assign(name, std::string(1, kSomePlace));
  for (std::size_t i = kFirstValue; i < words.size(); ++i) {
    for (const std::string& value : words[i]) assign(name, value);
  }
}

void CommandReader::take_word(const std::string& word, const WordPlace& place, int depth) {
  if (place.is_python && place.before == "-m") add_modules(word, place.moved_to);
  if (place.is_python && place.before.starts_with('-') && place.before.ends_with('c'))
    add_imports(word, place.moved_to);
  if (takes_commands(place.before)) {
    (void)read_line(word, depth + 1);
    // sh -x tools/check.sh
    if (place.is_script && !is_command_line(word)) add_piece(word, place, needs_of_argument(place));
    return take_values(word, place, depth);
  }
  if (is_command_line(word)) (void)read_line(word, depth + 1, Line::kMaybe);
  if (place.is_python && place.is_script && !word.starts_with('-') && !word.ends_with(".py"))
    add(without_markers(cat({word, "/__main__.py"})), Needs::kNoFile);
  if (place.runs_directory && !word.starts_with('-')) add_pattern(cat({word, "/*"}));
  if (!word.starts_with('-')) {
    const std::size_t equals = word.find('=');
    const bool is_certain = place.is_command && place.is_certain && equals == std::string::npos;
    const bool assigns = name_end(word) == equals;
    if (!assigns) add_piece(word, place, is_certain ? Needs::kNoFile : needs_of_argument(place));
  } else if (word.size() > 2 && word[1] != '-') {
    WordPlace argument = place;
    argument.is_command = false;
    add_piece(std::string_view(word).substr(2), argument, needs_of_argument(place));
  }
  take_values(word, place, depth);
}

// NAME=value, --option=value, section.key=value
void CommandReader::take_values(const std::string& word, const WordPlace& place, int depth) {
  const std::string_view text = word;
  WordPlace argument = place;
  argument.is_command = false;
  std::size_t values = 0;
  std::size_t begin = 0;
  for (std::size_t at = text.find('='); at != std::string_view::npos && values < kValuesMax; ++values) {
    const std::string_view value = text.substr(at + 1);
    const std::size_t next = text.find('=', at + 1);
    const bool is_line = value.starts_with('!') || value.starts_with('|');
    if (is_line || takes_commands(text.substr(0, at))) {
      (void)read_line(value.substr(is_line ? 1 : 0), depth + 1);
    } else {
      add_piece(value, argument, needs_of_argument(place));
    }
    if (values == 0 && name_end(text) == at) assign(text.substr(0, at), value);
    take_setting(git_entry_of(text.substr(begin, at - begin), value), depth);
    begin = at + 1;
    at = next;
  }
}

void CommandReader::assign(std::string_view name, std::string_view value) {
  if (value.size() > kFormBytesMax) return;
  if (name.ends_with("PATH")) {
    for (const std::string_view directory : split(value, ':')) {
      if (std::ranges::all_of(directory, is_marker) || directories_.size() >= kDirectoriesMax) continue;
      directories_.try_emplace(std::string(directory), name == "PATH" ? Needs::kNoFile : Needs::kFile);
    }
  }
  if (environment_.size() < kVariablesMax) environment_.push_back(cat({name, "=", value}));
  const auto known = variables_.find(name);
  if (known == variables_.end() && variables_.size() >= kVariablesMax) return;
  ShellForms& forms = known == variables_.end() ? variables_[std::string(name)] : known->second;
  if (forms.size() < kShellFormsMax && std::ranges::find(forms, value) == forms.end()) forms.emplace_back(value);
}

// git -c core.fsmonitor=tools/x
void CommandReader::take_setting(const GitEntry& entry, int depth) {
  const GitRead kind = git_setting(entry.section, entry.key).read;
  std::string_view value = entry.value;
  if (kind == GitRead::kNothing || value.empty() || entry.section.empty() || entry.key.empty()) return;
  if (kind == GitRead::kProgram) {
    if (value.starts_with('!')) value.remove_prefix(1);
    (void)read_line(value, depth + 1);
  } else if (kind == GitRead::kHooks) {
    add(git_hooks_directory(without_markers(value)), Needs::kNoFile, kind);
  } else {
    add_piece(value, WordPlace(), Needs::kNoDirectory);
  }
}

void CommandReader::add_piece(std::string_view piece, const WordPlace& place, Needs needs) {
  if (piece.empty() || piece.size() > kFormBytesMax || piece.contains("://")) return;
  if (!piece.contains('/') && !is_marker(piece.front())) return add_plain(piece, place);
  if (place.is_command) add_pattern(piece);
  const bool moves = !place.moved_to.empty() && !is_absolute(piece) && !is_marker(piece.front());
  add_place(piece, moves ? Needs::kFile : needs);
  if (!moves) return;
  for (const std::string& directory : place.moved_to) {
    const std::string moved = cat({directory, "/", piece});
    if (place.is_command) add_pattern(moved);
    add_place(moved, needs);
  }
}

// A shell finds a program by PATH; an interpreter finds a script in its current directory.
void CommandReader::add_plain(std::string_view word, const WordPlace& place) {
  const bool by_path = place.is_command && !place.is_script;
  if (plain_words_.size() < kPlainWordsMax) {
    Needs& needs = plain_words_.try_emplace(without_markers(word), Needs::kFile).first->second;
    if (by_path && place.is_certain) needs = Needs::kNoFile;
  }
  if (by_path) return add(without_markers(word), Needs::kInPath);
  if (place.names_only) return;
  add_place(word, Needs::kFile);
  for (const std::string& directory : place.moved_to) add_place(cat({directory, "/", word}), Needs::kFile);
}

// What an expansion at the beginning may stand for.
void CommandReader::add_place(std::string_view piece, Needs needs) {
  const std::size_t begin = static_cast<std::size_t>(std::ranges::find_if_not(piece, is_marker) - piece.begin());
  const std::string rest = without_markers(piece.substr(begin));
  if (rest.empty() || rest.ends_with('/')) return;
  if (begin == 0) return add(rest, needs);
  const bool is_own = piece.substr(0, begin).contains(kOwnPlace);
  if (!is_own && needs == Needs::kNoFile) needs = Needs::kNoDirectory;
  if (!rest.starts_with('/')) return add(rest, needs);
  add(cat({".", rest}), needs);
  if (is_own) add(cat({".git", rest}), needs);
}

// A command that a wildcard or an expansion in its middle stands for is any program in that directory.
void CommandReader::add_pattern(std::string_view piece) {
  const std::size_t begin = static_cast<std::size_t>(std::ranges::find_if_not(piece, is_marker) - piece.begin());
  std::string pattern(piece.substr(begin));
  if (begin > 0) pattern.insert(0, ".");
  if (begin > 0 && !piece.substr(begin).starts_with('/')) return;
  std::ranges::replace_if(pattern, is_marker, '*');
  pattern = without_dots(pattern);
  const std::size_t wildcard = pattern.find_first_of("*?[");
  const std::size_t slash = pattern.find('/', is_absolute(pattern) ? pattern.find('/') + 1 : 0);
  // Each name in the work tree is too much.
  const bool is_of_root = slash == std::string::npos ? wildcard == 0 : wildcard < slash;
  if (wildcard == std::string::npos || is_of_root || pattern.starts_with("..")) return;
  add(std::move(pattern), Needs::kMatches);
}

// python3 -m a.b looks for each part in the current directory first.
void CommandReader::add_modules(std::string_view names, const ShellForms& moved_to) {
  static constexpr std::size_t kModuleBytesMax = 256;
  if (names.size() > kModuleBytesMax) return;
  std::string module = without_markers(names);
  std::ranges::replace(module, '.', '/');
  for (std::size_t end = 0; end < module.size(); ++end) {
    end = std::min(module.find('/', end), module.size());
    for (const std::string_view kind : {".py", "/__init__.py", "/__main__.py"}) {
      const std::string file = cat({module.substr(0, end), kind});
      add(file, Needs::kNoFile);
      for (const std::string& directory : moved_to) add(cat({without_markers(directory), "/", file}), Needs::kNoFile);
      if (plain_words_.size() < kPlainWordsMax) plain_words_.try_emplace(file, Needs::kFile);
    }
  }
}

// python3 -c "import a, b.c as d; from e import f"
void CommandReader::add_imports(std::string_view program, const ShellForms& moved_to) {
  static constexpr std::string_view kBlank = " \t\n;";
  bool is_list = false;
  while (!program.empty()) {
    const std::size_t begin = std::min(program.find_first_not_of(kBlank), program.size());
    program.remove_prefix(begin);
    const std::size_t end = std::min(program.find_first_of(is_list ? " \t\n;," : kBlank), program.size());
    const std::string_view word = program.substr(0, end);
    if (is_list && !word.empty()) add_modules(word, moved_to);
    program.remove_prefix(end);
    const std::size_t next = std::min(program.find_first_not_of(" \t"), program.size());
    const bool goes_on = is_list && program.substr(next).starts_with(',');
    if (goes_on) program.remove_prefix(next + 1);
    is_list = goes_on || word == "import" || word == "from";
  }
}

void CommandReader::add(std::string path, Needs needs, GitRead kind) {
  if (names_.size() >= kNamesMax || path.size() > kFormBytesMax || path.contains('$')) return;
  if (needs != Needs::kNoFile && path.contains(".git/")) {
    // git writes its own state, and makes such a file when it needs one.
    if (is_state_of_git(path)) return;
    if (needs == Needs::kNoDirectory) needs = Needs::kFile;
  }
  std::string other = needs == Needs::kMatches ? std::string() : without_dots(path);
  const bool leads_up = path.contains("/../") && !other.starts_with("..") && !other.empty();
  if (leads_up) names_.try_emplace({std::move(other), needs}, kind);
  names_.try_emplace({std::move(path), needs}, kind);
}

// PATH=./tools:$PATH x
void CommandReader::finish() {
  for (const auto& [directory, at_most] : directories_) {
    for (const auto& [word, needs] : plain_words_) {
      add_place(cat({directory, "/", word}), at_most == Needs::kNoFile ? needs : Needs::kFile);
    }
    // A program that is found by PATH finds others so.
    if (at_most == Needs::kNoFile) add_pattern(cat({directory, "/*"}));
  }
  bytes_left_ = kNestedBytesMin;
  const std::vector<std::string> environment = std::exchange(environment_, {});
  for (const GitEntry& entry : git_entries_of(environment)) take_setting(entry, 1);
}

std::string without_markers(std::string_view piece) {
  std::string out(piece);
  std::erase_if(out, is_marker);
  return out;
}

// Without "." and inner "..", as if no component were a symbolic link.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    const bool leads_up = part == ".." && !parts.empty() && parts.back() != "..";
    if (leads_up) parts.pop_back();
    if (!leads_up) parts.push_back(part);
  }
  std::string out;
  for (const std::string_view part : parts) out += cat({out.empty() ? "" : "/", part});
  return path.starts_with('/') ? cat({"/", out}) : out;
}

// The end of the NAME that a word begins with.
std::size_t name_end(std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(word, is_part) - word.begin());
  return end > 0 && std::isdigit(static_cast<unsigned char>(word.front())) == 0 ? end : 0;
}

// gitrepository-layout(5)
bool is_state_of_git(std::string_view path) {
  static constexpr std::array<std::string_view, 6> kNames = {"index", "refs",        "objects",
                                                             "logs",  "packed-refs", "shallow"};
  while (path.starts_with("./")) path.remove_prefix(2);
  if (!path.starts_with(".git/")) return false;
  const std::string_view name = path.substr(5, path.find('/', 5) - 5);
  const bool is_reference = !name.empty() && std::isupper(static_cast<unsigned char>(name.front())) != 0;
  return is_reference || name.ends_with(".lock") || std::ranges::find(kNames, name) != kNames.end();
}

bool is_command_line(std::string_view word) { return word.find_first_of(" \t\n;|&$`(") != std::string_view::npos; }

template <std::size_t kSize>
bool is_program_of(std::string_view word, const std::array<std::string_view, kSize>& names) {
  const std::string_view name = word.substr(word.rfind('/') + 1);
  return std::ranges::find(names, name) != names.end();
}

// Whether the next word, or the value of the option, is a command line.
bool takes_commands(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "eval", "foreach", "run", "-x", "--exec", "--extcmd", "--command", "--upload-pack", "--receive-pack", "-exec"};
  if (std::ranges::find(kWords, word) != kWords.end()) return true;
  if (word.starts_with("--")) return word.ends_with("-filter") || word.ends_with("-cmd");
  return word.starts_with('-') && word.ends_with('c');
}

// Words that may precede a program, which PATH leads to.
bool is_before_program(std::string_view word) {
  static constexpr std::array<std::string_view, 24> kWords = {
      "!",       "do",   "else",    "exec",  "if",    "then",    "until",  "time",
      "while",   "env",  "command", "nice",  "nohup", "setsid",  "stdbuf", "xargs",
      "timeout", "sudo", "ionice",  "flock", "elif",  "builtin", "watch",  "doas"};
  return is_program_of(word, kWords);
}

bool is_interpreter(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kWords = {
      "sh", "bash", "dash", "zsh", "ksh", "fish", ".", "source", "python3", "python", "perl", "ruby", "node", "php"};
  return is_program_of(word, kWords) || is_python(word);
}

bool is_python(std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("pypy");
}

bool assigns_variable(std::string_view word) {
  return name_end(word) > 0 && word.substr(name_end(word)).starts_with('=');
}

// git(1) runs what takes_commands() says.
bool runs_no_argument(std::string_view word) {
  static constexpr std::array<std::string_view, 16> kWords = {"git",   "rm",   "rmdir",  "mkdir", "test", "[",
                                                              "ls",    "echo", "printf", "touch", "find", "du",
                                                              "rsync", "tar",  "zip",    "grep"};
  return is_program_of(word, kWords);
}

// The name of what a build makes later, for instance, may not be held.
Needs needs_of_argument(const WordPlace& place) { return place.names_only ? Needs::kFile : Needs::kNoDirectory; }

bool takes_directory(std::string_view word) {
  return word == "-C" || word == "--chdir" || word == "--directory" || word == "--cwd";
}

void move_on(const ShellForms& forms, WordPlace& place) {
  const std::string& word = forms.front();
  const bool is_option = word.starts_with('-');
  if (takes_directory(place.before)) place.moved_to = below_each(place.moved_to, forms);
  for (const std::string_view option : {"-C", "--chdir=", "--directory=", "--cwd="}) {
    if (!word.starts_with(option) || word.size() == option.size()) continue;
    place.moved_to = below_each(place.moved_to, {word.substr(option.size())});
  }
  if (place.is_command) {
    const bool assigns = assigns_variable(word);
    const bool is_value = place.before.starts_with('-') || std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    const bool may_be_value = place.is_behind && is_value && !word.contains('/');
    place.names_only = runs_no_argument(word);
    if (!is_option) place.is_python = is_python(word) || (place.is_python && may_be_value);
    if (word == "run-parts" || word.ends_with("/run-parts")) place.runs_directory = true;
    place.is_script = is_interpreter(word) || (place.is_script && (is_option || may_be_value));
    if (is_before_program(word) || is_interpreter(word)) {
      place.is_behind = true;
    } else if (is_option || may_be_value) {
      place.is_certain = false;
    } else if (!assigns) {
      place.is_command = false;
    }
  }
  place.before = word;
}

// Each name in each directory, or the names themselves.
ShellForms below_each(const ShellForms& directories, const ShellForms& names) {
  ShellForms below;
  for (const std::string& name : names) {
    if (directories.empty() || is_absolute(name) || is_marker(name.front())) below.push_back(name);
    if (is_absolute(name) || is_marker(name.front())) continue;
    for (const std::string& directory : directories) below.push_back(cat({directory, "/", name}));
  }
  std::erase_if(below, [](const std::string& path) { return path.size() > kFormBytesMax; });
  if (below.size() > kShellFormsMax) below.resize(kShellFormsMax);
  return below;
}

}  // namespace

}  // namespace hutch::policy
