// The files of the host that a sandbox sees, or changes, beyond what its plan says.
#include "service/questions/host_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "plan/make/hiding.h"
#include "plan/make/widening.h"
#include "policy/glob.h"
#include "policy/path_option.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/net/socket_owner.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

using approval::Kind;

// A command can make names for ever.
constexpr std::size_t kRefusedMax = 4096;
constexpr std::size_t kPathMax = 4096;
// How long "once" holds: a program looks at a file before it opens it.
constexpr std::chrono::seconds kOnce{2};

Kind kind_of(sandbox::FileWanted wanted) { return wanted == sandbox::FileWanted::kLook ? Kind::kRead : Kind::kWrite; }

bool is_plain_path(std::string_view path) {
  if (!path.starts_with('/') || path.size() > kPathMax || path == "/") return false;
  const auto components = split(path.substr(1), '/');
  return std::ranges::none_of(components,
                              [](std::string_view one) { return one.empty() || one == "." || one == ".."; });
}

std::string host_parent(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

// What is at a path of the host, links followed: a file or a directory, the others are nobody's to grant.
std::optional<plan::SeenPath> look_at_host(const std::string& path) {
  const auto file = sys::resolve(AT_FDCWD, path, sys::LastLink::kFollow, RESOLVE_NO_MAGICLINKS);
  const auto proc = sys::open("/proc", sys::Open::kPath);
  if (!file || !proc) return std::nullopt;
  const auto what = sys::look_at(file->get());
  auto canonical = sys::path_of(proc->get(), file->get());
  if (!what || !canonical || !is_plain_path(*canonical)) return std::nullopt;
  const bool directory = S_ISDIR(what->mode);
  if (!directory && !S_ISREG(what->mode)) return std::nullopt;
  return plan::SeenPath{.path = std::move(*canonical),
                        .type = directory ? plan::FileType::kDirectory : plan::FileType::kFile,
                        .identity = {what->device, what->inode}};
}

std::string file_remedy(Kind kind, const std::string& path, sandbox::AllowedBy by) {
  const bool reads = kind == Kind::kRead;
  const std::string allows = by == sandbox::AllowedBy::kOption
                                 ? policy::path_option(reads ? "--allow-read" : "--allow-write", path)
                                 : policy::path_setting(reads ? "filesystem.allowRead" : "filesystem.allowWrite", path);
  return cat({allows, " allows it"});
}

}  // namespace

HostFiles::HostFiles(const Settings& settings)
    : facts_(settings.facts),
      policy_(settings.prepared.policy),
      plan_(settings.prepared.plan),
      rules_at_start_(settings.prepared.rules),
      paths_at_start_(settings.prepared.paths),
      look_(settings.look),
      rules_(settings.prepared.rules),
      paths_(settings.prepared.paths),
      names_(settings.prepared.plan.names),
      asks_(settings.prepared.policy.asks),
      questions_(settings.questions),
      allowed_by_(settings.allowed_by),
      self_(std::make_shared<HostFiles*>(this)) {}

HostFiles::~HostFiles() { *self_ = nullptr; }

sandbox::FileJudge HostFiles::judge() {
  return {.judge = [this](const sandbox::FileRequest& request,
                          const sandbox::SettleFile& settle) { this->settle(request, settle); },
          .begins = [this](sandbox::FileHold hold) { begin(std::move(hold)); },
          .command_begins = [this] { refused_.clear(); }};
}

// Rules may have changed while the supervisor, which knows those of the plan, was starting.
void HostFiles::begin(sandbox::FileHold hold) {
  hold_ = std::move(hold);
  if (names_ == plan_.names) return;
  (void)refuse();
  (void)hide();
}

void HostFiles::settle(const sandbox::FileRequest& request, const sandbox::SettleFile& settle) {
  const std::optional<Target> target = find(request);
  if (!target) return settle({});
  const std::string& path = target->path;
  FileOutcome judged = look_at_rules(request.wanted, path);
  if (judged.allowed || granted(path, request.wanted, judged) != nullptr) {
    return settle({.grant = open(request, *target), .refusal = {}});
  }
  const bool asks = questions_ != nullptr && questions_->may_allow();
  const bool known = refused_.contains({path, request.wanted});
  if (judged.never || !asks || known || !is_up_to_the_user(*target, request.wanted)) return settle({});
  if (!grant(request, *target, judged.question.visibility)) return settle({});
  const sys::SocketOwner process = sys::describe_process(static_cast<pid_t>(request.pid));
  judged.question.process = {request.pid, process.program, process.chain};
  questions_->ask(judged.question, [self = self_, request, target = *target, visibility = judged.question.visibility,
                                    settle](const approval::Effect& effect) {
    settle(*self != nullptr ? (**self).answer(request, target, visibility, effect) : sandbox::FileAnswer());
  });
}

