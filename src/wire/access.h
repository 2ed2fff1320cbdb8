// The messages of a sandbox's supervisor of file changes and sockets, and about calls that were refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "plan/plan.h"

namespace hutch::wire {

// --- to the guest ---

struct SupervisedMount {  // writable for the supervisor alone
  std::string target;     // where it was planned
  plan::Identity identity;  // of its root
  std::string source{};     // the host's path of it; empty: it is none of the host's
  enum class Descriptor : std::uint8_t { kNone, kHeld };
  Descriptor descriptor = Descriptor::kNone;  // of the source, which the supervisor starts with
};

// The first message to an access supervisor.
struct AccessRules {
  plan::GuardedNames names;
  plan::FileQuestions questions = plan::FileQuestions::kNone;
  std::vector<std::string> hidden;  // as in the plan
  std::vector<SupervisedMount> supervised;
};

// To an access supervisor: the names that are refused from here on, and what is hidden. Heeded follows.
struct Names {
  plan::GuardedNames names;
  std::vector<std::string> hidden;
};

// To an access supervisor: no call that may change something goes on until GoOn. Heeded follows; then Changes, once
// there is such a call. It begins so.
struct Wait {};
struct GoOn {};

// Answers a Repository of kFirstChange: what is the user's there is known.
struct Heard {};

// To an access supervisor: name the files that nobody writes any more. Heeded follows, after everything that is refused
// about them.
struct Settle {};

// To a SocketAsked. 0: the file of the socket, opened with O_PATH, travels along; else the errno of the connect(2).
struct SocketAnswered {
  std::uint64_t id = 0;
  int error = 0;
};

// To a FileAsked. To be made by the supervisor from here on: changes of `only` and what is below it, in the writable
// tree that travels along, whose root is what the sandbox sees at `root`.
struct FileAnswered {
  std::uint64_t id = 0;
  enum class Answer { kNo, kShown, kWritable } answer = Answer::kNo;  // kShown: it can be seen in the sandbox by now
  std::string root;  // of kWritable
  std::string only;  // likewise
  std::vector<std::string> closed;  // likewise: what stays closed below it
};

// What an answer opened at `path`, and below it, is closed again.
struct FileRevoked {
  std::string path;
};

// To `hutch-guest --widen` (guest/calls/widen.h), its only message. Widened or Failed follows.
struct Widen {
  // kShow: what the steps make at `target` is shown at `at` in the sandbox. kHandOver: it travels along with the
  // answer. kHandRoot: the sandbox's own root travels along, without what is mounted in it.
  enum class Action { kShow, kHandOver, kHandRoot } action = Action::kShow;
  std::string target;
  std::string at;  // where the sandbox sees it
  std::vector<plan::MountStep> steps;  // in the host's own tree; the first one binds `target` on itself
  std::vector<std::string> own;  // file systems of the sandbox's own, in which a mount point may be made
};

// To `hutch-guest --widen`, in place of the former: of each place the mounts that hide it, the first one over what is
// there (plan/make/hiding.h). Covered or Failed follows.
struct Cover {
  std::vector<std::vector<plan::MountStep>> places;
};

// Likewise: these go, what lies on them with them. Widened or Failed follows.
struct Uncover {
  std::vector<std::uint64_t> mounts;
  std::vector<std::string> own{};  // where this is not empty, what they lay on goes too, if it is in one of these
};

// To the guest: mounts come and go from here on, but for these and those of the plan. kBegins: of the plan's some may
// not be seen until it is kDone.
struct Covers {
  std::vector<std::uint64_t> mounts;
  enum class Change { kDone, kBegins } change = Change::kDone;
};

// --- to the host ---

// What covers each place now, in the order of Cover: the numbers of mounts, one for each place where the sandbox saw
// it.
struct Covered {
  struct Place {
    std::vector<std::uint64_t> mounts;
    std::string error;  // empty: it is hidden wherever the sandbox saw it
  };
  std::vector<Place> places;
};

// Answers Names: earlier names judge no call any more. Answers Wait: no call is made. Answers Settle: no file waits.
struct Heeded {};

// Since Wait a call has come that may change something. It waits for GoOn.
struct Changes {};

// About a directory that git would take for a repository's, as the sandbox sees it. kFirstChange: a process is about to
// make its first change there; every call that may change something waits for Heard. kMoves: `from`, with such
// directories in it, is about to have the name `path`; the calls wait as well. kMoved: it has it by now. kMade: it has
// become a repository by a change of the sandbox's. kWrites: a process is about to change for the first time what
// plan::checked_git_operation() says; the calls wait. kEnds: a process has removed that. An empty path: there are more
// than the supervisor remembers.
struct Repository {
  enum class Event : std::uint8_t { kFirstChange, kMoves, kMoved, kMade, kWrites, kEnds };
  Event event = Event::kFirstChange;
  std::string path;
  std::string from{};  // of kMoves and kMoved
  plan::RepositoryIdentity identity{};  // of kMade; zero: the directory itself is not the sandbox's
};

// A process wants to change a file that no rule lets it, or to look at one that is hidden. The path is as the sandbox
// sees it: what is there without links, then names that are not there.
struct FileAsked {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;  // a thread, as the host numbers it
  enum class Wanted { kLook, kChange } wanted = Wanted::kLook;
  std::string path;
};

struct Widened {
  enum class Place { kThere, kMade } place = Place::kThere;  // kMade: what it is shown on was made for it
  std::uint64_t mount = 0;  // of kShow: the number of what is mounted there
};

// A process wants to connect to a Unix socket that is none of the sandbox's own. `path` is canonical where the sandbox
// has something there; else it is what the process said, made absolute, and `error` what the sandbox's own files
// answer to it.
struct SocketAsked {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;  // a thread, as the host numbers it
  std::string path;
  int error = 0;  // 0: something is there
};

// kGivesRights: nothing was refused. A program with S_ISUID or S_ISGID, which was there before, got another name.
// kInstructs: likewise. A text that programs outside read as instructions is about to change, or a file that they obey
// to what an earlier commit has. kHeldBack: what was written did not land. kKept: what was removed stays.
inline constexpr std::size_t kInstructionBytesMax = 32 << 10;
enum class RefusedCall { kUnixSocket, kFileChange, kGivesRights, kInstructs, kHeldBack, kKept, kSetAside };
struct Refused {
  RefusedCall call = RefusedCall::kUnixSocket;
  std::uint32_t pid = 0;
  std::string path;  // except for kUnixSocket
  std::string rule;
  // For kInstructs: the content before the change. kUnknown: not a regular file, or too large.
  enum class Before { kUnknown, kAbsent, kText } was = Before::kUnknown;
  std::string before{};  // for kFileChange kByGit, if git may bring in such a file by a setting that is off
  static constexpr std::string_view kByGit = "git";
};
// The sandbox wants its supervisor (guest/calls/access.h). Along travel: where the calls arrive, the writable
// copy of its tree of mounts, its user namespace, its mount namespace, and the root of each supervised mount, unless
// there are more than kSupervisedRootsMax.
struct Supervise {};
inline constexpr std::size_t kSupervisedRootsMax = 56;
static_assert(kSupervisedRootsMax + 4 <= limits::kFrameDescriptorsMax);

}  // namespace hutch::wire
