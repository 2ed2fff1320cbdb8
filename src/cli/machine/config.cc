// hutch config.
#include "cli/machine/config.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/machine/config_wizard.h"
#include "cli/options/verbs.h"
#include "cli/terminal/output.h"
#include "cli/terminal/session.h"
#include "host/daemon_paths.h"
#include "host/machine/facts.h"
#include "service/live/live_runs.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

// The session's own switch, which is kept by the daemon.
int switch_session(const service::ConfigRequest& request) {
  const auto state = set_session(request.action == "enable" ? policy::Switch::kEnabled : policy::Switch::kDisabled);
  if (!state) return complain(state.error());
  const bool enabled = state->enabled == policy::Switch::kEnabled;
  if (request.form == service::OutputForm::kJson)
    return print(enabled ? "{\"enabled\":true}\n" : "{\"enabled\":false}\n");
  return print(std::string(enabled ? kSessionOn : kSessionOff));
}

// Without words, where there is nobody to choose.
int complain_of_missing_action() {
  const std::span<const std::string_view> actions = find_verb("config")->word_choices;
  return complain(Error::invalid(cat({"config: an action is missing, which only a terminal can do without; there are ",
                                      join({actions.begin(), actions.end()}, ", ")})));
}

bool is_on_terminal() {
  return sys::stream_kind(0) == sys::StreamKind::kTerminal && sys::stream_kind(1) == sys::StreamKind::kTerminal;
}

}  // namespace

int config(const service::ConfigRequest& request) {
  if (request.action.empty()) return is_on_terminal() ? config_wizard() : complain_of_missing_action();
  if (request.lasts == service::ConfigRequest::Lasts::kSession) return switch_session(request);
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  const auto answer = service::configure(request, *facts, sys::own_environment());
  if (!answer) return complain(answer.error());
  const int printed = print(answer->text);
  if (answer->saved) {
    for (const std::string& note : spread_saved_policy(*facts))
      (void)sys::write_until_told(2, cat({"hutch: ", note, "\n"}));
  }
  return printed != 0 ? printed : answer->exit_code;
}

std::vector<std::string> spread_saved_policy(const plan::HostFacts& facts) {
  const auto dirs = host::own_state_dirs(facts.uid, facts.home);
  if (!dirs) return {dirs.error().message};
  std::vector<std::string> notes = service::reload_runs(host::runs_directory(*dirs));
  std::ranges::move(spread_to_agents(), std::back_inserter(notes));
  return notes;
}

}  // namespace hutch::cli
