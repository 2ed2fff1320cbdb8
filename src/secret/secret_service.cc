// The Secret Service by secret-tool(1): libsecret itself takes GLib and D-Bus, which no static program has.
#include <poll.h>

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "base/text.h"
#include "secret/keyring.h"
#include "secret/sealed_file.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"

namespace hutch::secret {

namespace {

constexpr std::chrono::seconds kPatience{20};  // with a person who is asked to unlock it
constexpr std::size_t kAnswerBytesMax = 4096;

struct Said {
  int exit_code = 0;
  std::string answer;
  std::string complaint;
};

Result<std::string> program() {
  for (const char* path : {"/usr/bin/secret-tool", "/usr/local/bin/secret-tool"}) {
    if (sys::is_executable_file(path)) return std::string(path);
  }
  return fail(Error::unsupported("the Secret Service is reached by secret-tool; apt-get install libsecret-tools"));
}

// Without an address of it secret-tool would start a bus of its own.
Result<std::string> bus() {
  if (const auto own = sys::environment_variable("DBUS_SESSION_BUS_ADDRESS"); own && !own->empty()) return *own;
  const std::string usual = cat({"/run/user/", std::to_string(sys::user_id()), "/bus"});
  if (sys::exists(usual)) return cat({"unix:path=", usual});
  return fail(
      Error::unsupported("the Secret Service is one of a session, and the daemon knows of none: log in, hutch daemon "
                         "stop, and try again"));
}

Result<std::string> rest_of(int pipe) {
  TRY(sys::set_nonblocking(pipe));
  std::array<char, kAnswerBytesMax> bytes{};
  const auto size = sys::read_some(pipe, bytes);
  std::string text(bytes.data(), size.value_or(0));
  bytes.fill('\0');
  return text;
}

// What is written and read is shorter than a pipe takes.
Result<Said> run(std::vector<std::string> arguments, const std::string& input) {
  const std::string tool = TRY(program());
  const std::string session_bus = TRY(bus());
  arguments.insert(arguments.begin(), "secret-tool");
  sys::Pipe in = TRY(sys::pipe());
  sys::Pipe out = TRY(sys::pipe());
  sys::Pipe errors = TRY(sys::pipe());
  const std::vector<std::string> environment = {cat({"DBUS_SESSION_BUS_ADDRESS=", session_bus}), "LC_ALL=C",
                                                "PATH=/usr/bin:/bin",
                                                cat({"HOME=", sys::environment_variable("HOME").value_or("/")})};
  sys::ChildProcess process =
      TRY(sys::spawn(tool, {.arguments = std::move(arguments),
                            .environment = environment,
                            .install = {{in.read.get(), 0}, {out.write.get(), 1}, {errors.write.get(), 2}}}));
  in.read.reset();
  out.write.reset();
  errors.write.reset();
  TRY(sys::write_all(in.write.get(), input));
  in.write.reset();
  pollfd ended{process.pidfd(), POLLIN, 0};
  if (TRY(sys::poll({&ended, 1}, kPatience)) == 0) {
    return fail(Error{Code::kTimeout, 0,
                      "the Secret Service does not answer, or waits to be unlocked: unlock it, and try again"});
  }
  const sys::WaitStatus status = TRY(process.wait());
  return Said{status.exited() ? status.exit_code() : 128 + status.signal(), TRY(rest_of(out.read.get())),
              TRY(rest_of(errors.read.get()))};
}

Error failed(const Said& said) {
  return {Code::kSystem, 0,
          cat({"secret-tool: ", printable(said.complaint.substr(0, said.complaint.find('\n')), 400)})};
}

class SecretService final : public Keyring {
 public:
  // secret-tool says by 1 without a word that there is none.
  Result<std::optional<std::string>> find(const std::string& store) override {
    Said said = TRY(run({"lookup", "application", "hutch", "store", store}, ""));
    if (said.exit_code == 0) return std::optional(std::exchange(said.answer, {}));
    if (said.exit_code == 1 && said.complaint.empty()) return std::optional<std::string>();
    return fail(failed(said));
  }

  Status keep(const std::string& store, const std::string& text) override {
    const Said said = TRY(
        run({"store", "--label", cat({"hutch: the key of ", store}), "application", "hutch", "store", store}, text));
    return said.exit_code == 0 ? Status() : fail(failed(said));
  }

  Status remove(const std::string& store) override {
    const Said said = TRY(run({"clear", "application", "hutch", "store", store}, ""));
    return said.complaint.empty() ? Status() : fail(failed(said));
  }
};

}  // namespace

std::unique_ptr<Keyring> secret_service() { return std::make_unique<SecretService>(); }

}  // namespace hutch::secret
