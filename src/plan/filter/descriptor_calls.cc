// The decision about each call that takes a descriptor of a supervised file.
#include "plan/filter/descriptor_calls.h"

#include <array>

namespace hutch::plan {

namespace {

using enum DescriptorTreatment;

// How a call names a descriptor: as its argument; with AT_EMPTY_PATH beside it; or by a path in proc(5).
constexpr std::string_view kNumber = "descriptor";
constexpr std::string_view kEmpty = "empty path";
constexpr std::string_view kProc = "/proc/self/fd";

constexpr std::string_view kMode = "changes the mode";
constexpr std::string_view kOwner = "changes owner and group";
constexpr std::string_view kTimes = "changes times";
constexpr std::string_view kAttribute = "changes an extended attribute, which an ACL is too";
constexpr std::string_view kReopens = "gives a descriptor with more rights than the one that leads there";
constexpr std::string_view kWrites = "writes content";
constexpr std::string_view kFlags = "changes flags that make a file immutable, or hold its attributes";
constexpr std::string_view kAround = "reaches files where neither mounts nor names count";
constexpr std::string_view kSame = "gives the same descriptor, on the same mount, to whoever is named";
constexpr std::string_view kDisk = "is about memory and disk, not about what the file says";
constexpr std::string_view kLock = "locks the file, as a descriptor for reading may";

constexpr std::array kCalls = {
    DescriptorCall{"fchmod", kNumber, kJudged, kMode},
    DescriptorCall{"fchmodat2", kEmpty, kJudged, kMode},
    DescriptorCall{"chmod", kProc, kJudged, kMode},
    DescriptorCall{"fchmodat", kProc, kJudged, kMode},
    DescriptorCall{"fchown", kNumber, kJudged, kOwner},
    DescriptorCall{"fchownat", kEmpty, kJudged, kOwner},
    DescriptorCall{"chown", kProc, kJudged, kOwner},
    DescriptorCall{"utimensat", kNumber, kJudged, kTimes},
    DescriptorCall{"utimensat", kEmpty, kJudged, kTimes},
    DescriptorCall{"utimensat", kProc, kJudged, kTimes},
    DescriptorCall{"utime", kProc, kJudged, kTimes},
    DescriptorCall{"utimes", kProc, kJudged, kTimes},
    DescriptorCall{"futimesat", kProc, kJudged, kTimes},
    DescriptorCall{"fsetxattr", kNumber, kJudged, kAttribute},
    DescriptorCall{"setxattr", kProc, kJudged, kAttribute},
    DescriptorCall{"fremovexattr", kNumber, kJudged, kAttribute},
    DescriptorCall{"removexattr", kProc, kJudged, kAttribute},
    DescriptorCall{"setxattrat", kEmpty, kRefused, kAttribute},
    DescriptorCall{"removexattrat", kEmpty, kRefused, kAttribute},
    DescriptorCall{"truncate", kProc, kJudged, "cuts the file off by a path"},
    DescriptorCall{"open", kProc, kJudged, kReopens},
    DescriptorCall{"openat", kProc, kJudged, kReopens},
    DescriptorCall{"openat2", kProc, kJudged, kReopens},
    DescriptorCall{"creat", kProc, kJudged, kReopens},
    DescriptorCall{"linkat", kProc, kJudged, "gives the file a second name"},
    DescriptorCall{"linkat", kEmpty, kJudged, "gives the file a second name; between two mounts the kernel refuses it"},

    DescriptorCall{"file_setattr", kEmpty, kRefused, kFlags},
    DescriptorCall{"ioctl", "FS_IOC_SETFLAGS", kRefused, kFlags, 0x40086602},
    DescriptorCall{"ioctl", "FS_IOC_FSSETXATTR", kRefused, kFlags, 0x401c5820},
    DescriptorCall{"ioctl", "FS_IOC_SETVERSION", kRefused, kFlags, 0x40087602},
    DescriptorCall{"ioctl", "FS_IOC_ENABLE_VERITY", kRefused, kFlags, 0x40806685},
    DescriptorCall{"ioctl", "FS_IOC_SET_ENCRYPTION_POLICY", kRefused, kFlags, 0x800c6613},
    DescriptorCall{"ioctl", "FAT_IOCTL_SET_ATTRIBUTES", kRefused, kFlags, 0x40047211},
    DescriptorCall{"name_to_handle_at", kEmpty, kRefused, kAround},
    DescriptorCall{"open_by_handle_at", kNumber, kRefused, kAround},
    DescriptorCall{"open_tree", kEmpty, kRefused, kAround},
    DescriptorCall{"quotactl_fd", kNumber, kRefused, kAround},
    DescriptorCall{"io_uring_setup", kNumber, kRefused, "makes every other call where no filter looks"},

    DescriptorCall{"write", kNumber, kContent, kWrites},
    DescriptorCall{"pwrite64", kNumber, kContent, kWrites},
    DescriptorCall{"writev", kNumber, kContent, kWrites},
    DescriptorCall{"pwritev", kNumber, kContent, kWrites},
    DescriptorCall{"pwritev2", kNumber, kContent, kWrites},
    DescriptorCall{"sendfile", kNumber, kContent, kWrites},
    DescriptorCall{"splice", kNumber, kContent, kWrites},
    DescriptorCall{"copy_file_range", kNumber, kContent, kWrites},
    DescriptorCall{"io_submit", kNumber, kContent, kWrites},
    DescriptorCall{"mmap", kNumber, kContent, "writes content by a shared mapping; set-ids were ended before"},
    DescriptorCall{"ftruncate", kNumber, kContent, "cuts content off or adds zeros"},
    DescriptorCall{"fallocate", kNumber, kContent, "makes room, or zeros"},
    DescriptorCall{"ioctl", "FICLONE", kContent, "takes the content of another file, which it has to be able to read",
                   0x40049409},
    DescriptorCall{"ioctl", "FICLONERANGE", kContent, "takes content of another file", 0x4020940d},

    DescriptorCall{"dup", kNumber, kHarmless, kSame},
    DescriptorCall{"fcntl", "F_DUPFD", kHarmless, kSame},
    DescriptorCall{"sendmsg", "SCM_RIGHTS", kHarmless, kSame},
    DescriptorCall{"pidfd_getfd", kNumber, kHarmless, kSame},
    DescriptorCall{"flock", kNumber, kHarmless, kLock},
    DescriptorCall{"fsync", kNumber, kHarmless, kDisk},
    DescriptorCall{"fdatasync", kNumber, kHarmless, kDisk},
    DescriptorCall{"syncfs", kNumber, kHarmless, kDisk},
    DescriptorCall{"sync_file_range", kNumber, kHarmless, kDisk},
    DescriptorCall{"fadvise64", kNumber, kHarmless, kDisk},
    DescriptorCall{"readahead", kNumber, kHarmless, kDisk},
};

}  // namespace

std::span<const DescriptorCall> descriptor_calls() { return kCalls; }

}  // namespace hutch::plan
