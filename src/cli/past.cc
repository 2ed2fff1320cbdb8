// Opens the record for reading.
#include "cli/past.h"

#include <fmt/format.h>

#include "host/facts.h"
#include "host/state_dirs.h"
#include "sys/identity.h"
#include "sys/io.h"

namespace hutch::cli {

Result<std::string> record_directory() {
  const std::string home = TRY_CTX(host::home_directory(), "find the record");
  return TRY(host::own_state_dirs(sys::user_id(), home)).data;
}

Result<store::SpoolContents> read_record() {
  const std::string directory = TRY(record_directory());
  store::SpoolContents contents = TRY_CTX(store::read_spool(directory), "read the record");
  tell_of_damage(contents.damaged_lines);
  return contents;
}

void tell_of_damage(std::size_t lines) {
  if (lines == 0) return;
  (void)sys::write_all(
      2, fmt::format("hutch: {} damaged line{} of the record passed over\n", lines, lines == 1 ? "" : "s"));
}

}  // namespace hutch::cli
