// Has hutch init make a user: the agent's name is all that whoever asks has a say in.
#include "helper/user_making.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "helper/judge.h"
#include "host/machine/account.h"
#include "host/machine/people.h"
#include "host/machine/setup_turn.h"
#include "plan/setup/os_user.h"
#include "plan/setup/person_setup.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"
#include "sys/process/rlimits.h"
#include "sys/process/scheduling.h"

namespace hutch::helper {

namespace {

using std::chrono::milliseconds;

// Others may be having theirs made; each takes a second or two.
constexpr milliseconds kTurnWait{40'000};
constexpr std::size_t kGrantBytesMax = 8192;
constexpr unsigned kFilesMask = 022;

Error not_let(std::uint32_t person) {
  return {Code::kPermissionDenied, 0,
          cat({"hutch-helper: person ", std::to_string(person),
               " may have no users made for agents: sudo hutch init --for PERSON lets them"})};
}

Result<UniqueFd> take_turn(const wire::Connection& caller);
Status check_has_room(std::uint32_t person, const std::string& called, const std::string& name);
Status check_has_no_files(std::uint32_t person, const std::string& name);
Result<std::string> initiating_program(std::uint32_t person);
Status leave_what_is_the_persons();
Status run_init(const std::string& program, const std::string& called, const std::string& agent, int turn);
Result<std::optional<std::uint32_t>> users_number(std::uint32_t person, const std::string& name);

}  // namespace

Result<std::uint32_t> make_agents_user(std::uint32_t person, const wire::HelperMakeUser& asked,
                                       const wire::Connection& caller) {
  TRY(check_wish(asked));
  if (!TRY(host::may_have_agents_users(person))) return fail(not_let(person));
  const std::string called = TRY(host::person_name(person));
  // Somebody else of that name, by another line of passwd(5), is whom hutch init would take it for.
  const auto meant = TRY(host::find_os_user(called));
  if (meant && meant->uid != person) return fail(not_let(person));
  const std::string name = plan::os_user_name_of(called, asked.agent);
  TRY(leave_what_is_the_persons());
  const UniqueFd turn = TRY(take_turn(caller));
  // Root may have taken that back meanwhile.
  if (!TRY(host::may_have_agents_users(person))) return fail(not_let(person));
  if (const auto there = TRY(users_number(person, name))) return *there;
  TRY(check_has_room(person, called, name));
  TRY(check_has_no_files(person, name));
  const std::string program = TRY(initiating_program(person));
  TRY(run_init(program, called, asked.agent, turn.get()));
  if (const auto made = TRY(users_number(person, name))) return *made;
  return fail(Error{.message = cat({"hutch-helper: the user ", name, " was not made"})});
}

namespace {

// One is made at a time, so that nobody has more than they may; and none while root takes users away.
Result<UniqueFd> take_turn(const wire::Connection& caller) {
  const auto stays = [&caller]() -> Result<bool> {
    pollfd gone{caller.fd(), POLLRDHUP, 0};
    return TRY(sys::poll({&gone, 1}, milliseconds(0))) == 0;
  };
  auto turn = host::take_setup_turn({.at_most = kTurnWait, .goes_on = stays});
  if (!turn) return fail(std::move(turn).error().with_context("hutch-helper"));
  return std::move(*turn);
}

// Those of agents that are no more count: their files and shares are there, and their numbers are given to nobody. One
// that could not be made to the end counts as well, but may be tried again.
Status check_has_room(std::uint32_t person, const std::string& called, const std::string& name) {
  const auto entries = TRY(sys::list_directory(plan::people_directory(person), sys::Listing::kAll));
  const auto others = std::ranges::count_if(entries, [&](const auto& entry) { return entry.name != name; });
  // Beside the one for all agents.
  if (static_cast<std::size_t>(others) <= plan::kAgentsUsersMax) return {};
  return fail({Code::kConflict, 0,
               cat({"hutch-helper: ", called, " has ", std::to_string(plan::kAgentsUsersMax),
                    " users of agents, the most there may be: sudo hutch deinit --for ", called,
                    " --agent NAME takes back that of an agent that is no more"})});
}

// Root has taken a user back and kept its files: they are for root to give, and somebody whose name begins as the
// person's does could look for an agent's name that makes the same one.
Status check_has_no_files(std::uint32_t person, const std::string& name) {
  if (TRY(sys::status_of(plan::people_entry(person, name)))) return {};
  for (const std::string& place : plan::os_user_places(name)) {
    if (!TRY(sys::status_of(place))) continue;
    return fail({Code::kConflict, 0,
                 cat({"hutch-helper: ", place, " is there, of a user ", name,
                      " that root removed: sudo hutch init --for PERSON --agent NAME gives it back"})});
  }
  return {};
}

// Which hutch let the person: the second line of root's word.
Result<std::string> initiating_program(std::uint32_t person) {
  const std::string text = TRY(sys::read_file(plan::agents_grant(person), kGrantBytesMax));
  const auto lines = split(text, '\n');
  std::string program(lines.size() > 1 ? lines[1] : std::string_view());
  if (!program.starts_with('/')) return fail(not_let(person));
  TRY_CTX(host::check_is_roots(program), "hutch init would run as root");
  return program;
}

// By sudo this process has the limits and the priority of whoever asks (sudo(8)): what is made could end halfway, or
// hold what others wait for, the turn and the lock of passwd(5), while it gets no processor.
Status leave_what_is_the_persons() {
  TRY_CTX(sys::lift_limits(), "hutch-helper: lift the limits of whoever asks");
  TRY_CTX(sys::take_usual_priority(), "hutch-helper: leave the priority of whoever asks");
  return {};
}

Status run_init(const std::string& program, const std::string& called, const std::string& agent, int turn) {
  const UniqueFd nothing = TRY(sys::open("/dev/null", sys::Open::kRead));
  const UniqueFd nowhere = TRY(sys::open("/dev/null", sys::Open::kWrite));
  // What it makes has modes of its own, and others than this process's files.
  sys::set_umask(kFilesMask);
  auto child = TRY(sys::spawn(
      program,
      {.arguments = {"hutch", "init", "--for", called, "--agent", agent},
       .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"},
       .install = {{nothing.get(), 0}, {nowhere.get(), 1}, {nowhere.get(), 2}, {turn, host::kSetupTurnDescriptor}}}));
  const sys::WaitStatus status = TRY(child.wait());
  if (status.exited() && status.exit_code() == 0) return {};
  return fail(Error{
      .message = cat({"hutch-helper: the user for agent ", agent,
                      " could not be made; why root is told: sudo hutch init --for ", called, " --agent ", agent})});
}

// Of one that is there, and the person's.
Result<std::optional<std::uint32_t>> users_number(std::uint32_t person, const std::string& name) {
  const auto user = TRY(host::find_os_user(name));
  if (!user || !TRY(host::may_become(person, name))) return std::optional<std::uint32_t>();
  return std::optional(user->uid);
}

}  // namespace

}  // namespace hutch::helper
