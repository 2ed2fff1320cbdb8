// The access supervisor.
#include "guest/calls/access.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/text.h"
#include "guest/calls/calls.h"
#include "guest/calls/enter.h"
#include "guest/calls/judged_files.h"
#include "guest/calls/questions.h"
#include "guest/calls/replaced_files.h"
#include "guest/calls/sockets.h"
#include "guest/calls/turns.h"
#include "guest/git/configs.h"
#include "guest/places/access_arguments.h"
#include "guest/places/access_place.h"
#include "guest/places/kept_places.h"
#include "plan/paths/names.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/umask.h"
#include "sys/io.h"
#include "sys/notify.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "wire/connection.h"

namespace hutch::guest {

namespace {

// In the order of wire::Supervise; what enter_sandbox() takes is between.
constexpr int kListenerFd = 3;
constexpr int kTurnsFd = 7;
constexpr int kCommitsFd = 8;
constexpr int kQuarantineFd = 9;

// A workload could go on for ever with names of its own.
constexpr std::size_t kToldMax = 1000;
// A report also carries the text before the change, so there are fewer.
constexpr std::size_t kInstructionsMax = 64;

class AccessServer {
 public:
  AccessServer(wire::Connection& host, wire::AccessRules rules, Places places, UniqueFd turns, ReplacedFiles replaced)
      : host_(host),
        names_(std::move(rules.names)),
        places_(std::move(places)),
        turns_(std::move(turns)),
        replaced_(std::move(replaced)),
        listener_(kListenerFd),
        questions_(places_, {.listener = kListenerFd,
                             .questions = rules.questions,
                             .hidden = std::move(rules.hidden),
                             .ask = [this](const wire::FileAsked& asked) { return host_.send(wire::ToHost(asked)); }}),
        sockets_(places_, umasks_,
                 {.listener = kListenerFd,
                  .names = names_,
                  .turns = turns_,
                  .ask = [this](const wire::SocketAsked& asked) { return host_.send(wire::ToHost(asked)); },
                  .refused = [this](const AccessCall& call, const std::string& path,
                                    const plan::NameRule& rule) { tell(call.raw.pid, path, rule); }}) {
    for (const plan::RepositoryIdentity& made : names_.made) repositories_.add(made);
    worked_.know(names_.worked);
  }

  Status run();

 private:
  Status answer_next();
  Status answer_one(const sys::Notification& call);
  Result<bool> hear_host();  // false at its end
  Result<bool> rest();  // likewise
  bool is_let_through(const sys::Notification& raw);
  Status answer(const sys::Notification& call);
  Status hear(const wire::ToGuest& message);
  Status resume();
  void take_names(const plan::GuardedNames& names);
  Status take_answer(const wire::FileAnswered& answered);
  Status look(const AccessQuestions::Waiting& asking);
  Status change(const AccessQuestions::Waiting& asking);
  Status finish(const AccessCall& call, Result<CallAnswer> answered);
  void tell(std::uint32_t caller, const std::string& path, const plan::NameRule& rule);
  void tell_kept(const AccessCall& call);
  void tell_rights(const AccessCall& call, const std::string& path);
  void tell_instructions(std::uint32_t caller, const std::string& path, const plan::NameRule& rule);
  void tell_replaced(ReplacedFiles::Event event, std::uint32_t caller, const std::string& path,
                     const plan::NameRule& rule);
  void keep_landed(const std::string& path);
  void keep_linked(const std::string& path, const plan::NameRule& rule);
  Status send_told();
  Status land();
  Status settle();

  wire::Connection& host_;
  plan::GuardedNames names_;
  const std::vector<std::string> configs_at_start_ = names_.configs;
  Places places_;
  Turns turns_;
  Umasks umasks_;
  JudgedFiles judged_;
  GitConfigs configs_;
  MadeRepositories repositories_;
  WorkedRepositories worked_;
  ReplacedFiles replaced_;
  UniqueFd listener_;
  AccessQuestions questions_;
  AccessSockets sockets_;
  std::set<std::string> told_;
  std::set<std::string> instructions_;
  std::set<std::string> landed_;  // protected files of git's
  std::vector<plan::NameRule> linked_;  // where links that have landed lead
  std::vector<wire::Repository> to_name_;  // sent likewise
  bool named_too_many_ = false;
  std::vector<wire::Refused> to_tell_;  // sent outside of a turn: the host may be slow to read
  bool rests() const { return waits_ || unheard_ > 0; }

