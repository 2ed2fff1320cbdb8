// One question, one line.
#include "cli/terminal/consent.h"

#include <array>

#include "base/text.h"
#include "sys/io.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

bool is_terminal(int fd) { return sys::stream_kind(fd) == sys::StreamKind::kTerminal; }

Status ask_consent(const Consent& consent) {
  if (!is_terminal(0) || !is_terminal(2)) {
    return fail(Error{.code = Code::kPermissionDenied, .message = cat({consent.what, "hutch: ", consent.option})});
  }
  TRY(sys::write_until_told(2, cat({consent.what, consent.question, " [y/N] "})));
  std::array<char, 256> answer{};
  const std::size_t size = TRY(sys::read_some(0, answer));
  if (size > 0 && (answer[0] == 'y' || answer[0] == 'Y')) return {};
  return fail(Error{.code = Code::kPermissionDenied, .message = std::string(consent.declined)});
}

}  // namespace hutch::cli
