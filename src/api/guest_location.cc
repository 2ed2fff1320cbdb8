// Where a program that links the library finds hutch-guest.
#include "api/guest_location.h"

#include <vector>

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "sys/process/dynamic.h"
#include "sys/process/host_info.h"

namespace hutch::api {

Result<std::string> locate_guest(const std::string& given) {
  if (!given.empty()) {
    if (sys::is_executable_file(given)) return sys::canonical_path(given);
    return fail(Error::not_found(cat({"guest_program: ", printable(given), " is no program"})));
  }
  std::string beside = host::find_guest_program();
  if (!beside.empty()) return beside;
  std::vector<std::string> candidates;
  // An install may have been moved as a whole: what counts is where this library lies.
  if (const auto library = sys::file_of_code(reinterpret_cast<const void*>(&locate_guest))) {
    const std::string directory = library->substr(0, library->rfind('/'));
    candidates = {directory + "/hutch/hutch-guest", directory + "/../hutch/hutch-guest", directory + "/hutch-guest",
                  directory + "/../bin/hutch-guest"};
  }
  candidates.emplace_back(HUTCH_INSTALLED_GUEST);
  if (auto named = sys::environment_variable("HUTCH_GUEST")) candidates.push_back(std::move(*named));
  for (const std::string& candidate : candidates) {
    if (sys::is_executable_file(candidate)) return sys::canonical_path(candidate);
  }
  return fail(Error::not_found(
      "hutch-guest is not found: it is installed with the library; or name it in guest_program or HUTCH_GUEST"));
}

}  // namespace hutch::api
