// hutch serve and hutch daemon.
#include "cli/daemon.h"

#include "base/text.h"
#include "cli/output.h"
#include "cli/own_daemon.h"
#include "server/daemon.h"
#include "server/http_guard.h"
#include "sys/identity.h"
#include "sys/io.h"

namespace hutch::cli {

namespace {

using client::DaemonClient;

void say(const std::string& line) { (void)sys::write_all(2, cat({"hutch: ", printable(line, 2000), "\n"})); }

Result<std::optional<server::Listen>> listen_of(const ServeArguments& arguments) {
  if (arguments.listen.empty()) return std::optional<server::Listen>();
  const sys::Endpoint at = TRY(server::http::parse_listen(arguments.listen));
  return std::optional(server::Listen{at, TRY(server::http::load_token(arguments.token_file))});
}

}  // namespace

int serve(const ServeArguments& arguments) {
  const auto dirs = own_dirs();
  if (!dirs) return complain(dirs.error());
  const auto listen = listen_of(arguments);
  if (!listen) return complain(listen.error());
  // Of the terminal of whoever started it by using it, the daemon hears nothing.
  if (arguments.ready_fd >= 0) (void)sys::new_session();
  const auto served =
      server::serve(*dirs, {.idle = arguments.idle, .ready = arguments.ready_fd, .listen = *listen, .tell = say});
  return served ? 0 : complain(served.error());
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
