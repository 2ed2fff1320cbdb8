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

int code_with_output(int code, std::string_view lost) {
  if (lost.empty()) return code;
  (void)sys::write_all(2, cat({"hutch: some of the output is lost: ", lost, "\n"}));
  return code == 0 ? kOwnFailure : code;
}

}  // namespace hutch::cli
