// Where the programs are that hutch starts.
#include "service/common/programs.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/machine/isolation_facts.h"
#include "sys/files/files.h"
#include "sys/process/dynamic.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

// Of a program that links the library: beside that, which an installation has moved as a whole.
std::string guest_beside_library() {
  const auto library = sys::file_of_code(reinterpret_cast<const void*>(&guest_beside_library));
  if (!library) return {};
  const std::string directory = library->substr(0, library->rfind('/'));
  for (const char* place : {"/hutch/hutch-guest", "/../hutch/hutch-guest", "/hutch-guest", "/../bin/hutch-guest"}) {
    const std::string candidate = directory + place;
    if (sys::is_executable_file(candidate)) return sys::canonical_path(candidate).value_or(candidate);
  }
  return {};
}

}  // namespace

Result<std::string> guest_program() {
  std::string found = host::find_guest_program();
  if (found.empty()) found = guest_beside_library();
  if (!found.empty()) return found;
  return fail(Error::not_found("hutch-guest is neither beside hutch nor in ../lib/hutch: install both together"));
}

std::string inspector_program(const std::string& guest_program) {
  return guest_program.substr(0, guest_program.rfind('/') + 1) + "hutch-inspect";
}

Result<std::string> unpack_program() {
  const std::string guest = TRY(guest_program());
  std::string found = cat({guest.substr(0, guest.rfind('/') + 1), "hutch-unpack"});
  if (sys::is_executable_file(found)) return found;
  return fail(Error::not_found("hutch-unpack is not beside hutch-guest: install both together"));
}

Result<std::string> helper_program() {
  const std::string guest = TRY(guest_program());
  std::string found = cat({guest.substr(0, guest.rfind('/') + 1), "hutch-helper"});
  if (sys::is_executable_file(found)) return found;
  return fail(Error::not_found("hutch-helper is not beside hutch-guest: install both together"));
}

std::vector<std::string> own_programs() {
  const std::string guest = host::find_guest_program();
  std::vector<std::string> found;
  for (const std::string_view name : {"hutch", "hutch-guest", "hutch-helper", "hutch-inspect", "hutch-unpack"}) {
    std::string path = cat({guest.substr(0, guest.rfind('/') + 1), name});
    if (!guest.empty()) found.push_back(std::move(path));
  }
  return found;
}

Result<std::string> attacks_runner() {
  const std::string guest = TRY(guest_program());
  std::string found = cat({guest.substr(0, guest.rfind('/') + 1), "attacks/escape/suite/run.py"});
  if (sys::exists(found)) return found;
  return fail(Error::not_found(cat({"the attacks are not installed: ", found, " is missing; install hutch again"})));
}

Result<std::string> bwrap_program() {
  std::string found = host::find_system_program("bwrap");
  if (!found.empty()) return found;
  return fail(Error::unsupported("backend bwrap: bubblewrap is not installed; apt-get install bubblewrap"));
}

}  // namespace hutch::service
