// Programs that serve a virtual machine.
#include "backend/vm/jailed.h"

#include <utility>

#include "backend/guest_process.h"
#include "backend/last_words.h"
#include "base/text.h"
#include "sys/io.h"

namespace hutch::backend::vm {

namespace {

constexpr std::uint32_t kProgram = 1;  // the number of a jail's only command

constexpr std::size_t kConsoleMax = 64 << 10;

}  // namespace

Result<wire::ToHost> expect(wire::Connection& guest, std::string_view what) {
  wire::ToHost message = TRY_CTX(receive_message(guest), what);
  if (auto* failed = std::get_if<wire::Failed>(&message)) return fail(std::move(failed->error).with_context(what));
  return message;
}

Result<Instance> start_jailed(Backend& jails, const plan::SandboxPlan& jail, const StartOptions& options,
                              std::vector<std::string> arguments, const std::array<int, 3>& streams,
                              const std::string& what) {
  const StartOptions own{
      .guest_program = options.guest_program, .landlock_abi = options.landlock_abi, .admit = options.admit};
  Instance instance = TRY_CTX(jails.start(jail, own), what);
  wire::Connection& warden = instance.guest;
  const bool network = jail.network == plan::NetworkKind::kGateway;
  for (bool ready = false; !ready || (network && !instance.network);) {
    wire::ToHost message = TRY(expect(warden, what));
    if (auto* made = std::get_if<wire::Network>(&message)) {
      instance.network = std::move(*made);
      instance.network_sockets = warden.take_descriptors();
    } else if (std::holds_alternative<wire::Ready>(message)) {
      ready = true;
    } else {
      return fail(Error::invalid(cat({what, ": unexpected message"})));
    }
  }
  wire::Exec program;
  program.command = kProgram;
  program.arguments = std::move(arguments);
  program.environment = jail.environment;
  program.cwd = jail.cwd;
  const std::string path = program.arguments.front();
  TRY(warden.send(wire::ToGuest(std::move(program)), streams));
  if (!std::holds_alternative<wire::Started>(TRY(expect(warden, what)))) {
    return fail(Error::unsupported(cat({path, " does not start; apt-get install qemu-system-x86"})));
  }
  return instance;
}

Status with_words_of(Status status, int console) {
  if (status) return status;
  std::string bytes(kConsoleMax, '\0');
  bytes.resize(sys::read_some(console, bytes).value_or(0));
  Error error = std::move(status).error();
  error.message += with_last_words(bytes);
  return fail(std::move(error));
}

}  // namespace hutch::backend::vm
