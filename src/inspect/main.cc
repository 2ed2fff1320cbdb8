// hutch-inspect: reads HTTP and opens TLS for the egress gateway, in a process of its own that can do nothing else.
#include <openssl/ssl.h>

#include "base/text.h"
#include "inspect/lockdown.h"
#include "inspect/server.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"

namespace {

// Descriptor 0 is the stream to the gateway.
constexpr int kStream = 0;
constexpr int kOwnFailure = 125;

int usage() {
  (void)hutch::sys::write_all(2, "hutch-inspect: started by hutch; there is nothing to run by hand\n");
  return kOwnFailure;
}

hutch::Status serve() {
  using namespace hutch;
  // Sockets that arrive must not land on the numbers of the standard streams.
  TRY(sys::fill_standard_streams());
  TRY(inspect::protect_process());
  TRY(sys::ignore_broken_pipe());
  // No configuration file: it could load code.
  if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) != 1) return fail(Error::unsupported("OPENSSL_init_ssl"));
  inspect::Server server((UniqueFd(kStream)));
  const Status ended = server.run();
  if (!ended) (void)sys::write_all(2, cat({"hutch-inspect: ", ended.error().message, "\n"}));
  // Conversations may still be under way; they know the server.
  sys::exit_now(ended ? 0 : kOwnFailure);
}

}  // namespace

int main() {
  if (hutch::sys::stream_kind(kStream) != hutch::sys::StreamKind::kSocket) return usage();
  const hutch::Status served = serve();
  if (!served) (void)hutch::sys::write_all(2, hutch::cat({"hutch-inspect: ", served.error().message, "\n"}));
  return kOwnFailure;
}
