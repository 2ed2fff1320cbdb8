// From rules as written to rules about what is really there.
#include "host/paths/paths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/paths/absent.h"
#include "host/paths/closed_directories.h"
#include "host/paths/expand.h"
#include "host/paths/files_behind.h"
#include "host/paths/git_reach.h"
#include "host/paths/looker.h"
#include "host/paths/repository_rules.h"
#include "host/paths/root_denies.h"
#include "policy/decide.h"
#include "policy/defaults.h"
#include "policy/glob.h"
#include "policy/obeyed/obeyed.h"

namespace hutch::host {

namespace {

using plan::FileType;
using policy::Origin;
using policy::Place;
using policy::Rule;
using policy::Verb;
using policy::View;

class PathStudy {
 public:
  PathStudy(const PathQuestion& question, const plan::HostFacts& facts) : question_(question), facts_(facts) {}
  Result<PathAnswer> run();

 private:
  Status add_rules();
  Status add_rule(const Rule& rule);
  Status add_pattern(const Rule& rule);
  Status add_resolved(Rule rule, const Resolved& resolved, std::string_view written);
  Status add_private(Rule rule, const Resolved& resolved);
  Status check_escape(const Rule& rule, const Resolved& resolved, std::string_view written) const;
  Status add_store();
  Status add_credentials();
  Status check_own_links() const;
  Status add_places();
  Status add_place(Place place, std::string path);
  Status add_repository();
  void settle_private_places();
  bool lifted_within(const Rule& place, const Rule& rule) const;
  void add_implied_reads();
  Status add_mandatory();
  Status add_home_names();
  Status add_own_programs();
  bool is_home_name(std::string_view path) const;
  void hold_links(const Resolved& resolved, const std::string& rule);
  Status add_other_names(const Resolved& of, const std::string& why, std::vector<Rule>& found);
  Status add_obeyed(const std::string& path, const std::string& why, std::vector<Rule>& found);
  Status add_obeyed_by_git();
  Status look_at_root();
  std::vector<std::string> missing_store() const;
  void add_notes();
  void note_patterns();
  void note_absent();
  void note_links();
  policy::Judgement judge_at(std::string_view path) const;
  std::vector<std::string> writable_roots() const;

  struct RuleLink {
    std::string at;
    std::string rule;
  };

