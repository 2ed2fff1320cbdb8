// The table of system calls that a sandbox does not get, or only with some arguments, and why.
#include "plan/filter/seccomp_table.h"

#include <array>

#include "base/own_umask.h"
#include "base/plain_open.h"

namespace hutch::plan {

namespace {

using enum CallOutcome;
using Kind = ArgumentTest::Kind;

// linux/sched.h. CLONE_NEWTIME (0x80) lies in clone's signal number and means nothing there.
constexpr std::uint32_t kCloneNewFlags = 0x7e020000;  // NEWNS NEWCGROUP NEWUTS NEWIPC NEWUSER NEWPID NEWNET
// CLONE_VM, FS, FILES, SIGHAND, THREAD and SYSVSEM take something away from a sharing and give nothing.
constexpr std::uint32_t kUnshareHarmless = 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800 | 0x00010000 | 0x00040000;

constexpr std::array kClone = {
    CallClause{{Kind::kAnyBit, 0, kCloneNewFlags}, {}, kPerm},
};

// unshare's argument is a long: the high half is tested as well, in case a kernel gives those bits a meaning.
constexpr std::array kUnshare = {
    CallClause{{Kind::kAnyBit, 0, ~kUnshareHarmless}, {}, kPerm},
    CallClause{{Kind::kAnyBit, 0, 0xffffffff, 0, Half::kHigh}, {}, kPerm},
};

constexpr std::uint32_t kFileType = 0170000;  // S_IFMT; mode is an unsigned short to the kernel
constexpr std::uint32_t kCharacterDevice = 0020000;
constexpr std::uint32_t kBlockDevice = 0060000;

// A program in the host's files with S_ISUID or S_ISGID would give its rights to any user who runs it outside. The
// supervisor makes no such file, and the filter is the wall behind it: when the supervisor lets the kernel make a call,
// the call may by then be about another file, because threads share descriptors and memory. The filter does not know
// paths, so the rule also holds for the sandbox's own files, where the bits have no effect (nosuid, no_new_privs). If
// there is no supervisor, the filter is the only wall. An installation of packages is the exception: its files get the
// bits that their package says.
constexpr std::uint32_t kSetUser = 04000;
constexpr std::uint32_t kSetIds = 06000;

// A directory may have S_ISGID, as in `git init --shared`: the supervisor always makes such a call itself.
constexpr std::uint32_t kSetGroup = 02000;
constexpr std::array kChmod = {CallClause{{Kind::kAnyBit, 1, kSetUser}, {}, kGivesRights},
                               CallClause{{Kind::kAnyBit, 1, kSetGroup}, {}, kGivesGroup}};
constexpr std::array kChmodAt = {CallClause{{Kind::kAnyBit, 2, kSetUser}, {}, kGivesRights},
                                 CallClause{{Kind::kAnyBit, 2, kSetGroup}, {}, kGivesGroup}};

// mkdir(2) is not among these calls: the kernel takes neither bit from its mode.
constexpr std::array kMknod = {
    CallClause{{Kind::kEquals, 1, kFileType, kCharacterDevice}, {}, kPerm},
    CallClause{{Kind::kEquals, 1, kFileType, kBlockDevice}, {}, kPerm},
    CallClause{{Kind::kAnyBit, 1, kSetIds}, {}, kGivesRights},
};
constexpr std::array kMknodat = {
    CallClause{{Kind::kEquals, 2, kFileType, kCharacterDevice}, {}, kPerm},
    CallClause{{Kind::kEquals, 2, kFileType, kBlockDevice}, {}, kPerm},
    CallClause{{Kind::kAnyBit, 2, kSetIds}, {}, kGivesRights},
};

// O_WRONLY | O_RDWR | O_CREAT | O_TRUNC of asm-generic/fcntl.h; O_TMPFILE wants one of the first two.
constexpr std::uint32_t kOpenForChange = 0x1 | 0x2 | 0x40 | 0x200;
// O_CREAT and __O_TMPFILE: without them the kernel ignores the mode, and its register may hold any value.
constexpr std::uint32_t kOpenWithMode = 0x40 | 0x400000;
constexpr std::array kCreat = {CallClause{{Kind::kAnyBit, 1, kSetIds}, {}, kGivesRights}};
constexpr std::array kOpen = {
    CallClause{{Kind::kAnyBit, 1, kOpenWithMode}, ArgumentTest{Kind::kAnyBit, 2, kSetIds}, kGivesRights},
    CallClause{{Kind::kAnyBit, 1, kOpenForChange}, {}, kFileChange},
};
constexpr std::array kOpenat = {
    CallClause{{Kind::kAnyBit, 2, kOpenWithMode}, ArgumentTest{Kind::kAnyBit, 3, kSetIds}, kGivesRights},
    CallClause{{Kind::kAnyBit, 2, kOpenForChange}, {}, kFileChange},
};
// With hutch's own size, a process without a supervisor can make a file with any mode. The file is empty, and without
// CAP_FSETID the kernel removes both bits from a file that gets content (file_remove_privs, fs/inode.c).
constexpr std::array kOpenat2 = {CallClause{{Kind::kEquals, 3, 0xffffffff, kPlainOpenBytes}, {}, kAllow}};
constexpr std::array kUmask = {CallClause{{Kind::kEquals, 0, ~kUmaskBits, kOwnUmask}, {}, kAllow}};
// A descriptor is looked at, not a path: how the C library asks for fstat(3).
constexpr std::uint32_t kEmptyPath = 0x1000;  // AT_EMPTY_PATH
constexpr std::array kStatAt = {CallClause{{Kind::kAnyBit, 3, kEmptyPath}, {}, kAllow}};
constexpr std::array kStatx = {CallClause{{Kind::kAnyBit, 2, kEmptyPath}, {}, kAllow}};
constexpr std::array kAccessPath = {CallClause{{Kind::kAnyBit, 1, 0x2}, {}, kFileChange}};  // W_OK
constexpr std::array kAccessAt = {CallClause{{Kind::kAnyBit, 2, 0x2}, {}, kFileChange}};

constexpr std::uint32_t kIoctlKind = 0xc000ff00;  // direction and type (asm-generic/ioctl.h)
constexpr std::uint32_t kIoctlWrites = 0x40000000;  // only _IOC_WRITE
constexpr std::array kIoctl = {
    CallClause{{Kind::kEquals, 1, 0xffffffff, 0x5412}, {}, kPerm},  // TIOCSTI types into a terminal
    CallClause{{Kind::kEquals, 1, 0xffffffff, 0x541c}, {}, kPerm},  // TIOCLINUX pastes into a console
    CallClause{{Kind::kEquals, 1, 0xffffffff, 0x5423}, {}, kPerm},  // TIOCSETD loads line disciplines: old modules
    // Flags and attributes of files (linux/fs.h). The first two clauses match requests that only send a structure to
    // the kernel. Type 'f': FS_IOC_SETFLAGS, FS_IOC_ENABLE_VERITY and ext4's. Type 'X': FS_IOC_FSSETXATTR and xfs's.
    CallClause{{Kind::kEquals, 1, kIoctlKind, kIoctlWrites | 'f' << 8}, {}, kFileFlags},
    CallClause{{Kind::kEquals, 1, kIoctlKind, kIoctlWrites | 'X' << 8}, {}, kFileFlags},
    CallClause{{Kind::kEquals, 1, 0xffffffff, 0x800c6613}, {}, kFileFlags},  // FS_IOC_SET_ENCRYPTION_POLICY
    CallClause{{Kind::kEquals, 1, 0xffffffff, 0x40087602}, {}, kFileFlags},  // FS_IOC_SETVERSION
    CallClause{{Kind::kEquals, 1, 0xffffffff, 0x40047211}, {}, kFileFlags},  // FAT_IOCTL_SET_ATTRIBUTES
};

// linux/personality.h: UNAME26, ADDR_NO_RANDOMIZE (gdb, setarch -R) and PER_LINUX32 are ordinary. READ_IMPLIES_EXEC
// and MMAP_PAGE_ZERO make kernel and program bugs easier to use.
constexpr std::uint32_t kOrdinaryPersonality = 0x0020000 | 0x0040000 | 0x0008;
constexpr std::array kPersonality = {
    CallClause{{Kind::kEquals, 0, ~kOrdinaryPersonality, 0}, {}, kAllow},
    CallClause{{Kind::kEquals, 0, 0xffffffff, 0xffffffff}, {}, kAllow},  // asks, changes nothing
};

// A lease makes others wait in open(2) for up to fs.lease-break-time. The numbers are those of linux/fcntl.h.
constexpr std::array kFcntl = {
    CallClause{{Kind::kEquals, 1, 0xffffffff, 1024}, {}, kAccess},  // F_SETLEASE
    CallClause{{Kind::kEquals, 1, 0xffffffff, 1040}, {}, kAccess},  // F_SETDELEG
};

// If there is no cgroup, nothing bounds the memory of segments that no process has mapped. Databases use small segments
// as a lock, so those stay allowed; there are at most kernel.shmmni segments.
constexpr std::uint32_t kSegmentMax = 0xfff;
constexpr std::array kShmget = {
    CallClause{{Kind::kAnyBit, 1, ~kSegmentMax}, {}, kUnmappedMemory},
    CallClause{{Kind::kAnyBit, 1, 0xffffffff, 0, Half::kHigh}, {}, kUnmappedMemory},
};

// RENAME_WHITEOUT makes a character device at the old name.
constexpr std::array kRename = {CallClause{{Kind::kAnyBit, 4, 0x4}, {}, kPerm}};

constexpr std::array kPrctl = {
    CallClause{{Kind::kEquals, 0, 0xffffffff, 35}, {}, kPerm},  // PR_SET_MM: forges what /proc says of a process
};

// The init is of the same uid, and prlimit(2) asks for no more: without descriptors it would have to give up.
constexpr std::array kPrlimit = {
    CallClause{{Kind::kEquals, 0, 0xffffffff, 1}, {}, kPerm},
};

constexpr std::uint32_t kAfUnix = 1;
constexpr std::uint32_t kAfInet = 2;
constexpr std::uint32_t kAfInet6 = 10;
constexpr std::uint32_t kAfNetlink = 16;
constexpr std::uint32_t kNetlinkRoute = 0;
constexpr std::uint32_t kSocketType = 0xf;  // SOCK_TYPE_MASK; the rest is SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr std::uint32_t kSocketStream = 1;
constexpr std::uint32_t kSocketSeqpacket = 5;
constexpr std::uint32_t kSocketPacket = 10;

constexpr std::array kSocket = {
    // socket(AF_INET, SOCK_PACKET) makes an AF_PACKET socket (net/socket.c, __sock_create).
    CallClause{
        {Kind::kEquals, 0, 0xffffffff, kAfInet}, ArgumentTest{Kind::kEquals, 1, kSocketType, kSocketPacket}, kNoFamily},
    CallClause{{Kind::kEquals, 0, 0xffffffff, kAfInet}, {}, kAllow},
    CallClause{{Kind::kEquals, 0, 0xffffffff, kAfInet6}, {}, kAllow},
    CallClause{{Kind::kEquals, 0, 0xffffffff, kAfUnix},
               ArgumentTest{Kind::kEquals, 1, kSocketType, kSocketStream},
               kUnixSocket},
    CallClause{{Kind::kEquals, 0, 0xffffffff, kAfUnix},
               ArgumentTest{Kind::kEquals, 1, kSocketType, kSocketSeqpacket},
               kUnixSocket},
    // sendto(2) and sendmsg(2) of a datagram socket have an address each, in memory that no filter sees.
    CallClause{{Kind::kEquals, 0, 0xffffffff, kAfUnix}, {}, kUnixDatagramSocket},
    CallClause{
        {Kind::kEquals, 0, 0xffffffff, kAfNetlink}, ArgumentTest{Kind::kEquals, 2, 0xffffffff, kNetlinkRoute}, kAllow},
};

// One end of a datagram pair can still send to any address, so it would be an AF_UNIX socket by another name
// (net/unix/af_unix.c, unix_dgram_sendmsg; SOCK_RAW is SOCK_DGRAM there). Stream and seqpacket pairs cannot.
constexpr std::array kSocketpair = {
    CallClause{
        {Kind::kEquals, 0, 0xffffffff, kAfUnix}, ArgumentTest{Kind::kEquals, 1, kSocketType, kSocketStream}, kAllow},
    CallClause{
        {Kind::kEquals, 0, 0xffffffff, kAfUnix}, ArgumentTest{Kind::kEquals, 1, kSocketType, kSocketSeqpacket}, kAllow},
    CallClause{{Kind::kEquals, 0, 0xffffffff, kAfUnix}, {}, kUnixDatagrams},
};

constexpr int kNone = CallRule::kAbsent;

// Not here on purpose: ptrace and process_vm_* (a debugger of one's own children; the pid namespace is the border),
// seccomp and landlock_* (a program may only narrow itself further, and a second listener is EBUSY), fanotify_init
// (unprivileged, it is inotify).
constexpr std::array kRules = {
    // New namespaces and the ways into others.
    CallRule{"clone", 56, 220, kAllow, "no new namespaces: a nested one has all capabilities over itself", kClone},
    CallRule{"unshare", 272, 97, kAllow, "no new namespaces: a nested one has all capabilities over itself", kUnshare},
    CallRule{"clone3", 435, 435, kNoSys, "its flags are in memory, which no filter can see; libc then uses clone"},
    CallRule{"setns", 308, 268, kPerm, "enters another namespace"},

    // Mounts. EPERM, not ENOSYS: mount(8) would only fall back to the next call of this list.
    CallRule{"mount", 165, 40, kPerm, "changes what is where"},
    CallRule{"umount2", 166, 39, kPerm, "uncovers what a mount hides"},
    CallRule{"pivot_root", 155, 41, kPerm, "changes what is where"},
    CallRule{"chroot", 161, 51, kPerm, "helps to leave a root"},
    CallRule{"open_tree", 428, 428, kPerm, "takes a mount in hand"},
    CallRule{"move_mount", 429, 429, kPerm, "changes what is where"},
    CallRule{"fsopen", 430, 430, kPerm, "makes a filesystem"},
    CallRule{"fsconfig", 431, 431, kPerm, "makes a filesystem"},
    CallRule{"fsmount", 432, 432, kPerm, "makes a mount"},
    CallRule{"fspick", 433, 433, kPerm, "changes a filesystem"},
    CallRule{"mount_setattr", 442, 442, kPerm, "makes a read-only mount writable"},
    CallRule{"open_tree_attr", 467, 467, kPerm, "takes a mount in hand and changes it"},
    CallRule{"statmount", 457, 457, kNoSys, "new and seldom used; programs then read /proc/self/mountinfo"},
    CallRule{"listmount", 458, 458, kNoSys, "new and seldom used; programs then read /proc/self/mountinfo"},

    // Whole subsystems that get around this filter, or that the kernel has had many holes in.
    CallRule{"io_uring_setup", 425, 425, kNoSys, "does other calls where no filter looks; libraries then use epoll"},
    CallRule{"io_uring_enter", 426, 426, kNoSys, "does other calls where no filter looks; libraries then use epoll"},
    CallRule{"io_uring_register", 427, 427, kNoSys, "does other calls where no filter looks; libraries then use epoll"},
    CallRule{"io_setup", 206, 0, kNoSys, "takes of fs.aio-max-nr, which all programs of the machine share"},
    CallRule{"memfd_create", 319, 279, kUnmappedMemory, "memory that no limit of a process counts"},
    CallRule{"memfd_secret", 447, 447, kUnmappedMemory, "memory that no limit of a process counts"},
    CallRule{"shmget", 29, 194, kAllow, "segments are memory that no limit of a process counts", kShmget},
    CallRule{"add_key", 248, 217, kNoSys, "keyrings are shared by uid with what is outside"},
    CallRule{"request_key", 249, 218, kNoSys, "keyrings are shared by uid, and it starts a helper outside"},
    CallRule{"keyctl", 250, 219, kNoSys, "keyrings are shared by uid with what is outside"},
    CallRule{"bpf", 321, 280, kPerm, "programs in the kernel"},
    CallRule{"perf_event_open", 298, 241, kPerm, "measures other programs and the kernel"},
    CallRule{"userfaultfd", 323, 282, kPerm, "stops the kernel in the middle of a copy: a tool of most exploits"},
    CallRule{"modify_ldt", 154, kNone, kNoSys, "segments of 16-bit programs; as a kernel built without"},
    CallRule{"uselib", 134, kNone, kNoSys, "a.out libraries; as a kernel built without"},

    // The machine itself.
    CallRule{"kexec_load", 246, 104, kPerm, "starts another kernel"},
    CallRule{"kexec_file_load", 320, 294, kPerm, "starts another kernel"},
    CallRule{"init_module", 175, 105, kPerm, "loads a module"},
    CallRule{"finit_module", 313, 273, kPerm, "loads a module"},
    CallRule{"delete_module", 176, 106, kPerm, "unloads a module"},
    CallRule{"reboot", 169, 142, kPerm, "ends the machine"},
    CallRule{"swapon", 167, 224, kPerm, "changes the machine's memory"},
    CallRule{"swapoff", 168, 225, kPerm, "changes the machine's memory"},
    CallRule{"acct", 163, 89, kPerm, "makes the kernel write a file"},
    CallRule{"quotactl", 179, 60, kPerm, "changes quotas"},
    CallRule{"quotactl_fd", 443, 443, kPerm, "changes quotas"},
    CallRule{"syslog", 103, 116, kPerm, "reads the kernel's log, which names addresses and other programs"},
    CallRule{"settimeofday", 164, 170, kPerm, "sets the machine's clock"},
    CallRule{"clock_settime", 227, 112, kPerm, "sets the machine's clock"},
    CallRule{"adjtimex", 159, 171, kPerm, "sets the machine's clock"},
    CallRule{"clock_adjtime", 305, 266, kPerm, "sets the machine's clock"},
    CallRule{"sethostname", 170, 161, kPerm, "the hostname is the plan's"},
    CallRule{"setdomainname", 171, 162, kPerm, "the domain name is the plan's"},
    CallRule{"iopl", 172, kNone, kPerm, "reaches hardware"},
    CallRule{"ioperm", 173, kNone, kPerm, "reaches hardware"},
    CallRule{"vhangup", 153, 58, kPerm, "takes a terminal from others"},
    CallRule{"nfsservctl", 180, 42, kNoSys, "as every kernel since 3.1"},
    CallRule{"lookup_dcookie", 212, 18, kPerm, "turns a number into a path of the host"},

    // Files by other names than paths, and devices.
    CallRule{"open_by_handle_at", 304, 265, kPerm, "opens a file by number, past every mount"},
    CallRule{"name_to_handle_at", 303, 264, kNotSupported, "makes those numbers; as a filesystem that has none"},
    CallRule{"mknod", 133, kNone, kFileChange, "no devices; fifos, sockets and files are ordinary", kMknod},
    CallRule{"mknodat", 259, 33, kFileChange, "no devices; fifos, sockets and files are ordinary", kMknodat},

    // Changes of files: where there is a supervisor, it makes them (guest/calls/access.h).
    CallRule{"open", 2, kNone, kFileLook, "opens for writing", kOpen},
    CallRule{"openat", 257, 56, kFileLook, "opens for writing", kOpenat},
    CallRule{"openat2", 437, 437, kHiddenMode, "changes a file, but for those of hutch that only read", kOpenat2},
    CallRule{"umask", 95, 166, kFileChange, "changes what files are made with, but for that of hutch", kUmask},
    CallRule{"creat", 85, kNone, kFileChange, "changes a file", kCreat},
    CallRule{"truncate", 76, 45, kFileChange, "changes a file"},
    CallRule{"rename", 82, kNone, kFileChange, "changes a file"},
    CallRule{"renameat", 264, 38, kFileChange, "changes a file"},
    CallRule{"renameat2", 316, 276, kFileChange, "changes a file; leaves no device behind", kRename},
    CallRule{"mkdir", 83, kNone, kFileChange, "changes a file"},
    CallRule{"mkdirat", 258, 34, kFileChange, "changes a file"},
    CallRule{"rmdir", 84, kNone, kFileChange, "changes a file"},
    CallRule{"link", 86, kNone, kFileChange, "changes a file"},
    CallRule{"linkat", 265, 37, kFileChange, "changes a file"},
    CallRule{"symlink", 88, kNone, kFileChange, "changes a file"},
    CallRule{"symlinkat", 266, 36, kFileChange, "changes a file"},
    CallRule{"unlink", 87, kNone, kFileChange, "changes a file"},
    CallRule{"unlinkat", 263, 35, kFileChange, "changes a file"},
    CallRule{"chmod", 90, kNone, kFileChange, "changes a file; no file gets S_ISUID", kChmod},
    CallRule{"fchmod", 91, 52, kFileChange, "changes a file; no file gets S_ISUID", kChmod},
    CallRule{"fchmodat", 268, 53, kFileChange, "changes a file; no file gets S_ISUID", kChmodAt},
    CallRule{"fchmodat2", 452, 452, kFileChange, "changes a file; no file gets S_ISUID", kChmodAt},
    CallRule{"chown", 92, kNone, kOwnerChange, "changes a file"},
    CallRule{"lchown", 94, kNone, kOwnerChange, "changes a file"},
    CallRule{"fchown", 93, 55, kOwnerChange, "changes a file"},
    CallRule{"fchownat", 260, 54, kOwnerChange, "changes a file"},
    CallRule{"utime", 132, kNone, kFileChange, "changes a file"},
    CallRule{"utimes", 235, kNone, kFileChange, "changes a file"},
    CallRule{"futimesat", 261, kNone, kFileChange, "changes a file"},
    CallRule{"utimensat", 280, 88, kFileChange, "changes a file"},
    CallRule{"setxattr", 188, 5, kFileChange, "changes a file"},
    CallRule{"lsetxattr", 189, 6, kFileChange, "changes a file"},
    CallRule{"fsetxattr", 190, 7, kFileChange, "changes a file"},
    CallRule{"removexattr", 197, 14, kFileChange, "changes a file"},
    CallRule{"lremovexattr", 198, 15, kFileChange, "changes a file"},
    CallRule{"fremovexattr", 199, 16, kFileChange, "changes a file"},
    CallRule{"setxattrat", 463, 463, kPastSupervisor, "changes a file; programs then use fsetxattr"},
    CallRule{"removexattrat", 466, 466, kPastSupervisor, "changes a file; programs then use fremovexattr"},
    CallRule{"file_setattr", 469, 469, kPastSupervisor, "changes a file's flags; programs then use ioctl"},
    CallRule{"access", 21, kNone, kFileLook, "asks whether it may write", kAccessPath},
    CallRule{"faccessat", 269, 48, kFileLook, "asks whether it may write", kAccessAt},
    CallRule{"faccessat2", 439, 439, kFileLook, "asks whether it may write", kAccessAt},

    // Looks at files: where hidden ones are asked about, they wait for the answer. All of them go on in the kernel.
    CallRule{"stat", 4, kNone, kFileLook, "looks at a file"},
    CallRule{"lstat", 6, kNone, kFileLook, "looks at a file"},
    CallRule{"newfstatat", 262, 79, kFileLook, "looks at a file", kStatAt},
    CallRule{"statx", 332, 291, kFileLook, "looks at a file", kStatx},
    CallRule{"readlink", 89, kNone, kFileLook, "looks at a file"},
    CallRule{"readlinkat", 267, 78, kFileLook, "looks at a file"},
    CallRule{"chdir", 80, 49, kFileLook, "enters a directory"},
    CallRule{"execve", 59, 221, kFileLook, "runs a file"},
    CallRule{"execveat", 322, 281, kFileLook, "runs a file"},

    // Calls of which some arguments are refused.
    CallRule{"ioctl", 16, 29, kAllow, "no typing into the person's terminal, no flags of files", kIoctl},
    CallRule{"fcntl", 72, 25, kAllow, "no leases: they hold what others open", kFcntl},
    CallRule{"personality", 135, 92, kPerm, "only the ordinary ones", kPersonality},
    CallRule{"prctl", 157, 167, kAllow, "all but PR_SET_MM", kPrctl},
    CallRule{"prlimit64", 302, 261, kAllow, "all but the limits of the sandbox's init", kPrlimit},
    CallRule{"socket", 41, 198, kNoFamily, "IPv4, IPv6 and routes; the other families reach the host or old code",
             kSocket},
    CallRule{"connect", 42, 203, kUnixAddress, "its address is in memory, and may be that of a service of the host"},
    CallRule{"bind", 49, 200, kUnixAddress, "makes a file, and a socket that is then known to be the sandbox's own"},
    CallRule{"socketpair", 53, 199, kNoFamily, "pairs that can reach each other and nobody else", kSocketpair},
};

}  // namespace

std::span<const CallRule> call_rules() { return kRules; }

}  // namespace hutch::plan
