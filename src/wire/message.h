// The messages between host and guest, and how each is written as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "wire/access.h"
#include "wire/network.h"

namespace hutch::wire {

// Both programs come from one build; a guest that is not of it refuses the first message.
inline constexpr std::uint32_t kVersion = 17;

// What the guest has to do itself before it is the init of the sandbox.
enum class Isolation {
  kNone,       // nothing
  kNamespace,  // everything
  kBwrap,      // what bubblewrap, which has made the namespaces and the mounts, leaves open
  kContainer,  // what an engine of containers leaves open, by its root
  kOsUser,     // namespaces without a user namespace, by root, which becomes another user of the machine
  kBeside,     // nothing but mounts of its own, in the namespaces of a sandbox that runs
};

// How long the guest serves.
enum class Service {
  kOneCommand,    // until its command has ended; what that started ends with it
  kManyCommands,  // until the host closes the stream; what a command leaves running goes on
};

// --- to the guest ---

struct Start {
  std::uint32_t version = kVersion;
  Isolation isolation = Isolation::kNone;
  Service service = Service::kOneCommand;
  int landlock_abi = 0;
  plan::SandboxPlan plan;  // the mount of a MountKind::kGivenRoot, attached nowhere, travels along
};

enum class TerminalUse { kNone, kOwn };

// Run a command. Those of its streams 0, 1 and 2 that `streams` has a bit for (1 << number) travel with the message, in
// this order; the others are the terminal of its own that it then gets.
struct Exec {
  std::uint32_t command = 0;  // its number in all messages about it, never used twice
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string cwd;
  TerminalUse terminal = TerminalUse::kNone;
  std::uint8_t streams = 7;
  // Of its terminal, before the command starts: a later change would undo what the command has set itself.
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
  std::string modes;  // sys::terminal_modes; empty: the kernel's own
  std::uint64_t processes_max = 0;  // RLIMIT_NPROC, where no cgroup holds it; 0: not limited
  std::uint64_t address_space_max = 0;  // RLIMIT_AS, likewise
  // The command's umask(2); kGuestsMask: that of the guest.
  static constexpr std::uint16_t kGuestsMask = 0xffff;
  std::uint16_t creation_mask = kGuestsMask;
};

enum class SignalTarget {
  kCommand,  // its process group
  kTree,  // the command and all that it started; SIGKILL leaves none of them
  kEnding,  // as kTree; when the command has ended, what is left of it is killed before that is told
  kEverything,  // whatever runs in the sandbox
};
struct Signal {
  int number = 0;
  SignalTarget target = SignalTarget::kCommand;
  std::uint32_t command = 0;
};

// Sockets for connections to the sandbox's own loopback: a Network with as many of role kDial follows.
struct MakeSockets {
  std::uint8_t count = 1;
};

struct ServeFiles {};  // a server of files is wanted: FileServer follows
struct Mapped {};  // the ids of the guest's user namespace are

using ToGuest =
    std::variant<Start, Exec, Signal, MakeSockets, ServeFiles, AccessRules, SocketAnswered, Mapped, FileAnswered,
                 FileRevoked, Widen, Names, Cover, Uncover, Covers, Wait, GoOn, Settle, Heard>;

// --- to the host ---

// The guest is in a user namespace whose ids are for the host to map: it waits for Mapped.
struct Unmapped {};
// The init exists; its number in the host's pid namespace. Only from a guest that made the namespaces itself.
struct Spawned {
  std::uint32_t pid = 0;
};
// The plan is applied.
struct Ready {};
// hutch's own failure: nothing was run, or nothing more will be.
struct Failed {
  Error error;
};
// The command runs. The master of its terminal travels along when it has one.
struct Started {
  std::uint32_t command = 0;
  std::uint32_t pid = 0;  // in the sandbox
};
// The program could not be executed: errno of execve(2).
struct NotExecuted {
  std::uint32_t command = 0;
  int error = 0;
  std::string path;
};
// The command could not be started for a reason of hutch's own; the sandbox goes on. With Service::kManyCommands alone.
struct NotStarted {
  std::uint32_t command = 0;
  Error error;
};
// A terminal's command was stopped by a key.
struct Stopped {
  std::uint32_t command = 0;
};
// A status as waitpid(2) reports it. With Service::kOneCommand everything else of the sandbox is gone as well.
struct Exited {
  std::uint32_t command = 0;
  int status = 0;
};
// A process that serves files; the stream to it travels along (wire/files.h).
struct FileServer {
  std::uint32_t pid = 0;  // as the guest counts processes
};

using ToHost = std::variant<Spawned, Ready, Failed, Started, NotExecuted, NotStarted, Stopped, Exited, Refused, Network,
                            FileServer, Supervise, SocketAsked, Unmapped, FileAsked, Widened, Covered, Heeded, Changes,
                            Repository>;

// The header before each message's bytes.
struct FrameHeader {
  std::uint32_t size = 0;  // of what follows the header
  std::uint16_t type = 0;  // the index in the variant
  std::uint16_t channel = 0;
};
inline constexpr std::size_t kFrameHeaderBytes = 8;
std::string encode_header(const FrameHeader& header);
// Refuses a size above limits::kFrameBytesMax.
Result<FrameHeader> decode_header(std::string_view bytes);

// A whole frame, header included.
std::string encode(const ToGuest& message);
std::string encode(const ToHost& message);

Result<ToGuest> decode_to_guest(const FrameHeader& header, std::string_view body);
Result<ToHost> decode_to_host(const FrameHeader& header, std::string_view body);

}  // namespace hutch::wire
