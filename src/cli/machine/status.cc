// hutch status.
#include "cli/machine/status.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/session.h"
#include "host/machine/facts.h"
#include "service/prepare/policy_summary.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::cli {

int status(const StatusArguments& arguments) {
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  service::PlaceRequest place = arguments.place;
  (void)join_session(place);
  const auto loaded = service::load_policy(place, *facts, sys::own_environment());
  if (!loaded) return complain(loaded.error());
  if (arguments.form == service::OutputForm::kJson) return print(service::status_json(*loaded));
  // A prompt or a status bar takes the line from a pipe, so where it goes says nothing about colours (no-color.org).
  const bool plain = !sys::environment_variable("NO_COLOR").value_or("").empty();
  const auto colour = plain ? service::Colour::kPlain : service::Colour::kTerminal;
  const std::string line = service::status_line(loaded->policy, colour) + "\n";
  return print(arguments.line == StatusArguments::Line::kYes ? line : cat({line, service::summary_text(*loaded)}));
}

}  // namespace hutch::cli