sandbox::FileAnswer HostFiles::answer(const sandbox::FileRequest& request, const Target& target,
                                      approval::Visibility visibility, const approval::Effect& effect) {
  take(target.path, request.wanted, effect);
  if (!effect.allowed) {
    const bool reads = request.wanted == Wanted::kLook;
    return {.grant = {},
            .refusal = sandbox::Refusal{.what = cat({reads ? "reading " : "writing ", printable(target.path, 256),
                                                     " was refused: the answer was no; ",
                                                     file_remedy(kind_of(request.wanted), target.path, allowed_by_)}),
                                        .rule = "default",
                                        .pid = request.pid}};
  }
  // Rules may have come while somebody thought.
  if (!look_again()) return {};
  const FileOutcome judged = look_at_rules(request.wanted, target.path);
  if (judged.never) return {};
  auto opened = grant(request, target, visibility);
  if (opened && !effect.grant) opened->until = Clock::now() + kOnce;
  const auto* held = granted(target.path, request.wanted, judged);
  if (opened && held != nullptr) opened->until = held->second.until;
  tell_change(request.wanted, target.path);
  return {.grant = std::move(opened), .refusal = {}};
}

// By a rule, or by an answer that was given before. What a rule opens is opened whole: a program that goes through a
// directory would have a mount made for each file.
std::optional<sandbox::FileGrant> HostFiles::open(const sandbox::FileRequest& request, const Target& target) {
  if (!look_again()) return std::nullopt;
  const FileOutcome judged = look_at_rules(request.wanted, target.path);
  const auto* before = granted(target.path, request.wanted, judged);
  if (!judged.allowed) {
    if (before == nullptr) return std::nullopt;
    tell_change(request.wanted, before->first);
    auto opened = place_of(request, target, judged.question.visibility, before->first);
    if (opened) opened->until = before->second.until;
    return opened;
  }
  if (request.path == target.path && was_open(request.wanted, target, judged)) return std::nullopt;
  tell_change(request.wanted, judged.opened_at.empty() ? target.path : judged.opened_at);
  auto opened = place_of(request, target, judged.question.visibility, judged.opened_at);
  if (opened && opened->shown) opened_.insert({opened->shown->steps.front().target, Wanted::kLook});
  if (opened && opened->changed) opened_.insert({opened->changed->only, Wanted::kChange});
  return opened;
}

void HostFiles::tell_change(Wanted wanted, const std::string& root) {
  if (wanted == Wanted::kChange && before_change_ && told_of_change_.insert(root).second) before_change_(root);
}

// The whole of what was opened at `root`, where it can be shown whole: nothing is mounted below what is shown by then.
std::optional<sandbox::FileGrant> HostFiles::place_of(const sandbox::FileRequest& request, const Target& target,
                                                      approval::Visibility visibility, const std::string& root) const {
  const bool looks = request.wanted == Wanted::kLook && request.path == target.path && !root.empty();
  const auto place = looks ? look_at_host(root) : std::nullopt;
  if (!place || place->path != root) return grant(request, target, visibility);
  auto all = grant({.id = request.id, .pid = request.pid, .path = root, .wanted = request.wanted},
                   {root, *place, host_parent(root)}, visibility);
  return all ? std::move(all) : grant(request, target, visibility);
}

// What a plan opened, as far as it was there, is in the sandbox already; what is closed in it all the same stays so.
bool HostFiles::was_open(Wanted wanted, const Target& target, const FileOutcome& judged) const {
  const FileOutcome before = judge_file({rules_at_start_, asks_, &names_}, kind_of(wanted), target.path);
  if (!before.allowed || before.opened_at != judged.opened_at) return false;
  const plan::SeenPath* place = paths_at_start_.find(before.opened_at);
  return place != nullptr && place->type != plan::FileType::kAbsent;
}

// A rule that came since holds for what is opened from here on, and so does a file that is at the path of a rule only
// now. Where that cannot be known nothing is opened.
bool HostFiles::look_again() {
  auto now = look_();
  if (now) (void)take(std::move(*now));
  if (!now && hold_.tell) {
    hold_.tell({.what = cat({"no more of the host's files is opened: ", now.error().message}),
                .rule = "policy",
                .weight = sandbox::Refusal::Weight::kAlways});
  }
  return now.has_value();
}