  const PathQuestion& question_;
  const plan::HostFacts& facts_;
  Looker looker_;
  std::vector<Rule> rules_;
  std::vector<RuleLink> denied_links_;
  std::vector<RuleLink> own_links_;
  std::vector<Rule> patterns_;
  bool searched_all_ = true;
  Listings listings_;
  std::vector<std::string> repositories_;  // for git_reach; includes ".git" files
  plan::ObeyedPlaces obeyed_;
  std::vector<std::string> roots_;  // that the sandbox may write
  std::set<std::string> looked_behind_;
  std::vector<plan::NameRule> names_;
  std::vector<std::string> notes_;
};

bool is_allow(const Rule& rule) { return rule.verb == Verb::kAllowRead || rule.verb == Verb::kAllowWrite; }
bool is_deny(const Rule& rule) { return rule.verb == Verb::kDenyRead || rule.verb == Verb::kDenyWrite; }
std::string mandatory(std::string_view path) { return cat({"mandatory write deny (", printable(path), ")"}); }
std::string parent_of(std::string_view path);

}  // namespace

Result<PathAnswer> look_at_paths(const PathQuestion& question, const plan::HostFacts& facts) {
  return PathStudy(question, facts).run();
}

namespace {

Result<PathAnswer> PathStudy::run() {
  looker_.assume(facts_.root);
  TRY(add_rules());
  spread_root_denies(rules_, facts_.root);
  TRY(add_store());
  TRY(add_credentials());
  TRY(add_places());
  TRY(add_repository());
  add_implied_reads();
  settle_private_places();
  TRY(check_own_links());
  TRY(add_home_names());
  TRY(add_own_programs());
  TRY(add_mandatory());
  TRY(add_obeyed_by_git());
  if (facts_.uid == 0) TRY(raise_denies(rules_, looker_));
  TRY(look_at_root());
  const auto is_absent = [&](const std::string& path) { return looker_.seen(path).type == FileType::kAbsent; };
  if (question_.names == PathQuestion::Names::kAlways) hold_by_names(rules_, is_absent);
  add_notes();
  std::vector<std::string> missing = missing_store();
  return PathAnswer{std::move(rules_), looker_.facts(), std::move(notes_),    std::move(obeyed_),
                    std::move(names_), searched_all_,   std::move(listings_), std::move(missing)};
}

Status PathStudy::add_rules() {
  for (const Rule& rule : question_.rules) {
    if (rule.match == policy::Match::kGlob) {
      TRY_CTX(add_pattern(rule), rule.where);
    } else {
      TRY_CTX(add_rule(rule), rule.where);
    }
  }
  return {};
}

Status PathStudy::add_rule(const Rule& rule) {
  if (kernel_place(rule.path) && rule.verb == Verb::kPlace) {
    return fail(Error::invalid(cat({"\"", printable(rule.text), "\" cannot hold: it is the sandbox's own already"})));
  }
  if (kernel_place(rule.path)) return check_kernel_place(rule);
  // An allowRead that names a link shows the link, not what a stranger may have made it point to.
  const FinalLink final_link = rule.verb == Verb::kAllowRead ? FinalLink::kKeep : FinalLink::kFollow;
  return add_resolved(rule, TRY(looker_.resolve(rule.path, final_link)), rule.path);
}

Status PathStudy::add_pattern(const Rule& rule) {
  const Doubt doubt = is_deny(rule) ? Doubt::kIsMatch : Doubt::kIsNoMatch;
  const std::vector<std::string> matches = TRY(expand_pattern(rule.path, doubt));
  patterns_.push_back(rule);
  for (const std::string& match : matches) {
    if (kernel_place(match)) continue;
    const FinalLink final_link = rule.verb == Verb::kAllowRead ? FinalLink::kKeep : FinalLink::kFollow;
    auto resolved = looker_.resolve(match, final_link);
    // A link in a circle that a pattern happens to meet can neither be read nor written through.
    if (!resolved && resolved.error().code == Code::kInvalidArgument) continue;
    if (!resolved) return fail(std::move(resolved).error());
    TRY(add_resolved(rule, *resolved, match));
  }
  return {};
}

Status PathStudy::add_resolved(Rule rule, const Resolved& resolved, std::string_view written) {
  if (rule.verb == Verb::kPlace) return add_private(std::move(rule), resolved);
  if (is_allow(rule)) TRY(check_escape(rule, resolved, written));
  if (is_deny(rule)) {
    for (const Hop& hop : resolved.hops) denied_links_.push_back({hop.at, policy::describe(rule)});
  }
  rule.path = resolved.path;
  rules_.push_back(std::move(rule));
  return {};
}

// A mount takes a directory to be put on, and none is ever made among a person's files. Where it is absent nothing can
// be made there either: that would be the person's own, which the rule is to keep.
Status PathStudy::add_private(Rule rule, const Resolved& resolved) {
  if (resolved.type == FileType::kAbsent) {
    notes_.push_back(cat({policy::describe(rule),
                          " is absent, and is not made inside: make the directory first to have an empty one there"}));
    rule.verb = Verb::kDenyWrite;
    rule.place = policy::Place::kNone;
    rule.path = resolved.path;
    rules_.push_back(std::move(rule));
    return {};
  }
  if (resolved.type != FileType::kDirectory) {
    return fail(Error::invalid(cat({"\"", printable(rule.text), "\" is no directory"})));
  }
  if (resolved.path == "/") return fail(Error::invalid("\"/\" cannot be empty: name directories in it"));
  rule.path = resolved.path;
  rules_.push_back(std::move(rule));
  return {};
}

// A sandbox that ran here before may have left a link; the next one must not be given what it points to. Links of
// root's are the system's own (/var/run).
Status PathStudy::check_escape(const Rule& rule, const Resolved& resolved, std::string_view written) const {
  const auto escape = [&](const Hop& hop, std::string_view place) {
    return fail(Error::invalid(cat({"\"", printable(rule.text), "\" escapes by a symbolic link: ", printable(hop.at),
                                    " points to ", printable(hop.text), ", outside ", printable(place), "; name ",
                                    printable(resolved.path), " itself if that is meant"})));
  };
  if (resolved.hops.empty()) return {};
  if (question_.project != "/" && is_within(written, question_.project)) {
    if (is_within(resolved.path, question_.project)) return {};
    return escape(resolved.hops.front(), question_.project);
  }
  for (const Hop& hop : resolved.hops) {
    const std::string place = parent_of(hop.at);
    const bool made_by_user = hop.owner != 0 || is_within(hop.at, facts_.home);
    if (made_by_user && !is_within(resolved.path, place)) return escape(hop, place);
  }
  return {};
}

Status PathStudy::add_store() {
  for (const std::string& directory : facts_.store_dirs) {
    const Resolved resolved = TRY(looker_.resolve(directory, FinalLink::kFollow));
    rules_.push_back(
        {.verb = Verb::kDenyRead, .origin = Origin::kStore, .path = resolved.path, .where = "hutch's own directory"});
    for (const Hop& hop : resolved.hops) own_links_.push_back({hop.at, cat({"hutch's own directory ", directory})});
  }
  for (const std::string& file : question_.policy_files) {
    const Resolved resolved = TRY(looker_.resolve(file, FinalLink::kFollow));
    rules_.push_back(
        {.verb = Verb::kDenyWrite, .origin = Origin::kStore, .path = resolved.path, .where = "the policy file itself"});
    for (const Hop& hop : resolved.hops) own_links_.push_back({hop.at, cat({"the policy file ", file})});
  }
  return {};
}

// One that is absent holds nothing; what a sandbox makes in its place is its own.
Status PathStudy::add_credentials() {
  if (facts_.home == "/nonexistent") return {};
  for (const std::string_view name : policy::credential_paths()) {
    const std::string path = cat({facts_.home, "/", name});
    auto resolved = looker_.resolve(path, FinalLink::kFollow);
    if (!resolved || resolved->type == FileType::kAbsent) continue;
    rules_.push_back({.verb = Verb::kDenyRead,
                      .origin = Origin::kCredential,
                      .path = std::move(resolved->path),
                      .where = cat({"built-in credential (~/", name, ")"})});
  }
  return {};
}

// No mount holds a link in its place. Whoever replaces one on the way to the next policy writes that policy.
Status PathStudy::check_own_links() const {
  for (const RuleLink& link : own_links_) {
    if (judge_at(parent_of(link.at)).view != View::kReadWrite) continue;
    return fail(
        Error::invalid(cat({printable(link.rule), " lies behind the symbolic link ", printable(link.at),
                            ", which the sandbox could replace; name its target, or start in another directory"})));
  }
  return {};
}

Status PathStudy::add_places() {
  TRY(add_place(Place::kProc, "/proc"));
  TRY(add_place(Place::kSys, "/sys"));
  TRY(add_place(Place::kDevices, "/dev"));
  TRY(add_place(Place::kPrivate, "/tmp"));
  TRY(add_place(Place::kPrivate, "/run"));
  if (facts_.home == "/nonexistent" || judge_at(facts_.home).view != View::kHidden) return {};
  // Where package managers keep what they could fetch again; without them most builds stop at once.
  for (const std::string_view name : {"/.cache", "/.npm", "/.cargo", "/go"}) {
    std::string path = cat({facts_.home, name});
    if (judge_at(path).view == View::kHidden) TRY(add_place(Place::kPrivate, std::move(path)));
  }
  return {};
}

Status PathStudy::add_place(Place place, std::string path) {
  TRY(looker_.look(path));
  rules_.push_back(
      {.verb = Verb::kPlace, .origin = Origin::kBuiltIn, .place = place, .path = std::move(path), .where = "built in"});
  return {};
}

Status PathStudy::add_repository() {
  if (!question_.repository) return {};
  const bool by_names = question_.names == PathQuestion::Names::kAlways;
  const RepositoryHold how{by_names ? HeldBy::kNames : HeldBy::kMounts, question_.git_config};
  RepositoryRules found = repository_rules(*question_.repository, rules_, how);
  for (const Rule& rule : found.rules) TRY(looker_.resolve(rule.path, FinalLink::kKeep));
  std::ranges::move(found.rules, std::back_inserter(rules_));
  names_ = std::move(found.names);
  return {};
}

// allowWrite of something in /tmp or /run means the host's, unless it may not be read.
void PathStudy::add_implied_reads() {
  std::vector<Rule> implied;
  for (const Rule& rule : rules_) {
    if (rule.verb != Verb::kAllowWrite) continue;
    const policy::Judgement judgement = judge_at(rule.path);
    if (judgement.view != View::kPrivate) continue;
    const bool denied = std::ranges::any_of(
        rules_, [&](const Rule& other) { return other.verb == Verb::kDenyRead && is_within(rule.path, other.path); });
    if (denied) continue;
    Rule read = rule;
    read.verb = Verb::kAllowRead;
    implied.push_back(std::move(read));
  }
  rules_.insert(rules_.end(), implied.begin(), implied.end());
}

// A deny at or below a private place is about the host's files there, which are not visible anyway.
void PathStudy::settle_private_places() {
  std::vector<Rule> places;
  std::ranges::copy_if(rules_, std::back_inserter(places),
                       [](const Rule& rule) { return rule.place == Place::kPrivate; });
  std::erase_if(rules_, [&](const Rule& rule) {
    if (!is_deny(rule)) return false;
    return std::ranges::any_of(
        places, [&](const Rule& place) { return is_within(rule.path, place.path) && !lifted_within(place, rule); });
  });
}

bool PathStudy::lifted_within(const Rule& place, const Rule& rule) const {
  return std::ranges::any_of(rules_, [&](const Rule& other) {
    return other.verb == Verb::kAllowRead && is_within(other.path, place.path) && is_within(rule.path, other.path);
  });
}

Status PathStudy::add_mandatory() {
  std::set<std::string> denied;
  std::vector<std::string> closed;
  std::vector<Rule> behind;  // these do not change what the search judges
  for (const Rule& rule : rules_) {
    if (rule.verb == Verb::kDenyWrite && rule.origin != Origin::kMandatory) closed.push_back(rule.path);
  }
  roots_ = writable_roots();
  for (const std::string& root : roots_) {
    const MandatorySearch search{.root = root,
                                 .depth = question_.mandatory_search_depth,
                                 .git_config = question_.git_config,
                                 .allowed = question_.allow_obeyed,
                                 .closed = closed,
                                 .is_sandboxes = question_.is_sandboxes,
                                 .kept_in = &listings_,
                                 .roots = roots_};
    const MandatoryFound found = TRY(find_mandatory(search));
    searched_all_ = searched_all_ && found.not_searched.empty();
    for (const std::string& link : found.told_links) {
      auto resolved = looker_.resolve(link, FinalLink::kFollow);
      if (resolved) obeyed_.told.push_back(std::move(resolved->path));
    }
    std::ranges::copy(found.sandbox_links, std::back_inserter(repositories_));
    for (const std::string& link : found.git_links) {
      repositories_.push_back(link);
      hold_links(TRY(looker_.resolve(link, FinalLink::kFollow)), mandatory(link));
    }
    for (const std::string& path : found.denied) {
      if (path.ends_with("/.git")) repositories_.push_back(path);
      if (path.ends_with("/config") || path.ends_with("/hooks")) repositories_.push_back(parent_of(path));
      auto resolved = looker_.resolve(path, FinalLink::kFollow);
      if (!resolved && resolved.error().code == Code::kInvalidArgument) continue;  // a cycle: nothing is there
      if (!resolved) return fail(std::move(resolved).error());
      const std::string why = mandatory(path);
      hold_links(*resolved, why);
      TRY(add_other_names(*resolved, why, behind));
      const bool absent = resolved->type == FileType::kAbsent;
      // Behind a link the file has another name, which the list does not contain, so even an absent file needs a rule.
      const bool renamed = resolved->path != path;
      if ((absent && !renamed) || !denied.insert(resolved->path).second) continue;
      rules_.push_back({.verb = Verb::kDenyWrite,
                        .origin = is_home_name(path) ? Origin::kHome : Origin::kMandatory,
                        .path = resolved->path,
                        .text = renamed ? path : std::string(),
                        .where = why});
    }
  }
  std::ranges::move(behind, std::back_inserter(rules_));
  return {};
}

// Whoever replaces a link on the way decides what is obeyed. No mount holds a link in its place, a name does.
void PathStudy::hold_links(const Resolved& resolved, const std::string& rule) {
  for (const Hop& hop : resolved.hops) {
    if (judge_at(parent_of(hop.at)).view != View::kReadWrite) continue;
    names_.push_back({.pattern = policy::escape_wildcards(hop.at), .rule = rule, .except = {}, .lifted = {}});
    if (question_.names == PathQuestion::Names::kAtStart) denied_links_.push_back({hop.at, rule});
  }
}

// What lies in a protected directory can be a link to a file in the work tree, such as a hook.
Status PathStudy::add_other_names(const Resolved& of, const std::string& why, std::vector<Rule>& found) {
  if (of.type == FileType::kFile) {
    if (auto linked = linked_file(of.path)) obeyed_.linked.push_back(std::move(*linked));
  }
  if (of.type != FileType::kDirectory || !looked_behind_.insert(of.path).second) return {};
  FilesBehind behind = TRY(files_behind(of.path));
  for (const std::string& link : behind.links) {
    const auto leads_to = looker_.resolve(link, FinalLink::kFollow);
    const bool stays = leads_to && is_within(leads_to->path, of.path);
    const bool counts = leads_to && (leads_to->type != FileType::kDirectory || obeys_directories(of.path));
    if (counts && !stays) TRY(add_obeyed(link, why, found));
  }
  std::ranges::move(behind.linked, std::back_inserter(obeyed_.linked));
  return {};
}

bool PathStudy::is_home_name(std::string_view path) const {
  const std::string& home = obeyed_.home;
  return !home.empty() && path.size() > home.size() + 1 && is_within(path, home) &&
         policy::find_obeyed(path.substr(home.size() + 1)) != nullptr;
}

// Protects the files that shells, desktops and services obey in a writable home, whether they exist or not, and each
// directory where the user's shell looks for programs.
Status PathStudy::add_home_names() {
  const std::string& home = facts_.home;
  if (home == "/nonexistent" || judge_at(home).view != View::kReadWrite) return {};
  obeyed_.home = home;
  std::map<std::string, std::string> places;  // path and reason
  for (const policy::ObeyedInHome& file : policy::obeyed_in_home()) {
    places.try_emplace(cat({home, "/", file.name}), cat({file.reader, " ", file.reason}));
  }
  places.try_emplace("/var/spool/cron", "cron runs its lines");
  for (const std::string& directory : question_.search_path) {
    if (directory.starts_with('/')) places.try_emplace(directory, "a shell finds programs there");
  }
  std::vector<Rule> found;
  for (const auto& [path, why] : places) {
    auto resolved = looker_.resolve(path, FinalLink::kFollow);
    if (!resolved && resolved.error().code == Code::kInvalidArgument) continue;  // a cycle of links: no file is there
    if (!resolved) return fail(std::move(resolved).error());
    if (resolved->path == home || judge_at(resolved->path).view != View::kReadWrite) continue;
    found.push_back({.verb = Verb::kDenyWrite,
                     .origin = Origin::kHome,
                     .path = std::move(resolved->path),
                     .text = path,
                     .where = cat({"home (", why, ")"})});
  }
  std::ranges::move(found, std::back_inserter(rules_));
  return {};
}

// A sandbox that writes the directory of hutch's programs, such as a checkout of hutch, would choose what the next
// start of a sandbox runs.
Status PathStudy::add_own_programs() {
  for (const std::string& program : question_.own_programs) {
    Resolved resolved = TRY(looker_.resolve(program, FinalLink::kFollow));
    if (resolved.type == FileType::kAbsent || judge_at(resolved.path).view != View::kReadWrite) continue;
    rules_.push_back({.verb = Verb::kDenyWrite,
                      .origin = Origin::kMandatory,
                      .path = std::move(resolved.path),
                      .text = program,
                      .where = "hutch's own program"});
  }
  return {};
}

// Protects programs and settings that git takes from writable paths because of its configuration. Such a rule is about
// the name as well as the mount, because another file could get the name.
Status PathStudy::add_obeyed_by_git() {
  roots_ = writable_roots();
  if (roots_.empty()) return {};
  std::vector<Rule> found;
  const GitSearch search{repositories_, roots_, facts_.home, facts_.cwd, question_.environment};
  const ObeyedByGit by_git = TRY(paths_that_git_obeys(search));
  for (const ObeyedPath& obeyed : by_git.patterns) {
    names_.push_back(
        {.pattern = obeyed.path, .rule = cat({"git obeys it (", obeyed.where, ")"}), .except = {}, .lifted = {}});
  }
  for (const ObeyedPath& obeyed : by_git.paths) {
    TRY(add_obeyed(obeyed.path, cat({"git obeys it (", obeyed.where, ")"}), found));
  }
  for (const ObeyedPath& obeyed : by_git.elsewhere) {
    const std::string why = cat({"git obeys it (", obeyed.where, ")"});
    const auto resolved = looker_.resolve(obeyed.path, FinalLink::kFollow);
    if (!resolved) continue;
    TRY(resolved->hops.empty() ? add_other_names(*resolved, why, found) : add_obeyed(obeyed.path, why, found));
  }
  std::ranges::move(found, std::back_inserter(rules_));
  return {};
}

Status PathStudy::add_obeyed(const std::string& path, const std::string& why, std::vector<Rule>& found) {
  auto resolved = looker_.resolve(path, FinalLink::kFollow);
  if (!resolved && resolved.error().code == Code::kInvalidArgument) return {};  // a cycle of links: no file is there
  if (!resolved) return fail(std::move(resolved).error());
  hold_links(*resolved, why);
  // One name must not protect a whole writable root.
  const auto is_above = [&](const std::string& root) { return is_within(root, resolved->path); };
  if (std::ranges::any_of(roots_, is_above)) return {};
  TRY(add_other_names(*resolved, why, found));
  if (judge_at(resolved->path).view != View::kReadWrite) return {};
  found.push_back(
      {.verb = Verb::kDenyWrite, .origin = Origin::kMandatory, .path = resolved->path, .text = path, .where = why});
  return {};
}

// The trees that can be written, and where people's own files lie in them: those are searched from there as well.
std::vector<std::string> PathStudy::writable_roots() const {
  std::set<std::string> roots;
  for (const Rule& rule : rules_) {
    // What a repository holds that comes along has rules of its own, and is too large to be searched.
    if (rule.verb != Verb::kAllowWrite || rule.origin == Origin::kRepository) continue;
    roots.insert(rule.path);
    for (const std::string& inner : {facts_.home, question_.project}) {
      if (is_within(inner, rule.path)) roots.insert(inner);
    }
  }
  std::erase_if(roots, [&](const std::string& root) { return judge_at(root).view != View::kReadWrite; });
  return {roots.begin(), roots.end()};
}

Status PathStudy::look_at_root() {
  TRY(looker_.look(facts_.home));
  TRY(looker_.resolve(question_.project, FinalLink::kFollow));
  for (const std::string& path : question_.also) TRY(looker_.resolve(path, FinalLink::kFollow));
  TRY(looker_.look("/sys/devices/system"));
  return {};
}

// Where hutch's own directories could be made by a sandbox, it could write the next one's policy.
std::vector<std::string> PathStudy::missing_store() const {
  std::vector<std::string> missing;
  for (const Rule& rule : rules_) {
    const bool store = rule.origin == Origin::kStore && rule.verb == Verb::kDenyRead;
    const plan::SeenPath seen = looker_.seen(rule.path);
    if (store && seen.type == FileType::kAbsent && judge_at(parent_of(rule.path)).view == View::kReadWrite) {
      missing.push_back(rule.path);
    }
  }
  return missing;
}

void PathStudy::add_notes() {
  note_absent();
  note_links();
  note_patterns();
  const bool later = question_.names == PathQuestion::Names::kAtStart;
  if (later && !writable_roots().empty()) {
    notes_.push_back(
        cat({"writes to .git/hooks, .mcp.json, .bashrc, .vscode and the like are denied only for files that "
             "exist at the start, down to ",
             std::to_string(question_.mandatory_search_depth), " directories deep"}));
  }
}

// A pattern where nothing can be made in the sandbox needs no word, unless somebody hopes to write new files by it.
void PathStudy::note_patterns() {
  std::vector<std::string> names;
  const std::vector<std::string> roots = writable_roots();
  for (const Rule& pattern : patterns_) {
    const bool held = question_.names == PathQuestion::Names::kAlways && pattern.verb == Verb::kDenyWrite;
    if (held) continue;
    std::string start = policy::literal_part(pattern.path);
    if (start.empty()) start = "/";
    const bool inside = judge_at(start).view == View::kReadWrite;
    const bool above = std::ranges::any_of(roots, [&](const std::string& root) { return is_within(root, start); });
    if (inside || above || pattern.verb == Verb::kAllowWrite)
      names.push_back(cat({"\"", printable(pattern.text), "\""}));
  }
  if (names.empty()) return;
  notes_.push_back(cat({"patterns hold only for files that exist at the start: ", join(names, ", ")}));
}

void PathStudy::note_absent() {
  const bool always = question_.names == PathQuestion::Names::kAlways;
  const auto is_absent = [&](const std::string& path) { return looker_.seen(path).type == FileType::kAbsent; };
  const AbsentQuestion about{rules_, facts_.home, is_absent, always ? Denies::kAlways : Denies::kAtStart};
  std::ranges::move(absent_notes(about), std::back_inserter(notes_));
}

void PathStudy::note_links() {
  for (const RuleLink& link : denied_links_) {
    if (judge_at(parent_of(link.at)).view != View::kReadWrite) continue;
    notes_.push_back(cat({link.rule, ": ", printable(link.at),
                          " is a symbolic link; what it points to is denied, the link itself can be replaced"}));
  }
}

policy::Judgement PathStudy::judge_at(std::string_view path) const {
  std::vector<const Rule*> covering;
  for (const Rule& rule : rules_) {
    if (is_within(path, rule.path)) covering.push_back(&rule);
  }
  return policy::judge(covering);
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string("/") : std::string(path.substr(0, slash));
}

}  // namespace

}  // namespace hutch::host
