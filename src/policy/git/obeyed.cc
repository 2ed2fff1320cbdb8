// Finds the files that git's configuration names.
#include "policy/git/obeyed.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "policy/git/command_names.h"
#include "policy/glob.h"

namespace hutch::policy {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_key_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; }

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Reads the syntax of git-config(1), as get_value() and parse_value() of git's config.c do.
class GitConfigReader {
 public:
  explicit GitConfigReader(std::string_view text) : text_(text) {
    static constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::vector<GitEntry> read() {
    while (!at_end()) {
      const char next = peek();
      if (next == '\n' || is_blank(next)) {
        ++at_;
      } else if (next == '[') {
        read_section();
      } else if (std::isalpha(static_cast<unsigned char>(next)) != 0) {
        read_entry();
      } else {
        skip_line();
      }
    }
    return std::move(entries_);
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\n' : text_[at_]; }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void read_section() {
    ++at_;
    std::string name;
    while (is_key_letter(peek()) || peek() == '.') name += text_[at_++];
    while (is_blank(peek())) ++at_;
    subsection_.clear();
    if (peek() == '"') read_subsection();
    // [section.sub] is an older form.
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos && subsection_.empty()) subsection_ = name.substr(dot + 1);
    section_ = in_lower_case(std::string_view(name).substr(0, dot));
    if (peek() != ']') return skip_line();
    ++at_;
  }

  void read_subsection() {
    for (++at_; !at_end() && peek() != '"' && peek() != '\n'; ++at_) {
      if (peek() == '\\') ++at_;
      if (!at_end()) subsection_ += text_[at_];
    }
    if (peek() == '"') ++at_;
  }

  void read_entry() {
    GitEntry entry{section_, subsection_, {}, {}};
    while (!at_end() && is_key_letter(peek())) entry.key += text_[at_++];
    entry.key = in_lower_case(entry.key);
    while (!at_end() && is_blank(peek())) ++at_;
    if (peek() != '=') {
      skip_line();
    } else {
      ++at_;
      entry.value = read_value();
    }
    entries_.push_back(std::move(entry));
  }

  // Reads up to the line's end, or to a comment outside of quotes. Blanks at both ends do not count.
  std::string read_value() {
    std::string value;
    std::size_t kept = 0;
    bool quoted = false;
    while (!at_end() && is_blank(peek())) ++at_;
    for (; !at_end() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == '\\') {
        if (!take_escape(value)) break;
      } else {
        value += c;
      }
      if (quoted || c == '\\' || !is_blank(c)) kept = value.size();
    }
    value.resize(std::min(kept, value.size()));
    return value;
  }

  // A backslash at the line's end continues the line.
  bool take_escape(std::string& value) {
    ++at_;
    if (!at_end() && text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    if (at_end()) return false;
    const char c = text_[at_];
    if (c == '\n') return true;
    value += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string section_;
  std::string subsection_;
  std::vector<GitEntry> entries_;
};

// GIT_CONFIG_PARAMETERS: each is 'key=value' or 'key'='value', as sq_quote_buf() of git's quote.c writes them.
std::vector<GitEntry> parameters_of(std::string_view text) {
  std::vector<GitEntry> entries;
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && c == '=') {
      parts.emplace_back();
    } else if (!quoted && c == ' ') {
      const std::string& key = parts.front();
      const std::size_t equals = std::min(key.find('='), key.size());
      const std::string value = parts.size() > 1 ? parts[1] : key.substr(std::min(equals + 1, key.size()));
      if (!key.empty()) entries.push_back(git_entry_of(parts.size() > 1 ? key : key.substr(0, equals), value));
      parts.assign(1, {});
    } else if (!quoted && c == '\\' && i + 1 < text.size()) {
      parts.back() += text[++i];
    } else {
      parts.back() += c;
    }
  }
  return entries;
}

struct GitVariable {
  std::string_view name;
  std::string_view section;
  std::string_view key;
  std::string_view below = {};  // the file in it, if the variable is a directory
};

// git(1), and git-var(1) for variables of other programs that git falls back to.
constexpr std::array kGitVariables = {
    GitVariable{"GIT_CONFIG_SYSTEM", "include", "path"},
    GitVariable{"GIT_CONFIG_GLOBAL", "include", "path"},
    GitVariable{"GIT_CONFIG", "include", "path"},
    GitVariable{"XDG_CONFIG_HOME", "include", "path", "/git/config"},
    GitVariable{"XDG_CONFIG_HOME", "core", "attributesfile", "/git/attributes"},
    GitVariable{"XDG_CONFIG_HOME", "core", "excludesfile", "/git/ignore"},
    GitVariable{"GIT_TEMPLATE_DIR", "init", "templatedir"},
    GitVariable{"GIT_EXEC_PATH", "core", "hookspath"},
    GitVariable{"GIT_SSH", "core", "sshcommand"},
    GitVariable{"GIT_SSH_COMMAND", "core", "sshcommand"},
    GitVariable{"GIT_PROXY_COMMAND", "core", "gitproxy"},
    GitVariable{"GIT_EXTERNAL_DIFF", "diff", "external"},
    GitVariable{"GIT_EDITOR", "core", "editor"},
    GitVariable{"GIT_SEQUENCE_EDITOR", "sequence", "editor"},
    GitVariable{"VISUAL", "core", "editor"},
    GitVariable{"EDITOR", "core", "editor"},
    GitVariable{"GIT_PAGER", "core", "pager"},
    GitVariable{"PAGER", "core", "pager"},
    GitVariable{"GIT_ASKPASS", "core", "askpass"},
    GitVariable{"SSH_ASKPASS", "core", "askpass"},
};