// Every change of a supervised file is a word of the supervisor's: a rule that came since is one more name there.
Status HostFiles::take(FilesNow now) {
  rules_ = std::move(now.found.rules);
  paths_ = std::move(now.found.facts);
  now.names.own = plan_.names.own;  // mounts that do not change
  now.names.worked = plan_.names.worked;
  for (const policy::Rule& rule : rules_at_start_) close(rule, now.names.rules);
  std::ranges::move(plan::hidden_names(rules_, rules_at_start_), std::back_inserter(now.names.rules));
  // A repository that was the sandbox's may be another one by now, of the same name: the supervisor looks.
  if (now.names == names_ && names_.configs == plan_.names.configs) return {};
  names_ = std::move(now.names);
  return refuse();
}

Status HostFiles::refuse() const {
  if (!hold_.refuse) return {};
  wire::Names told{names_, plan_.hidden};
  for (const auto& [path, held] : hidden_) told.hidden.push_back(path);
  return hold_.refuse(told);
}

// The names are held by now: what is found at a path stays there, as far as the sandbox is concerned.
Status HostFiles::hide() {
  if (!hold_.cover) return {};
  const std::vector<plan::Hiding> wanted = plan::plan_hiding(input(), rules_at_start_);
  const std::size_t before = hidden_.size();
  Status covered = cover(wanted);
  Status shown = uncover(wanted);
  if (hidden_.size() != before || !wanted.empty()) TRY(refuse());
  return covered ? std::move(shown) : std::move(covered);
}

Status HostFiles::cover(const std::vector<plan::Hiding>& wanted) {
  // Of one call: each takes some milliseconds, and the sandbox's questions wait meanwhile.
  static constexpr std::size_t kTogetherMax = 64;
  std::vector<plan::Hiding> missing;
  for (const plan::Hiding& hiding : wanted) {
    const auto held = hidden_.find(hiding.path);
    if (held == hidden_.end() || held->second.steps != hiding.steps) missing.push_back(hiding);
  }
  Status all;
  for (std::size_t first = 0; first < missing.size(); first += kTogetherMax) {
    const auto some = std::span(missing).subspan(first, std::min(kTogetherMax, missing.size() - first));
    const auto covered = hold_.cover({some.begin(), some.end()});
    for (std::size_t i = 0; i < some.size(); ++i) {
      std::string error = covered ? covered->places[i].error : covered.error().message;
      Hidden& held = hidden_[some[i].path];
      if (covered) std::ranges::copy(covered->places[i].mounts, std::back_inserter(held.mounts));
      // What failed is tried again with the next change.
      if (error.empty()) held.steps = some[i].steps;
      const std::string copied = plan::copied_below(plan_, some[i].path);
      if (error.empty() && !copied.empty()) error = cat({"the sandbox has a copy of ", printable(copied, 256)});
      if (error.empty()) continue;
      tell_visible(some[i].path, error);
      all = fail(Error{Code::kConflict, 0, cat({printable(some[i].path, 256), " can still be read: ", error})});
    }
  }
  return all;
}

// What a rule that has gone hid. One with something in it that is to be hidden by itself, and has no cover of its own,
// stays as it is until the sandbox ends.
Status HostFiles::uncover(const std::vector<plan::Hiding>& wanted) {
  const auto stays = [&](const std::string& path) {
    return std::ranges::any_of(wanted, [&](const plan::Hiding& hiding) {
      const auto own = hidden_.find(hiding.path);
      const bool bare = own == hidden_.end() || own->second.mounts.empty();
      return hiding.path == path || (bare && is_within(hiding.path, path));
    });
  };
  Status all;
  for (auto held = hidden_.begin(); held != hidden_.end();) {
    if (stays(held->first)) {
      ++held;
      continue;
    }
    std::vector<std::uint64_t> mounts = held->second.mounts;
    std::ranges::reverse(mounts);
    Status shown = mounts.empty() ? Status() : hold_.uncover(mounts);
    if (!shown) all = std::move(shown);
    held = hidden_.erase(held);
  }
  return all;
}

void HostFiles::tell_visible(const std::string& path, const std::string& why) const {
  if (!hold_.tell) return;
  hold_.tell({.what = cat({printable(path, 256), " is to be hidden, and what runs can still read it: ", why,
                           "; end it, and start it again"}),
              .rule = look_at_rules(Wanted::kLook, path).question.rule,
              .weight = sandbox::Refusal::Weight::kAlways});
}

