// The supervisor of a sandbox's file changes and sockets, as the host keeps it.
#include "sandbox/run/access.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "plan/git/files.h"
#include "plan/paths/names.h"
#include "policy/defaults.h"
#include "policy/obeyed/obeyed.h"
#include "policy/path_option.h"
#include "sys/channel.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/turn.h"

namespace hutch::sandbox {

namespace {

// Where hutch-guest --access finds its things; behind them the roots of the mounts, and the sources that are held.
constexpr int kStreamFd = 0;
constexpr int kFirstFd = 3;
enum Descriptor { kListener, kTree, kUser, kMounts, kDescriptors };

// What stays closed in a tree for changes.
std::vector<std::string> closed_in(const plan::Widening& widening) {
  using enum plan::MountKind;
  std::vector<std::string> closed;
  for (const plan::MountStep& step : std::span(widening.steps).subspan(1)) {
    const bool is_cover = step.kind == kHideFile || step.kind == kTmpfs || step.kind == kBind;
    if (is_cover && step.make == plan::MakeTarget::kNothing) closed.push_back(step.target);
  }
  return closed;
}

// The list entry that decided; null if another built-in rule refused the file because of its content.
const policy::ObeyedFile* obeyed_of(const wire::Refused& refused) {
  if (!refused.rule.starts_with("built in")) return nullptr;
  const std::vector<policy::ObeyedAt> found = policy::obeyed_at(refused.path);
  const auto decided = [&](const policy::ObeyedAt& at) {
    return refused.rule == cat({"built in \"", at.file->name, "\""});
  };
  const auto exact = std::ranges::find_if(found, decided);
  if (exact != found.end()) return exact->file;
  return found.empty() ? nullptr : found.front().file;
}

// git first writes its configuration to config.lock.
std::string_view without_lock(std::string_view path) {
  static constexpr std::string_view kLock = ".lock";
  return path.ends_with(kLock) ? path.substr(0, path.size() - kLock.size()) : path;
}

bool is_git_config(std::string_view locked_path) {
  const std::string_view path = without_lock(locked_path);
  return path.contains("/.git/") && (path.ends_with("/config") || path.ends_with("/config.worktree"));
}

// The setting of git's configuration that must not change; empty if the file must not be written at all.
std::string_view setting_of(const wire::Refused& refused) {
  const std::string_view rule = refused.rule;
  return rule.starts_with(policy::kKeptGitConfig)
             ? rule.substr(std::min(policy::kKeptGitConfig.size() + 2, rule.size()))
             : std::string_view();
}

std::string allows(std::string_view path, AllowedBy by) {
  return cat({"; ",
              by == AllowedBy::kOption ? policy::path_option("--allow-write", path)
                                       : policy::path_setting("filesystem.allowWrite", path),
              " allows it"});
}

// What obeys the file, and what allows to write it.
std::string obeyed_remedy(const wire::Refused& refused, const policy::ObeyedFile& file, AllowedBy by) {
  const std::string_view by_git =
      refused.before == wire::Refused::kByGit
          ? ", `hutch settings set security.gitBringsCommitted true` lets git bring in what your commits have"
          : "";
  return cat({file.reader, " ", file.reason, allows(refused.path, by), ", filesystem.allowObeyed [\"", file.name,
              "\"] allows the name", by_git});
}

// git's index has the content, and a command of the user's takes it from there.
std::string by_hand(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return cat({"; outside, `git -C ", shell_word(path.substr(0, slash)), " restore ", shell_word(path.substr(slash + 1)),
              "` brings it"});
}

// git succeeds although the file is not as it should be.
Refusal replaced_of(const wire::Refused& refused, AllowedBy by) {
  const bool kept = refused.call == wire::RefusedCall::kKept;
  const policy::ObeyedFile* file = obeyed_of(refused);
  const std::string what = kept ? " was not removed: no commit of yours is without it"
                                : cat({" was not written: git brings in only what your commits have, and only with "
                                       "security.gitBringsCommitted",
                                       by_hand(refused.path)});
  return {.what = cat({printable(refused.path), what, file != nullptr ? "; " : "",
                       file != nullptr ? obeyed_remedy(refused, *file, by) : std::string()}),
          .rule = printable(refused.rule),
          .weight = Refusal::Weight::kAlways};
}

std::string remedy_of(const wire::Refused& refused, AllowedBy by) {
  if (refused.rule == plan::kLateTurn) return ": another sandbox did not end its turn; try again";
  if (is_git_config(refused.path)) {
    const std::string_view setting = setting_of(refused);
    return cat({": ", setting.empty() ? "git runs programs that it names" : cat({"it changes ", printable(setting)}),
                allows(without_lock(refused.path), by), ", filesystem.allowGitConfig allows it for each repository"});
  }
  if (refused.rule == policy::kRepositoryOfWorktree) {
    return cat({": other worktrees use it", allows(refused.path, by)});
  }
  // A link, a pipe, a ".git" file that leads elsewhere, or what would make a directory with other things a repository.
  if (refused.rule == plan::git_rule().rule) {
    return cat({": outside, git could run a program or write a file by it", allows(refused.path, by)});
  }
  const policy::ObeyedFile* file = obeyed_of(refused);
  if (file == nullptr) return {};
  return cat({": ", obeyed_remedy(refused, *file, by)});
}

// Among the host's mounts, where a directory shows its name and what is above it. One that has been moved already stays
// absent.
std::vector<UniqueFd> open_sources(std::vector<wire::SupervisedMount>& supervised) {
  std::vector<UniqueFd> sources;
  for (wire::SupervisedMount& mount : supervised) {
    if (mount.source.empty()) continue;
    auto found = sys::open_exact(mount.source);
    const auto what = found ? sys::look_at(found->get()) : Result<sys::Resolved>(sys::Resolved());
    const bool is_known = mount.identity != plan::Identity{};
    if (!found || !what || (is_known && mount.identity != plan::Identity{what->device, what->inode})) continue;
    mount.descriptor = wire::SupervisedMount::Descriptor::kHeld;
    sources.push_back(std::move(*found));
  }
  return sources;
}

// The sandbox starts all the same: by itself it makes nothing that its own supervisor would not see.
Refusal without_turns(const Error& error) {
  return {.what = cat({"another sandbox that writes the same repository at the same time could make git run something: "
                       "the two take no turns: ",
                       error.message}),
          .rule = "built in",
          .weight = Refusal::Weight::kAlways};
}

Result<UniqueFd> open_private(const std::string& directory) {
  TRY(sys::make_private_directories(directory));
  return sys::open_listing(directory);
}

Result<UniqueFd> open_turns_in(const std::string& data) {
  TRY(sys::make_private_directories(data));
  return sys::open_turns(cat({data, "/turns"}));
}

Refusal instructions_of(const wire::Refused& refused) {
  using enum wire::Refused::Before;
  const policy::ObeyedFile* file = obeyed_of(refused);
  std::string_view reader = file != nullptr ? file->reader : "a coding agent";
  std::string_view reason = file != nullptr ? file->reason : "reads it as instructions";
  if (refused.rule == policy::kKeptGitConfig) {
    reader = "git";
    reason = "uses the name and the addresses in it";
  }
  Refusal told{.what = cat({printable(refused.path), " was changed: ", reader, " ", reason}),
               .rule = printable(refused.rule),
               .about = Refusal::About::kInstructions,
               .file = refused.path,
               .weight = Refusal::Weight::kAlways};
  if (refused.was != kUnknown) told.before = refused.before;
  return told;
}

// How it is told to a person.
Refusal refusal_of(const wire::Refused& refused, AllowedBy by) {
  switch (refused.call) {
    case wire::RefusedCall::kFileChange:
      return {.what = cat({"writing ", printable(refused.path), " was refused", remedy_of(refused, by)}),
              .rule = printable(refused.rule),
              // git push -u and git branch -u succeed without the setting.
              .weight = is_git_config(refused.path) ? Refusal::Weight::kAlways : Refusal::Weight::kOfFailure};
    case wire::RefusedCall::kInstructs: return instructions_of(refused);
    case wire::RefusedCall::kGivesRights:
      return {.what = cat({printable(refused.path),
                           " has a set-user-ID or set-group-ID bit: it gives its owner's or "
                           "group's rights to whoever runs it"}),
              .rule = "built in",
              .about = Refusal::About::kRights,
              .file = refused.path,
              .weight = Refusal::Weight::kAlways};
    case wire::RefusedCall::kHeldBack:
    case wire::RefusedCall::kKept: return replaced_of(refused, by);
    case wire::RefusedCall::kSetAside:
      return {
          .what = cat({printable(refused.path), " had a content of yours that no branch or tag of yours has; it is ",
                       "kept as quarantine/", printable(refused.rule), " in hutch's data directory"}),
          .rule = "built in",
          .weight = Refusal::Weight::kAlways};
    case wire::RefusedCall::kUnixSocket: break;
  }
  return {.what = "a Unix socket was refused: socket(AF_UNIX) could reach services of the host", .rule = "built in"};
}

}  // namespace

Result<AccessRules> access_rules(const std::string& guest_program, const plan::SandboxPlan& plan,
                                 const std::string& data, plan::CommittedFiles committed) {
  if (plan.supervisor == plan::Supervisor::kNone) return AccessRules();
  AccessRules rules{.guest_program = TRY(sys::open(guest_program, sys::Open::kPath)),
                    .names = plan.names,
                    .questions = plan.questions,
                    .hidden = plan.hidden,
                    .data = data,
                    .committed = committed};
  for (const std::string& target : plan.supervised) {
    const auto is_it = [&](const plan::MountStep& step) {
      return step.kind == plan::MountKind::kBind && step.target == target;
    };
    const auto step = std::ranges::find_if(plan.mounts, is_it);
    wire::SupervisedMount& mount =
        rules.supervised.emplace_back(wire::SupervisedMount{.target = target, .identity = {}});
    if (step == plan.mounts.end()) continue;
    mount.identity = step->identity;
    mount.source = step->source;
  }
  rules.sources = open_sources(rules.supervised);
  return rules;
}

// Nothing that the sandbox does before its first supervised call moves a mount or what is above one.
Result<AccessSupervisor> AccessSupervisor::await(AccessRules rules, std::vector<UniqueFd> descriptors,
                                                 TellGuest tell_guest, BeforeChange before_change) {
  const bool has_roots = descriptors.size() == kDescriptors + rules.supervised.size();
  if ((!has_roots && descriptors.size() != kDescriptors) || !rules.guest_program) {
    return fail(Error::invalid("hutch-guest: a supervisor that nobody asked for"));
  }
  Widener widener(std::move(rules.guest_program), std::move(descriptors[kUser]), std::move(descriptors[kMounts]));
  std::vector<UniqueFd> roots(std::make_move_iterator(descriptors.begin() + kDescriptors),
                              std::make_move_iterator(descriptors.end()));
  AccessSupervisor supervisor({.rules = std::move(rules),
                               .listener = std::move(descriptors[kListener]),
                               .tree = std::move(descriptors[kTree]),
                               .roots = std::move(roots)},
                              std::move(widener), std::move(tell_guest), std::move(before_change));
  if (!has_roots) TRY(supervisor.start());
  return supervisor;
}

// Without it the calls fail: the kernel answers ENOSYS for a listener that is closed (seccomp_unotify(2)).
Status AccessSupervisor::start() {
  Awaited own = std::move(*awaited_);
  awaited_.reset();
  allowed_by_ = own.rules.allowed_by;
  explain_ = std::move(own.rules.explain);
  works_in_ = std::move(own.rules.works_in);
  auto [ours, its] = TRY(sys::socket_pair());
  // An open of its own for each supervisor: the lock belongs to that, and ends with it.
  const auto turns = open_turns_in(own.rules.data);
  if (!turns) told_.refusals.push_back(without_turns(turns.error()));
  std::vector<std::pair<int, int>> install = {{its.get(), kStreamFd},
                                              {own.listener.get(), kFirstFd + kListener},
                                              {own.tree.get(), kFirstFd + kTree},
                                              {widener_.user(), kFirstFd + kUser},
                                              {widener_.mounts(), kFirstFd + kMounts}};
  if (turns) install.emplace_back(turns->get(), kFirstFd + kDescriptors);
  // Without the lists of commits no content of a protected file is known to be the user's, and without the quarantine
  // nothing of theirs is replaced.
  const bool lands = own.rules.committed == plan::CommittedFiles::kLand;
  const auto commits = lands ? open_private(cat({own.rules.data, "/git-commits"})) : Result<UniqueFd>(UniqueFd());
  const auto kept = lands ? open_private(cat({own.rules.data, "/quarantine"})) : Result<UniqueFd>(UniqueFd());
  const bool has_both = lands && commits && kept;
  if (has_both) install.emplace_back(commits->get(), kFirstFd + kDescriptors + 1);
  if (has_both) install.emplace_back(kept->get(), kFirstFd + kDescriptors + 2);
  int next = kFirstFd + kDescriptors + 3;
  for (const UniqueFd& root : own.roots) install.emplace_back(root.get(), next++);
  for (const UniqueFd& source : own.rules.sources) install.emplace_back(source.get(), next++);
  // The last one: the process closes it.
  install.emplace_back(widener_.guest_program(), next);
  std::vector<std::string> arguments = {"hutch-guest", "--access"};
  if (!own.roots.empty()) arguments.emplace_back("--roots");
  if (turns) arguments.emplace_back("--turns");
  if (has_both) arguments.emplace_back("--commits");
  process_ = TRY(sys::spawn(cat({"/proc/self/fd/", std::to_string(next)}),
                            {.arguments = std::move(arguments), .environment = {}, .install = install}));
  wire::Connection connection(std::move(ours));
  TRY(connection.send(
      wire::ToGuest(wire::AccessRules{own.rules.names, own.rules.questions, own.rules.hidden, own.rules.supervised})));
  connection_ = std::move(connection);
  listener_ = std::move(own.listener);
  parked_ = true;
  return {};
}

int AccessSupervisor::fd() const {
  if (awaited_) return awaited_->listener.get();
  return connection_ ? connection_->fd() : -1;
}

Status AccessSupervisor::park() {
  if (!works()) return {};
  Status heeded = have_heeded({wire::Settle{}, wire::Wait{}});
  if (heeded) {
    parked_ = connection_.has_value();
  } else {
    send(wire::ToGuest(wire::GoOn{}), UniqueFd());
  }
  return heeded;
}

void AccessSupervisor::go_on() {
  tell_repositories();
  if (!std::exchange(parked_, false)) return;
  if (before_change_) before_change_();
  send(wire::ToGuest(wire::GoOn{}), UniqueFd());
}

// Where nobody is left who could make one, there is nothing to start.
Status AccessSupervisor::await_call() {
  pollfd called{awaited_->listener.get(), POLLIN, 0};
  TRY(sys::poll({&called, 1}, std::chrono::milliseconds(0)));
  if ((called.revents & POLLIN) != 0) return start();
  if (called.revents != 0) awaited_.reset();
  return {};
}

AccessSupervisor::Heard AccessSupervisor::hear() {
  const Status received = awaited_ ? await_call() : receive();
  if (!received) lose(received.error());
  tell_repositories();
  if (std::exchange(wants_change_, false)) go_on();
  return std::exchange(told_, {});
}

// While it is parked the call that waits is the first change as well.
void AccessSupervisor::tell_repositories() {
  for (const wire::Repository& repository : std::exchange(repositories_, {})) {
    if (works_in_) works_in_(repository);
    using enum wire::Repository::Event;
    const bool waits = repository.event == kFirstChange || repository.event == kMoves || repository.event == kWrites;
    if (!waits) continue;
    wants_change_ = wants_change_ || parked_;
    send(wire::ToGuest(wire::Heard{}), UniqueFd());
  }
}

void AccessSupervisor::lose(const Error& error) {
  static constexpr std::string_view kGone = "files that are supervised cannot be changed any more: ";
  // The kernel answers the calls only once nobody has the listener.
  listener_.reset();
  parked_ = false;
  wants_change_ = false;
  repositories_.clear();
  connection_.reset();
  awaited_.reset();
  told_.refusals.push_back({.what = cat({kGone, error.message}), .rule = ""});
}

void AccessSupervisor::answer(std::uint64_t id, const SocketAnswer& answer) {
  send(wire::ToGuest(wire::SocketAnswered{id, answer.file ? 0 : answer.error}), answer.file);
}

Status AccessSupervisor::answer(std::uint64_t id, const FileAnswer& answer) {
  using enum wire::FileAnswered::Answer;
  wire::FileAnswered told{.id = id, .answer = kNo, .root = {}, .only = {}, .closed = {}};
  Result<UniqueFd> tree = answer.grant ? carry_out(*answer.grant) : Result<UniqueFd>(UniqueFd());
  if (answer.grant && tree) told.answer = answer.grant->changed ? kWritable : kShown;
  if (told.answer == kWritable) {
    told.root = answer.grant->changed->in.steps.front().target;
    told.only = answer.grant->changed->only;
    told.closed = closed_in(answer.grant->changed->in);
  }
  static const UniqueFd kNone;
  send(wire::ToGuest(told), tree ? *tree : kNone);
  return tree ? Status() : fail(std::move(tree).error());
}

// The tree for changes, where there is one. What is shown below the new place by itself goes first: under the new mount
// nothing could reach it, and what its end hides would be found in the new one.
Result<UniqueFd> AccessSupervisor::carry_out(const FileGrant& grant) {
  static constexpr std::size_t kHeldMax = 256;
  if (!grant.changed && prolong(grant)) return UniqueFd();
  if (held_.size() >= kHeldMax) return fail(Error::invalid("too much is allowed already; revoke some of it"));
  UniqueFd tree;
  if (grant.changed) tree = TRY(widener_.hand_over(grant.changed->in));
  if (grant.changed) held_.push_back({.path = grant.changed->only, .until = grant.until});
  if (!grant.shown || prolong(grant)) return tree;
  const plan::Widening& widening = *grant.shown;
  TRY(end([&](const Held& held) { return held.shown_at != widening.at && is_within(held.shown_at, widening.at); }));
  const wire::Widened shown = TRY(widener_.show(widening));
  const bool made = shown.place == wire::Widened::Place::kMade;
  held_.push_back({.path = widening.steps.front().target,
                   .shown_at = widening.at,
                   .mount = shown.mount,
                   .own = made ? widening.own : std::vector<std::string>(),
                   .until = grant.until});
  return tree;
}

// What is shown there already, for as long as this grant says.
bool AccessSupervisor::prolong(const FileGrant& grant) {
  const auto is_it = [&](const Held& held) { return grant.shown && held.shown_at == grant.shown->at; };
  const auto shown = std::ranges::find_if(held_, is_it);
  if (shown != held_.end()) shown->until = grant.until;
  return shown != held_.end();
}

Status AccessSupervisor::narrow(const std::string& path) {
  Status narrowed = end([&](const Held& held) { return is_within(held.path, path); });
  if (awaited_) {
    std::erase_if(awaited_->rules.names.granted, [&](const auto& granted) { return is_within(granted, path); });
  }
  send(wire::ToGuest(wire::FileRevoked{path}), UniqueFd());
  return narrowed;
}

Status AccessSupervisor::refuse(const wire::Names& names) { return have_heeded({names}); }

// Where it has gone nothing is changed by any name.
Status AccessSupervisor::have_heeded(std::initializer_list<wire::ToGuest> messages) {
  const Status started = start_if_awaited();
  if (!started) lose(started.error());
  if (!connection_) return {};
  for (const wire::ToGuest& message : messages) send(message, UniqueFd());
  to_heed_ += static_cast<int>(messages.size());
  const auto until = Clock::now() + limits::kWidenWait;
  while (connection_ && heeded_ != to_heed_) {
    pollfd answered{connection_->fd(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return fail({Code::kTimeout, 0, "the supervisor of its files does not answer"});
    TRY(sys::poll({&answered, 1}, left));
    const Status received = receive();
    if (!received) lose(received.error());
  }
  return {};
}

// Meanwhile the sandbox renames nothing: it could go on for ever with directories of its own that a mount lies in.
Result<wire::Covered> AccessSupervisor::cover(const std::vector<plan::Hiding>& hidings) {
  using enum wire::Covers::Change;
  TRY(announce_covers(kBegins));
  const Status waits = parked_ ? Status() : have_heeded({wire::Wait{}});
  Result<wire::Covered> covered = wire::Covered();
  if (waits) covered = widener_.cover(hidings);
  if (!parked_) send(wire::ToGuest(wire::GoOn{}), UniqueFd());
  if (waits && covered) {
    for (const auto& place : covered->places) std::ranges::copy(place.mounts, std::back_inserter(covers_));
  }
  TRY(announce_covers(kDone));
  TRY(waits);
  return covered;
}

// Those of the plan that lie below one of them are seen again only once it has gone.
Status AccessSupervisor::uncover(const std::vector<std::uint64_t>& mounts) {
  const std::vector<std::uint64_t> before = covers_;
  std::erase_if(covers_, [&](std::uint64_t mount) { return std::ranges::find(mounts, mount) != mounts.end(); });
  TRY(announce_covers(wire::Covers::Change::kBegins));
  Status uncovered = widener_.uncover(mounts);
  if (!uncovered) covers_ = before;
  TRY(announce_covers(wire::Covers::Change::kDone));
  return uncovered;
}

// Whoever joins copies the mounts, and would have what is shown for a time for longer.
Result<JoinedNamespaces> AccessSupervisor::hand_namespaces() const {
  const auto left = time_left();
  if (!left) return JoinedNamespaces{TRY(sys::duplicate(widener_.user())), TRY(sys::duplicate(widener_.mounts())), 0};
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(*left).count();
  return fail({Code::kConflict, 0,
               cat({"files of the host's are shown in the sandbox for a time; nobody joins it until that is over, in ",
                    std::to_string(seconds), " seconds"})});
}

// Before mounts change, and once they have: the guest ends a sandbox whose mounts change by themselves.
Status AccessSupervisor::announce_covers(wire::Covers::Change change) {
  return tell_guest_(wire::ToGuest(wire::Covers{covers_, change}));
}

// The last one first: it may lie in one before it.
Status AccessSupervisor::end(const std::function<bool(const Held& held)>& which) {
  const auto ends = std::ranges::stable_partition(held_, [&](const Held& held) { return !which(held); });
  const std::vector<Held> ended(std::make_move_iterator(ends.begin()), std::make_move_iterator(ends.end()));
  held_.erase(ends.begin(), ends.end());
  Status all;
  for (const Held& held : std::views::reverse(ended)) {
    if (held.shown_at.empty()) continue;
    Status hidden = widener_.uncover({held.mount}, held.own);
    if (!hidden) all = std::move(hidden);
  }
  return all;
}

std::optional<std::chrono::milliseconds> AccessSupervisor::time_left() const {
  std::optional<std::chrono::milliseconds> left;
  const auto now = Clock::now();
  for (const Held& held : held_) {
    if (!held.until) continue;
    const auto its =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(*held.until - now), std::chrono::milliseconds(0));
    left = std::min(left.value_or(its), its);
  }
  return left;
}

std::optional<std::string> AccessSupervisor::over() const {
  const auto now = Clock::now();
  const auto is_over = [&](const Held& held) { return held.until && *held.until <= now; };
  const auto found = std::ranges::find_if(held_, is_over);
  return found == held_.end() ? std::nullopt : std::optional(found->path);
}

// One that has gone is noticed when it is heard. One that is there and does not get a message would wait for it, and
// the call that it holds with it.
void AccessSupervisor::send(const wire::ToGuest& message, const UniqueFd& descriptor) {
  if (!connection_) return;
  const int raw = descriptor.get();
  const Status sent = connection_->send(message, std::span(&raw, descriptor ? 1 : 0));
  if (sent || sent.error().sys_errno == EPIPE || sent.error().sys_errno == ECONNRESET) return;
  lose(sent.error());
}

Status AccessSupervisor::receive() {
  if (!connection_) return {};
  pollfd ready{connection_->fd(), POLLIN, 0};
  TRY(sys::poll({&ready, 1}, std::chrono::milliseconds(0)));
  if (ready.revents == 0) return {};
  auto polled = connection_->receive_ready();
  // It went while there was something that it had not read.
  if (!polled && polled.error().sys_errno == ECONNRESET) polled = wire::Connection::Polled{true, std::nullopt};
  if (!polled) return fail(std::move(polled).error());
  for (; polled->frame; polled->frame = TRY(connection_->take_buffered())) {
    wire::ToHost message = TRY(wire::decode_to_host(polled->frame->header, polled->frame->body));
    TRY(take(std::move(message)));
  }
  if (!polled->closed) return {};
  connection_.reset();
  listener_.reset();
  parked_ = false;
  // It goes by itself when nobody is left whose calls could come.
  const sys::WaitStatus status = TRY(process_.wait());
  if (!status.exited() || status.exit_code() != 0) return fail(Error{Code::kSystem, 0, "their supervisor was killed"});
  return {};
}

Status AccessSupervisor::take(wire::ToHost message) {
  if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
  if (const auto* refused = std::get_if<wire::Refused>(&message)) {
    Refusal& told = told_.refusals.emplace_back(refusal_of(*refused, allowed_by_));
    const bool lacks_reason =
        refused->call == wire::RefusedCall::kFileChange && remedy_of(*refused, allowed_by_).empty();
    if (lacks_reason && explain_) explain_(told, refused->path);
  } else if (auto* asked = std::get_if<wire::SocketAsked>(&message)) {
    told_.requests.push_back({asked->id, asked->pid, std::move(asked->path), asked->error});
  } else if (auto* about = std::get_if<wire::FileAsked>(&message)) {
    told_.files.push_back({about->id, about->pid, std::move(about->path), about->wanted});
  } else if (std::holds_alternative<wire::Heeded>(message)) {
    ++heeded_;
    // A Changes from before the Wait is stale: the supervisor has answered that call.
    if (!parked_) wants_change_ = false;
  } else if (std::holds_alternative<wire::Changes>(message)) {
    wants_change_ = true;
  } else if (auto* repository = std::get_if<wire::Repository>(&message)) {
    repositories_.push_back(std::move(*repository));
  } else {
    return fail(Error::invalid("hutch-guest: unexpected message of a supervisor"));
  }
  return {};
}

Result<Refusal> refusal_of_guest(const wire::Refused& refused) {
  if (refused.call == wire::RefusedCall::kUnixSocket) return refusal_of(refused, AllowedBy::kOption);
  return fail(Error::invalid("hutch-guest: a refusal about a file, which its supervisor tells of"));
}

}  // namespace hutch::sandbox
