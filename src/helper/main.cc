// hutch-helper: root, for people who are not. Starts hutch-guest as an OS user that root has let them be; nothing else.
#include "helper/helper.h"
#include "sys/files/identity.h"
#include "sys/io.h"

namespace {

// The connection: a unit's socket, or the end of a pair that whoever runs sudo has made.
constexpr int kCaller = 0;

int usage(const char* why) {
  (void)hutch::sys::write_all(2, why);
  return 125;
}

}  // namespace

int main(int argc, char**) {
  if (argc != 1 || hutch::sys::stream_kind(kCaller) != hutch::sys::StreamKind::kSocket) {
    return usage("hutch-helper: started by its unit or by hutch; there is nothing to run by hand\n");
  }
  if (hutch::sys::user_id() != 0) return usage("hutch-helper: takes root: sudo hutch init --for PERSON\n");
  return hutch::helper::serve(hutch::UniqueFd(kCaller));
}
