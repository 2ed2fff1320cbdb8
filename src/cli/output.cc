// Writes to the standard streams.
#include "cli/output.h"

#include "base/text.h"
#include "sys/io.h"

namespace hutch::cli {

int print(const std::string& text) {
  const Status written = sys::write_all(1, text);
  return written ? 0 : complain(written.error());
}

int complain(const Error& error) {
  (void)sys::write_all(2, cat({"hutch: ", error.message, "\n"}));
  return kOwnFailure;
}

}  // namespace hutch::cli
