// The kernel of virtual machines, with the modules that it needs there: of a package, or of a file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/image/images.h"

namespace hutch::service {

struct VmKernel {
  std::string release;
  std::vector<std::string> modules;  // names of files, in the order in which the kernel is to have them
};

// Whether what was typed is a file's; else it is a package's.
bool is_kernel_path(const std::string& kernel);

// Fetches the package that `package` is, or that it depends on, into the directory: as the file kKernelPackage.
inline constexpr const char* kKernelPackage = "kernel.deb";
Status fetch_kernel_package(const std::string& package, const std::string& into, const TellImage& tell);

// Unpacks it without installing: "kernel" and the modules in `into`.
Result<VmKernel> unpack_kernel_package(const std::string& package, const std::string& into, const TellImage& tell);

// The same of a bzImage, with modules of the directory `modules` ("/lib/modules/RELEASE"; empty: the one of that name
// here, where there is one). What the kernel has built in needs none. Errors: a file that is none, a directory without
// any module.
Result<VmKernel> take_kernel(const std::string& path, const std::string& modules, const std::string& into,
                             const TellImage& tell);

}  // namespace hutch::service