// Other programs than git may also use a directory whose name is one short word.
bool is_distinct(std::string_view path) { return path.starts_with('.') || path.contains('/'); }

// githooks(5)
constexpr std::array<std::string_view, 28> kHookNames = {"applypatch-msg",
                                                         "commit-msg",
                                                         "fsmonitor-watchman",
                                                         "p4-changelist",
                                                         "p4-post-changelist",
                                                         "p4-pre-submit",
                                                         "p4-prepare-changelist",
                                                         "post-applypatch",
                                                         "post-checkout",
                                                         "post-commit",
                                                         "post-index-change",
                                                         "post-merge",
                                                         "post-receive",
                                                         "post-rewrite",
                                                         "post-update",
                                                         "pre-applypatch",
                                                         "pre-auto-gc",
                                                         "pre-commit",
                                                         "pre-merge-commit",
                                                         "pre-push",
                                                         "pre-rebase",
                                                         "pre-receive",
                                                         "prepare-commit-msg",
                                                         "proc-receive",
                                                         "push-to-checkout",
                                                         "reference-transaction",
                                                         "sendemail-validate",
                                                         "update"};

}  // namespace

// husky(1) sets ".husky/_", whose programs run those of ".husky".
std::string git_hooks_directory(std::string_view value) {
  while (value.size() > 1 && value.ends_with('/')) value.remove_suffix(1);
  if (value.ends_with("/_")) value.remove_suffix(2);
  return std::string(value);
}

GitEntry git_entry_of(std::string_view name, std::string_view value) {
  const std::size_t first = std::min(name.find('.'), name.size());
  const std::size_t last = std::min(name.rfind('.'), name.size());
  GitEntry entry{in_lower_case(name.substr(0, first)), {}, {}, std::string(value)};
  if (last > first) entry.subsection = name.substr(first + 1, last - first - 1);
  if (last < name.size()) entry.key = in_lower_case(name.substr(last + 1));
  return entry;
}

std::vector<GitEntry> git_entries_of(std::span<const std::string> environment) {
  constexpr std::string_view kKey = "GIT_CONFIG_KEY_";
  std::vector<GitEntry> entries;
  const auto value_of = [&](std::string_view name) -> std::string_view {
    for (const std::string_view line : environment) {
      if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) return line.substr(name.size() + 1);
    }
    return {};
  };
  for (const GitVariable& variable : kGitVariables) {
    const std::string_view value = value_of(variable.name);
    if (value.empty()) continue;
    entries.push_back({std::string(variable.section), {}, std::string(variable.key), cat({value, variable.below})});
  }
  for (const std::string_view line : environment) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    if (!line.starts_with(kKey)) continue;
    const std::string number(line.substr(kKey.size(), equals - kKey.size()));
    entries.push_back(git_entry_of(line.substr(equals + 1), value_of(cat({"GIT_CONFIG_VALUE_", number}))));
  }
  std::ranges::move(parameters_of(value_of("GIT_CONFIG_PARAMETERS")), std::back_inserter(entries));
  return entries;
}

std::vector<std::string> obeyed_in_any_work_tree(const ObeyedName& name) {
  using enum ObeyedName::Needs;
  const std::string_view path = name.path;
  if (name.needs == kMatches || name.needs == kInPath) return {};
  if (path.starts_with('/') || path.starts_with('~') || path.contains('$') || path.contains('%')) return {};
  std::vector<std::string_view> parts = split(path, '/');
  // In front of the last ".." can be a link.
  const auto last = std::find(parts.rbegin(), parts.rend(), "..");
  parts.erase(parts.begin(), last.base());
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  if (parts.empty()) return {};
  const std::string plain = join(std::vector<std::string>(parts.begin(), parts.end()), "/");
  const std::string pattern = cat({"/**/", escape_wildcards(plain)});
  if (name.kind != GitRead::kHooks) return is_distinct(plain) ? std::vector{pattern} : std::vector<std::string>();
  std::vector<std::string> patterns;
  for (const std::string_view hook : kHookNames) patterns.push_back(cat({pattern, "/", hook}));
  return patterns;
}

std::vector<GitEntry> git_entries(std::string_view text) { return GitConfigReader(text).read(); }

std::vector<ObeyedName> obeyed_names(const GitEntry& entry) {
  using enum ObeyedName::Needs;
  const GitRead kind = git_setting(entry.section, entry.key).read;
  if (kind == GitRead::kNothing || entry.value.empty()) return {};
  const bool is_of_git = entry.section == "alias" && !entry.value.starts_with('!');
  if (kind == GitRead::kProgram) return names_in_command(is_of_git ? cat({"git ", entry.value}) : entry.value);
  if (kind == GitRead::kHooks) return {ObeyedName{kind, git_hooks_directory(entry.value), kNoFile}};
  const bool is_path = kind == GitRead::kConfig || entry.value.contains('/');
  return {ObeyedName{kind, entry.value, is_path ? kNoFile : kFile}};
}

std::optional<std::string> obeyed_path(std::string_view path, std::string_view home, std::string_view base) {
  if (path.contains('\0') || path.empty() || path.starts_with("%(")) return std::nullopt;
  if (path.starts_with('/')) return std::string(path);
  if (path == "~") return std::string(home);
  if (path.starts_with("~/")) return cat({home, path.substr(1)});
  if (path.starts_with('~')) return std::nullopt;
  return cat({base, "/", path});
}

}  // namespace hutch::policy