// What a rule let be changed at the start, and none does any more.
void HostFiles::close(const policy::Rule& before, std::vector<plan::NameRule>& names) const {
  const auto allowed = [&](const std::vector<policy::Rule>& rules) {
    return judge_file({rules, asks_}, Kind::kWrite, before.path).allowed;
  };
  const bool names_it = before.verb == policy::Verb::kAllowWrite && before.match == policy::Match::kLiteral;
  if (!names_it || !allowed(rules_at_start_) || allowed(rules_)) return;
  plan::NameRule closed{policy::escape_wildcards(before.path), "default", {}, {}};
  for (const policy::Rule& rule : rules_) {
    if (rule.verb == policy::Verb::kAllowWrite && is_within(rule.path, before.path)) closed.lifted.push_back(rule.path);
  }
  names.push_back(std::move(closed));
}

// A name that is not there can be made, in a directory that is.
std::optional<HostFiles::Target> HostFiles::find(const sandbox::FileRequest& request) const {
  // What cannot be shown exactly cannot be answered for.
  if (!is_plain_path(request.path) || !is_utf8(request.path)) return std::nullopt;
  if (!plan::is_of_host(plan_, request.path)) return std::nullopt;
  if (auto seen = look_at_host(request.path)) {
    if (!plan::is_of_host(plan_, seen->path)) return std::nullopt;
    std::string path = seen->path;
    std::string parent = host_parent(path);
    return Target{std::move(path), std::move(*seen), std::move(parent)};
  }
  if (request.wanted == Wanted::kLook) return std::nullopt;
  const auto above = look_at_host(host_parent(request.path));
  if (!above || above->type != plan::FileType::kDirectory) return std::nullopt;
  std::string path = cat({above->path, request.path.substr(request.path.rfind('/'))});
  if (!plan::is_of_host(plan_, path)) return std::nullopt;
  const auto there = sys::status_of(path);
  // A link that leads nowhere, or what cannot be looked at.
  if (!there || there->has_value()) return std::nullopt;
  return Target{path, {.path = path}, above->path};
}

FileOutcome HostFiles::look_at_rules(Wanted wanted, const std::string& path) const {
  return judge_file({rules_, asks_, &names_}, kind_of(wanted), path);
}

// What the file's own mode forbids stays forbidden, and is no question.
bool HostFiles::is_up_to_the_user(const Target& target, Wanted wanted) const {
  const bool is_there = target.seen.type != plan::FileType::kAbsent;
  const std::string& subject = is_there ? target.path : target.parent;
  return mode_allows(facts_, subject, kind_of(wanted)).value_or(false);
}

// What was granted is not what a rule closes below it.
const HostFiles::Grants::value_type* HostFiles::granted(const std::string& path, Wanted wanted,
                                                        const FileOutcome& judged) {
  std::erase_if(granted_, [](const auto& one) { return one.second.until && Clock::now() >= *one.second.until; });
  if (judged.never) return nullptr;
  const auto holds = [&](const Grants::value_type& one) {
    const bool above =
        is_within(path, one.first) && (judged.closed_at.empty() || is_within(one.first, judged.closed_at));
    return above && (one.second.wanted == wanted || one.second.wanted == Wanted::kChange);
  };
  const auto found = std::ranges::find_if(granted_, holds);
  return found == granted_.end() ? nullptr : &*found;
}

void HostFiles::take(const std::string& path, Wanted wanted, const approval::Effect& effect) {
  if (!effect.allowed && refused_.size() < kRefusedMax) refused_.insert({path, wanted});
  if (!effect.allowed || !effect.grant) return;
  Granted held{.wanted = wanted, .until = {}, .saved = effect.save.has_value()};
  if (effect.grant->span == approval::Answer::kMinutes) held.until = Clock::now() + effect.grant->minutes;
  granted_.insert_or_assign(path, held);
}