  bool waits_ = true;  // until the host goes on
  std::size_t unheard_ = 0;  // first changes that the host is to hear of
  std::deque<sys::Notification> held_;  // received meanwhile
};

// Whether a grant could change nothing about it.
bool is_settled(const Result<CallAnswer>& answered) {
  if (answered) return !std::holds_alternative<LetThrough>(*answered);
  const int error = answered.error().sys_errno;
  return error != ENOENT && error != EACCES && error != EROFS;
}
// A name on which something is mounted can be neither removed nor renamed: unlink(2), rename(2).
bool is_of_mount(const Error& error) {
  return error.sys_errno == EBUSY || error.sys_errno == EXDEV || error.sys_errno == EROFS;
}
bool is_about_socket(const sys::Notification& raw) { return raw.syscall == SYS_connect || raw.syscall == SYS_bind; }

Result<wire::AccessRules> receive_rules(wire::Connection& host) {
  auto frame = TRY_CTX(host.receive(), "receive the rules");
  if (!frame) sys::exit_now(0);
  wire::ToGuest message = TRY(wire::decode_to_guest(frame->header, frame->body));
  auto* rules = std::get_if<wire::AccessRules>(&message);
  if (rules == nullptr) return fail(Error::invalid("the first message holds no rules"));
  return std::move(*rules);
}

// As proc(5) has it in "comm".
std::string program_name(int proc, std::uint32_t process) {
  static constexpr std::size_t kNameMax = 64;
  const auto file = sys::open_at(proc, cat({std::to_string(process), "/comm"}), O_RDONLY, 0);
  auto name = file ? sys::read_to_end(file->get(), kNameMax) : Result<std::string>(std::string());
  if (!name || !name->ends_with('\n')) return {};
  name->pop_back();
  return std::move(*name);
}

}  // namespace

int serve_access(UniqueFd stream, TakesTurns takes_turns, KnowsCommits knows, HasRoots has_roots) {
  wire::Connection host(std::move(stream));
  const auto serve = [&]() -> Status {
    const bool has_turns = takes_turns == TakesTurns::kYes;
    const bool has_commits = knows == KnowsCommits::kYes;
    UniqueFd turns(has_turns ? kTurnsFd : -1);
    UniqueFd commits(has_commits ? kCommitsFd : -1);
    UniqueFd quarantine(has_commits ? kQuarantineFd : -1);
    ReplacedFiles replaced(std::move(commits), std::move(quarantine), sys::own_umask());
    TRY(sys::block_all_signals());
    auto rules = TRY(receive_rules(host));
    Given given = take_given(rules.supervised, has_roots);
    TRY(sys::close_from(given.end));
    Places places = TRY(enter_sandbox(rules.supervised, std::move(given)));
    return AccessServer(host, std::move(rules), std::move(places), std::move(turns), std::move(replaced)).run();
  };
  Status served = serve();
  if (served) return 0;
  (void)host.send(wire::ToHost(wire::Failed{std::move(served).error()}));
  return 125;
}

namespace {

Status AccessServer::run() {
  sys::wake_in_turn(listener_.get());
  // What came together with the rules is not announced by poll(2).
  for (auto frame = TRY(host_.take_buffered()); frame; frame = TRY(host_.take_buffered())) {
    const wire::ToGuest message = TRY(wire::decode_to_guest(frame->header, frame->body));
    TRY(hear(message));
  }
  enum { kListener, kHost, kFixed };
  std::vector<pollfd> wait;
  for (;;) {
    if (rests()) {
      if (!TRY(rest())) return {};
      continue;
    }
    wait.assign({{listener_.get(), POLLIN, 0}, {host_.fd(), POLLIN, 0}});
    const std::size_t sockets = sockets_.add_to(wait);
    umasks_.add_to(wait);
    judged_.add_to(wait);
    replaced_.add_to(wait);
    auto left = sockets_.time_left();
    if (const auto questions = questions_.time_left()) left = std::min(left.value_or(*questions), *questions);
    TRY(sys::poll(wait, left));
    questions_.forget_gone();
    umasks_.forget_ended(std::span(wait).subspan(kFixed + sockets));
    if (wait[kHost].revents != 0 && !TRY(hear_host())) return {};
    // The host knows that no call is made from now on.
    if (rests()) continue;
    TRY(land());
    TRY(sockets_.step(std::span(wait).subspan(kFixed, sockets)));
    if ((wait[kListener].revents & POLLIN) != 0) TRY(answer_next());
    // Nobody is left whose calls could come.
    else if (wait[kListener].revents != 0)
      return settle();
  }
}

// The first call that may change something waits, and with it all behind it. Those before it are the kernel's.
Result<bool> AccessServer::rest() {
  enum { kHost, kListener };
  std::array<pollfd, 2> wait = {pollfd{host_.fd(), POLLIN, 0}, pollfd{held_.empty() ? listener_.get() : -1, POLLIN, 0}};
  TRY(sys::poll(wait, std::nullopt));
  if (wait[kHost].revents != 0 && !TRY(hear_host())) return false;
  if (!rests() || wait[kListener].revents == 0) return true;
  // Nobody is left whose calls could come.
  if ((wait[kListener].revents & POLLIN) == 0) {
    TRY(settle());
    return false;
  }
  const auto call = TRY(sys::receive_notification(listener_.get()));
  if (call && is_let_through(*call)) {
    TRY(sys::continue_notification(listener_.get(), call->id));
  } else if (call) {
    held_.push_back(*call);
    TRY(host_.send(wire::ToHost(wire::Changes{})));
  }
  return true;
}

// Only what is sure with a few lookups: a shell opens its terminal, a program /dev/null or a file of its own in /tmp.
bool AccessServer::is_let_through(const sys::Notification& raw) {
  const auto call = read_access_call(raw);
  if (!call || !*call || (*call)->kind != AccessKind::kOpen || (*call)->descriptor) return false;
  if (((*call)->flags & O_TMPFILE) == O_TMPFILE || ((*call)->mode & kGiveRights) != 0) return false;
  (void)places_.take_covered();
  const bool elsewhere = places_.leads_elsewhere((*call)->path, (*call)->resolve);
  // Of what a rule covers, or a person is asked about, more is to be said.
  const auto covered = places_.take_covered();
  const bool by_rule = covered && plan::denied_name(names_, *covered);
  if (covered && kept_by_mount(places_, **call)) return false;
  return elsewhere && !by_rule && !(questions_.asks() && questions_.about(**call));
}

Result<bool> AccessServer::hear_host() {
  auto polled = TRY(host_.receive_ready());
  for (; polled.frame; polled.frame = TRY(host_.take_buffered())) {
    const wire::ToGuest message = TRY(wire::decode_to_guest(polled.frame->header, polled.frame->body));
    TRY(hear(message));
  }
  return !polled.closed;
}

Status AccessServer::hear(const wire::ToGuest& message) {
  if (const auto* answered = std::get_if<wire::SocketAnswered>(&message)) {
    return sockets_.take_answer(*answered, answered->error == 0 ? host_.take_descriptor() : UniqueFd());
  }
  if (const auto* answered = std::get_if<wire::FileAnswered>(&message)) return take_answer(*answered);
  if (const auto* revoked = std::get_if<wire::FileRevoked>(&message)) {
    places_.revoke(revoked->path);
    std::erase_if(names_.granted, [&](const std::string& granted) { return is_within(granted, revoked->path); });
    return {};
  }
  if (const auto* names = std::get_if<wire::Names>(&message)) {
    take_names(names->names);
    for (const std::string& path : std::set<std::string>(landed_)) keep_landed(path);
    names_.rules.insert(names_.rules.end(), linked_.begin(), linked_.end());
    questions_.hide(names->hidden);
    return host_.send(wire::ToHost(wire::Heeded{}));
  }
  if (std::holds_alternative<wire::Wait>(message)) {
    waits_ = true;
    return host_.send(wire::ToHost(wire::Heeded{}));
  }
  if (std::holds_alternative<wire::Settle>(message)) {
    TRY(settle());
    told_.clear();  // the next command is told anew
    return host_.send(wire::ToHost(wire::Heeded{}));
  }
  if (std::holds_alternative<wire::Heard>(message) && unheard_ > 0) {
    --unheard_;
    return resume();
  }
  if (std::holds_alternative<wire::GoOn>(message)) {
    waits_ = false;
    return resume();
  }
  return fail(Error::invalid("a message that is no answer"));
}

// At once: the next message may be to wait again.
Status AccessServer::resume() {
  if (rests()) return {};
  std::deque<sys::Notification> held = std::exchange(held_, {});
  for (; !held.empty() && !rests(); held.pop_front()) TRY(answer_one(held.front()));
  std::ranges::copy(held, std::back_inserter(held_));
  return {};
}

// A repository that hutch has found since the start is the user's, unless the sandbox has made it.
void AccessServer::take_names(const plan::GuardedNames& names) {
  const std::vector<std::string> granted = std::exchange(names_.granted, {});
  names_ = names;
  for (const plan::RepositoryIdentity& made : names.made) repositories_.add(made);
  names_.granted = granted;
  std::erase_if(names_.configs, [&](const std::string& config) {
    if (std::ranges::binary_search(configs_at_start_, config)) return false;
    const auto directory = places_.in_copy_at(config.substr(0, config.rfind('/')));
    return directory && repositories_.contains(directory->get());
  });
}

// A tree is kept though whoever asked has gone: the answer may hold for others.
Status AccessServer::take_answer(const wire::FileAnswered& answered) {
  using enum wire::FileAnswered::Answer;
  if (answered.answer == kWritable) {
    UniqueFd tree = host_.take_descriptor();
    if (!tree) return fail(Error::invalid("an answer without its tree"));
    names_.granted.push_back(answered.only);
    places_.grant({answered.root, answered.only, answered.closed, std::move(tree)});
  }
  const auto asking = questions_.take(answered.id);
  if (!asking) return {};
  if (answered.answer != kNo) return AccessQuestions::is_look(asking->call) ? look(*asking) : change(*asking);
  return AccessQuestions::is_look(asking->call) ? sys::continue_notification(listener_.get(), answered.id)
                                                : change({asking->call, std::numeric_limits<int>::max()});
}

// The mounts decide, as they are by then.
Status AccessServer::look(const AccessQuestions::Waiting& asking) {
  const auto asked = questions_.about(asking.call);
  if (asked && TRY(questions_.ask(asking, *asked))) return {};
  return sys::continue_notification(listener_.get(), asking.call.raw.id);
}

Status AccessServer::answer_next() {
  const auto call = TRY(sys::receive_notification(listener_.get()));
  return call ? answer_one(*call) : Status();
}

Status AccessServer::answer_one(const sys::Notification& call) {
  // The caller may have closed a judged file just before this call.
  TRY(land());
  TRY(answer(call));
  return send_told();
}

Status AccessServer::land() {
  const auto may_land = [&](const Entry& entry, plan::JudgedFile kind) {
    return is_judged_by_content({names_, repositories_}, entry, kind);
  };
  judged_.land(
      places_, turns_, may_land,
      [&](std::uint32_t caller, const std::string& path, const plan::NameRule& rule) { tell(caller, path, rule); });
  umasks_.take_none();
  replaced_.land(places_, [&](ReplacedFiles::Event event, std::uint32_t caller, const std::string& path,
                              const plan::NameRule& rule) { tell_replaced(event, caller, path, rule); });
  return send_told();
}

Status AccessServer::settle() {
  TRY(land());
  replaced_.settle(places_, [&](ReplacedFiles::Event event, std::uint32_t caller, const std::string& path,
                                const plan::NameRule& rule) { tell_replaced(event, caller, path, rule); });
  return send_told();
}

Status AccessServer::answer(const sys::Notification& raw) {
  auto call = read_access_call(raw);
  // What cannot be read here cannot be read by the kernel either, unless another thread helps it to.
  if (!call && is_about_socket(raw)) {
    const int error = call.error().sys_errno;
    return sys::refuse_notification(listener_.get(), raw.id, error == EINVAL ? EINVAL : EFAULT);
  }
  if (!call) return sys::continue_notification(listener_.get(), raw.id);
  if (!*call) {
    TRY(sys::refuse_notification(listener_.get(), raw.id, EPERM));
    return host_.send(wire::ToHost(wire::Refused{wire::RefusedCall::kUnixSocket, raw.pid, {}, {}}));
  }
  if ((*call)->kind == AccessKind::kConnect || (*call)->kind == AccessKind::kBind) return sockets_.start(**call);
  if (AccessQuestions::is_look(**call)) return look({**call});
  return change({**call});
}

Status AccessServer::change(const AccessQuestions::Waiting& asking) {
  const AccessCall& call = asking.call;
  std::optional<std::pair<std::string, plan::NameRule>> to_ask;
  const AccessCalls calls(
      places_, {umasks_, judged_, configs_, replaced_, repositories_, worked_}, names_,
      {.still_waits = [&](const AccessCall&) { return sys::still_waits(listener_.get(), call.raw.id); },
       .refused =
           [&](const AccessCall& refused, const std::string& path, const plan::NameRule& rule) {
             const bool asks = rule.asking == plan::NameRule::Asking::kMayBe && questions_.asks();
             if (asks) to_ask = std::pair(path, rule);
             if (!asks) tell(refused.raw.pid, path, rule);
           },
       .instructs = [&](const AccessCall& told, const std::string& path,
                        const plan::NameRule& rule) { tell_instructions(told.raw.pid, path, rule); },
       .replaced = [&](ReplacedFiles::Event event, std::uint32_t caller, const std::string& path,
                       const plan::NameRule& rule) { tell_replaced(event, caller, path, rule); },
       .gives_rights = [&](const AccessCall& told, const std::string& path) { tell_rights(told, path); },
       .made_repository =
           [&](std::string directory, const std::optional<plan::RepositoryIdentity>& identity) {
             using enum wire::Repository::Event;
             if (!worked_.add(directory)) {
               if (!std::exchange(named_too_many_, true)) to_name_.push_back({kMade, {}});
               return;
             }
             to_name_.push_back({kMade, std::move(directory), {}, identity.value_or(plan::RepositoryIdentity())});
           },
       .moved_repository =
           [&](const std::string& from, const std::string& to) {
             to_name_.push_back({wire::Repository::Event::kMoved, to, from});
           },
       .ended_operation = [&](const std::string& path) { to_name_.push_back({wire::Repository::Event::kEnds, path}); },
       .turns = turns_});
  (void)places_.take_covered();
  auto answered = calls.answer(call);
  if (answered && std::holds_alternative<FirstChange>(*answered)) {
    ++unheard_;
    held_.push_back(call.raw);
    TRY(send_told());
    return host_.send(wire::ToHost(std::get<FirstChange>(std::move(*answered)).repository));
  }
  const auto covered = places_.take_covered();
  const bool meets_cover = answered && std::holds_alternative<LetThrough>(*answered) && covered;
  const auto covering = meets_cover ? plan::denied_name(names_, *covered) : std::nullopt;
  if (covering && call.kind != AccessKind::kAskAccess) {
    const bool will_ask = covering->asking == plan::NameRule::Asking::kMayBe && asking.rounds == 0;
    if (!will_ask || !questions_.asks()) tell(call.raw.pid, *covered, *covering);
  }
  if (to_ask && !answered) {
    const auto& [path, rule] = *to_ask;
    if (TRY(questions_.ask(asking, {call.raw.id, call.raw.pid, wire::FileAsked::Wanted::kChange, path}))) return {};
    tell(call.raw.pid, path, rule);
  }
  if (questions_.asks() && !is_settled(answered)) {
    const auto asked = questions_.about(call);
    if (asked && TRY(questions_.ask(asking, *asked))) return {};
  }
  if (answered ? meets_cover && !covering : is_of_mount(answered.error())) tell_kept(call);
  TRY(send_told());
  return finish(call, std::move(answered));
}

Status AccessServer::finish(const AccessCall& call, Result<CallAnswer> answered) {
  const std::uint64_t id = call.raw.id;
  if (!answered) {
    const int error = answered.error().sys_errno;
    return sys::refuse_notification(listener_.get(), id, error != 0 ? error : EPERM);
  }
  if (std::holds_alternative<LetThrough>(*answered)) return sys::continue_notification(listener_.get(), id);
  if (const auto* opened = std::get_if<Opened>(&*answered)) {
    return sys::answer_with_descriptor(listener_.get(), id, opened->file.get(), opened->on_exec);
  }
  return sys::answer_notification(listener_.get(), id, std::get<Done>(*answered).value);
}

void AccessServer::tell_kept(const AccessCall& call) {
  const auto kept = kept_by_mount(places_, call);
  if (kept && error_outside(places_, call) == 0)
    tell(call.raw.pid, kept->path, plan::rule_of_mount(kept->path, kept->name));
}

void AccessServer::tell(std::uint32_t caller, const std::string& path, const plan::NameRule& rule) {
  const bool names_setting = plan::is_kept_config(rule);
  const std::string about = names_setting ? cat({path, "\n", rule.rule}) : path;
  if (told_.size() >= kToldMax || !told_.insert(about).second) return;
  wire::Refused told{wire::RefusedCall::kFileChange, caller, path, rule.rule};
  const bool may_land = !replaced_.lands() && plan::replaceable_name(names_, path);
  if (may_land && program_name(places_.proc(), caller) == wire::Refused::kByGit) told.before = wire::Refused::kByGit;
  to_tell_.push_back(std::move(told));
}

// Reports a text before its first change. The report holds the earlier content, so that hutch can show the difference.
void AccessServer::tell_instructions(std::uint32_t caller, const std::string& path, const plan::NameRule& rule) {
  // Few files are kept configurations. No number of other texts may keep such a change from being shown.
  const bool counts = plan::is_kept_config(rule);
  if ((!counts && instructions_.size() >= kInstructionsMax) || !instructions_.insert(path).second) return;
  wire::Refused told{wire::RefusedCall::kInstructs, caller, path, rule.rule};
  const auto before = places_.text_at(path, wire::kInstructionBytesMax);
  if (before) told.before = *before;
  if (before) told.was = wire::Refused::Before::kText;
  if (!before && before.error().sys_errno == ENOENT) told.was = wire::Refused::Before::kAbsent;
  to_tell_.push_back(std::move(told));
}

void AccessServer::tell_replaced(ReplacedFiles::Event event, std::uint32_t caller, const std::string& path,
                                 const plan::NameRule& rule) {
  if (event == ReplacedFiles::Event::kShown) return tell_instructions(caller, path, rule);
  using enum ReplacedFiles::Event;
  if (event == kLanded) return keep_landed(path);
  if (event == kLinked) return keep_linked(path, rule);
  if (event == kSetAside) return to_tell_.push_back({wire::RefusedCall::kSetAside, caller, path, rule.rule});
  const auto call = event == ReplacedFiles::Event::kKept ? wire::RefusedCall::kKept : wire::RefusedCall::kHeldBack;
  const std::string about = cat({path, "\n", std::to_string(static_cast<int>(call))});
  if (told_.size() >= kToldMax || !told_.insert(about).second) return;
  to_tell_.push_back({call, caller, path, rule.rule});
}

// As what existed at the start: a directory above it would take it elsewhere.
void AccessServer::keep_landed(const std::string& path) {
  landed_.insert(path);
  const auto at = std::ranges::lower_bound(names_.kept, path);
  if (at == names_.kept.end() || *at != path) names_.kept.insert(at, path);
}

// As a link that existed at the start: programs outside obey what it leads to.
void AccessServer::keep_linked(const std::string& path, const plan::NameRule& rule) {
  plan::NameRule target = plan::rule_about(path, rule.rule);
  if (std::ranges::find(linked_, target) != linked_.end()) return;
  names_.rules.push_back(target);
  linked_.push_back(std::move(target));
}

void AccessServer::tell_rights(const AccessCall& call, const std::string& path) {
  if (told_.size() >= kToldMax || !told_.insert(path).second) return;
  to_tell_.push_back({wire::RefusedCall::kGivesRights, call.raw.pid, path, {}});
}

Status AccessServer::send_told() {
  for (wire::Repository& named : std::exchange(to_name_, {})) TRY(host_.send(wire::ToHost(std::move(named))));
  for (wire::Refused& told : std::exchange(to_tell_, {})) TRY(host_.send(wire::ToHost(std::move(told))));
  return {};
}

}  // namespace

}  // namespace hutch::guest
