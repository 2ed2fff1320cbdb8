// hutch serve and hutch daemon.
#include "cli/machine/daemon.h"

#include <memory>

#include "base/text.h"
#include "cli/terminal/log_stream.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "client/start_remedy.h"
#include "host/state_dirs.h"
#include "server/daemon/daemon.h"
#include "server/protocol/http_guard.h"
#include "store/settings_file.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "sys/process/signals.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

using client::DaemonClient;

constexpr std::chrono::minutes kIdle{10};

// What is typed wins over what is set.
Result<std::optional<server::Listen>> listen_of(const ServeArguments& arguments, const store::Settings::Daemon& set,
                                                const host::StateDirs& dirs) {
  std::string listen = arguments.listen;
  std::string token_file = arguments.token_file;
  if (listen.empty()) {
    if (set.listen.empty()) return std::optional<server::Listen>();
    listen = set.listen;
    token_file = set.token_file;
    if (token_file.empty()) {
      TRY(sys::make_private_directories(dirs.config));
      token_file = cat({dirs.config, "/token"});
    }
  }
  const sys::Endpoint at = TRY(server::http::parse_listen(listen));
  std::string token = TRY(server::http::load_token(token_file));
  return std::optional(server::Listen{at, std::move(token), TRY(sys::canonical_path(token_file))});
}

// One that was started by whoever needs it leaves by itself.
std::chrono::milliseconds idle_of(const ServeArguments& arguments, const store::Settings::Daemon& set) {
  if (arguments.idle) return *arguments.idle;
  if (set.idle) return *set.idle;
  return arguments.ready_fd >= 0 ? kIdle : std::chrono::milliseconds(0);
}

Result<server::DaemonSettings> settings_of(const ServeArguments& arguments, const host::StateDirs& dirs,
                                           UniqueFd& ready) {
  const store::Settings::Daemon set = TRY(store::SettingsFile(dirs.config).read()).daemon;
  return server::DaemonSettings{
      .idle = idle_of(arguments, set),
      .connections_max = set.connections_max.value_or(server::kConnectionsMax),
      .upload_max = set.upload_max.value_or(server::kUploadBytesMax),
      .listen = TRY(listen_of(arguments, set, dirs)),
      .tell = [log = std::make_shared<LogStream>(2)](const std::string& line) { log->tell(line); },
      .ready = [&ready] { ready.reset(); }};
}

// Of the terminal of whoever started it by using it, the daemon hears nothing.
Status serve_from(const ServeArguments& arguments, const host::StateDirs& dirs, UniqueFd& ready) {
  const server::DaemonSettings settings = TRY(settings_of(arguments, dirs, ready));
  if (arguments.ready_fd >= 0) (void)sys::new_session();
  // Someone may remove the directory of the first client, or unmount its file system.
  TRY(sys::change_directory("/"));
  return server::serve(dirs, settings);
}

}  // namespace

int serve(const ServeArguments& arguments) {
  const auto dirs = own_dirs();
  if (!dirs) return complain(dirs.error());
  UniqueFd ready(arguments.ready_fd);
  const Status served = serve_from(arguments, *dirs, ready);
  if (served) return 0;
  const Error error = client::with_start_remedy(served.error(), *dirs);
  // Whoever waits for it hears why it does not come. That another one is there is no reason: it serves as well.
  (void)sys::ignore_broken_pipe();
  if (ready && error.code != Code::kConflict) (void)sys::write_all(ready.get(), error.message);
  return complain(error);
}

int daemon(const DaemonArguments& arguments) {
  auto daemon = own_daemon(DaemonClient::Start::kNever);
  const bool json = arguments.form == service::OutputForm::kJson;
  if (!daemon && daemon.error().code == Code::kNotFound) {
    return print(json ? "{\"running\":false}\n" : "no daemon runs; verbs that need it start it\n");
  }
  if (!daemon) return complain(daemon.error());
  const auto result = daemon->call(cat({"daemon.", arguments.action}), {});
  if (!result) return complain(result.error());
  if (arguments.action == "stop") {
    // It has gone once the connection has.
    (void)daemon->receive();
    return 0;
  }
  if (json) return print(tool::json_text(*result) + "\n");
  return print(table({{"pid", std::to_string(number_in(*result, "pid"))},
                      {"version", text_in(*result, "version")},
                      {"connections", std::to_string(number_in(*result, "connections"))},
                      {"busy sandboxes", std::to_string(number_in(*result, "busy"))},
                      {"up", cat({std::to_string(number_in(*result, "uptime_seconds")), " s"})}}));
}

}  // namespace hutch::cli
