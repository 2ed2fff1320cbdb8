// From the entries of a policy or a command line to rules with absolute paths.
#include "policy/rules.h"

#include "base/limits.h"
#include "base/text.h"
#include "policy/glob.h"

namespace hutch::policy {

namespace {

struct List {
  const std::vector<PathEntry>& entries;
  Verb verb;
  std::string_view name;
  Origin origin = Origin::kPolicy;
};

Status add_entries(std::vector<Rule>& rules, const List& list, const Bases& bases);
Status add_options(std::vector<Rule>& rules, const std::vector<std::string>& texts, Rule form, const Bases& bases);
Result<Rule> make_rule(Rule form, const PathEntry& entry, std::string_view home, std::string_view base);

}  // namespace

Result<std::vector<Rule>> rules_of(const Policy& policy, const Bases& bases) {
  const Filesystem& files = policy.filesystem;
  std::vector<Rule> rules;
  TRY(add_entries(rules, {files.deny_read, Verb::kDenyRead, "denyRead"}, bases));
  TRY(add_entries(rules, {files.allow_read, Verb::kAllowRead, "allowRead"}, bases));
  TRY(add_entries(rules, {files.allow_write, Verb::kAllowWrite, "allowWrite"}, bases));
  TRY(add_entries(rules, {files.deny_write, Verb::kDenyWrite, "denyWrite"}, bases));
  TRY(add_entries(rules, {files.credentials, Verb::kDenyRead, "credentials", Origin::kCredential}, bases));
  TRY(add_entries(rules, {files.own_directories, Verb::kPlace, "private"}, bases));
  if (rules.size() > limits::kRulesMax) {
    return fail(Error::invalid(cat({"the file lists hold ", std::to_string(rules.size()), " entries; at most ",
                                    std::to_string(limits::kRulesMax), " are read"})));
  }
  return rules;
}

Result<std::vector<Rule>> rules_of(const PathOptions& options, const Bases& bases) {
  std::vector<Rule> rules;
  const auto form = [&](Verb verb, std::string_view option, std::string_view setting) {
    const std::string where = options.agent.empty() ? std::string(option) : cat({setting, " of agent ", options.agent});
    return Rule{.verb = verb, .origin = Origin::kOption, .where = where};
  };
  TRY(add_options(rules, options.allow_read, form(Verb::kAllowRead, "--allow-read", "allowRead"), bases));
  TRY(add_options(rules, options.deny_read, form(Verb::kDenyRead, "--deny-read", "denyRead"), bases));
  TRY(add_options(rules, options.allow_write, form(Verb::kAllowWrite, "--allow-write", "allowWrite"), bases));
  TRY(add_options(rules, options.allow_write, form(Verb::kAllowRead, "--allow-write", "allowWrite"), bases));
  TRY(add_options(rules, options.deny_write, form(Verb::kDenyWrite, "--deny-write", "denyWrite"), bases));
  return rules;
}

Result<std::string> absolute_path(std::string_view text, std::string_view home, std::string_view base) {
  if (text.empty()) return fail(Error::invalid("a path is empty"));
  if (text.find('\0') != std::string_view::npos) {
    return fail(Error::invalid(cat({"\"", printable(text), "\": a path cannot hold a NUL byte"})));
  }
  if (text.size() > limits::kPathBytesMax) {
    return fail(Error::invalid(cat({"\"", printable(text, 64), "\": longer than a path can be (",
                                    std::to_string(limits::kPathBytesMax), " bytes)"})));
  }
  std::string joined;
  if (text.starts_with('/')) {
    joined = text;
  } else if (text == "~" || text.starts_with("~/")) {
    joined = cat({home, text.substr(1)});
  } else if (text.starts_with('~')) {
    return fail(Error::invalid(cat({"\"", printable(text),
                                    "\": only ~ and ~/... are known; write the home of another "
                                    "user out, or ./",
                                    printable(text), " for a file of that name"})));
  } else {
    joined = cat({base, "/", text});
  }
  std::string path;
  for (std::string_view part : split(joined, '/')) {
    if (part.empty() || part == ".") continue;
    path += '/';
    path += part;
  }
  return path.empty() ? std::string("/") : path;
}

std::string describe(const Rule& rule) {
  if (rule.text.empty()) return rule.where;
  return cat({rule.where, " \"", printable(rule.text), "\""});
}

std::string_view name_of(Verb verb) {
  switch (verb) {
    case Verb::kAllowRead: return "allowRead";
    case Verb::kDenyRead: return "denyRead";
    case Verb::kAllowWrite: return "allowWrite";
    case Verb::kDenyWrite: return "denyWrite";
    case Verb::kPlace: return "place";
  }
  return "";
}

namespace {

Status add_entries(std::vector<Rule>& rules, const List& list, const Bases& bases) {
  std::size_t index = 0;
  for (const PathEntry& entry : list.entries) {
    Rule form;
    form.verb = list.verb;
    if (form.verb == Verb::kPlace) form.place = Place::kPrivate;
    form.origin = list.origin;
    form.where = cat({"filesystem.", list.name, "[", std::to_string(index++), "]"});
    rules.push_back(TRY(make_rule(std::move(form), entry, bases.home, bases.project)));
  }
  return {};
}

Status add_options(std::vector<Rule>& rules, const std::vector<std::string>& texts, Rule form, const Bases& bases) {
  for (const std::string& text : texts) {
    rules.push_back(TRY(make_rule(form, {text, EntryForm::kPattern}, bases.home, bases.cwd)));
  }
  return {};
}

Result<Rule> make_rule(Rule form, const PathEntry& entry, std::string_view home, std::string_view base) {
  Rule rule = std::move(form);
  rule.text = entry.text;
  const bool pattern =
      entry.form == EntryForm::kPattern && (has_wildcard(entry.text) || has_escaped_wildcard(entry.text));
  if (!pattern) {
    rule.path = TRY_CTX(absolute_path(entry.text, home, base), rule.where);
    return rule;
  }
  // A "/" at the end says that it is a directory, which only a pattern that finds files cannot say.
  std::string_view text = entry.text;
  while (!has_wildcard(text) && text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  TRY_CTX(check_pattern(text), rule.where);
  // The directory that relative entries start from is no pattern, whatever its name holds.
  const bool rooted = entry.text.starts_with('/') || entry.text.starts_with('~');
  const std::string start = entry.text.starts_with('~') ? escape_wildcards(home) : escape_wildcards(base);
  rule.path = TRY_CTX(absolute_path(text, start, rooted ? std::string_view("/") : start), rule.where);
  // "dir/**" is everything beneath dir and dir itself, which "dir" says as well, and for later files too.
  while (rule.path.ends_with("/**")) rule.path.resize(rule.path.size() - 3);
  if (rule.path.empty()) rule.path = "/";
  if (has_wildcard(rule.path)) {
    rule.match = Match::kGlob;
  } else {
    rule.path = unescape(rule.path);
  }
  return rule;
}

}  // namespace

}  // namespace hutch::policy
