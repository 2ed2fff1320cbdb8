// hutch config.
#include "cli/config.h"

#include "cli/output.h"
#include "host/facts.h"
#include "sys/tree.h"

namespace hutch::cli {

int config(const service::ConfigRequest& request) {
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  const auto answer = service::configure(request, *facts, sys::own_environment());
  if (!answer) return complain(answer.error());
  const int printed = print(answer->text);
  return printed != 0 ? printed : answer->exit_code;
}

}  // namespace hutch::cli
