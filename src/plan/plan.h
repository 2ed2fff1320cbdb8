// SandboxPlan: the flat list of steps that make one sandbox. Pure data; what applies it makes no decisions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "plan/filter/bpf.h"
#include "plan/guarded_names.h"
#include "plan/id_map.h"
#include "plan/limits.h"

namespace hutch::plan {

enum class Access { kReadOnly, kReadWrite };

// Which file something was when it was looked at. A step whose source has another identity when the plan is applied
// refuses to start: a sandbox that runs at the same time may have swapped it. {0, 0} is not checked.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const Identity&) const = default;
};

enum class MountKind {
  kTmpfs,      // a new tmpfs at target, with mode and size_bytes; writable until a kSeal names the same target
  kDirectory,  // mkdir(target, mode); only ever beneath a tmpfs or the image of this plan. One that is there is fine
  kSymlink,    // symlink(source, target); only ever beneath a tmpfs of this plan
  kFile,       // a new file at target, with mode and source as its bytes; only ever beneath a tmpfs of this plan
  kBind,       // the host's source, with all mounts below it, at target
  kHideFile,   // an unreadable file over target
  kCover,      // the kFile of this plan whose target is source, read-only, over the host's file at target
  kProc,       // a new procfs of the sandbox's pid namespace at target
  kDevices,    // a minimal /dev: null zero full random urandom tty, pts, ptmx, fd, std*, shm, and the device source
  kSeal,       // the mount at target becomes read-only; nothing is created on it after this
  kAccount,    // the line in source, before the others of the file target: of the image, /etc/passwd and the like
  kImage,      // the first step alone: the image in source, writable in a layer over it, as "/"
  kGivenRoot,  // the first step alone: the mount that comes along with the plan, as "/"
  kEngineRoot,  // the first step alone: the engine's own image of the name in source, writable in a layer, as "/"
};

// What has to be made at a mount's target first, where the image has not got it. Never beneath a bind: nothing is ever
// created in the host's files.
enum class MakeTarget { kNothing, kDirectory, kFile };

struct MountStep {
  MountKind kind = MountKind::kBind;
  std::string target{};  // absolute, canonical, as seen inside
  std::string source{};  // kBind: a canonical absolute path of the host; kSymlink: the link's text; others: see there
  Access access = Access::kReadOnly;  // kBind
  MakeTarget make = MakeTarget::kNothing;
  Identity identity{};  // kBind: of the source; kHideFile, kCover and a kTmpfs that makes nothing: of what it covers
  unsigned mode = 0755;  // kTmpfs, kDirectory, kFile
  std::uint64_t size_bytes = 0;  // kTmpfs, kImage without a layer; 0 is the kernel's default (half of the memory)
  std::string layer{};  // kImage: the host's directory that keeps what is changed; empty: it goes with the sandbox
  bool operator==(const MountStep&) const = default;
};

enum class NetworkKind {
  kNone,  // a network namespace of its own, loopback alone
  kHost,  // the host's network: of the backend none, which isolates nothing, and of a container by the user's settings
  kGateway,  // a network namespace of its own, whose connections the egress gateway takes
};

// Ports of the sandbox's loopback that are the gateway's. Below 1024 nothing in a sandbox can bind.
inline constexpr std::uint16_t kCapturePort = 1;
inline constexpr std::uint16_t kDnsPort = 53;
inline constexpr std::uint16_t kProxyPort = 1023;
inline constexpr std::uint16_t kFirstUdpPort = 900;  // the rules' in their order

// UDP of one rule: what the sandbox sends to these addresses at this port arrives at the gateway's own, of UDP.
struct UdpCapture {
  std::string host;  // in canonical form
  std::uint16_t port = 0;
  std::uint16_t gateway_port = 0;
  std::vector<IpAddress> addresses;  // of a name those that the gateway's DNS gives it
  bool operator==(const UdpCapture&) const = default;
};

// Landlock: reading and executing beneath `readable`, everything beneath `writable`. The rules lie on the mount points
// where a grant may later appear, because a domain can never be widened (landlock(7)).
struct LandlockPlan {
  std::vector<std::string> readable;
  std::vector<std::string> writable;
};

enum class Supervisor { kNone, kBeside };

// What becomes of protected files that git writes as a commit of the user's has them.
enum class CommittedFiles { kHeldBack, kLand };

// Which calls about files that no rule allows are questions: those that would change one, or those that would look at
// one that is hidden as well. The latter makes the kernel hold each call that looks at any file.
enum class FileQuestions { kNone, kChanges, kAll };

// What the commands of a sandbox are: a user without a capability; root of an image, who installs what belongs to it;
// or a file server of hutch's own, which makes the directory that it serves its root.
enum class Rights { kNone, kImageRoot, kFileServer };

struct SandboxPlan {
  std::uint32_t uid = 0;  // inside; the same number outside, but for root with an image
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // besides gid: of a sandbox that is an OS user
  IdMap ids;  // of a sandbox with an image
  Rights rights = Rights::kNone;
  NetworkKind network = NetworkKind::kNone;
  std::vector<std::uint16_t> host_ports;  // kGateway: ports of the loopback at which the host's own are found
  std::vector<UdpCapture> udp;  // kGateway: of each rule
  std::string hostname = "hutch";
  std::vector<MountStep> mounts;
  std::vector<std::string> read_only_proc;  // names in /proc that become read-only: "sys", "sysrq-trigger"
  std::vector<std::string> hidden_proc;  // names in /proc that become unreadable: "kcore", "keys"
  // Whether a process beside the sandbox makes the calls for it that a rule by name or a Unix socket is about.
  Supervisor supervisor = Supervisor::kNone;
  // Targets of mounts that are writable for the supervisor alone, which makes each change there itself; the workload
  // sees them read-only.
  std::vector<std::string> supervised;
  GuardedNames names;
  FileQuestions questions = FileQuestions::kNone;
  std::vector<std::string> hidden;  // where there are questions: what is hidden, with all below it that no mount shows
  LandlockPlan landlock;
  std::vector<bpf::Instruction> seccomp;  // for every process of the workload; empty: none
  ResourceLimits limits;
  std::vector<ProcessLimit> process_limits;  // of counts per user or per host (plan/quotas.h)
  std::vector<UserCount> user_counts;  // likewise
  std::vector<std::string> environment;  // "K=V", of every command
  std::string cwd;  // of the command, as seen inside
  std::string project;  // what relative rules are resolved against
  std::vector<std::string> notes;  // what a person is told at the start, a line each
};

}  // namespace hutch::plan
