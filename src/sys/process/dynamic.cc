// Which file code was loaded from.
#include "sys/process/dynamic.h"

#include <dlfcn.h>

#include "sys/process/host_info.h"

namespace hutch::sys {

Result<std::string> file_of_code(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return fail(Error::not_found("dladdr(): no file has that address"));
  }
  return canonical_path(info.dli_fname);
}

}  // namespace hutch::sys
