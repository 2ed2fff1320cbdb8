// hutch config.
#include "cli/config.h"

#include "base/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "host/daemon_paths.h"
#include "host/facts.h"
#include "service/live_runs.h"
#include "sys/io.h"
#include "sys/tree.h"

namespace hutch::cli {

namespace {

// The session's own switch, which is kept by the daemon.
int switch_session(const service::ConfigRequest& request) {
  const auto state = set_session(request.action == "enable" ? policy::Switch::kEnabled : policy::Switch::kDisabled);
  if (!state) return complain(state.error());
  const bool enabled = state->enabled == policy::Switch::kEnabled;
  if (request.form == service::OutputForm::kJson)
    return print(enabled ? "{\"enabled\":true}\n" : "{\"enabled\":false}\n");
  return print(enabled ? "sandboxes are on for this session\n" : "sandboxes are off for this session\n");
}

}  // namespace

int config(const service::ConfigRequest& request) {
  if (request.lasts == service::ConfigRequest::Lasts::kSession) return switch_session(request);
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  const auto answer = service::configure(request, *facts, sys::own_environment());
  if (!answer) return complain(answer.error());
  const int printed = print(answer->text);
  if (answer->saved) {
    const std::string runs = host::runs_directory(host::own_state_dirs(facts->uid, facts->home));
    for (const std::string& note : service::reload_runs(runs)) (void)sys::write_all(2, cat({"hutch: ", note, "\n"}));
    tell_daemon_of_policy();
  }
  return printed != 0 ? printed : answer->exit_code;
}

}  // namespace hutch::cli
