// What a sandbox that is an OS user has of its own over the machine's files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace hutch::plan {

// Where they are directories of the machine.
inline constexpr std::array<std::string_view, 3> kOwnPlacesOfOsUser = {"/tmp", "/dev/shm", "/dev/mqueue"};

// A /proc, and empty ones in the place of these.
std::vector<MountStep> own_places_of_os_user(const std::function<bool(std::string_view)>& is_directory,
                                             std::uint64_t tmp_bytes);

// A file of the machine's by which programs trust authorities, and which of kBundleFile and kJavaFile lies over it.
struct TrustStore {
  std::string path;  // canonical
  std::string_view file;
  Identity identity;  // none: over the regular file that is there, where one is
};
// Where TLS is opened: the files of plan/trust.h, below kTrustOfOsUser, with nothing in them yet.
void add_trust_of_os_user(std::vector<MountStep>& steps, const std::vector<TrustStore>& stores);

// Below a directory of this sandbox's own, root's: hutch-host, which is the program of the guest, whether or not the
// user could reach that elsewhere.
inline constexpr std::string_view kProgramsOfOsUser = "/tmp/.hutch/bin";
// Where a virtual machine has that program (guest/machine/machine.cc).
inline constexpr std::string_view kGuestOfMachine = "/run/hutch-guest";
void add_host_programs_of_os_user(std::vector<MountStep>& steps, const std::string& guest_program);

}  // namespace hutch::plan
