// hutch selftest.
#include "cli/machine/selftest.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/terminal/output.h"
#include "host/machine/isolation_facts.h"
#include "service/common/programs.h"
#include "sys/files/tree.h"
#include "sys/process/process.h"

namespace hutch::cli {

namespace {

Result<std::vector<std::string>> runner(const SelftestArguments& arguments);

}  // namespace

int selftest(const SelftestArguments& arguments) {
  const Result<std::vector<std::string>> command = runner(arguments);
  if (!command) return complain(command.error());
  const int error = sys::execute(command->front(), *command, sys::own_environment());
  return complain(Error::from_errno(cat({"execute ", command->front()}), error));
}

namespace {

// The system's python3, isolated: neither the caller's variables nor the working directory affect its imports.
Result<std::vector<std::string>> runner(const SelftestArguments& arguments) {
  const std::string python = host::find_system_program("python3");
  if (python.empty()) {
    return fail(Error::unsupported("hutch selftest: python3 is not installed; apt-get install python3"));
  }
  std::vector<std::string> command = {
      python, "-I", "-B", TRY(service::attacks_runner()), "--hutch", TRY(sys::own_program())};
  if (arguments.form == service::OutputForm::kJson) command.push_back("--json");
  if (arguments.doing == SelftestArguments::Doing::kList) command.push_back("--list");
  for (const std::string& backend : arguments.backends) command.insert(command.end(), {"--backend", backend});
  command.push_back("--");
  command.insert(command.end(), arguments.names.begin(), arguments.names.end());
  return command;
}

}  // namespace

}  // namespace hutch::cli