// Nothing where it cannot be opened: a new file in a directory that is hidden itself, another name of a place in which
// something stays closed (covers lie at the place's own path), or for changes a directory in which a rule closes
// something, and whatever the host's links alone lead to: the supervisor changes a file at its own path.
std::optional<sandbox::FileGrant> HostFiles::grant(const sandbox::FileRequest& request, const Target& target,
                                                   approval::Visibility visibility) const {
  const bool is_there = target.seen.type != plan::FileType::kAbsent;
  const bool hidden = visibility == approval::Visibility::kHidden;
  sandbox::FileGrant grant;
  if (request.wanted == Wanted::kLook || (hidden && is_there)) {
    grant.shown = whole(target.seen, plan::Access::kReadOnly);
    if (!grant.shown) return std::nullopt;
    grant.shown->at = request.path;
  }
  if (request.wanted == Wanted::kLook) return grant;
  if (request.path != target.path) return std::nullopt;
  const auto shows = [&](const auto& one) { return is_within(target.parent, one.first); };
  const bool in_sight = is_passed_through(plan_, target.parent) || std::ranges::any_of(granted_, shows);
  if (hidden && !is_there && !in_sight) return std::nullopt;
  // A mount over what a rule closes holds its name, and those above it, in its own mount namespace alone
  // (rename(2), EBUSY): the supervisor's clone is another one, where the directory above could be moved away from
  // under the rule.
  if (is_divided(rules_, plan_, target.path)) return std::nullopt;
  if (target.seen.type == plan::FileType::kDirectory) {
    auto in = whole(target.seen, plan::Access::kReadWrite);
    if (!in) return std::nullopt;
    grant.changed = {std::move(*in), target.path};
    return grant;
  }
  const auto parent = look_at_host(target.parent);
  if (!parent || parent->path != target.parent) return std::nullopt;
  grant.changed = {widening(*parent, plan::Access::kReadWrite), target.path};
  // The rule that hides it is what was answered for.
  std::erase_if(grant.changed->in.steps, [&](const plan::MountStep& step) { return step.target == target.path; });
  return grant;
}

// The place with all that is below it. What stays closed in it, or is in the sandbox already, would have to be mounted
// over it a moment later, and to be mounted again when it ends: such a place is not opened as a whole.
std::optional<plan::Widening> HostFiles::whole(const plan::SeenPath& seen, plan::Access access) const {
  if (is_divided(rules_, plan_, seen.path)) return std::nullopt;
  plan::Widening all = widening(seen, access);
  // What rules open below is open with it.
  const auto opens = [&](const plan::MountStep& step) {
    return step.kind == plan::MountKind::kBind && step.access >= access;
  };
  if (!std::ranges::all_of(all.steps, opens)) return std::nullopt;
  all.steps.resize(1);
  return all;
}

plan::Widening HostFiles::widening(const plan::SeenPath& seen, plan::Access access) const {
  return plan::plan_widening(input(), plan_, seen, access);
}

plan::PlanInput HostFiles::input() const {
  return {.policy = policy_,
          .rules = rules_,
          .facts = facts_,
          .paths = paths_,
          .project = plan_.project,
          .cwd = plan_.cwd,
          .limits = plan_.limits,
          .caller_environment = {},
          .environment = {}};
}

// Twice: a sandbox may move what is looked for until its supervisor holds the names.
Status HostFiles::replace(FilesNow now, const policy::Asks& asks) {
  asks_ = asks;
  const bool hides = !plan::hidden_names(now.found.rules, rules_at_start_).empty();
  Status held = take(std::move(now));
  if (hides) {
    auto again = look_();
    if (again && held) held = take(std::move(*again));
    if (!again) held = fail(std::move(again).error());
  }
  refused_.clear();
  std::vector<std::string> gone;
  for (const auto& [path, granted] : granted_) {
    const bool taken_back = granted.saved && !look_at_rules(granted.wanted, path).allowed;
    if (taken_back || is_divided(rules_, plan_, path)) gone.push_back(path);
  }
  for (const std::string& path : gone) (void)revoke(path);
  // What answers opened below it is shown again once somebody looks.
  std::erase_if(opened_, [&](const auto& one) {
    const auto& [path, wanted] = one;
    const bool stays = look_at_rules(wanted, path).allowed && !is_divided(rules_, plan_, path);
    if (!stays && hold_.narrow) (void)hold_.narrow(path);
    return !stays;
  });
  Status hidden = hide();
  return held ? std::move(hidden) : std::move(held);
}

FileOutcome HostFiles::outcome(approval::Kind kind, const std::string& path) const {
  return look_at_rules(kind == Kind::kRead ? Wanted::kLook : Wanted::kChange, path);
}

std::size_t HostFiles::revoke(const std::string& path) {
  const std::size_t taken = std::erase_if(granted_, [&](const auto& one) { return is_within(one.first, path); });
  std::erase_if(opened_, [&](const auto& one) { return is_within(one.first, path); });
  refused_.clear();
  if (hold_.narrow) (void)hold_.narrow(path);
  return taken;
}

}  // namespace hutch::service
