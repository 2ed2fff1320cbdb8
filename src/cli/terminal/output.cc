// Writes to the standard streams.
#include "cli/terminal/output.h"

#include "base/text.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

int print(const std::string& text) {
  const Status written = sys::write_until_told(1, text);
  return written ? 0 : complain(written.error());
}

// A name in it may be the choice of whoever is in a sandbox.
int complain(const Error& error) {
  std::string shown;
  for (const std::string_view line : split(error.message, '\n')) {
    shown += cat({shown.empty() ? "" : "\n", printable(line, std::string::npos)});
  }
  (void)sys::write_until_told(2, cat({"hutch: ", shown, "\n"}));
  return kOwnFailure;
}

int code_with_output(int code, std::string_view lost) {
  if (lost.empty()) return code;
  (void)sys::write_until_told(2, cat({"hutch: some of the output is lost: ", lost, "\n"}));
  return code == 0 ? kOwnFailure : code;
}

}  // namespace hutch::cli
