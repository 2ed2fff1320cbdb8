// Where the programs are that hutch starts.
#include "service/programs.h"

#include "base/text.h"
#include "sys/files.h"
#include "sys/process.h"

namespace hutch::service {

Result<std::string> guest_program() {
  const std::string own = TRY(sys::own_program());
  const std::string directory = own.substr(0, own.rfind('/'));
  for (const char* place : {"/hutch-guest", "/../lib/hutch/hutch-guest"}) {
    if (sys::exists(directory + place)) return directory + place;
  }
  return fail(Error::not_found(cat({"hutch-guest is not beside ", own, ": install both programs together"})));
}

Result<std::string> bwrap_program() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (sys::exists(path)) return std::string(path);
  }
  return fail(Error::unsupported("backend bwrap: bubblewrap is not installed; apt-get install bubblewrap"));
}

}  // namespace hutch::service
